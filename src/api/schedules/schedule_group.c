/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A schedule of groups: what it asks for is kept as a text, and drafted anew for every tick. When
 * it is given it is drafted once to see whether it makes sense: on a reader's thread, since a few
 * lines may stand for a hundred thousand jobs.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/groups/draft/draft.h"
#include "api/schedules/schedule_in.h"
#include "base/mem.h"

struct trial {
	struct draft draft;
	bool is_over; /* and all was well */
};

static int wrong(struct call *c, const char *what, const char *hint)
{
	problem_set(&c->problem, ERR_INVALID, "%s", what);
	problem_hint(&c->problem, "%s", hint);
	return problem_field(&c->problem, "group");
}

static int check_size(struct call *c, size_t n)
{
	if (n <= SCHEDULE_GROUP_MAX)
		return 0;
	problem_set(&c->problem, ERR_TOO_LARGE, "the group has %zu bytes; a schedule's may have %d",
	    n, SCHEDULE_GROUP_MAX);
	problem_hint(&c->problem,
	    "keep its packages as a graph and name that, or let a task run `reeve group submit`");
	return problem_field(&c->problem, "group");
}

/* From the heap. A text is a file as it is, so that errors name its lines. */
static int text_of(struct call *c, const json_t *group, char **ret_text, size_t *ret_n)
{
	*ret_n = json_string_length(group);
	if (json_is_string(group))
		*ret_text = xstrndup(json_string_value(group), *ret_n);
	else if (json_is_object(group))
		*ret_text = json_dumps(group, JSON_COMPACT);
	else
		return wrong(c, "\"group\" is neither an object nor a text",
		    "give what POST /v1/groups takes");
	if (!json_is_string(group))
		*ret_n = strlen(*ret_text);
	return check_size(c, *ret_n);
}

int schedule_in_group(struct schedule_in *in, const struct schedule_view *old)
{
	struct call *c = in->c;
	AUTO(free_cstr) char *text = NULL;
	size_t n;

	if (in->group && in->task)
		return wrong(c, "a schedule has a task or a group, and this has both",
		    "make a schedule of each");
	if (in->row.jitter_ms && (in->group || (old && old->row.group.p))) {
		problem_set(&c->problem, ERR_INVALID, "a schedule of groups has no \"jitter\"");
		problem_hint(
		    &c->problem, "few groups dispatch at once anyway: server.groups_active");
		return problem_field(&c->problem, "jitter");
	}
	if (!in->group)
		return 0;
	if (text_of(c, in->group, &text, &n))
		return c->problem.code;
	in->row.group = arena_str(&c->arena, (struct str){text, n});
	in->row.backoff_ms = in->row.backoff_max_ms = -1;
	in->fields |= SCHEDULE_BIT(group);
	return 0;
}

static void trial_free(struct call *c)
{
	draft_release(&((struct trial *)c->state)->draft);
}

static void read_work(struct store_reader *r, void *arg)
{
	draft_read(&((struct trial *)((struct call *)arg)->state)->draft);
}

static int check_name(struct call *c, const struct draft *d)
{
	if (!d->group.name.n)
		return 0;
	return wrong(c, "a schedule's groups have no \"name\": there may be many of them",
	    "leave it out: each is named by its id, and says of which schedule it is");
}

/* What it is planned from must be there. */
static int check_graph(struct call *c, const struct draft *d)
{
	if (!d->file.from.p)
		return 0;
	if (!find_object(c, KIND_GRAPH, d->file.from, "group", &c->problem))
		return c->problem.code;
	if (d->job)
		return 0;
	return wrong(c, "nothing says how a package is built",
	    "give \"job\": {\"command\": [\"build\", \"{package}\"]}");
}

static int check_queues(struct call *c, struct draft *d)
{
	const struct core *core = c->host->core;

	for (size_t i = 0; i < d->n_queues; i++) {
		d->rows[i] = core_queue(core, core_find(core, KIND_QUEUE, d->queues[i]));
		if (d->rows[i])
			d->rows[i] = row_new(&d->arena, &queue_table, d->rows[i]);
		else if (!str_is(d->queues[i], "default")) /* which is made on first use */
			return find_queue(c, d->queues[i], "group", &c->problem) ? 0
			                                                         : c->problem.code;
	}
	return 0;
}

static bool has_all_queues(const struct draft *d)
{
	for (size_t i = 0; i < d->n_queues; i++)
		if (!d->rows[i])
			return false;
	return true;
}

static void go_on(struct call *c)
{
	struct trial *t = c->state;

	if (t->draft.problem.code) {
		c->problem = t->draft.problem;
		problem_field(&c->problem, "group");
		call_problem(c);
		return;
	}
	t->is_over = true;
	draft_empty(&t->draft);
	c->route->fn(c);
}

static void fit_work(struct store_reader *r, void *arg)
{
	draft_fit(&((struct trial *)((struct call *)arg)->state)->draft);
}

static void was_read(struct call *c)
{
	struct draft *d = &((struct trial *)c->state)->draft;

	if (!d->problem.code && (check_name(c, d) || check_graph(c, d) || check_queues(c, d)))
		call_problem(c);
	else if (!d->problem.code && has_all_queues(d))
		call_read_long(c, fit_work, go_on);
	else
		go_on(c);
}

bool schedule_group_checked(struct call *c, json_t *body)
{
	json_t *group = json_object_get(body, "group");
	struct trial *t = c->state;
	char *text = NULL;
	size_t n;

	if (!group || (t && t->is_over))
		return true;
	if (c->who.limit) {
		problem_set(&c->problem, ERR_DENIED, "%.64s may not make schedules of groups",
		    c->who.name.p);
		call_problem(c);
		return false;
	}
	if (text_of(c, group, &text, &n)) {
		free(text);
		call_problem(c);
		return false;
	}
	t = call_state(c, sizeof *t);
	c->on_free = trial_free;
	t->draft.text = (struct str){text, n};
	t->draft.now_ms = c->host->wall_ms(c->host->arg);
	c->host->secret_random(&t->draft.seed, sizeof t->draft.seed);
	snprintf(t->draft.salt, sizeof t->draft.salt, "%016llx", 0ull);
	call_read_long(c, read_work, was_read);
	return false;
}
