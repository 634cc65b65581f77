/* SPDX-License-Identifier: Apache-2.0 */
/* Touches so many MiB and says so; 3 when it is not given them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

int main(int argc, char **argv)
{
	size_t size = (argc > 1 ? strtoul(argv[1], NULL, 10) : 64) << 20;
	char *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		return 3;
	for (size_t i = 0; i < size; i += 4096)
		p[i] = 1;
	return puts("eaten") < 0;
}
