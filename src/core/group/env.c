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

/* What the queue says goes before. The key is as it stands in the text, with its colon. */
static void put(struct buf *b, struct str env, struct str key, struct str value)
{
	if (!is_plain(value) || (env.n && memmem(env.p, env.n, key.p, key.n)))
		return;
	if (b->n > 1)
		buf_add_char(b, ',');
	buf_add_str(b, key);
	buf_add_char(b, '"');
	buf_add_str(b, value);
	buf_add_char(b, '"');
}

struct str group_env(const struct core *c, const struct object *o, const struct task_row *t,
    struct str env, struct arena *a)
{
	const struct group *g = (const struct group *)o;
	AUTO(buf_release) struct buf b = {0};
	char id[ID_TEXT];

	buf_reserve(&b, env.n + 256); /* at once, for nearly all */
	buf_add_char(&b, '{');
	put(&b, env, STR("\"REEVE_GROUP\":"), str_of(id_format(&c->ids, g->row.id, id)));
	put(&b, env, STR("\"REEVE_GROUP_NAME\":"), g->row.name);
	put(&b, env, STR("\"REEVE_JOB\":"), t->spec.name);
	if (env.n > 2 && b.n > 1)
		buf_add_char(&b, ',');
	buf_add_str(&b, env.n > 2 ? (struct str){env.p + 1, env.n - 1} : STR("}"));
	return arena_str(a, buf_str(&b));
}
