/* SPDX-License-Identifier: Apache-2.0 */
/* A child that is stopped under its parent's trace, and cannot be seen into. */
#include <sys/prctl.h>
#include <sys/ptrace.h>

#include "zoo.h"

int main(int argc, char **argv)
{
	pid_t child = fork();
	int how;

	prctl(PR_SET_DUMPABLE, 0);
	zoo_deaf();
	if (child == 0) {
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		raise(SIGSTOP);
		zoo_stay();
	}
	waitpid(child, &how, WUNTRACED);
	return zoo_live(argv);
}
