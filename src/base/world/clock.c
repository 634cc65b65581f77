/* SPDX-License-Identifier: Apache-2.0 */
#include "base/world/clock.h"

#include <sys/random.h>
#include <time.h>

#include "base/mem.h"

static int64_t read_us(clockid_t id)
{
	struct timespec ts;

	MUST(clock_gettime(id, &ts) == 0);
	return (int64_t)ts.tv_sec * 1000000 + ts.tv_nsec / 1000;
}

int64_t clock_wall_ms(void)
{
	return read_us(CLOCK_REALTIME) / 1000;
}

int64_t clock_mono_ms(void)
{
	return read_us(CLOCK_MONOTONIC) / 1000;
}

int64_t clock_mono_us(void)
{
	return read_us(CLOCK_MONOTONIC);
}

int64_t clock_thread_us(void)
{
	return read_us(CLOCK_THREAD_CPUTIME_ID);
}

uint64_t clock_random(void)
{
	uint64_t n;

	MUST(getrandom(&n, sizeof n, 0) == sizeof n);
	return n;
}
