/* SPDX-License-Identifier: Apache-2.0 */
/* A token as it was given, or from a file. */
#include "cli/reach/token.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"

#define TOKEN_MAX 4096

static int read_file(const char *file, struct buf *ret_token, struct problem *p)
{
	char text[TOKEN_MAX];
	int fd = open(file, O_RDONLY | O_CLOEXEC);
	ssize_t n;

	if (fd < 0)
		return problem_set(
		    p, ERR_IO, "the token file %s cannot be read: %s", file, strerror(errno));
	n = read(fd, text, sizeof text);
	close(fd);
	if (n < 0)
		return problem_set(
		    p, ERR_IO, "the token file %s cannot be read: %s", file, strerror(errno));
	for (ssize_t i = 0; i < n && text[i] != '\n' && text[i] != '\r'; i++)
		buf_add_char(ret_token, text[i]);
	if (ret_token->n == 0)
		return problem_set(p, ERR_INVALID, "the token file %s is empty", file);
	return 0;
}

int token_read(
    const char *given, const char *file, struct buf *ret_token, struct problem *ret_problem)
{
	if (given)
		buf_add_cstr(ret_token, given);
	else if (file && read_file(file, ret_token, ret_problem) < 0)
		return ret_problem->code;
	for (size_t i = 0; i < ret_token->n; i++)
		if ((unsigned char)ret_token->p[i] <= 0x20 || ret_token->p[i] == 0x7f)
			return problem_set(ret_problem, ERR_INVALID,
			    "a token cannot hold blanks or control characters");
	return 0;
}
