/* SPDX-License-Identifier: Apache-2.0 */
/* Goes on without its environment, under another name, in another session. */
#include "zoo.h"

int main(int argc, char **argv)
{
	char *nothing[] = {NULL},
	     *words[] = {(char *)"[kworker/u8:1]", argv[1], (char *)"hidden", NULL};

	zoo_deaf();
	if (argc > 2 && strcmp(argv[2], "hidden") == 0) {
		zoo_ready(argv);
		zoo_stay();
	}
	if (fork() == 0) {
		setsid();
		if (fork())
			_exit(0);
		execve("/proc/self/exe", words, nothing);
		_exit(99);
	}
	while (access(argv[1], F_OK) < 0)
		zoo_sleep_ms(5);
	return zoo_live(argv);
}
