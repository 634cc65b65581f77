/* SPDX-License-Identifier: Apache-2.0 */
/* One job's task: what was said of it, with its values put in. */
#include <string.h>

#include "api/groups/draft/draft.h"
#include "base/mem.h"
#include "model/task/need.h"
#include "wire/json/json_in.h"

/* "{os}", but not "${os}", which is the shell's. NULL: none of the values begins here. */
static const struct draft_value *value_at(
    const struct draft_element *e, const char *text, const char *at)
{
	if (at > text && at[-1] == '$')
		return NULL;
	for (size_t i = 0; i < e->n_values; i++) {
		struct str name = e->values[i].name;

		if (strncmp(at + 1, name.p, name.n) == 0 && at[1 + name.n] == '}')
			return &e->values[i];
	}
	return NULL;
}

static json_t *filled(const char *text, const struct draft_element *e)
{
	AUTO(buf_release) struct buf out = {0};
	const struct draft_value *v;
	const char *from = text, *at = text;

	while ((at = strchr(at, '{'))) {
		v = value_at(e, text, at);
		if (v) {
			buf_add(&out, from, (size_t)(at - from));
			buf_add_str(&out, v->value);
			from = at + v->name.n + 2;
		}
		at = v ? from : at + 1;
	}
	buf_add_cstr(&out, from);
	return json_stringn(out.p ? out.p : "", out.n);
}

static void fill_command(json_t *said, const struct draft_element *e)
{
	json_t *command = json_object_get(said, "command"), *word;
	size_t i;

	json_array_foreach(command, i, word)
	{
		if (json_is_string(word) && strchr(json_string_value(word), '{'))
			json_array_set_new(command, i, filled(json_string_value(word), e));
	}
}

/* A variable that the job itself sets stays as it is. */
static void fill_env(json_t *said, const struct draft_element *e)
{
	json_t *env = json_object_get(said, "env");

	if (env && !json_is_object(env))
		return; /* the reader of `env` says what is wrong with it */
	if (!env)
		json_object_set_new(said, "env", env = json_object());
	for (size_t i = 0; i < e->n_values; i++) {
		const struct draft_value *v = &e->values[i];

		if (v->variable.n && !json_object_get(env, v->variable.p))
			json_object_set_new(
			    env, v->variable.p, json_stringn(v->value.p, v->value.n));
	}
}

static int queue_number(struct draft *d, struct str name, uint8_t *ret_number)
{
	size_t i = 0;

	while (i < d->n_queues && !str_eq(d->queues[i], name))
		i++;
	if (i == DRAFT_QUEUES_MAX)
		return problem_set(&d->problem, ERR_INVALID,
		    "the jobs of a group are in at most %d queues", DRAFT_QUEUES_MAX);
	if (i == d->n_queues)
		d->queues[d->n_queues++] = name;
	*ret_number = (uint8_t)i;
	return 0;
}

/* A throttle of its own is one more than is said; so is a target, unless one is. */
static int add_need(struct draft *d, const struct draft_element *e, struct str *need)
{
	struct str rest = *need;
	struct amount at;
	int n = 0;

	if (!e->need.p)
		return 0;
	while (throttle_next(&rest, &at))
		n++;
	if (n >= THROTTLES_MAX && e->need.p[0] == '%')
		return problem_set(&d->problem, ERR_INVALID,
		    "beside its own throttle its need has %d; it may have %d in all", n,
		    THROTTLES_MAX);
	if (e->need.p[0] == '@' && need->p && (need->p[0] == '@' || strstr(need->p, "\n@")))
		return 0;
	*need = need_merge(&d->arena, *need, e->need);
	return 0;
}

int draft_task(struct draft *d, struct task_in *in, json_t *said, const struct draft_element *e)
{
	struct submit_task *t = &d->tasks[d->n];
	struct draft_job *j = &d->jobs[d->n];
	int rc;

	if (e->n_values) {
		fill_command(said, e);
		fill_env(said, e);
	}
	rc = task_in_value(in, said, t, &d->problem);
	if (!rc)
		rc = queue_number(d, in->queue.p ? in->queue : d->queue, &j->queue);
	if (!rc && in->queue.p && !d->named_by[j->queue])
		d->named_by[j->queue] = d->n + 1;
	if (!rc)
		rc = add_need(d, e, &t->spec.need);
	if (rc)
		return draft_problem(d, e->line, e->name);
	j->has_command = in->has_command;
	j->has_action = in->has_action;
	j->has_params = in->has_params;
	j->run = in->run;
	t->spec.name = e->name;
	((struct str *)d->group.names)[d->n] = e->name;
	d->lines[d->n++] = e->line;
	return 0;
}
