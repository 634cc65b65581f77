/* SPDX-License-Identifier: Apache-2.0 */
/* The frame of a file: its members, each once, lists entry by entry. */
#include "service/file/input.h"

#include "base/mem.h"
#include "service/limits.h"

struct input {
	struct reader *r;
	const struct file_member *table;
	size_t n;
	void *arg;
	uint32_t seen;
};

static int read_entries(const struct input *in, const struct file_member *m, struct problem *p)
{
	struct node *v;
	int rc = reader_list(in->r, p);

	while (rc >= 0 && (rc = reader_item(in->r, &v, p)) > 0)
		rc = m->read(v, in->arg, p);
	return rc;
}

static int read_value(const struct input *in, const struct file_member *m, struct problem *p)
{
	struct node *v;
	int rc = reader_value(in->r, &v, p);

	return rc < 0 ? rc : m->read(v, in->arg, p);
}

static int read_member(struct input *in, struct str name, uint32_t line, struct problem *p)
{
	const char *names[FILE_MEMBERS_MAX];
	size_t i;

	for (i = 0; i < in->n; i++)
		names[i] = in->table[i].name;
	for (i = 0; i < in->n && !str_is(name, names[i]); i++)
		;
	if (i == in->n)
		return member_unknown(line, name, names, in->n, STR_NULL, p);
	if (in->seen >> i & 1)
		return wrong_at(p, line, STR_NULL, "%s is there twice", names[i]);
	in->seen |= (uint32_t)1 << i;
	return (in->table[i].is_list ? read_entries : read_value)(in, &in->table[i], p);
}

int input_parse(struct str text, const struct file_member *table, size_t n, const char *hint,
    void *arg, struct problem *p)
{
	struct input in = {.table = table, .n = n, .arg = arg};
	struct str name;
	uint32_t line;
	int rc;

	MUST(n <= FILE_MEMBERS_MAX);
	if (text.n > SERVICE_FILE_MAX)
		return problem_set(p, ERR_TOO_LARGE, "this has %zu bytes; a file may have %lld",
		    text.n, (long long)SERVICE_FILE_MAX);
	if ((rc = reader_open_as(text, "lists and settings", hint, &in.r, p)) < 0)
		return rc;
	while ((rc = reader_member(in.r, &name, &line, p)) > 0)
		if ((rc = read_member(&in, name, line, p)) < 0)
			break;
	reader_free(in.r);
	return rc;
}

int map_read(const struct node *v, const char *what, const struct member *table, size_t n,
    void *arg, struct str who, struct problem *p)
{
	if (v->kind != NODE_MAP)
		return wrong_at(
		    p, v->line, who, "%s is %s; a map is wanted, in { and }", what, node_type(v));
	return members_read(v, table, n, arg, who, p);
}

const struct node *map_find(const struct node *map, const char *name)
{
	const struct node *v = map->kind == NODE_MAP ? map->first : NULL;

	while (v && !str_is(v->key, name))
		v = v->next;
	return v;
}

int map_name(const struct node *map, const char *name, struct arena *arena, struct str *ret_name,
    struct problem *p)
{
	const struct node *v = map_find(map, name);
	int rc;

	if (map->kind != NODE_MAP)
		return wrong_at(p, map->line, STR_NULL, "this is %s; a map with a %s is wanted",
		    node_type(map), name);
	if (!v)
		return wrong_at(p, map->line, STR_NULL, "this has no %s", name);
	if ((rc = node_name(v, name, ret_name, p)) == 0)
		*ret_name = arena_str(arena, *ret_name);
	return rc;
}
