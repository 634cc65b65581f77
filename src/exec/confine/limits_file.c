/* SPDX-License-Identifier: Apache-2.0 */
/* The kernel's small files: written in one piece, read in one piece. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "exec/confine/limits_internal.h"

int limits_write(int dir, const char *name, const char *text)
{
	int fd = openat(dir, name, O_WRONLY | O_CLOEXEC);
	ssize_t n;
	int kept;

	if (fd < 0)
		return -1;
	n = write(fd, text, strlen(text));
	kept = errno;
	close(fd);
	errno = kept;
	return n < 0 ? -1 : 0;
}

ssize_t limits_read_text(int dir, const char *name, char *out, size_t size)
{
	int fd = openat(dir, name, O_RDONLY | O_CLOEXEC);
	ssize_t n;

	out[0] = 0;
	if (fd < 0)
		return -1;
	n = read(fd, out, size - 1);
	close(fd);
	if (n >= 0)
		out[n] = 0;
	return n;
}

int64_t limits_read_number(int dir, const char *name)
{
	char text[32];
	int64_t n;

	if (limits_read_text(dir, name, text, sizeof text) <= 0)
		return -1;
	text[strcspn(text, "\n")] = 0;
	return str_to_i64(str_of(text), 0, INT64_MAX, &n) ? n : -1;
}

int64_t limits_read_field(int dir, const char *name, const char *field)
{
	char text[1024];
	struct str rest, line, key;
	int64_t n;

	if (limits_read_text(dir, name, text, sizeof text) <= 0)
		return -1;
	rest = str_of(text);
	while (str_next(&rest, '\n', &line))
		if (str_next(&line, ' ', &key) && str_is(key, field) &&
		    str_to_i64(line, 0, INT64_MAX, &n))
			return n;
	return -1;
}

bool limits_has_word(const char *text, const char *word)
{
	size_t n = strlen(word);

	for (const char *at = text; (at = strstr(at, word)); at++)
		if ((at == text || strchr(" \n", at[-1])) && strchr(" \n", at[n]))
			return true;
	return false;
}

/* After the dash: type, source, options; a controller is one of the options. */
static bool is_v1_with(struct str after_dash, const char *controller)
{
	struct str type, source, options, one;

	if (!str_next(&after_dash, ' ', &type) || !str_is(type, "cgroup") ||
	    !str_next(&after_dash, ' ', &source))
		return false;
	options = after_dash;
	while (str_next(&options, ',', &one))
		if (str_is(one, controller))
			return true;
	return false;
}

bool limits_parse_mount(
    struct str line, const char *controller, struct str *ret_root, struct str *ret_point)
{
	struct str field, root = STR_NULL, point = STR_NULL;

	for (int i = 0; str_next(&line, ' ', &field); i++) {
		if (i == 3)
			root = field;
		else if (i == 4)
			point = field;
		else if (i > 5 && str_is(field, "-"))
			break;
	}
	if (point.n == 0 || !is_v1_with(line, controller))
		return false;
	*ret_root = root;
	*ret_point = point;
	return true;
}

bool limits_parse_own(struct str line, const char *controller, struct str *ret_path)
{
	struct str number, names, one;

	if (!str_next(&line, ':', &number) || !str_next(&line, ':', &names) || line.n == 0)
		return false;
	while (str_next(&names, ',', &one))
		if (str_is(one, controller)) {
			*ret_path = line;
			return true;
		}
	return false;
}

static bool is_octal(char c)
{
	return c >= '0' && c <= '7';
}

/* Blanks and backslashes are written as \040 there. */
void limits_unescape(struct buf *out, struct str field)
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
