/* SPDX-License-Identifier: Apache-2.0 */
/* This process's grandchild keeps both pipes open, and writes into them now and then. */
#include "zoo.h"

int main(int argc, char **argv)
{
	int gone;

	if (fork() == 0) {
		setsid();
		if (fork())
			_exit(0);
		zoo_deaf();
		for (int i = 0; i < 3000; i++) {
			if (write(1, "still here\n", 11) < 0)
				zoo_sleep_ms(1);
			zoo_sleep_ms(100);
		}
		_exit(99);
	}
	wait(&gone);
	return zoo_live(argv);
}
