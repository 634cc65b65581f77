/* SPDX-License-Identifier: Apache-2.0 */
#include "model/lines.h"

#include <stdlib.h>
#include <string.h>

bool lines_next(struct str *rest, struct str *ret_item)
{
	if (!rest->p || rest->n == 0)
		return false;
	return str_next(rest, '\n', ret_item) && (ret_item->n > 0 || lines_next(rest, ret_item));
}

bool lines_has(struct str lines, struct str item)
{
	struct str one;

	while (lines_next(&lines, &one))
		if (str_eq(one, item))
			return true;
	return false;
}

size_t lines_count(struct str lines)
{
	struct str one;
	size_t n = 0;

	while (lines_next(&lines, &one))
		n++;
	return n;
}

void lines_add(struct buf *b, struct str item)
{
	buf_add_str(b, item);
	buf_add_char(b, '\n');
}

static int compare(const void *a, const void *b)
{
	return str_cmp(*(const struct str *)a, *(const struct str *)b);
}

struct str lines_sorted(struct arena *a, struct str lines)
{
	size_t n = lines_count(lines), at = 0;
	struct str *items = arena_alloc(a, (n + 1) * sizeof *items);
	char *out = arena_alloc(a, lines.n + n + 1), *p = out;

	while (lines_next(&lines, &items[at]))
		at++;
	qsort(items, n, sizeof *items, compare);
	for (size_t i = 0; i < n; i++) {
		if (i && str_eq(items[i], items[i - 1]))
			continue;
		memcpy(p, items[i].p, items[i].n);
		p += items[i].n;
		*p++ = '\n';
	}
	*p = 0;
	return n ? (struct str){out, (size_t)(p - out)} : STR_NULL;
}

struct str lines_value(struct str lines, struct str key)
{
	struct str one;

	while (lines_next(&lines, &one))
		if (one.n > key.n && one.p[key.n] == '=' && memcmp(one.p, key.p, key.n) == 0)
			return (struct str){one.p + key.n + 1, one.n - key.n - 1};
	return STR_NULL;
}

struct str lines_flat(struct arena *a, struct str s)
{
	char *p = arena_memdup(a, s.p ? s.p : "", s.n);

	for (size_t i = 0; i < s.n; i++)
		if (p[i] == '\t' || p[i] == '\n')
			p[i] = ' ';
	return (struct str){p, s.n};
}

struct str lines_append(struct arena *a, struct str lines, struct str line, size_t max)
{
	struct str dropped;
	char *out;

	while (lines.n && lines.n + line.n > max)
		str_next(&lines, '\n', &dropped);
	out = arena_alloc(a, lines.n + line.n);
	if (lines.n)
		memcpy(out, lines.p, lines.n);
	memcpy(out + lines.n, line.p, line.n);
	return (struct str){out, lines.n + line.n};
}
