/* SPDX-License-Identifier: Apache-2.0 */
/* Files that a command line names: read whole, and bounded. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "cli/tasks/work.h"

int input_read(struct cli *c, const char *path, size_t max, struct buf *ret_text)
{
	FILE *f = strcmp(path, "-") ? fopen(path, "re") : stdin;
	char chunk[4096];
	size_t n;
	bool bad;

	if (!f)
		return problem_set(
		    &c->problem, ERR_INVALID, "cannot read %.200s: %s", path, strerror(errno));
	while (ret_text->n <= max && (n = fread(chunk, 1, sizeof chunk, f)) > 0)
		buf_add(ret_text, chunk, n);
	bad = ferror(f);
	if (f != stdin)
		fclose(f);
	if (bad)
		return problem_set(&c->problem, ERR_IO, "cannot read %.200s", path);
	if (ret_text->n > max)
		return problem_set(
		    &c->problem, ERR_TOO_LARGE, "%.200s is longer than %zu bytes", path, max);
	while (ret_text->n > 0 && strchr("\r\n", ret_text->p[ret_text->n - 1]))
		ret_text->p[--ret_text->n] = 0;
	return 0;
}
