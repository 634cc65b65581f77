// SPDX-License-Identifier: Apache-2.0
/*
 * Another wall clock for one process: the number of milliseconds in the file that
 * REEVE_TEST_CLOCK names is added to the time, and is looked at anew each time.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>

typedef int gettime_fn(clockid_t, struct timespec *);

static const volatile int64_t *offset_ms;
static gettime_fn *real;

__attribute__((constructor)) static void begin(void)
{
	const char *path = getenv("REEVE_TEST_CLOCK");
	int fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
	void *at = fd < 0 ? MAP_FAILED : mmap(NULL, 8, PROT_READ, MAP_SHARED, fd, 0);

	real = (gettime_fn *)dlsym(RTLD_NEXT, "clock_gettime");
	if (at != MAP_FAILED)
		offset_ms = at;
}

int clock_gettime(clockid_t which, struct timespec *t)
{
	int rc = real ? real(which, t) : -1;
	int64_t ns;

	if (rc != 0 || !offset_ms || (which != CLOCK_REALTIME && which != CLOCK_REALTIME_COARSE))
		return rc;
	ns = t->tv_nsec + *offset_ms % 1000 * 1000000;
	t->tv_sec += *offset_ms / 1000 + (ns < 0 ? -1 : ns / 1000000000);
	t->tv_nsec = ns < 0 ? ns + 1000000000 : ns % 1000000000;
	return rc;
}

time_t time(time_t *ret)
{
	struct timespec t = {0, 0};

	clock_gettime(CLOCK_REALTIME, &t);
	if (ret)
		*ret = t.tv_sec;
	return t.tv_sec;
}

int gettimeofday(struct timeval *restrict ret, void *restrict zone)
{
	struct timespec t = {0, 0};
	int rc = clock_gettime(CLOCK_REALTIME, &t);

	(void)zone;
	ret->tv_sec = t.tv_sec;
	ret->tv_usec = t.tv_nsec / 1000;
	return rc;
}
