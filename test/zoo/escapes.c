/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Leaves its cgroup (where it may), its session, its environment and its name; and so does a second
 * one, whose parent is the first.
 */
#include "zoo.h"

static void leave_cgroup(void)
{
	static const char *const roots[] = {
	    "/sys/fs/cgroup/unified/cgroup.procs", "/sys/fs/cgroup/cgroup.procs"};
	int fd = -1;

	for (int i = 0; fd < 0 && i < 2; i++)
		fd = open(roots[i], O_WRONLY);
	if (fd >= 0 && write(fd, "0", 1) < 0)
		perror("cgroup.procs");
	if (fd >= 0)
		close(fd);
}

static void hidden(char **argv)
{
	if (fork() == 0) {
		setsid();
		zoo_stay();
	}
	zoo_ready(argv);
	zoo_stay();
}

int main(int argc, char **argv)
{
	char *nothing[] = {NULL},
	     *words[] = {(char *)"[kworker/u8:2]", argv[1], (char *)"hidden", NULL};

	zoo_deaf();
	if (argc > 2 && strcmp(argv[2], "hidden") == 0)
		hidden(argv);
	if (fork() == 0) {
		leave_cgroup();
		setsid();
		if (fork() == 0) {
			execve("/proc/self/exe", words, nothing);
			_exit(99);
		}
		while (access(argv[1], F_OK) < 0) /* an orphan may be found before it is ready */
			zoo_sleep_ms(5);
		_exit(0);
	}
	wait(NULL);
	return zoo_live(argv);
}
