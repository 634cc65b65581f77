/* SPDX-License-Identifier: Apache-2.0 */
/*
 * POST /v1/groups: read on a reader's thread, its queues found on the loop, each job held against
 * its queue on a reader's thread again, and then one command with all of it.
 */
#include <stdio.h>
#include <stdlib.h>

#include "api/graphs/room.h"
#include "api/groups/draft/reuse.h"
#include "api/groups/groups.h"
#include "base/mem.h"

/* More than this is taken in slice by slice. */
#define LONG_JOBS 512
#define LONG_BYTES (512u << 10)

struct posting {
	struct draft draft;
	bool made_default;
	rid owed; /* the group that was triggered; 0: a new one */
};

static call_fn find_queues;

static void posting_free(struct call *c)
{
	draft_release(&((struct posting *)c->state)->draft);
}

static void read_work(struct store_reader *r, void *arg)
{
	draft_read(&((struct posting *)((struct call *)arg)->state)->draft);
}

/* At what earlier groups of its series have built. */
static void look_back(struct draft *d, struct store_reader *r)
{
	struct same_build *same = d->reuse ? xcalloc(d->n + 1, sizeof *same) : NULL;

	reuse_digest(d);
	weigh_group(&d->group, d->n, r, &d->arena, same);
	if (same)
		reuse_take(d, same, r);
	free(same);
}

static void fit_work(struct store_reader *r, void *arg)
{
	struct draft *d = &((struct posting *)((struct call *)arg)->state)->draft;

	draft_fit(d);
	if (!d->problem.code)
		look_back(d, r);
}

/* True: it was refused, and that has been said. */
static bool is_refused(struct call *c)
{
	struct draft *d = &((struct posting *)c->state)->draft;

	if (d->denied.p)
		scope_problem(c, d->denied, &c->problem);
	else if (d->problem.code)
		c->problem = d->problem;
	else
		return false;
	call_problem(c);
	return true;
}

/* What was left out is told beside the group, once. All jobs were held against the caller's limits.
 */
static void made(struct call *c, const struct reply *r)
{
	struct draft *d = &((struct posting *)c->state)->draft;

	c->covered = r->id;
	if (r->code || r->replayed || !d->n_left_out) {
		resource_made(c, r);
		return;
	}
	call_location(c, "/v1/groups/", r->id);
	group_resource.show(c, r->id);
	c->out.n--; /* the object's closing bracket */
	jw_mi64(&c->out, "n_left_out", (int64_t)d->n_left_out);
	jw_mi64(&c->out, "n_touched", (int64_t)d->n_touched_out);
	jw_key(&c->out, "left_out");
	buf_printf(&c->out, "[" STR_FMT "]}", STR_ARG(buf_str(&d->left_out)));
	call_json(c, 201);
}

void group_send(struct call *c, const struct group_load *l, call_reply_fn *then)
{
	struct event ev = {.kind = EV_SUBMIT, .submit = {.tasks = *l->tasks, .n = l->n}};

	ev.submit.group = arena_memdup(l->arena, l->group, sizeof *l->group);
	if (l->n > LONG_JOBS || l->arena->total > LONG_BYTES) {
		arena_own(l->arena, TAKE(*l->tasks)); /* the core gets them, not copies */
		ev.submit.arena = l->arena;
	}
	call_command(c, &ev, then);
}

static void send(struct call *c)
{
	struct draft *d = &((struct posting *)c->state)->draft;
	const struct group_load load = {&d->group, &d->tasks, d->n, &d->arena};

	if (is_refused(c))
		return;
	call_hold(c);
	d->group.owed = ((struct posting *)c->state)->owed;
	group_send(c, &load, made);
	draft_empty(d); /* the core has its own */
	call_unhold(c);
}

static void plan_work(struct graph_turn *t)
{
	struct draft *d = &((struct posting *)t->state)->draft;

	draft_graph(d, &t->kept->g, t->row.version);
	plan_file_release(&d->file); /* and what it named is done */
}

static void planned(struct graph_turn *t)
{
	struct draft *d = &((struct posting *)t->state)->draft;

	if (t->problem.code)
		d->problem = t->problem;
	if (!t->c->over && !access_is_over(t->c))
		find_queues(t->c);
	graph_turn_end(t, 0);
}

/* In the graph's turn, on a reader's thread. A token with limits sees no graphs. */
static void plan_from_graph(struct call *c)
{
	struct posting *p = c->state;
	struct graph_turn *t;
	rid id = 0;

	if (c->who.limit)
		problem_set(&c->problem, ERR_DENIED, "%.64s may not use graphs", c->who.name.p);
	else
		id = find_object(c, KIND_GRAPH, p->draft.file.from, "graph", &c->problem);
	if (!id) {
		call_problem(c);
		return;
	}
	t = graph_turn_new(c, id);
	t->state = p;
	t->work = plan_work;
	t->done = planned;
	graph_turn_begin(t);
}

static void default_made(struct call *c, const struct reply *r)
{
	c->no_idem = false;
	((struct posting *)c->state)->made_default = true;
	if (r->code && r->code != ERR_CONFLICT)
		call_refused(c, r);
	else
		find_queues(c);
}

/* NULL with *ret_rc 0: `default` must be made first. */
static const struct queue_row *find_one(struct call *c, struct str name, int *ret_rc)
{
	const struct posting *p = c->state;
	const struct core *core = c->host->core;
	const struct queue_row *q = core_queue(core, core_find(core, KIND_QUEUE, name));

	*ret_rc = 0;
	if (q)
		return q;
	if (str_is(name, "default") && !p->made_default) {
		if (!scope_covers_queue(c, name))
			*ret_rc = scope_problem(c, name, &c->problem);
		return NULL;
	}
	q = find_queue(c, name, "queue", &c->problem);
	*ret_rc = q ? 0 : c->problem.code;
	return q;
}

/* Says which job names it, if one does. */
static void queue_refused(struct call *c, size_t queue)
{
	struct draft *d = &((struct posting *)c->state)->draft;
	size_t job = d->named_by[queue];

	if (job) {
		d->problem = c->problem;
		draft_problem(d, d->lines[job - 1], d->group.names[job - 1]);
		c->problem = d->problem;
	}
	call_problem(c);
}

static void find_queues(struct call *c)
{
	struct draft *d = &((struct posting *)c->state)->draft;
	int rc;

	if (is_refused(c))
		return;
	if (d->file.from.p) {
		plan_from_graph(c);
		return;
	}
	for (size_t i = 0; i < d->n_queues; i++) {
		const struct queue_row *q = find_one(c, d->queues[i], &rc);

		if (rc) {
			queue_refused(c, i);
			return;
		}
		if (!q) {
			call_make_default(c, default_made);
			return;
		}
		d->rows[i] = row_new(&d->arena, &queue_table, q);
	}
	call_read_long(c, fit_work, send);
}

static bool is_readable(struct call *c)
{
	static const char *const types[] = {
	    "application/json", "application/yaml", "application/x-yaml", "text/yaml"};
	struct str type = c->req.content_type;
	size_t i = 0;

	while (type.p && i < sizeof types / sizeof *types && !media_is(type, types[i]))
		i++;
	if (i == sizeof types / sizeof *types) {
		problem_set(&c->problem, ERR_MEDIA, "the content type is \"%.*s\"",
		    type.n > 64 ? 64 : (int)type.n, type.p);
		problem_hint(&c->problem, "send application/json or application/yaml");
	} else if (c->req.body.n == 0) {
		problem_set(&c->problem, ERR_INVALID, "the body holds no group");
		problem_hint(&c->problem,
		    "send for example {\"jobs\":[{\"name\":\"a\",\"command\":[\"true\"]}]}");
	} else {
		return true;
	}
	call_problem(c);
	return false;
}

static void read_body(struct call *c)
{
	struct posting *p = c->state;

	p->draft.text = (struct str){TAKE(c->away.text), c->away.n};
	call_read_long(c, read_work, find_queues);
}

static void begin(struct call *c)
{
	struct posting *p = c->state;
	uint64_t random;

	c->on_free = posting_free;
	p->draft.now_ms = c->host->wall_ms(c->host->arg);
	p->draft.limit = c->who.limit;
	p->draft.ids = *c->host->ids;
	c->host->secret_random(&random, sizeof random);
	c->host->secret_random(&p->draft.seed, sizeof p->draft.seed);
	snprintf(p->draft.salt, sizeof p->draft.salt, "%016llx", (unsigned long long)random);
}

void groups_submit(struct call *c)
{
	call_state(c, sizeof(struct posting));
	if (!is_readable(c))
		return;
	begin(c);
	call_copy_body(c, read_body);
}

void groups_draft(struct call *c, struct str text, rid owed)
{
	struct posting *p = call_state(c, sizeof *p);

	begin(c);
	p->owed = owed;
	p->draft.text = (struct str){xstrndup(text.p, text.n), text.n};
	call_read_long(c, read_work, find_queues);
}
