/* SPDX-License-Identifier: Apache-2.0 */
#include "world.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"

#define FOR_EVER (INT64_MAX / 16)

static int by_id(const void *key, const void *row)
{
	rid id = *(const rid *)key, other = ((const struct task_row *)row)->id;

	return id < other ? -1 : id > other;
}

struct task_row *world_task(struct world *w, rid id)
{
	return bsearch(&id, w->tasks, w->n_tasks, sizeof w->tasks[0], by_id);
}

static void put_queue(struct world *w, const struct queue_row *q)
{
	size_t i = 0;

	while (i < w->n_queues && w->queues[i].id != q->id)
		i++;
	if (i == w->n_queues)
		w->n_queues++;
	row_copy(&queue_table, &w->rows_arena, q, 0, &w->queues[i]);
}

static void put_worker(struct world *w, const struct worker_row *row)
{
	size_t i = 0;

	while (i < w->n_workers && w->workers[i].id != row->id)
		i++;
	if (i == w->n_workers)
		w->n_workers++;
	row_copy(&worker_table, &w->rows_arena, row, 0, &w->workers[i]);
}

static void rerank(struct world *w, rid queue, int order)
{
	for (size_t i = 0; i < w->n_tasks; i++)
		if (w->tasks[i].spec.queue == queue && w->tasks[i].state.status == TASK_QUEUED)
			w->tasks[i].state.rank =
			    order == ORDER_PRIORITY ? -(int64_t)w->tasks[i].spec.priority : 0;
}

static void update_task(struct world *w, const struct task_row *row)
{
	struct task_row *t = world_task(w, row->id);
	struct task_row copy;

	assert_non_null(t);
	copy = *t;
	copy.state = row->state;
	copy.spec.priority = row->spec.priority;
	row_copy(&task_table, &w->rows_arena, &copy, 0, t);
}

static void put_meta(struct world *w, const struct meta_row *m)
{
	size_t i = 0;

	while (i < w->n_meta && !str_eq(w->meta[i].name, m->name))
		i++;
	if (i == w->n_meta)
		w->n_meta++;
	w->meta[i].name = arena_str(&w->rows_arena, m->name);
	w->meta[i].value = arena_str(&w->rows_arena, m->value);
}

struct schedule_row *world_schedule(struct world *w, rid id)
{
	for (size_t i = 0; i < w->n_schedules; i++)
		if (w->schedules[i].id == id)
			return &w->schedules[i];
	return NULL;
}

static void put_schedule(struct world *w, const struct schedule_row *row)
{
	struct schedule_row *at = world_schedule(w, row->id);

	if (!at)
		at = &w->schedules[w->n_schedules++];
	row_copy(&schedule_table, &w->rows_arena, row, 0, at);
}

static void put_progress(struct world *w, const struct schedule_row *row)
{
	struct schedule_row *at = world_schedule(w, row->id);

	assert_non_null(at);
	at->state = row->state;
	at->progress = row->progress;
}

static void put_tick(struct world *w, const struct tick_row *row)
{
	size_t i = 0;

	while (i < w->n_ticks &&
	       (w->ticks[i].schedule != row->schedule || w->ticks[i].tick_s != row->tick_s ||
	           w->ticks[i].offset_s != row->offset_s))
		i++;
	assert_true(i < WORLD_TASKS);
	/* what has its task never gets another, nor loses it */
	if (i < w->n_ticks)
		assert_true(!w->ticks[i].task);
	else
		w->n_ticks++;
	w->ticks[i] = *row;
	w->ticks[i].reason = arena_str(&w->rows_arena, row->reason);
}

static void drop_schedule(struct world *w, rid id)
{
	struct schedule_row *at = world_schedule(w, id);
	size_t n = 0;

	*at = w->schedules[--w->n_schedules];
	for (size_t i = 0; i < w->n_ticks; i++)
		if (w->ticks[i].schedule != id)
			w->ticks[n++] = w->ticks[i];
	w->n_ticks = n;
}

static void insert_task(struct world *w, const struct task_row *row)
{
	assert_true(w->n_tasks < WORLD_TASKS);
	assert_true(!w->n_tasks || w->tasks[w->n_tasks - 1].id < row->id);
	row_copy(&task_table, &w->rows_arena, row, 0, &w->tasks[w->n_tasks++]);
}

static void put(struct world *w, const struct row_table *t, const void *row)
{
	switch (t->number) {
	case TABLE_QUEUE: put_queue(w, row); break;
	case TABLE_WORKER: put_worker(w, row); break;
	case TABLE_SCHEDULE: put_schedule(w, row); break;
	case TABLE_TICK: put_tick(w, row); break;
	case TABLE_EVENT: w->last_event = ((const struct event_row *)row)->seq; break;
	case TABLE_OUTPUT: w->n_outputs++; break;
	case TABLE_META: put_meta(w, row); break;
	case TABLE_IDEM: row_copy(t, &w->rows_arena, row, 0, &w->idem[w->n_idem++]); break;
	default: break;
	}
}

static void drop(struct world *w, const struct row_table *t, rid id)
{
	if (t == &schedule_table)
		drop_schedule(w, id);
	for (size_t i = 0; t == &worker_table && i < w->n_workers; i++)
		if (w->workers[i].id == id)
			w->workers[i] = w->workers[--w->n_workers];
	for (size_t i = 0; t == &queue_table && i < w->n_queues; i++)
		if (w->queues[i].id == id)
			w->queues[i] = w->queues[--w->n_queues];
}

static void apply(struct world *w, const struct row_op *op)
{
	switch (op->verb) {
	case ROW_INSERT: insert_task(w, op->row); break;
	case ROW_PUT: put(w, op->table, op->row); break;
	case ROW_STATE:
		if (op->table == &task_table)
			update_task(w, op->row);
		else if (op->table == &schedule_table)
			put_progress(w, op->row);
		break;
	case ROW_DELETE: drop(w, op->table, op->id); break;
	case ROW_RERANK: rerank(w, op->id, op->order); break;
	default: break;
	}
}

/* Messages, replies and reads are copied flat: stories look at numbers, not at borrowed strings. */
void world_commit(struct world *w)
{
	struct effects *fx = &w->fx;
	bool reads = fx->n_reads > 0, go_on = fx->go_on;
	uint64_t checks[64][2];
	size_t n_checks = 0;

	for (size_t i = 0; i < fx->batch.n; i++)
		apply(w, &fx->batch.rows[i]);
	for (size_t i = 0; i < fx->n_messages; i++) {
		w->sent[w->n_sent++ % WORLD_TASKS] = fx->messages[i];
		if (fx->messages[i].kind == MSG_CHECK && !w->sick && n_checks < 64) {
			checks[n_checks][0] = fx->messages[i].link;
			checks[n_checks++][1] = fx->messages[i].check.number;
		}
	}
	for (size_t i = 0; i < fx->n_replies; i++) {
		struct reply *r = &w->replies[w->n_replies++ % 256];

		*r = fx->replies[i];
		r->outcomes = arena_memdup(&w->rows_arena, r->outcomes, r->n * sizeof *r->outcomes);
		r->problem = arena_memdup(&w->rows_arena, r->problem, sizeof *r->problem);
	}
	for (size_t i = 0; i < fx->n_reads; i++) {
		struct read_ask *a = &w->reads[w->n_reads++];

		*a = fx->reads[i];
		a->ids = arena_memdup(&w->rows_arena, a->ids, a->ids ? a->n * sizeof *a->ids : 0);
		if (a->keys) {
			struct key_ask *keys =
			    arena_memdup(&w->rows_arena, a->keys, a->n * sizeof *keys);

			for (size_t k = 0; k < a->n; k++)
				keys[k].key = arena_str(&w->rows_arena, keys[k].key);
			a->keys = keys;
		}
	}
	w->n_notices += fx->n_notices;
	for (size_t i = 0; i < fx->n_notices && w->n_told < 256; i++)
		w->told[w->n_told++] = fx->notices[i].kind;
	if (fx->n_notices)
		w->last_notice = fx->notices[fx->n_notices - 1].kind;
	effects_reset(fx, ++w->seq);
	for (size_t i = 0; i < n_checks; i++)
		world_step(w, &(struct event){.kind = EV_CHECKED,
		                  .link = checks[i][0],
		                  .checked = {.number = checks[i][1], .ok = true}});
	if (reads && !w->hold_reads)
		world_answer_reads(w);
	if (go_on)
		world_step(w, &(struct event){.kind = EV_GO_ON});
}

void world_step(struct world *w, struct event *ev)
{
	ev->now_ms = w->now_ms;
	ev->mono_ms = w->mono_ms;
	ev->seed = ++w->seed * 0x9e3779b97f4a7c15ull;
	core_step(w->core, ev, &w->fx);
	if (!w->hold && !core_is_midway(w->core))
		world_commit(w);
}

static const struct read_ask *asking;

static int head_order(const void *a, const void *b)
{
	const struct task_row *x = a, *y = b;

	if (x->state.rank != y->state.rank)
		return x->state.rank < y->state.rank ? -1 : 1;
	if (asking->head.order == ORDER_LIFO)
		return x->id > y->id ? -1 : 1;
	return x->id < y->id ? -1 : 1;
}

static int due_order(const void *a, const void *b)
{
	const struct task_row *x = a, *y = b;

	if (x->state.due_ms != y->state.due_ms)
		return x->state.due_ms < y->state.due_ms ? -1 : 1;
	return x->id < y->id ? -1 : 1;
}

static void answer_rows(struct world *w, const struct read_ask *a)
{
	bool due = a->kind == READ_DUE;
	rid queue = due ? a->due.queue : a->head.queue;
	uint32_t limit = due ? a->due.limit : a->head.limit;
	bool after = due ? a->due.after : a->head.after;
	struct task_row last = {.id = due ? a->due.id : a->head.id,
	    .state = {.rank = a->head.rank, .due_ms = a->due.due_ms}};
	struct task_row *rows = xmalloc((w->n_tasks + 1) * sizeof *rows);
	struct event ev = {.kind = due ? EV_DUE_READ : EV_HEAD_READ};
	int (*cmp)(const void *, const void *) = due ? due_order : head_order;
	size_t n = 0;

	asking = a;
	for (size_t i = 0; i < w->n_tasks; i++) {
		const struct task_row *t = &w->tasks[i];

		if (t->spec.queue == queue && t->state.status == TASK_QUEUED &&
		    (t->state.due_ms > 0) == due &&
		    (!after || (t->id != last.id && cmp(t, &last) > 0)))
			rows[n++] = *t;
	}
	qsort(rows, n, sizeof *rows, cmp);
	ev.rows.read = a->number;
	ev.rows.queue = queue;
	ev.rows.rows = rows;
	ev.rows.n = n < limit ? n : limit;
	world_step(w, &ev);
	free(rows);
}

static rid find_key(struct world *w, rid queue, struct str key)
{
	for (size_t i = 0; i < w->n_tasks; i++)
		if (w->tasks[i].spec.queue == queue && w->tasks[i].spec.key.p &&
		    str_eq(w->tasks[i].spec.key, key) && !task_is_ended(w->tasks[i].state.status))
			return w->tasks[i].id;
	return 0;
}

static void answer_keys(struct world *w, const struct read_ask *a)
{
	rid *ids = xcalloc(a->n + 1, sizeof *ids);
	struct idem_row *idem = xcalloc(a->n + 1, sizeof *idem);
	struct event ev = {.kind = EV_KEYS_READ};

	for (size_t i = 0; i < a->n; i++) {
		if (a->keys[i].queue)
			ids[i] = find_key(w, a->keys[i].queue, a->keys[i].key);
		for (size_t k = 0; !a->keys[i].queue && k < w->n_idem; k++)
			if (str_eq(w->idem[k].key, a->keys[i].key))
				idem[i] = w->idem[k];
	}
	ev.keys.read = a->number;
	ev.keys.ids = ids;
	ev.keys.idem = idem;
	world_step(w, &ev);
	free(ids);
	free(idem);
}

static void answer_tasks(struct world *w, const struct read_ask *a)
{
	struct task_row *rows = xcalloc(a->n + 1, sizeof *rows);
	rid *holders = xcalloc(a->n + 1, sizeof *holders);
	struct event ev = {.kind = EV_TASKS_READ};

	for (size_t i = 0; i < a->n; i++) {
		struct task_row *t = world_task(w, a->ids[i]);

		if (t)
			rows[i] = *t;
		if (t && t->spec.key.p)
			holders[i] = find_key(w, t->spec.queue, t->spec.key);
	}
	ev.rows.read = a->number;
	ev.rows.rows = rows;
	ev.rows.holders = holders;
	ev.rows.n = a->n;
	world_step(w, &ev);
	free(rows);
	free(holders);
}

static int by_tick(const void *a, const void *b)
{
	const struct tick_row *x = a, *y = b;

	return x->tick_s < y->tick_s ? -1 : x->tick_s > y->tick_s;
}

static void answer_parts(struct world *w, const struct read_ask *a)
{
	struct tick_row *rows = xcalloc(w->n_ticks + 1, sizeof *rows);
	struct event ev = {.kind = EV_PARTS_READ};
	size_t n = 0;

	for (size_t i = 0; i < w->n_ticks; i++)
		if (w->ticks[i].schedule == a->parts.object &&
		    w->ticks[i].until_s >= a->parts.from && w->ticks[i].tick_s < a->parts.to)
			rows[n++] = w->ticks[i];
	qsort(rows, n, sizeof *rows, by_tick);
	ev.parts.read = a->number;
	ev.parts.rows = rows;
	ev.parts.n = n;
	world_step(w, &ev);
	free(rows);
}

void world_answer_reads(struct world *w)
{
	while (w->n_reads) {
		struct read_ask a = w->reads[0];

		memmove(w->reads, w->reads + 1, --w->n_reads * sizeof w->reads[0]);
		if (a.kind == READ_KEYS)
			answer_keys(w, &a);
		else if (a.kind == READ_TASKS)
			answer_tasks(w, &a);
		else if (a.kind == READ_PARTS)
			answer_parts(w, &a);
		else
			answer_rows(w, &a);
	}
}

void world_advance(struct world *w, int64_t ms)
{
	int64_t end = w->mono_ms + ms;

	for (int64_t at = core_wake_ms(w->core); at <= end; at = core_wake_ms(w->core)) {
		if (at > w->mono_ms) {
			w->now_ms += at - w->mono_ms;
			w->mono_ms = at;
		}
		world_step(w, &(struct event){.kind = EV_WAKE});
	}
	w->now_ms += end - w->mono_ms;
	w->mono_ms = end;
}

static void load_row(struct world *w, const struct row_table *t, const void *row)
{
	world_step(w, &(struct event){.kind = EV_LOAD_ROW, .load = {t, row}});
}

static void load(struct world *w)
{
	struct event ev;

	for (size_t i = 0; i < w->n_meta; i++)
		load_row(w, &meta_table, &w->meta[i]);
	for (size_t i = 0; i < w->n_queues; i++)
		load_row(w, &queue_table, &w->queues[i]);
	for (size_t i = 0; i < w->n_tasks; i++) {
		ev = (struct event){.kind = EV_LOAD_COUNT,
		    .count.queue = w->tasks[i].spec.queue,
		    .count.status = w->tasks[i].state.status,
		    .count.n = 1};
		if (!task_is_ended(ev.count.status))
			world_step(w, &ev);
	}
	for (size_t i = 0; i < w->n_workers; i++)
		load_row(w, &worker_table, &w->workers[i]);
	if (w->zone_name)
		world_step(w, &(struct event){.kind = EV_ZONE,
		                  .zone = {.name = str_of(w->zone_name), .zone = w->zone}});
	for (size_t i = 0; i < w->n_schedules; i++)
		load_row(w, &schedule_table, &w->schedules[i]);
	for (size_t i = 0; i < w->n_tasks; i++)
		if (w->tasks[i].spec.owner.id && !task_is_ended(w->tasks[i].state.status))
			world_step(w, &(struct event){.kind = EV_LOAD_OWNED,
			                  .owned = {w->tasks[i].spec.owner, w->tasks[i].id,
			                      w->tasks[i].spec.queue}});
	for (size_t i = 0; i < w->n_tasks; i++)
		if (task_phase(w->tasks[i].state.status) == PHASE_CLAIMED ||
		    task_phase(w->tasks[i].state.status) == PHASE_RUNNING)
			load_row(w, &task_table, &w->tasks[i]);
	ev = (struct event){.kind = EV_LOAD_DONE,
	    .loaded.last_event = w->last_event,
	    .loaded.key_is_new = w->key_is_new,
	    .loaded.last_id = w->n_tasks ? w->tasks[w->n_tasks - 1].id : 0};
	for (size_t i = 0; i < w->n_queues; i++)
		if (w->queues[i].id > ev.loaded.last_id)
			ev.loaded.last_id = w->queues[i].id;
	for (size_t i = 0; i < w->n_workers; i++)
		if (w->workers[i].id > ev.loaded.last_id)
			ev.loaded.last_id = w->workers[i].id;
	for (size_t i = 0; i < w->n_schedules; i++)
		if (w->schedules[i].id > ev.loaded.last_id)
			ev.loaded.last_id = w->schedules[i].id;
	world_step(w, &ev);
}

struct world *world_new(const struct core_options *o)
{
	struct world *w = xcalloc(1, sizeof *w);

	w->now_ms = 1700000000000;
	w->mono_ms = 1000000;
	if (o)
		w->options = *o;
	if (!w->options.timeouts.heartbeat_ms) /* stories that are not about health */
		w->options.timeouts =
		    (struct timeouts){FOR_EVER, FOR_EVER, FOR_EVER, FOR_EVER, FOR_EVER};
	w->core = core_new(&w->options);
	effects_reset(&w->fx, ++w->seq);
	load(w);
	return w;
}

void world_restart(struct world *w)
{
	effects_reset(&w->fx, ++w->seq); /* what was not committed never happened */
	w->n_reads = 0;
	core_free(w->core);
	w->core = core_new(&w->options);
	w->hold = false;
	load(w);
}

void world_free(struct world *w)
{
	core_free(w->core);
	effects_release(&w->fx);
	arena_release(&w->rows_arena);
	free(w);
}

const struct reply *world_reply(struct world *w)
{
	const struct reply *r;

	assert_true(w->n_replies > 0);
	r = &w->replies[(w->n_replies - 1) % 256];
	assert_int_equal(r->ticket, w->last_ticket);
	return r;
}

rid world_queue(struct world *w, const char *name, int threads, enum queue_order order)
{
	struct queue_change ch = {.fields = QUEUE_BIT(name) | QUEUE_BIT(threads) | QUEUE_BIT(order),
	    .row = {.name = str_of(name), .threads = threads, .order = (int32_t)order}};
	struct event ev = {
	    .kind = EV_CREATE, .object.kind = KIND_QUEUE, .ticket = ++w->last_ticket};

	ev.object.row = &ch.row;
	ev.object.fields = ch.fields;
	world_step(w, &ev);
	assert_int_equal(world_reply(w)->code, 0);
	return world_reply(w)->id;
}

const struct reply *world_submit(struct world *w, const struct submit_task *tasks, size_t n)
{
	struct event ev = {.kind = EV_SUBMIT, .ticket = ++w->last_ticket};

	ev.submit.tasks = tasks;
	ev.submit.n = n;
	world_step(w, &ev);
	return w->hold ? NULL : world_reply(w);
}

static struct submit_task plain(rid queue)
{
	return (struct submit_task){.status = TASK_QUEUED,
	    .spec = {.queue = queue,
	        .backoff_ms = -1,
	        .backoff_max_ms = -1,
	        .body = STR("{\"command\":[\"true\"]}")}};
}

rid world_submit_one(struct world *w, rid queue)
{
	struct submit_task t = plain(queue);
	const struct reply *r = world_submit(w, &t, 1);

	return r ? r->outcomes[0].id : 0;
}

rid world_submit_key(struct world *w, rid queue, const char *key)
{
	struct submit_task t = plain(queue);
	const struct reply *r;

	t.spec.key = str_of(key);
	r = world_submit(w, &t, 1);
	return r ? r->outcomes[0].id : 0;
}

const struct reply *world_tasks(struct world *w, enum event_kind kind, const rid *ids, size_t n)
{
	struct event ev = {.kind = kind, .ticket = ++w->last_ticket};

	ev.tasks.ids = ids;
	ev.tasks.n = n;
	world_step(w, &ev);
	return world_reply(w);
}

void world_hello(struct world *w, uint64_t link, const char *shard, uint64_t instance,
    int maxthreads, const struct link_held *held, size_t n)
{
	struct worker_facts f = {.shard = str_of(shard),
	    .instance = instance,
	    .started_ms = (int64_t)instance,
	    .start = (int64_t)instance,
	    .lock = str_of(shard),
	    .key = str_of(shard),
	    .plugins = STR("command\n"),
	    .maxthreads = maxthreads};
	struct event ev = {.kind = EV_HELLO};

	ev.link = link;
	ev.hello.facts = f;
	ev.hello.tasks = held;
	ev.hello.n_tasks = n;
	world_step(w, &ev);
}

void world_link_lost(struct world *w, uint64_t link)
{
	struct event ev = {.kind = EV_LINK_LOST};

	ev.link = link;
	world_step(w, &ev);
}

void world_beat_with(struct world *w, uint64_t link, uint64_t number, const struct set_id *set)
{
	struct event ev = {.kind = EV_BEAT};

	ev.link = link;
	ev.beat.number = number;
	if (set)
		ev.beat.set = *set;
	world_step(w, &ev);
}

/* What the server told last on this link. */
void world_beat(struct world *w, uint64_t link, uint64_t number)
{
	struct set_id set = {0};

	for (size_t i = 0; i < w->n_sent && i < WORLD_TASKS; i++) {
		if (w->sent[i].link != link)
			continue;
		if (w->sent[i].kind == MSG_WELCOME)
			set = w->sent[i].welcome.news.set;
		if (w->sent[i].kind == MSG_BEAT_ACK)
			set = w->sent[i].beat_ack.news.set;
	}
	world_beat_with(w, link, number, &set);
}

void world_started(struct world *w, uint64_t link, rid task, int64_t token)
{
	struct event ev = {.kind = EV_STARTED};

	ev.link = link;
	ev.started.task = task;
	ev.started.token = token;
	ev.started.started_ms = w->now_ms;
	world_step(w, &ev);
}

void world_ended(struct world *w, uint64_t link, rid task, int64_t token, int status)
{
	struct event ev = {.kind = EV_ENDED};

	ev.link = link;
	ev.ended.task = task;
	ev.ended.token = token;
	ev.ended.status = status;
	ev.ended.exit_code = status == TASK_SUCCEEDED ? 0 : 1;
	ev.ended.started_ms = ev.ended.ended_ms = w->now_ms;
	world_step(w, &ev);
}

const struct message *world_sent(struct world *w, enum message_kind kind, size_t i)
{
	for (size_t k = 0; k < w->n_sent; k++)
		if (w->sent[k].kind == kind && i-- == 0)
			return &w->sent[k];
	return NULL;
}

size_t world_count_sent(struct world *w, enum message_kind kind)
{
	size_t n = 0;

	for (size_t k = 0; k < w->n_sent; k++)
		n += w->sent[k].kind == kind;
	return n;
}

void world_forget_sent(struct world *w)
{
	w->n_sent = 0;
}

struct queue_counts world_counts(struct world *w, rid queue)
{
	struct queue_counts c;

	core_queue_counts(w->core, queue, &c);
	return c;
}
