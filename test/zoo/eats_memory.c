/* SPDX-License-Identifier: Apache-2.0 */
/* Takes 64 MiB, a part of it locked where that is permitted, and dies of its own abort. */
#include <sys/mman.h>

#include "zoo.h"

#define MEAL (64u << 20)
#define LOCKED (64u << 10)

int main(int argc, char **argv)
{
	char *food = mmap(NULL, MEAL, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (food == MAP_FAILED)
		return 1;
	memset(food, 1, MEAL);
	mlock(food, LOCKED);
	zoo_live(argv);
	abort();
}
