/* SPDX-License-Identifier: Apache-2.0 */
#include "server/http/own_token.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/world/log.h"

#define TOKEN_BYTES 32

static int cannot_make(const char *path, struct problem *ret_problem)
{
	problem_set(
	    ret_problem, ERR_IO, "the token file %s can't be made: %s", path, strerror(errno));
	return problem_hint(
	    ret_problem, "give the server the right to write there, or name another file");
}

static bool write_all(int fd, const char *text, size_t n)
{
	return write(fd, text, n) == (ssize_t)n && fsync(fd) == 0;
}

static void random_line(char *ret_line)
{
	unsigned char bytes[TOKEN_BYTES];

	MUST(getrandom(bytes, sizeof bytes, 0) == (ssize_t)sizeof bytes);
	for (size_t i = 0; i < sizeof bytes; i++)
		snprintf(ret_line + 2 * i, 3, "%02x", bytes[i]);
	ret_line[2 * sizeof bytes] = '\n';
	explicit_bzero(bytes, sizeof bytes);
}

/* Whole or not at all: a crash on the way leaves no empty token behind. */
int own_token_make(const char *path, struct problem *ret_problem)
{
	AUTO(free_cstr) char *temporary = xasprintf("%s.%ld", path, (long)getpid());
	char line[2 * TOKEN_BYTES + 1];
	int fd, e = 0;

	if (access(path, F_OK) == 0)
		return 0;
	unlink(temporary);
	fd = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return cannot_make(path, ret_problem);
	random_line(line);
	if (!write_all(fd, line, sizeof line) || rename(temporary, path) != 0) {
		e = cannot_make(path, ret_problem);
		unlink(temporary);
	}
	explicit_bzero(line, sizeof line);
	close(fd);
	if (e == 0)
		log_info("made the token file %s", path);
	return e;
}
