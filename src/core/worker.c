/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Workers: who they are, and what their coming and going means for the tasks they hold.
 *
 * A hello names every task that the instance holds: that is the truth about it. What we believed
 * it had and it does not name was never started, for a worker lists a task from the moment it
 * reads the order until its end is acknowledged, and an order on a broken connection is never
 * read later. A newer instance under the same lock proves that the older one is dead.
 */
#include "core/internal.h"

#include <stdlib.h>
#include <string.h>

int worker_id_cmp(const struct worker *a, const struct worker *b)
{
	return a->row.id < b->row.id ? -1 : a->row.id > b->row.id;
}

int worker_name_cmp(const struct worker *a, const struct worker *b)
{
	return str_cmp(a->row.facts.shard, b->row.facts.shard);
}

RB_GENERATE(worker_ids, worker, by_id, worker_id_cmp)
RB_GENERATE(worker_names, worker, by_name, worker_name_cmp)

struct worker *worker_find(const struct core *c, rid id)
{
	struct worker probe = {.row.id = id};

	return RB_FIND(worker_ids, &((struct core *)c)->workers, &probe);
}

struct worker *worker_find_name(const struct core *c, struct str shard)
{
	struct worker probe = {.row.facts.shard = shard};

	return RB_FIND(worker_names, &((struct core *)c)->worker_names, &probe);
}

struct worker *worker_by_link(const struct core *c, uint64_t link)
{
	return link ? idmap_get(&c->links, link) : NULL;
}

#define N_FACT_STRINGS 10

static void fact_strings(struct worker_facts *f, struct str *ret_fields[N_FACT_STRINGS])
{
	struct str *all[N_FACT_STRINGS] = {&f->shard, &f->lock, &f->host, &f->zone, &f->target,
	    &f->version, &f->labels, &f->plugins, &f->active_queues, &f->ignore_queues};

	memcpy(ret_fields, all, sizeof all);
}

/* Copies the facts with their strings in one allocation; the old strings are not freed here. */
static void set_facts(struct worker *w, const struct worker_facts *f)
{
	struct str *fields[N_FACT_STRINGS];
	size_t total = 1;
	char *at;

	w->row.facts = *f;
	fact_strings(&w->row.facts, fields);
	for (int i = 0; i < N_FACT_STRINGS; i++)
		total += fields[i]->n + 1;
	at = w->strings = xmalloc(total);
	for (int i = 0; i < N_FACT_STRINGS; i++) {
		if (!fields[i]->p)
			continue;
		memcpy(at, fields[i]->p, fields[i]->n);
		at[fields[i]->n] = 0;
		fields[i]->p = at;
		at += fields[i]->n + 1;
	}
}

struct worker *worker_add(struct core *c, const struct worker_row *row)
{
	struct worker *w = xcalloc(1, sizeof *w);

	w->row = *row;
	set_facts(w, &row->facts);
	w->state = WORKER_AWAY;
	TAILQ_INIT(&w->tasks);
	MUST(!RB_INSERT(worker_ids, &c->workers, w));
	MUST(!RB_INSERT(worker_names, &c->worker_names, w));
	return w;
}

static void purge_eligible(struct core *c, const struct worker *w)
{
	struct queue *q;

	RB_FOREACH (q, queue_ids, &c->queues) {
		size_t kept = 0;

		for (size_t i = 0; i < q->n_eligible; i++)
			if (q->eligible[i].worker != w)
				q->eligible[kept++] = q->eligible[i];
		q->n_eligible = kept;
	}
}

void worker_free(struct core *c, struct worker *w)
{
	MUST(TAILQ_EMPTY(&w->tasks));
	purge_eligible(c, w);
	heap_del(&c->mono_timers, &w->lose);
	if (w->link)
		idmap_del(&c->links, w->link);
	RB_REMOVE(worker_ids, &c->workers, w);
	RB_REMOVE(worker_names, &c->worker_names, w);
	free(w->strings);
	free(w);
}

int32_t worker_maxthreads(const struct worker *w)
{
	return w->row.maxthreads_is_set ? w->row.maxthreads_set : w->row.facts.maxthreads;
}

bool worker_has_room(const struct worker *w)
{
	int32_t max = worker_maxthreads(w);

	return !w->leaving && (max < 0 || w->running < max);
}

/* Lists may name a queue or give its id. */
static bool names_queue(const struct core *c, struct str list, const struct queue *q)
{
	char id[ID_TEXT];

	return list.n && (lines_has(list, q->row.name) ||
	                     lines_has(list, str_of(id_format(&c->ids, q->row.id, id))));
}

bool worker_serves(
    const struct core *c, const struct worker *w, const struct queue *q, const char **ret_why)
{
	const struct worker_facts *f = &w->row.facts;
	const char *why = NULL;

	if (!lines_has(f->plugins, q->row.plugin))
		why = "does not allow the plugin";
	else if (f->active_queues.n && !names_queue(c, f->active_queues, q))
		why = "serves only its activequeues";
	else if (!f->active_queues.n && names_queue(c, f->ignore_queues, q))
		why = "has the queue among its ignorequeues";
	if (ret_why)
		*ret_why = why;
	return !why;
}

void worker_heard(struct core *c, struct worker *w)
{
	w->heard_ms = c->mono_ms;
	w->row.last_seen_ms = c->now_ms;
}

static void refuse(
    struct core *c, const struct event *ev, bool die, struct str reason, struct effects *out)
{
	struct message *m = effects_message(out, MSG_REFUSED, ev->hello.link);

	m->why.reason = arena_str(&out->batch.arena, reason);
	m->why.die = die;
}

/* Its processes are certainly gone and nobody can say how they ended. */
static void lose_tasks(struct core *c, struct worker *w, struct str reason, struct effects *out)
{
	struct task *t;

	while ((t = TAILQ_FIRST(&w->tasks))) {
		int end = t->row.state.wish == WISH_CANCEL ? TASK_CANCELLED : TASK_ORPHANED;

		task_end_attempt(c, t, end, reason, true, out);
	}
	place_room(c);
}

static void kill_unknown(const struct event *ev, const struct held_task *h, struct effects *out)
{
	struct message *m = effects_message(out, MSG_KILL, ev->hello.link);

	m->task = h->task;
	m->token = h->token;
	m->why.reason = STR("the server does not know this attempt any more");
	m->why.forget = true;
}

static void held_by_worker(struct core *c, const struct event *ev, struct worker *w,
    const struct held_task *h, struct effects *out)
{
	struct task *t = task_find(c, h->task);

	if (!t || t->worker != w || t->row.state.token != h->token) {
		if (!h->ended) /* an end is reported again and acknowledged */
			kill_unknown(ev, h, out);
		return;
	}
	t->seen = c->hellos;
	if (h->started_ms && t->row.state.status == TASK_CLAIMED) {
		t->row.state.started_ms = h->started_ms;
		task_move(c, t, TASK_RUNNING, STR_NULL, out);
	}
	if (t->row.state.wish == WISH_CANCEL) {
		struct message *m = effects_message(out, MSG_KILL, ev->hello.link);

		m->task = h->task;
		m->token = h->token;
		m->why.reason = STR("cancelled");
	}
}

static void reconcile(struct core *c, const struct event *ev, struct worker *w, struct effects *out)
{
	struct task *t, *next;

	c->hellos++;
	for (size_t i = 0; i < ev->hello.n; i++)
		held_by_worker(c, ev, w, &ev->hello.tasks[i], out);
	TAILQ_FOREACH_SAFE (t, &w->tasks, on_worker, next)
		if (t->seen != c->hellos)
			task_give_back(c, t, STR("the worker never received it"), 0, out);
}

/* Also while it is connected: a machine that vanishes does not close its connections. */
static void watch_silence(struct core *c, struct worker *w)
{
	heap_put(&c->mono_timers, &w->lose, w->heard_ms + c->o.lose_after_ms, w->row.id);
}

static void welcome(struct core *c, const struct event *ev, struct worker *w, struct effects *out)
{
	struct message *m;

	if (w->link) {
		idmap_del(&c->links, w->link);
		m = effects_message(out, MSG_REFUSED, w->link);
		m->why.reason = STR("a newer connection of this worker has taken over");
	}
	w->link = ev->hello.link;
	idmap_put(&c->links, w->link, w);
	w->state = WORKER_CONNECTED;
	w->leaving = false;
	w->generation++;
	worker_heard(c, w);
	watch_silence(c, w);
	w->row.version++;
	save_worker(c, w, out);
	m = effects_message(out, MSG_WELCOME, w->link);
	m->welcome.worker = w->row.id;
	m->welcome.heartbeat_ms = c->o.heartbeat_ms;
	m->welcome.lose_after_ms = c->o.lose_after_ms;
	m->welcome.maxthreads = worker_maxthreads(w);
	place_worker_joined(c, w);
	place_room(c);
}

/* NULL: it may take the name over; otherwise why not. */
static const char *replacement_refused(const struct worker *w, const struct worker_facts *f)
{
	if (w->state == WORKER_LOST || w->row.facts.instance == f->instance)
		return NULL;
	if (!str_eq(w->row.facts.lock, f->lock))
		return "another worker has this name and is not lost: give this one another --name";
	if (f->started_ms < w->row.facts.started_ms)
		return "a newer process of this worker has taken over";
	return NULL;
}

static struct worker *first_hello(struct core *c, const struct event *ev, struct effects *out)
{
	struct worker_row row = {.facts = *ev->hello.facts,
	    .first_seen_ms = c->now_ms,
	    .version = 0,
	    .maxthreads_set = -1};
	struct worker *w;

	row.id = c->last_id = id_next(c->last_id, c->now_ms);
	w = worker_add(c, &row);
	audit(c, "worker.joined", row.facts.shard, 0, row.id, STR("reeve"),
	    detail_of(&out->batch.arena, "host", row.facts.host), out);
	return w;
}

/* The name's tree is keyed by a string that set_facts() frees: take it out meanwhile. */
static void adopt_facts(struct core *c, struct worker *w, const struct worker_facts *f)
{
	char *old = TAKE(w->strings);

	RB_REMOVE(worker_names, &c->worker_names, w);
	set_facts(w, f);
	RB_INSERT(worker_names, &c->worker_names, w);
	free(old);
}

void worker_hello(struct core *c, const struct event *ev, struct effects *out)
{
	const struct worker_facts *f = ev->hello.facts;
	struct worker *w = worker_find_name(c, f->shard);
	const char *why = w ? replacement_refused(w, f) : NULL;
	bool same;

	if (why) {
		refuse(c, ev, true, str_of(why), out);
		return;
	}
	if (!w)
		w = first_hello(c, ev, out);
	same = w->row.facts.instance == f->instance;
	if (same && w->state == WORKER_LOST) {
		/* its tasks were given up: it must not go on with them */
		refuse(c, ev, true, STR("this worker was declared lost; it must start anew"), out);
		return;
	}
	adopt_facts(c, w, f);
	if (!same)
		lose_tasks(c, w, STR("the worker was restarted"), out);
	else if (w->state == WORKER_AWAY && w->row.version > 0)
		audit(c, "worker.returned", f->shard, 0, w->row.id, STR("reeve"), STR_NULL, out);
	welcome(c, ev, w, out);
	reconcile(c, ev, w, out);
}

void worker_link_lost(struct core *c, const struct event *ev, struct effects *out)
{
	struct worker *w = worker_by_link(c, ev->beat.link);

	if (!w)
		return;
	idmap_del(&c->links, w->link);
	w->link = 0;
	w->state = WORKER_AWAY;
	w->generation++;
	watch_silence(c, w);
	save_worker(c, w, out);
	audit(c, "worker.away", w->row.facts.shard, 0, w->row.id, STR("reeve"), STR_NULL, out);
}

void worker_beat(struct core *c, const struct event *ev, struct effects *out)
{
	struct worker *w = worker_by_link(c, ev->beat.link);

	if (!w)
		return;
	worker_heard(c, w);
	w->leaving = ev->beat.leaving;
	effects_message(out, MSG_BEAT_ACK, w->link)->beat = ev->beat.number;
}

static void lose(struct core *c, struct worker *w, struct str reason, struct effects *out)
{
	w->state = WORKER_LOST;
	heap_del(&c->mono_timers, &w->lose);
	save_worker(c, w, out);
	audit(c, "worker.lost", w->row.facts.shard, 0, w->row.id, STR("reeve"),
	    detail_of(&out->batch.arena, "reason", reason), out);
	lose_tasks(c, w, reason, out);
}

/* The timer stands where it stood when the worker was last looked at: it may have spoken since. */
void worker_tick(struct core *c, struct worker *w, struct effects *out)
{
	struct message *m;

	if (w->heard_ms + c->o.lose_after_ms > c->mono_ms) {
		watch_silence(c, w);
		return;
	}
	if (w->link) {
		m = effects_message(out, MSG_REFUSED, w->link);
		m->why.reason = STR("it was silent for too long and is declared lost");
		m->why.die = true;
		idmap_del(&c->links, w->link);
		w->link = 0;
		w->generation++;
	}
	lose(c, w, STR("its worker was silent for too long"), out);
}

static int remove_worker(
    struct core *c, struct worker *w, const struct event *ev, struct reply *r, struct effects *out)
{
	if (w->state == WORKER_CONNECTED) {
		problem_set(r->problem, ERR_CONFLICT, "the worker is connected");
		return problem_hint(r->problem, "stop it first");
	}
	if (ev->worker.lost && w->state == WORKER_AWAY)
		lose(c, w, STR("an operator declared its worker lost"), out);
	if (w->running) {
		problem_set(
		    r->problem, ERR_CONFLICT, "the worker still holds %d tasks", w->running);
		return problem_hint(r->problem,
		    "if its machine is certainly gone: reeve worker rm --lost " STR_FMT,
		    STR_ARG(w->row.facts.shard));
	}
	batch_add(&out->batch, ROW_WORKER_DELETE)->id = w->row.id;
	audit(c, "worker.removed", w->row.facts.shard, 0, w->row.id, ev->actor, STR_NULL, out);
	worker_free(c, w);
	return 0;
}

static void set_threads(
    struct core *c, struct worker *w, const struct event *ev, struct effects *out)
{
	w->row.maxthreads_is_set = ev->worker.maxthreads != -2;
	w->row.maxthreads_set = ev->worker.maxthreads;
	w->row.version++;
	save_worker(c, w, out);
	audit(c, "worker.changed", w->row.facts.shard, 0, w->row.id, ev->actor, STR_NULL, out);
	if (w->link)
		effects_message(out, MSG_SETTINGS, w->link)->welcome.maxthreads =
		    worker_maxthreads(w);
	place_room(c);
}

int run_worker_command(struct core *c, const struct event *ev, struct reply *r, struct effects *out)
{
	struct worker *w = worker_find(c, ev->worker.id);

	if (!w)
		return problem_set(r->problem, ERR_NOT_FOUND, "there is no such worker any more");
	r->id = w->row.id;
	if (ev->worker.if_version && ev->worker.if_version != w->row.version) {
		problem_set(r->problem, ERR_PRECONDITION, "the worker is at version %lld by now",
		    (long long)w->row.version);
		return problem_hint(r->problem, "read it again, then decide");
	}
	if (ev->kind == EV_WORKER_REMOVE)
		return remove_worker(c, w, ev, r, out);
	if (ev->worker.set_maxthreads)
		set_threads(c, w, ev, out);
	return 0;
}
