/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The names of all zones, out of one of the lists that come with the zone files: for completion,
 * and to say which name may have been meant. Without a list there are none, and nothing else is
 * lost.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "zones/internal.h"

#define NAMES_MAX 4096
#define LIST_WORDS_MAX 3

static bool is_name_byte(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       (c && strchr("+-_.", c));
}

bool zone_name_is_file(struct str name)
{
	struct str part;

	if (name.n == 0 || name.n > ZONE_NAME_MAX)
		return false;
	while (str_next(&name, '/', &part)) {
		if (part.n == 0 || part.p[0] == '.')
			return false;
		for (size_t i = 0; i < part.n; i++)
			if (!is_name_byte(part.p[i]))
				return false;
	}
	return true;
}

/* Ends the name in place, so that it is a C string. */
static void add_name(struct name_list *l, struct str name)
{
	if (l->n == NAMES_MAX || !zone_name_is_file(name))
		return;
	GROW(l->names, l->cap, l->n + 1);
	l->names[l->n++] = name.p;
	l->text.p[name.p + name.n - l->text.p] = 0;
}

static size_t split(struct str line, char separator, struct str words[LIST_WORDS_MAX])
{
	size_t n = 0;

	while (n < LIST_WORDS_MAX && str_next(&line, separator, &words[n]))
		n++;
	return n;
}

/* "Z NAME …" and "L TARGET NAME" */
static struct str name_in_zi(struct str line)
{
	struct str words[LIST_WORDS_MAX];
	size_t n = split(line, ' ', words);

	if (n >= 2 && str_is(words[0], "Z"))
		return words[1];
	return n >= 3 && str_is(words[0], "L") ? words[2] : STR_NULL;
}

/* "COUNTRIES, PLACE, NAME" between tabs */
static struct str name_in_tab(struct str line)
{
	struct str words[LIST_WORDS_MAX];

	return split(line, '\t', words) == 3 && line.p[0] != '#' ? words[2] : STR_NULL;
}

static const struct {
	const char *file;
	struct str (*name_in)(struct str line);
} lists[] = {{"tzdata.zi", name_in_zi}, {"zone1970.tab", name_in_tab}, {"zone.tab", name_in_tab}};

static bool list_read(struct name_list *l, const char *dir, size_t which)
{
	AUTO(free_cstr) char *path = xasprintf("%s/%s", dir, lists[which].file);
	struct file_mark mark;
	struct str rest, line;

	buf_reset(&l->text);
	if (file_read(path, &l->text, &mark, NULL) < 0)
		return false;
	rest = buf_str(&l->text);
	while (str_next(&rest, '\n', &line))
		add_name(l, lists[which].name_in(line));
	return l->n > 0;
}

void name_list_read(struct name_list *l, const char *dir)
{
	for (size_t i = 0; !l->read && i < sizeof lists / sizeof lists[0]; i++)
		if (list_read(l, dir, i))
			break;
	l->read = true;
}

void name_list_release(struct name_list *l)
{
	free(l->names);
	buf_release(&l->text);
	*l = (struct name_list){0};
}
