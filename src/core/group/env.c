/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What tells a job's process which job it is. It is not in the task's own environment, since the
 * group's id is not known before the submit; and so what is stored of a job is what was said of it.
 */
#include <string.h>

#include "core/group/group.h"
#include "core/state.h"

/* Only such texts need no escapes; the names of jobs and groups are all of them. */
static bool is_plain(struct str s)
{
	for (size_t i = 0; i < s.n; i++)
		if ((unsigned char)s.p[i] < 0x20 || s.p[i] == '"' || s.p[i] == '\\')
			return false;
	return s.n > 0;
}

/* What the queue says goes before. */
static void put(struct buf *b, struct str env, const char *name, struct str value)
{
	AUTO(buf_release) struct buf key = {0};

	buf_printf(&key, "\"%s\":", name);
	if (!is_plain(value) || (env.n && memmem(env.p, env.n, key.p, key.n)))
		return;
	buf_printf(b, "%s" STR_FMT "\"" STR_FMT "\"", b->n > 1 ? "," : "", STR_ARG(buf_str(&key)),
	    STR_ARG(value));
}

struct str group_env(const struct core *c, const struct object *o, const struct task_row *t,
    struct str env, struct arena *a)
{
	const struct group *g = (const struct group *)o;
	AUTO(buf_release) struct buf b = {0};
	char id[ID_TEXT];

	buf_add_char(&b, '{');
	put(&b, env, "REEVE_GROUP", str_of(id_format(&c->ids, g->row.id, id)));
	put(&b, env, "REEVE_GROUP_NAME", g->row.name);
	put(&b, env, "REEVE_JOB", t->spec.name);
	if (env.n > 2)
		buf_printf(&b, "%s%.*s", b.n > 1 ? "," : "", (int)env.n - 1, env.p + 1);
	else
		buf_add_char(&b, '}');
	return arena_str(a, buf_str(&b));
}
