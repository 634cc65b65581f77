/* SPDX-License-Identifier: Apache-2.0 */
/* At the first signal it forks a deaf child into another session and dies of something else. */
#include "zoo.h"

static void on_term(int number)
{
	signal(SIGSEGV, SIG_DFL);
	if (fork() == 0) {
		zoo_deaf();
		setsid();
		zoo_stay();
	}
	raise(SIGSEGV);
}

int main(int argc, char **argv)
{
	signal(SIGTERM, on_term);
	zoo_ready(argv);
	if (zoo_ends(argv))
		raise(SIGTERM);
	zoo_stay();
}
