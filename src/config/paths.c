/* SPDX-License-Identifier: Apache-2.0 */
/* A light walk over valid JSON that notes on which line every key and list item begins. */
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "base/mem.h"
#include "config/config.h"
#include "config/text.h"

struct level {
	uint64_t path;
	bool is_list, wants_item; /* a key in objects, the beginning of an item in lists */
	size_t index;
};

struct scanner {
	struct paths *paths;
	struct str text;
	size_t at;
	int line, depth;
	uint64_t present; /* the value that comes next, or is under way */
	struct level levels[CONFIG_DEPTH_MAX + 1];
};

static uint64_t hash(uint64_t h, const void *p, size_t n)
{
	for (const unsigned char *c = p; n; c++, n--)
		h = (h ^ *c) * 0x100000001b3ull;
	return h;
}

uint64_t path_key(uint64_t parent, struct str key)
{
	return hash(hash(parent, "\x1f", 1), key.p, key.n);
}

uint64_t path_index(uint64_t parent, size_t index)
{
	return hash(hash(parent, "\x1e", 1), &index, sizeof index);
}

static void note(struct scanner *s, uint64_t path)
{
	struct paths *p = s->paths;

	GROW(p->items, p->cap, p->n + 1);
	p->items[p->n++] = (struct path_line){path, s->line};
	s->present = path;
}

/* The string token at s->at, quotes included; moves behind it. */
static struct str string_token(struct scanner *s)
{
	size_t from = s->at++;

	while (s->at < s->text.n && s->text.p[s->at] != '"')
		s->at += s->text.p[s->at] == '\\' ? 2 : 1;
	s->at = s->at < s->text.n ? s->at + 1 : s->text.n;
	return (struct str){s->text.p + from, s->at - from};
}

static void note_key(struct scanner *s, struct level *l, struct str token)
{
	struct str key = {token.p + 1, token.n - 2};
	json_t *decoded = NULL;

	if (memchr(key.p, '\\', key.n))
		decoded = json_loadb(token.p, token.n, JSON_DECODE_ANY, NULL);
	if (decoded)
		key = (struct str){json_string_value(decoded), json_string_length(decoded)};
	note(s, path_key(l->path, key));
	json_decref(decoded);
	l->wants_item = false;
}

static void open_level(struct scanner *s, bool is_list)
{
	MUST(s->depth < CONFIG_DEPTH_MAX); /* text_strip() has seen to it */
	s->levels[++s->depth] = (struct level){s->present, is_list, true, 0};
}

static void scan_one(struct scanner *s)
{
	struct level *l = &s->levels[s->depth];
	char c = s->text.p[s->at];

	if (c != ']' && l->is_list && l->wants_item) {
		note(s, path_index(l->path, l->index++));
		l->wants_item = false;
	}
	if (c == '"') {
		struct str token = string_token(s);

		if (!l->is_list && l->wants_item && s->depth && token.n >= 2)
			note_key(s, l, token);
		return;
	}
	if (c == '{' || c == '[')
		open_level(s, c == '[');
	else if ((c == '}' || c == ']') && s->depth)
		s->depth--;
	else if (c == ',')
		l->wants_item = true;
	s->at++;
}

static int compare(const void *a, const void *b)
{
	uint64_t x = ((const struct path_line *)a)->path, y = ((const struct path_line *)b)->path;

	return x < y ? -1 : x > y;
}

void paths_scan(struct paths *p, struct str text)
{
	struct scanner s = {.paths = p, .text = text, .line = 1, .present = PATH_ROOT};

	note(&s, PATH_ROOT);
	while (s.at < text.n) {
		if (text.p[s.at] == '\n')
			s.line++;
		if (strchr(" \t\r\n", text.p[s.at]))
			s.at++;
		else
			scan_one(&s);
	}
	qsort(p->items, p->n, sizeof *p->items, compare);
}

int paths_line(const struct paths *p, uint64_t path)
{
	struct path_line key = {.path = path}, *found = NULL;

	if (p->n)
		found = bsearch(&key, p->items, p->n, sizeof key, compare);
	return found ? found->line : 0;
}

void paths_release(struct paths *p)
{
	free(p->items);
	*p = (struct paths){0};
}
