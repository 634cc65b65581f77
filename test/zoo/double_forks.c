/* SPDX-License-Identifier: Apache-2.0 */
/* A daemon as in the books: another session, another parent, no descriptor, and deaf. */
#include "zoo.h"

int main(int argc, char **argv)
{
	int gone;

	zoo_deaf();
	if (fork() == 0) {
		setsid();
		if (fork())
			_exit(0);
		if (chdir("/") < 0)
			_exit(1);
		close_range(0, ~0u, 0);
		zoo_stay();
	}
	wait(&gone);
	return zoo_live(argv);
}
