/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The lane: commands that need something from the store first (a unique key's holder, an
 * idempotency record, a task that is not in memory). One round at a time waits for its reads;
 * those who come meanwhile form the next round. A round's reads begin only when everything the
 * earlier rounds wrote is durable, so no two commands can both find a key free.
 */
#include "core/state.h"

#include <stdlib.h>

#define ROUND_MAX 1024 /* commands: each looks through those before it */

static int fresh_cmp(const struct fresh_key *a, const struct fresh_key *b)
{
	if (a->queue != b->queue)
		return a->queue < b->queue ? -1 : 1;
	return str_cmp(a->key, b->key);
}

RB_PROTOTYPE(fresh_keys, fresh_key, entry, fresh_cmp)
RB_GENERATE(fresh_keys, fresh_key, entry, fresh_cmp)

static bool is_about_tasks(const struct event *ev)
{
	return ev->kind == EV_CANCEL || ev->kind == EV_RETRY || ev->kind == EV_TASK_SET;
}

/* The command goes by what is recorded of its object. */
static bool wants_past(const struct event *ev)
{
	return ev->kind == EV_DO && object_kinds[ev->object.kind]->past &&
	       object_kinds[ev->object.kind]->past->is_wanted(ev);
}

static bool is_long(const struct event *ev)
{
	return ev->kind == EV_SUBMIT && ev->submit.arena;
}

static bool joins_batch(const struct event *ev)
{
	return ev->kind == EV_SUBMIT && ev->submit.batch;
}

/* A ghost may be gone by the time that the round is run; and retry needs its stored output. */
static bool task_is_at_hand(const struct core *c, const struct event *ev, rid id)
{
	const struct task *t = task_find(c, id);

	return t && !t->ghost_read && !(ev->kind == EV_RETRY && task_is_ended(t->row.state.status));
}

/* A volatile server's runs have no row; whoever names one may be right. Nor has the start of an
 * instance, if the store is another one. */
static bool hello_needs(const struct core *c, const struct event *ev, size_t i)
{
	const struct link_held *h = &ev->hello.tasks[i];

	return (core_heeds_receipts(c) || h->instance.service.p) && !task_find(c, h->task);
}

bool lane_needs(const struct core *c, const struct event *ev)
{
	if (ev->kind == EV_HELLO)
		for (size_t i = 0; i < ev->hello.n_tasks; i++)
			if (hello_needs(c, ev, i))
				return true;
	if (ev->idem_key.p || wants_past(ev) || is_long(ev) || joins_batch(ev))
		return true;
	if (ev->kind == EV_SUBMIT)
		for (size_t i = 0; i < ev->submit.n; i++)
			if (ev->submit.tasks[i].spec.key.p)
				return true;
	if (is_about_tasks(ev))
		for (size_t i = 0; i < ev->tasks.n; i++)
			if (!task_is_at_hand(c, ev, ev->tasks.ids[i]))
				return true;
	return false;
}

static void want_key(struct lane *l, rid queue, struct str key)
{
	GROW(l->keys, l->cap_keys, l->n_keys + 1);
	l->keys[l->n_keys++] = (struct key_ask){queue, key};
}

static void want_task(struct lane *l, rid id)
{
	GROW(l->ids, l->cap_ids, l->n_ids + 1);
	l->ids[l->n_ids++] = id;
}

static void want_batch(struct lane *l, rid id)
{
	for (size_t i = 0; i < l->n_batches; i++)
		if (l->batch_ids[i] == id)
			return;
	GROW(l->batch_ids, l->cap_batches, l->n_batches + 1);
	l->batch_ids[l->n_batches++] = id;
}

static void gather(struct core *c, struct pending *p)
{
	const struct event *ev = &p->event;
	struct lane *l = &c->lane;

	p->first_key = l->n_keys;
	l->has_long |= is_long(ev);
	if (wants_past(ev))
		l->past_wanted = p;
	if (joins_batch(ev))
		want_batch(l, ev->submit.batch);
	if (ev->kind == EV_HELLO)
		for (size_t i = 0; i < ev->hello.n_tasks; i++)
			if (hello_needs(c, ev, i))
				want_task(l, ev->hello.tasks[i].task);
	if (ev->idem_key.p)
		want_key(l, 0, ev->idem_key);
	if (ev->kind == EV_SUBMIT)
		for (size_t i = 0; i < ev->submit.n; i++)
			if (ev->submit.tasks[i].spec.key.p)
				want_key(l, ev->submit.tasks[i].spec.queue,
				    ev->submit.tasks[i].spec.key);
	if (is_about_tasks(ev))
		for (size_t i = 0; i < ev->tasks.n; i++)
			if (!task_is_at_hand(c, ev, ev->tasks.ids[i]))
				want_task(l, ev->tasks.ids[i]);
}

/* Of two requests with one idempotency key the second must find the first; a past is read for
 * one at a time; and nothing is committed while a long submit is taken in. */
static bool must_wait(const struct lane *l, const struct event *ev)
{
	const struct pending *p;

	if ((wants_past(ev) && l->past_wanted) || (is_long(ev) && l->has_long))
		return true;
	if (!ev->idem_key.p)
		return false;
	TAILQ_FOREACH (p, &l->round, in_lane)
		if (p->event.idem_key.p && str_eq(p->event.idem_key, ev->idem_key))
			return true;
	return false;
}

static void ask(struct core *c, struct effects *out)
{
	struct lane *l = &c->lane;
	struct read_ask *r;

	if (l->n_keys) {
		r = effects_read(out, READ_KEYS);
		r->number = l->keys_read = read_begin(c);
		r->n = l->n_keys;
		r->keys = l->keys; /* the array stays, and the commands have the strings */
	}
	if (l->n_ids || l->n_batches) {
		r = effects_read(out, READ_TASKS);
		r->number = l->tasks_read = read_begin(c);
		r->n = l->n_ids;
		r->ids = arena_memdup(&out->batch.arena, l->ids, l->n_ids * sizeof *l->ids);
		r->n_batches = l->n_batches;
		r->batches = arena_memdup(
		    &out->batch.arena, l->batch_ids, l->n_batches * sizeof *l->batch_ids);
	}
	if (l->past_wanted) {
		r = effects_read(out, READ_PARTS);
		r->number = l->past_read = read_begin(c);
		l->past_is_stale = false;
		r->parts = l->past_asked =
		    object_kinds[l->past_wanted->event.object.kind]->past->ask(
		        c, &l->past_wanted->event);
	}
}

/*
 * Nothing is committed while a long submit is taken in. So each begins a batch: rows of others wait
 * for one at most. It may begin while the batch before it is on its way to the store.
 */
static void await_next_batch(struct lane *l, struct effects *out)
{
	l->begins_after = out->batch.seq;
	out->go_on = true;
}

static void run_round(struct core *c, struct effects *out);

static void start(struct core *c, struct effects *out)
{
	struct lane *l = &c->lane;
	struct pending *p, *next;
	size_t n = 0;

	if (!TAILQ_EMPTY(&l->round) || TAILQ_EMPTY(&l->waiting))
		return;
	l->n_keys = l->n_ids = l->n_batches = 0;
	l->past_wanted = NULL;
	l->failed = l->has_long = false;
	TAILQ_FOREACH_SAFE (p, &l->waiting, in_lane, next) {
		if (n++ == ROUND_MAX || must_wait(l, &p->event))
			break;
		TAILQ_REMOVE(&l->waiting, p, in_lane);
		TAILQ_INSERT_TAIL(&l->round, p, in_lane);
		gather(c, p);
	}
	if (l->n_keys || l->n_ids || l->n_batches || l->past_wanted)
		ask(c, out);
	else if (l->has_long && out->batch.n)
		await_next_batch(l, out);
	else
		run_round(c, out); /* what they wanted has come into memory meanwhile */
}

/* A clock that was set back makes even the past fire. */
void lane_past_grows(struct core *c, rid object, int64_t at)
{
	const struct part_query *q = &c->lane.past_asked;

	if (q->object == object && at >= q->from && at < q->to)
		c->lane.past_is_stale = true;
}

void lane_push(struct core *c, const struct event *ev, struct effects *out)
{
	struct pending *p = xcalloc(1, sizeof *p);

	event_copy(p, ev);
	TAILQ_INSERT_TAIL(&c->lane.waiting, p, in_lane);
	start(c, out);
}

struct event *lane_find_hello(struct core *c, uint64_t link)
{
	struct pending *p;

	if (!c->start.parked_hellos)
		return NULL;
	TAILQ_FOREACH (p, &c->lane.waiting, in_lane)
		if (p->event.kind == EV_HELLO && p->event.link == link)
			return &p->event;
	TAILQ_FOREACH (p, &c->lane.round, in_lane)
		if (p->event.kind == EV_HELLO && p->event.link == link)
			return &p->event;
	return NULL;
}

static void pending_free(struct pending *p)
{
	arena_release(&p->arena);
	free(p);
}

static void fail(struct core *c, const struct pending *p, struct effects *out)
{
	struct reply *r;

	if (p->event.kind == EV_HELLO) {
		c->start.parked_hellos--;
		if (p->event.link)
			worker_refuse(p->event.link, false, false,
			    STR("the store could not be read: try again"), out);
		return;
	}
	if (!p->event.ticket)
		return;
	r = effects_reply(out, p->event.ticket);
	r->problem = arena_zalloc(&out->batch.arena, sizeof *r->problem);
	r->code = problem_set(r->problem, ERR_STORE, "the store could not be read");
	problem_hint(r->problem, "nothing was changed; try again");
}

static void forget_answers(struct lane *l)
{
	RB_INIT(&l->fresh); /* the answers are in the arena */
	arena_reset(&l->arena);
	idmap_release(&l->row_of);
	l->key_holders = NULL;
	l->rows = NULL;
	l->batches = NULL;
	l->holders = NULL;
	l->past = NULL;
	l->n_past = 0;
	l->past_asked.object = 0;
	l->past_wanted = NULL;
	l->n_keys = l->n_ids = l->n_batches = l->n_entered = 0;
}

/* The holders of keys, as they were read. False: there are more, and it is the others' turn. */
static bool enter_keys(struct core *c)
{
	struct lane *l = &c->lane;
	size_t left = l->key_holders ? l->n_keys - l->n_entered : 0;
	size_t n = l->has_long && left > c->o.submit_slice ? c->o.submit_slice : left;

	for (size_t end = l->n_entered + n; l->n_entered < end; l->n_entered++) {
		const struct key_ask *k = &l->keys[l->n_entered];

		if (k->queue && l->key_holders[l->n_entered])
			lane_take_key(c, k->queue, k->key, l->key_holders[l->n_entered]);
	}
	return n == left;
}

/* False: the round's long submit is taken in only in part. */
static bool run_next(struct core *c, struct pending *p, struct effects *out)
{
	c->seed = p->event.seed;
	if (c->lane.failed)
		fail(c, p, out);
	else if (is_long(&p->event) && !submit_slice(c, p, out))
		return false;
	else
		command_run(c, &p->event, p, out);
	TAILQ_REMOVE(&c->lane.round, p, in_lane);
	pending_free(p);
	return true;
}

static void run_round(struct core *c, struct effects *out)
{
	struct lane *l = &c->lane;
	struct pending *p;

	MUST(!l->midway || l->midway_seq == out->batch.seq);
	l->midway_seq = out->batch.seq;
	l->midway = !enter_keys(c);
	while (!l->midway && (p = TAILQ_FIRST(&l->round)))
		l->midway = !run_next(c, p, out);
	if (l->midway)
		return;
	forget_answers(l);
	start(c, out);
	/* only now: ghosts must outlive the answers that may speak of them */
	while (l->n_answered)
		read_end(c, l->answered[--l->n_answered]);
}

void lane_go_on(struct core *c, struct effects *out)
{
	struct lane *l = &c->lane;

	if (!l->midway && (!l->begins_after || l->begins_after == out->batch.seq))
		return;
	l->begins_after = 0;
	run_round(c, out);
}

static void keep_idem(struct lane *l, struct pending *p, const struct idem_row *found)
{
	struct idem_row *row = arena_memdup(&l->arena, found, sizeof *found);

	row->key = arena_str(&l->arena, found->key);
	row->result = arena_str(&l->arena, found->result);
	p->idem = row;
}

static void keep_keys(struct core *c, const struct event *ev)
{
	struct lane *l = &c->lane;
	struct pending *p;

	l->key_holders = arena_memdup(&l->arena, ev->keys.ids, l->n_keys * sizeof *l->key_holders);
	TAILQ_FOREACH (p, &l->round, in_lane)
		if (p->event.idem_key.p)
			keep_idem(l, p, &ev->keys.idem[p->first_key]);
}

static void keep_row(struct lane *l, size_t i, const struct task_row *row)
{
	row_copy(&task_table, &l->arena, row, 0, &l->rows[i]);
	if (row->id)
		idmap_put(&l->row_of, row->id, &l->rows[i]);
}

static void keep_rows(struct lane *l, const struct event *ev)
{
	l->rows = arena_alloc(&l->arena, l->n_ids * sizeof *l->rows);
	l->holders = arena_memdup(&l->arena, ev->rows.holders, l->n_ids * sizeof *l->holders);
	for (size_t i = 0; i < l->n_ids; i++)
		keep_row(l, i, &ev->rows.rows[i]);
	l->batches = arena_zalloc(&l->arena, (l->n_batches + 1) * sizeof *l->batches);
	for (size_t i = 0; i < l->n_batches; i++) {
		row_copy(&task_batch_table, &l->arena, &ev->rows.batches[i], 0, &l->batches[i]);
		l->batches[i].is_old = ev->rows.batches[i].is_old;
	}
}

static void keep_past(struct lane *l, const struct event *ev)
{
	const struct row_table *t = l->past_asked.table;
	const char *from = ev->parts.rows;
	char *to = arena_alloc(&l->arena, ev->parts.n * t->row_size);

	l->past = to;
	l->n_past = ev->parts.n;
	for (size_t at = 0; at < l->n_past * t->row_size; at += t->row_size)
		row_copy(t, &l->arena, from + at, 0, to + at);
}

/* Which read it is that was answered, and whether it failed. */
static uint64_t take_answer(struct core *c, const struct event *ev, bool *ret_failed)
{
	struct lane *l = &c->lane;
	bool failed = ev->kind == EV_KEYS_READ    ? ev->keys.failed
	              : ev->kind == EV_PARTS_READ ? ev->parts.failed
	                                          : ev->rows.failed;

	*ret_failed = failed;
	if (ev->kind == EV_KEYS_READ) {
		l->keys_read = 0;
		if (!failed)
			keep_keys(c, ev);
		return ev->keys.read;
	}
	if (ev->kind == EV_PARTS_READ) {
		l->past_read = 0;
		if (!failed)
			keep_past(l, ev);
		return ev->parts.read;
	}
	l->tasks_read = 0;
	if (!failed)
		keep_rows(l, ev);
	return ev->rows.read;
}

/* An answer to one of the round's reads; the last one sets the round going. */
void lane_read(struct core *c, const struct event *ev, struct effects *out)
{
	struct lane *l = &c->lane;
	bool failed;
	uint64_t number = take_answer(c, ev, &failed);

	l->answered[l->n_answered++] = number;
	l->failed |= failed;
	if (!l->keys_read && !l->tasks_read && !l->past_read)
		run_round(c, out);
}

struct task_batch_row *lane_batch(const struct core *c, rid id)
{
	const struct lane *l = &c->lane;

	for (size_t i = 0; l->batches && i < l->n_batches; i++)
		if (l->batches[i].id == id)
			return &l->batches[i];
	return NULL;
}

const struct task_row *lane_row(const struct core *c, rid task)
{
	return idmap_get(&c->lane.row_of, task);
}

static struct fresh_key *key_entry(const struct core *c, rid queue, struct str key)
{
	struct fresh_key probe = {.queue = queue, .key = key};

	return RB_FIND(fresh_keys, &((struct core *)c)->lane.fresh, &probe);
}

/* The live task that has this key: as read, unless memory knows that it has ended since. */
rid lane_key_holder(struct core *c, rid queue, struct str key)
{
	struct fresh_key *f = key_entry(c, queue, key);
	struct task *t = f ? task_find(c, f->id) : NULL;

	return !f || (t && task_is_ended(t->row.state.status)) ? 0 : f->id;
}

/*
 * The holder of an ended task's key now. One that was live when its round was made was not asked
 * for: then it had the key itself, and only somebody of this round can have taken it since.
 */
rid lane_holder_of(struct core *c, const struct task *t)
{
	const struct task_row *row = lane_row(c, t->row.id);

	if (key_entry(c, t->row.spec.queue, t->row.spec.key))
		return lane_key_holder(c, t->row.spec.queue, t->row.spec.key);
	return row ? c->lane.holders[row - c->lane.rows] : 0;
}

void lane_take_key(struct core *c, rid queue, struct str key, rid id)
{
	struct lane *l = &c->lane;
	struct fresh_key *f = key_entry(c, queue, key);

	if (!f) {
		f = arena_zalloc(&l->arena, sizeof *f);
		f->queue = queue;
		f->key = arena_str(&l->arena, key);
		RB_INSERT(fresh_keys, &l->fresh, f);
	}
	f->id = id;
}
