/* SPDX-License-Identifier: Apache-2.0 */
#include "base/world/memory_file.h"

#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

static bool write_all(int fd, struct str content)
{
	size_t at = 0;

	while (at < content.n) {
		ssize_t n = write(fd, content.p + at, content.n - at);

		if (n > 0)
			at += (size_t)n;
		else if (n == 0 || errno != EINTR)
			return false;
	}
	return lseek(fd, 0, SEEK_SET) == 0;
}

int memory_file(const char *name, struct str content)
{
	int fd = memfd_create(name, MFD_CLOEXEC), error;

	if (fd < 0 || write_all(fd, content))
		return fd;
	error = errno;
	close(fd);
	errno = error;
	return -1;
}
