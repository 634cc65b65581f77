/* SPDX-License-Identifier: Apache-2.0 */
/* Forks, and what it forked forks; every one of them deaf. Three hundred are enough. */
#include <stdatomic.h>
#include <sys/mman.h>

#include "zoo.h"

#define MOST 300

int main(int argc, char **argv)
{
	atomic_int *made =
	    mmap(NULL, sizeof *made, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pid_t first = getpid();

	zoo_deaf();
	while (made != MAP_FAILED && atomic_fetch_add(made, 1) < MOST)
		if (fork() < 0)
			break;
	if (getpid() != first)
		zoo_stay();
	return zoo_live(argv);
}
