/* SPDX-License-Identifier: Apache-2.0 */
/* New tasks: ids, twins by unique key, the first row, and a place in the queue. */
#include "core/group/group.h"
#include "core/state.h"

#define NOTICE_EACH_UP_TO 100  /* larger submits are announced once, by their batch */
#define SLICE_BYTES (1u << 20) /* of long submits: what goes into memory is copied */

static struct task_row first_row(struct core *c, const struct queue *q, const struct submit_task *s,
    rid id, rid batch, struct str actor)
{
	struct task_row row = {.id = id,
	    .ctime_ms = c->now_ms,
	    .spec = s->spec,
	    .state = {.status = s->status,
	        .rank = queue_rank(q, s->spec.priority),
	        .exit_code = -1,
	        .mtime_ms = c->now_ms}};

	row.spec.batch = batch;
	row.spec.actor = actor;
	if (s->spec.run_after_ms > c->now_ms)
		row.state.due_ms = s->spec.run_after_ms;
	return row;
}

/* What a long submit has is in the batch already, texts and all. */
static struct task_row *row_in_batch(
    const struct event *ev, const struct task_row *row, struct arena *a)
{
	return ev->submit.arena ? arena_memdup(a, row, sizeof *row) : row_new(a, &task_table, row);
}

/* Where a long submit has what was asked for, which is the brain's: it was given away. */
static struct task_spec *home_of(const struct submit_task *s)
{
	return (struct task_spec *)&s->spec;
}

/* A long submit's are written from there. */
static void insert(
    const struct event *ev, const struct task_row *row, struct task_spec *home, struct effects *out)
{
	if (!ev->submit.arena) {
		batch_insert(&out->batch, &task_table, row_in_batch(ev, row, &out->batch.arena));
		return;
	}
	*home = row->spec;
	batch_first(&out->batch, row, home);
}

static void take_in(struct core *c, const struct event *ev, struct queue *q,
    const struct task_row *row, struct task_spec *home, struct effects *out)
{
	struct window *w = row->state.due_ms > 0 ? &q->due : &q->ready;

	if (row->state.status == TASK_QUEUED && window_wants(w, row)) {
		struct task *t = task_new(c, row);

		task_insert(c, t, row_in_batch(ev, row, &out->batch.arena), out);
		task_enqueue(c, t, out);
		return;
	}
	/* memory has no place for it: written, counted, and left to the store */
	insert(ev, row, home, out);
	queue_count(q, &row->state, row->state.status, +1);
}

static void announce(struct core *c, const struct task_row *row, struct effects *out)
{
	struct notice *n = effects_notice(out, "task.submitted");

	n->seq = ++c->last_event;
	n->time_ms = c->now_ms;
	n->task = row->id;
	n->queue = row->spec.queue;
	n->batch = row->spec.batch;
	n->status = row->state.status;
	n->exit_code = -1;
}

static void announce_batch(struct core *c, rid batch, size_t n_tasks, struct effects *out)
{
	struct notice *n = effects_notice(out, "task.submitted");

	n->seq = ++c->last_event;
	n->time_ms = c->now_ms;
	n->batch = batch;
	n->status = TASK_QUEUED;
	n->exit_code = -1;
	n->detail = arena_strf(&out->batch.arena, "{\"count\":%zu}", n_tasks);
}

static void enter(struct core *c, const struct event *ev, struct queue *q,
    const struct task_row *row, struct task_spec *home, struct effects *out)
{
	owner_task_live(c, &row->spec.owner, row->id, row->spec.queue);
	if (ev->submit.n <= NOTICE_EACH_UP_TO)
		announce(c, row, out);
	if (row->spec.is_streamed)
		input_begin(c, row, out);
	take_in(c, ev, q, row, home, out);
}

static struct outcome submit_one(struct core *c, const struct event *ev,
    const struct submit_task *s, rid batch, struct effects *out)
{
	struct queue *q = queue_find(c, s->spec.queue);
	struct task_row row;
	rid twin;

	if (!q)
		return (struct outcome){
		    .code = ERR_NOT_FOUND, .why = "the queue was deleted meanwhile"};
	if (s->spec.key.p && (twin = lane_key_holder(c, s->spec.queue, s->spec.key))) {
		struct task *t = task_find(c, twin);

		return (struct outcome){
		    .id = twin, .twin = true, .status = t ? t->row.state.status : TASK_QUEUED};
	}
	c->last_id = id_next(c->last_id, c->now_ms);
	row = first_row(c, q, s, c->last_id, batch, ev->actor);
	if (task_is_held(row.state.status))
		row.state.deeds = deeds_held(&out->batch.arena, c->now_ms, row.state.status);
	if (s->spec.key.p)
		lane_take_key(c, s->spec.queue, s->spec.key, row.id);
	enter(c, ev, q, &row, home_of(s), out);
	return (struct outcome){.id = row.id, .status = row.state.status};
}

/* A job that was built elsewhere: it has ended, and is in the store only. */
static void enter_taken(struct core *c, const struct event *ev, struct task_row *row,
    struct task_spec *home, const struct task_state *taken, struct effects *out)
{
	int64_t rank = row->state.rank;

	row->state = *taken;
	row->state.rank = rank;
	row->state.mtime_ms = c->now_ms;
	if (ev->submit.n <= NOTICE_EACH_UP_TO)
		announce(c, row, out);
	insert(ev, row, home, out);
}

/* The i-th job of a group; its queue is there for as long as the group is. */
static void submit_job(struct core *c, const struct event *ev, const struct group_plan *plan,
    size_t i, struct effects *out)
{
	struct submit_task job = {.status = TASK_BLOCKED};
	const struct submit_task *given;
	const struct task_state *taken;
	struct task_row row;
	struct queue *q;

	if (MUTANT(GROUP_HALF) && i > ev->submit.n / 2)
		return;
	given = group_plan_job(plan, ev, i, &job.spec);
	q = queue_find(c, job.spec.queue);
	MUST(q);
	row = first_row(c, q, &job, group_plan_id(plan) + 1 + i, 0, ev->actor);
	taken = group_plan_taken(plan, ev, i);
	if (taken)
		enter_taken(c, ev, &row, home_of(given), taken, out);
	else
		enter(c, ev, q, &row, home_of(given), out);
}

rid submit_alone(struct core *c, const struct submit_task *t, struct effects *out)
{
	struct event one = {.submit = {.n = 1}, .actor = t->spec.actor};

	return submit_one(c, &one, t, 0, out).id;
}

struct task *submit_to(struct core *c, const struct submit_task *s, struct worker *w,
    struct str need, struct effects *out)
{
	struct queue *q = queue_find(c, s->spec.queue);
	struct task_row row;
	struct task *t;

	c->last_id = id_next(c->last_id, c->now_ms);
	row = first_row(c, q, s, c->last_id, 0, s->spec.actor);
	t = task_new(c, &row);
	task_insert(c, t, row_new(&out->batch.arena, &task_table, &row), out);
	place_claim(c, t, w, need, out);
	return t;
}

/* The batch that they belong to: an earlier one, a new one with an id of its own, or none. */
static rid batch_of(struct core *c, const struct event *ev)
{
	if (ev->submit.batch || (ev->submit.n <= 1 && !ev->submit.makes_batch))
		return ev->submit.batch;
	return c->last_id = id_next(c->last_id, c->now_ms);
}

static bool has_its_batch(const struct core *c, const struct event *ev)
{
	return !ev->submit.batch || lane_batch(c, ev->submit.batch) || MUTANT(BATCH_GONE_IS_JOINED);
}

/* What is new among them is the batch's. The row of one from before there were rows is not made up:
 * its id goes on being a task's. */
static void save_batch(
    struct core *c, const struct event *ev, const struct reply *r, struct effects *out)
{
	struct task_batch_row made = {
	    .id = r->id, .name = ev->submit.name, .ctime_ms = c->now_ms, .actor = ev->actor};
	struct task_batch_row *row = ev->submit.batch ? lane_batch(c, r->id) : &made;
	void *saved;

	if (MUTANT(BATCH_GONE_IS_JOINED) && !row)
		return;
	if (!r->id || row->is_old)
		return;
	for (size_t i = 0; i < ev->submit.n && !(MUTANT(BATCH_JOIN_UNCOUNTED) && row != &made);
	     i++) {
		if (!r->outcomes[i].id || r->outcomes[i].twin)
			continue;
		row->n_tasks++;
		row->last_task = r->outcomes[i].id;
	}
	saved = row_new(&out->batch.arena, &task_batch_table, row);
	if (row == &made)
		batch_put(&out->batch, &task_batch_table, saved);
	else
		batch_state(&out->batch, &task_batch_table, saved);
}

/* The group of this name or that graph cannot be: nothing of it is taken in. */
static void begin_group(struct core *c, struct pending *p, struct effects *out)
{
	struct problem *refused = arena_zalloc(&out->batch.arena, sizeof *refused);

	if (group_submit_begin(c, &p->event, refused, out, &p->plan))
		p->refused = refused;
}

static void make_group(struct core *c, struct pending *p, struct effects *out)
{
	struct problem *refused = arena_zalloc(&out->batch.arena, sizeof *refused);

	if (group_submit_make(c, &p->event, p->plan, refused, out))
		p->refused = refused;
}

static void begin(struct core *c, struct pending *p, struct effects *out)
{
	const struct event *ev = &p->event;

	arena_adopt(&out->batch.arena, &p->arena);
	p->outcomes = arena_alloc(
	    &out->batch.arena, ((ev->submit.group ? 0 : ev->submit.n) + 1) * sizeof *p->outcomes);
	if (ev->submit.group)
		begin_group(c, p, out);
	else
		p->batch = batch_of(c, ev);
}

bool submit_slice(struct core *c, struct pending *p, struct effects *out)
{
	const struct event *ev = &p->event;
	size_t end, bytes = 0;

	if ((p->idem && p->idem->key.p) || !has_its_batch(c, ev))
		return true;
	if (!p->outcomes) {
		begin(c, p, out);
		if (p->plan)
			return false; /* the rest of it in steps of their own */
	} else if (p->plan && !p->refused && !group_plan_is_made(p->plan)) {
		make_group(c, p, out);
		return p->refused;
	}
	end = ev->submit.n - p->n_taken > c->o.submit_slice ? p->n_taken + c->o.submit_slice
	                                                    : ev->submit.n;
	for (; p->n_taken < end && bytes < SLICE_BYTES && !p->refused; p->n_taken++) {
		const struct submit_task *t = &ev->submit.tasks[p->n_taken];

		bytes += t->spec.body.n;
		if (p->plan)
			submit_job(c, ev, p->plan, p->n_taken, out);
		else
			p->outcomes[p->n_taken] = submit_one(c, ev, t, p->batch, out);
	}
	if (ev->submit.group)
		return p->refused || p->n_taken == ev->submit.n;
	return p->n_taken == ev->submit.n;
}

static const struct outcome *run_at_once(
    struct core *c, const struct event *ev, rid batch, struct effects *out)
{
	struct outcome *o = arena_alloc(&out->batch.arena, (ev->submit.n + 1) * sizeof *o);

	for (size_t i = 0; i < ev->submit.n; i++)
		o[i] = submit_one(c, ev, &ev->submit.tasks[i], batch, out);
	return o;
}

static bool any_new(const struct outcome *o, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (o[i].id && !o[i].twin)
			return true;
	return false;
}

static int no_batch(struct reply *r)
{
	problem_set(r->problem, ERR_NOT_FOUND, "there is no batch of that id to join");
	problem_field(r->problem, "batch");
	return problem_hint(
	    r->problem, "it goes when its last task is removed; submit without it for a new one");
}

/* Answered with the group only: its jobs' ids are those behind its own. */
static int run_group(struct core *c, const struct event *ev, const struct pending *p,
    struct reply *r, struct effects *out)
{
	bool in_slices = p && p->outcomes;
	struct group_plan *plan = in_slices ? p->plan : NULL;
	int e = 0;

	if (in_slices && p->refused) {
		*r->problem = *p->refused;
		return r->problem->code;
	}
	if (!in_slices)
		e = group_submit_begin(c, ev, r->problem, out, &plan);
	if (!in_slices && !e)
		e = group_submit_make(c, ev, plan, r->problem, out);
	if (e)
		return e;
	for (size_t i = 0; i < ev->submit.n && !in_slices; i++)
		submit_job(c, ev, plan, i, out);
	group_submit_end(c, plan, out);
	r->id = group_plan_id(plan);
	return 0;
}

int submit_run(struct core *c, const struct event *ev, const struct pending *p, struct reply *r,
    struct effects *out)
{
	bool in_slices = p && p->outcomes;

	if (ev->submit.group)
		return run_group(c, ev, p, r, out);
	if (!has_its_batch(c, ev))
		return no_batch(r);
	r->id = in_slices ? p->batch : batch_of(c, ev);
	r->outcomes = in_slices ? p->outcomes : run_at_once(c, ev, r->id, out);
	if (any_new(r->outcomes, ev->submit.n))
		save_batch(c, ev, r, out);
	else
		r->id = ev->submit.batch; /* nobody may join what no task is in */
	if (ev->submit.n > NOTICE_EACH_UP_TO)
		announce_batch(c, r->id, ev->submit.n, out);
	r->n = ev->submit.n;
	return 0;
}
