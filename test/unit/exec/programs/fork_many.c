/* SPDX-License-Identifier: Apache-2.0 */
/* Forks up to so many sleeping children; its exit code is how many it got. Leaves with "stay". */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	int most = argc > 1 ? (int)strtol(argv[1], NULL, 10) : 100, n = 0;
	pid_t pids[256];

	while (n < most && n < 200 && (pids[n] = fork()) > 0)
		n++;
	if (n < most && pids[n] == 0)
		for (;;)
			pause();
	if (argc > 2 && strcmp(argv[2], "stay") == 0)
		for (;;)
			pause();
	for (int i = 0; i < n; i++) {
		kill(pids[i], SIGKILL);
		waitpid(pids[i], NULL, 0);
	}
	return n;
}
