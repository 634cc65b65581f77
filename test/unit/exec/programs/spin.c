/* SPDX-License-Identifier: Apache-2.0 */
/* Burns processor time for so many milliseconds of the clock on the wall. */
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

static int64_t now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

int main(int argc, char **argv)
{
	int64_t until = now_ms() + (argc > 1 ? strtol(argv[1], NULL, 10) : 500);

	while (now_ms() < until)
		;
	return 0;
}
