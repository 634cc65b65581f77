/* SPDX-License-Identifier: Apache-2.0 */
/* Stopped as by Ctrl-Z: TERM waits until somebody says CONT. */
#include "zoo.h"

int main(int argc, char **argv)
{
	pid_t child = fork();
	int how;

	if (child == 0) {
		raise(SIGSTOP);
		zoo_stay();
	}
	waitpid(child, &how, WUNTRACED);
	zoo_ready(argv);
	if (zoo_ends(argv))
		return 0;
	raise(SIGSTOP);
	zoo_stay();
}
