/* SPDX-License-Identifier: Apache-2.0 */
/* POST /v1/groups/{group}/retry: a new group of what is left of one that has ended. */
#include "api/groups/groups.h"
#include "api/groups/left.h"
#include "model/limits.h"
#include "model/objects/token.h"
#include "wire/json/fields.h"

/* More than this is taken in slice by slice. */

static const char *const what_names[] = {
    [RETRY_FAILED] = "failed",
    [RETRY_FROM] = "from",
};

struct said {
	int32_t what;
	struct str job, name;
};

const struct field group_retry_fields[] = {
    FIELD("what", FIELD_CHOICE, said, what, .flags = FIELD_GIVEN, .names = what_names, .n_names = 2,
        .about = "what is not built and all that needs it, or one job and all that needs it"),
    FIELD("job", FIELD_TEXT, said, job, .flags = FIELD_GIVEN, .max = JOB_NAME_MAX_BYTES,
        .about = "with from: its name, or its task's id"),
    FIELD("name", FIELD_TEXT, said, name, .flags = FIELD_GIVEN | FIELD_NULL_GIVEN,
        .max = NAME_MAX_BYTES, .about = "of the new group; its id unless given"),
    {NULL},
};

static void free_left(struct call *c)
{
	left_release(c->state);
}

static void work(struct store_reader *r, void *arg)
{
	left_read(((struct call *)arg)->state, r);
}

/* A token that may submit only to some queues may have only jobs of those done again. */
static bool covers(struct call *c, const struct left_of_group *l)
{
	for (size_t i = 0; c->who.limit && i < l->n; i++) {
		const struct queue_row *q = core_queue(c->host->core, l->tasks[i].spec.queue);

		if (q && !token_covers(c->who.limit, q->name, l->tasks[i].spec.labels)) {
			scope_problem(c, q->name, &c->problem);
			return false;
		}
	}
	return true;
}

static void send(struct call *c)
{
	struct left_of_group *l = c->state;
	const struct group_load load = {&l->submit, &l->tasks, l->n, &l->arena};

	c->problem = l->problem;
	if (l->problem.code || !covers(c, l)) {
		call_problem(c);
		return;
	}
	call_hold(c);
	group_send(c, &load, resource_made);
	left_release(l); /* the core has its own */
	call_unhold(c);
}

static bool is_sound(struct call *c, const struct group_row *g, const struct said *s)
{
	if (!group_is_ended(g->state)) {
		problem_set(&c->problem, ERR_CONFLICT, "the group has not ended: it is %s",
		    group_state_names[g->state]);
		problem_hint(&c->problem, "wait for its end, or cancel it");
	} else if ((s->what == RETRY_FROM) != (s->job.n > 0)) {
		problem_set(&c->problem, ERR_INVALID,
		    s->job.n ? "\"job\" is only for \"what\":\"from\""
		             : "\"what\":\"from\" needs a \"job\"");
		problem_field(&c->problem, "job");
	} else {
		return true;
	}
	call_problem(c);
	return false;
}

void group_retry(struct call *c)
{
	struct left_of_group *l = call_state(c, sizeof *l);
	struct said said = {.what = RETRY_FAILED};
	const struct fields_in r = {.arena = &c->arena, .into = &said, .problem = &c->problem};
	const struct group_row *g = path_group(c);

	if (!g || !call_fields(c, &r, group_retry_fields) || !is_sound(c, g, &said))
		return;
	c->on_free = free_left;
	row_copy(&group_table, &l->arena, g, 0, &l->group);
	l->ids = *c->host->ids;
	l->what = said.what;
	l->job = arena_str(&l->arena, said.job);
	l->submit.name = arena_str(&l->arena, said.name);
	call_read_long(c, work, send);
}
