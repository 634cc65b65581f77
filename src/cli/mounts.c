/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cgroup v2 is not always at /sys/fs/cgroup: beside v1 it is usually at /sys/fs/cgroup/unified, and
 * in containers anywhere. mountinfo knows.
 */
#include "cli/mounts.h"

#include <string.h>

#define POINT_FIELD 4 /* counted from 0: id, parent, device, root, mount point */

static bool is_octal(char c)
{
	return c >= '0' && c <= '7';
}

/* Blanks and backslashes are written as \040 there. */
static void add_unescaped(struct buf *out, struct str field)
{
	for (size_t i = 0; i < field.n; i++) {
		const char *at = field.p + i;

		if (*at == '\\' && field.n - i > 3 && is_octal(at[1]) && is_octal(at[2]) &&
		    is_octal(at[3])) {
			buf_add_char(
			    out, (char)((at[1] - '0') << 6 | (at[2] - '0') << 3 | (at[3] - '0')));
			i += 3;
		} else {
			buf_add_char(out, *at);
		}
	}
}

/* The mount point, when the type (the first field after "-") is cgroup2. */
static bool line_cgroup2(struct str line, struct str *ret_point)
{
	bool after_dash = false;
	struct str field;

	*ret_point = STR_NULL;
	for (int i = 0; str_next(&line, ' ', &field); i++) {
		if (after_dash)
			return ret_point->n > 0 && str_is(field, "cgroup2");
		if (i == POINT_FIELD)
			*ret_point = field;
		after_dash = i > POINT_FIELD && str_is(field, "-");
	}
	return false;
}

bool mounts_cgroup2(struct str mountinfo, struct buf *ret_path)
{
	struct str line, point;

	while (str_next(&mountinfo, '\n', &line))
		if (line_cgroup2(line, &point)) {
			add_unescaped(ret_path, point);
			return true;
		}
	return false;
}
