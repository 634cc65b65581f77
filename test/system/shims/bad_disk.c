// SPDX-License-Identifier: Apache-2.0
/* A disk that fails: while the first byte of the file that REEVE_TEST_DISK names is not 0, every
 * sync is EIO. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

static const volatile char *fails;

__attribute__((constructor)) static void begin(void)
{
	const char *path = getenv("REEVE_TEST_DISK");
	int fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
	void *at = fd < 0 ? MAP_FAILED : mmap(NULL, 1, PROT_READ, MAP_SHARED, fd, 0);

	if (at != MAP_FAILED)
		fails = at;
}

static int sync_by(const char *name, int fd)
{
	int (*real)(int) = (int (*)(int))dlsym(RTLD_NEXT, name);

	if (fails && *fails) {
		errno = EIO;
		return -1;
	}
	return real(fd);
}

int fsync(int fd)
{
	return sync_by("fsync", fd);
}

int fdatasync(int fd)
{
	return sync_by("fdatasync", fd);
}
