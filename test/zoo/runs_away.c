/* SPDX-License-Identifier: Apache-2.0 */
/* Never the same process for long: it forks, the child goes on, the parent exits. */
#include "zoo.h"

#define HOPS 20000

int main(int argc, char **argv)
{
	zoo_deaf();
	if (fork() == 0) {
		setsid();
		for (int i = 0; i < HOPS; i++) {
			if (fork() > 0)
				_exit(0);
			if (i == 20)
				zoo_ready(argv);
			zoo_sleep_ms(5);
		}
		_exit(99);
	}
	while (access(argv[1], F_OK) < 0)
		zoo_sleep_ms(5);
	return zoo_live(argv);
}
