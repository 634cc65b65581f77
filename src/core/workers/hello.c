/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A worker's first words on a connection, and the end of one.
 *
 * A hello names every task that the instance holds: that is the truth about it. What we believed
 * it had and it does not name was never started, for a worker lists a task from the moment it
 * reads the order until its end is acknowledged, and an order on a broken connection is never
 * read later. A newer instance under the same lock proves that the older one is dead.
 *
 * Who says hello has proven a key before it comes here (the session has seen to it). A lock is
 * only that: the place and the key. What else a worker knows of another proves nothing.
 */
#include "core/service/worker.h"
#include "core/state.h"

#include "model/limits.h"

static void kill_unknown(uint64_t link, const struct link_held *h, struct effects *out)
{
	effects_message(out, MSG_KILL, link)->kill = (struct link_kill){h->task, h->token,
	    STR("the server does not know this attempt any more"), .forget = true};
}

/*
 * Nobody but its receipt says whose an attempt is that has no row. Orders of older servers than the
 * last that could start anything are no matter: whoever had one has spoken since, or is over.
 */
static bool is_proven(const struct core *c, const struct link_held *h)
{
	if (MUTANT(UNPROVEN_BELIEVED) || MUTANT(ANYBODY_IS_WITNESS)) /* the fence before it */
		return true;
	if (c->start.waiting && !c->start.receipts_from)
		return true; /* the server before gave none, or its key is gone */
	return h->proven && h->token >= start_token_floor(c->start.receipts_from);
}

/* What a volatile server had dispatched without a row of it: the worker is the only witness. */
static struct task *unwritten(struct core *c, const struct worker *w, const struct link_held *h)
{
	struct task *t = task_find(c, h->task);
	const struct task_row *row = t ? &t->row : lane_row(c, h->task);

	if (!core_heeds_receipts(c))
		return NULL;
	if (!w->row.unwritten && !MUTANT(ANYBODY_IS_WITNESS))
		return NULL; /* a worker that was never given anything */
	if (!is_proven(c, h))
		return NULL;
	if (!row || !row->id || row->state.status != TASK_QUEUED || row->state.token >= h->token)
		return NULL;
	if (t)
		return t->worker ? NULL : t;
	return queue_find(c, row->spec.queue) ? task_new(c, row) : NULL;
}

static struct task *adopt(
    struct core *c, struct worker *w, const struct link_held *h, struct effects *out)
{
	struct task *t = MUTANT(HELLO_ADOPTS_NOTHING) ? NULL : unwritten(c, w, h);

	if (!t)
		return NULL;
	task_unghost(c, t);
	task_begin_attempt(c, t, w, h->token, STR_NULL); /* what is charged has a row */
	times_adopted(c, &t->row, h->started_ms);
	task_move(c, t, TASK_CLAIMED, STR_NULL, out);
	t->row.state.due_ms = 0;
	task_save(c, t, out);
	return t;
}

static void held_by_worker(struct core *c, const struct event *ev, struct worker *w,
    const struct link_held *h, struct effects *out)
{
	struct task *t = report_current(c, w, h->task, h->token);

	if (!t)
		t = adopt(c, w, h, out);
	if (!t && h->instance.service.p && !h->ended && services_adopt(c, w, h, out))
		t = report_current(c, w, h->task, h->token);
	if (!t) {
		if (!h->ended) /* an end is reported again and acknowledged */
			kill_unknown(ev->link, h, out);
		return;
	}
	t->seen = c->hellos;
	unsure_settle(t);
	if (h->instance.service.p && !h->ended)
		owner_fares(c, t, &h->fares);
	if (h->started_ms && t->row.state.status == TASK_CLAIMED) {
		times_started(c, &t->row.state, h->started_ms);
		task_move(c, t, TASK_RUNNING, task_told_why(t), out);
	}
	if (task_is_told(&t->row.state))
		effects_message(out, MSG_KILL, ev->link)->kill =
		    (struct link_kill){h->task, h->token, STR("cancelled")};
}

static void reconcile(struct core *c, const struct event *ev, struct worker *w, struct effects *out)
{
	struct task *t, *next;

	c->hellos++;
	for (size_t i = 0; i < ev->hello.n_tasks; i++)
		held_by_worker(c, ev, w, &ev->hello.tasks[i], out);
	TAILQ_FOREACH_SAFE (t, &w->tasks, on_worker, next)
		if (t->seen != c->hellos)
			report_absent(c, t, STR("the worker never received it"), 0, out);
}

static void bind_link(struct core *c, struct worker *w, uint64_t link)
{
	w->link = link;
	idmap_put(&c->links, link, w);
	w->leaving = false;
	w->row.departed = false;
	w->generation++;
	w->beat = 0;
	w->run_number = 0;
	w->check_gone = w->check_counted != w->check_sent;
	unsure_forget(c, w);
}

static void join_set(struct core *c, const struct event *ev, struct worker *w)
{
	struct set_id none = {0};
	bool ours = ev->hello.set.server == c->o.server;

	if (w->member.is_in || w->member.batched) {
		consensus_repeated(&c->set, &w->member, &ev->hello.set);
		return;
	}
	/* a worker that was out of the set (it wanted to leave) needs the others' knowledge of it
	 * again */
	w->health.has_been_healthy = w->health.permitted = false;
	consensus_join(&c->set, &w->member, w->row.facts.instance, ours ? &none : &ev->hello.set);
}

static void welcome(struct core *c, const struct event *ev, struct worker *w, struct effects *out)
{
	bind_link(c, w, ev->link);
	w->dial = ev->hello.dial;
	w->drops_receipts = ev->hello.drops_receipts;
	w->takes_input = ev->hello.takes_input;
	w->takes_needs = ev->hello.takes_needs;
	w->takes_services = ev->hello.takes_services;
	join_set(c, ev, w);
	/* the worker begins anew with us when it gets our first welcome: that may be this one */
	if (!w->has_spoken)
		health_init(&w->health, c->mono_ms);
	if (!w->first_hello_ms)
		w->first_hello_ms = c->mono_ms;
	w->health.known = true;
	w->health.beat_ms = c->mono_ms;
	w->row.last_seen_ms = c->now_ms;
	w->row.version++;
	watch_look(c, w, out); /* news that come before the welcome are only repeated by it */
	effects_message(out, MSG_WELCOME, w->link)->welcome =
	    (struct link_welcome){.worker = w->row.id,
	        .server = c->o.server,
	        .timeouts = c->o.timeouts,
	        .news = watch_news(c, w),
	        .notify_seq = w->notify_seq,
	        .maxthreads = worker_maxthreads(c, w)};
	save_worker(c, w, out);
	watch_check(c, w, out);
	place_worker_joined(c, w);
	place_room(c, w);
}

/* A worker that was here before there were keys gets the first one that its lock comes with. */
bool lock_is_same(struct str lock, struct str key, const struct worker_facts *f)
{
	if (key.n && !str_eq(key, f->key) && !MUTANT(KEY_UNCHECKED))
		return false;
	return str_eq(lock, f->lock);
}

static bool has_same_lock(const struct worker *w, const struct worker_facts *f)
{
	return lock_is_same(w->row.facts.lock, w->row.facts.key, f);
}

/* NULL: it may take the name over; otherwise why not. */
static const char *replacement_refused(
    const struct core *c, const struct worker *w, const struct worker_facts *f)
{
	enum worker_state state = w->health.state;
	bool proven = has_same_lock(w, f);

	if (w->row.facts.instance == f->instance)
		return proven || MUTANT(LOCK_UNCHECKED)
		           ? NULL
		           : "this instance has another key or lock: only the worker itself may "
		             "come back as it";
	/* also when that one is lost: a late word of its dead predecessor proves nothing */
	if (proven && f->start < w->row.facts.start && !MUTANT(OLDER_INSTANCE_RETURNS))
		return "a newer process of this worker has taken over";
	/* starts under one lock rise: two that are equal would displace each other for ever */
	if (proven && f->start == w->row.facts.start)
		return "another process with this lock and the same start has this name";
	if (proven || state == WORKER_MUST_DIE || MUTANT(STRANGER_TAKES_NAME) ||
	    (c->o.allow_bump_unhealthy && state != WORKER_HEALTHY))
		return NULL;
	return "another worker has this name and is not lost: give this one another --name";
}

/* Somebody new bears this name: by which token he came in is what a trail is asked for. */
static void tell_joined(
    struct core *c, const struct event *ev, const struct worker *w, struct effects *out)
{
	const struct worker_facts *f = &ev->hello.facts;
	const struct detail details[] = {{"host", f->host}, {"token", ev->let_in}};

	audit(c, "worker.joined", f->shard, 0, w->row.id, STR("reeve"),
	    details_of(&out->batch.arena, details, sizeof details / sizeof details[0]), out);
}

static struct worker *first_hello(struct core *c, const struct event *ev, struct effects *out)
{
	struct worker_row row = {.facts = ev->hello.facts,
	    .first_seen_ms = c->now_ms,
	    .version = 0,
	    .maxthreads_set = -1};
	struct worker *w;

	row.id = c->last_id = id_next(c->last_id, c->now_ms);
	w = worker_add(c, &row);
	tell_joined(c, ev, w, out);
	return w;
}

/* Another process bears the name now: nothing of the old one's remains but its tasks' fate. */
static void take_over(struct core *c, struct worker *w, const struct event *ev, struct effects *out)
{
	bool proven = has_same_lock(w, &ev->hello.facts);

	if (!proven) /* a lost one, too: its dead predecessors may still have a word on its way */
		gone_add(c, w, out);
	w->row.unwritten = false;
	if (w->link) {
		worker_refuse(
		    w->link, true, false, STR("another process has taken over its name"), out);
		worker_unlink(c, w);
	}
	consensus_leave(&c->set, &w->member);
	worker_lose_tasks(c, w, proven ? STR(PROVEN_LOSS) : STR("its worker was displaced"),
	    proven ? 0 : c->o.lost_hold_ms, out);
	health_init(&w->health, c->mono_ms);
	w->check_sent = w->check_counted = w->notify_seq = 0;
	w->check_open = false;
	w->has_spoken = false;
	w->own = WORKER_NEW;
	w->first_hello_ms = 0;
	w->dial = 0;
	worker_heard_of(c, w, out); /* of the one before; this one never heard of any timeouts */
	if (!proven)
		tell_joined(c, ev, w, out);
}

static void same_again(
    struct core *c, struct worker *w, const struct worker_facts *f, struct effects *out)
{
	if (w->link) {
		worker_refuse(w->link, false, false,
		    STR("a newer connection of this worker has taken over"), out);
		worker_unlink(c, w);
	} else if (w->row.version > 0) {
		audit(c, "worker.returned", f->shard, 0, w->row.id, STR("reeve"), STR_NULL, out);
	}
}

/* The hello was held up on its way: what it says of the tasks is no longer the truth. */
static bool came_too_late(const struct worker *w, const struct event *ev)
{
	return w->row.facts.instance == ev->hello.facts.instance && ev->hello.dial &&
	       ev->hello.dial <= w->dial && !MUTANT(LATE_HELLO_BELIEVED);
}

/*
 * Each welcome may be the first that it gets, so each begins its time anew. Not for ever: others
 * may wait for it. From some day on it gets none, and is lost like anybody who does not speak.
 */
static bool never_answers(
    const struct core *c, const struct worker *w, const struct worker_facts *f)
{
	return w->row.facts.instance == f->instance && !w->has_spoken && w->first_hello_ms &&
	       c->mono_ms - w->first_hello_ms > timeouts_to_lose_ms(&c->start.before);
}

/*
 * The worker's row in the store is damaged: nobody knows who bore the name, and what it was given.
 * Until it is lost by time nobody bears the name; who holds something, or says to be that very
 * process, ends it.
 */
static bool is_quarantined(const struct worker *w, const struct worker_facts *f)
{
	return str_is(w->row.facts.key, WORKER_KEY_UNKNOWN) &&
	       (w->health.state != WORKER_MUST_DIE || w->row.facts.instance == f->instance);
}

static void refuse_quarantined(const struct worker *w, const struct event *ev, struct effects *out)
{
	bool die = ev->hello.n_tasks || w->row.facts.instance == ev->hello.facts.instance;

	worker_refuse(ev->link, die, die,
	    STR("what the server knew of this worker is damaged in the store: the name is free "
	        "when its last bearer is lost"),
	    out)
	    ->hint = HINT_WHEN_LOST;
}

static void refuse_beyond_limit(const struct core *c, const struct event *ev, struct effects *out)
{
	worker_refuse(ev->link, false, false,
	    arena_strf(&out->batch.arena,
	        "the server knows %lld workers and may know no more (server.limits.workers_max)",
	        (long long)c->objects[KIND_WORKER].n),
	    out)
	    ->hint = HINT_WORKERS_REMOVE;
}

void hello(struct core *c, const struct event *ev, struct effects *out)
{
	const struct worker_facts *f = &ev->hello.facts;
	struct worker *w = worker_find_name(c, f->shard);
	const char *why = w ? replacement_refused(c, w, f) : NULL;
	bool may_return = false; /* whose name is taken would only come back in vain */

	if (!ev->link || worker_by_link(c, ev->link))
		return; /* a link that is gone by now, or a hello that is said twice */
	if ((ev->hello.dial > DIAL_MAX || f->start > START_MAX) && !MUTANT(DIAL_UNBOUNDED)) {
		worker_refuse(ev->link, false, false,
		    STR("it numbers its connections or its starts beyond what can be"), out);
		return;
	}
	if (gone_has(c, f)) {
		worker_refuse(ev->link, true, !w,
		    STR("this worker was removed, or another has its name; it must start anew"),
		    out);
		return;
	}
	if (w && is_quarantined(w, f)) {
		refuse_quarantined(w, ev, out);
		return;
	}
	if (!w && c->o.workers_max && (int64_t)c->objects[KIND_WORKER].n >= c->o.workers_max) {
		refuse_beyond_limit(c, ev, out);
		return;
	}
	if (!why && w && w->row.facts.instance == f->instance &&
	    w->health.state == WORKER_MUST_DIE && !MUTANT(LOST_WORKER_RETURNS)) {
		may_return = true;
		why = "this worker was declared lost; its tasks were given up: it must start anew";
	}
	if (why) {
		worker_refuse(ev->link, true, may_return, str_of(why), out);
		return;
	}
	if (w && !gone_has_room(c) && w->row.facts.instance != f->instance) {
		worker_refuse(ev->link, false, false,
		    STR("too many workers lost their names lately: each has its time to end"), out);
		return;
	}
	if (w && never_answers(c, w, f)) {
		worker_refuse(ev->link, false, false,
		    STR("it has not answered any welcome for too long; it will be given up"), out);
		return;
	}
	if (w && came_too_late(w, ev)) {
		worker_refuse(ev->link, false, false,
		    STR("this worker has said hello on a newer connection since"), out);
		return;
	}
	if (!w)
		w = first_hello(c, ev, out);
	else if (w->row.facts.instance != f->instance)
		take_over(c, w, ev, out);
	else
		same_again(c, w, f, out);
	worker_adopt_facts(c, w, f);
	welcome(c, ev, w, out);
	reconcile(c, ev, w, out);
}

void link_lost(struct core *c, const struct event *ev, struct effects *out)
{
	struct worker *w = worker_by_link(c, ev->link);
	struct event *parked = lane_find_hello(c, ev->link);

	if (parked)
		parked->link = 0;
	if (!w)
		return;
	worker_unlink(c, w);
	unsure_link_lost(c, w);
	if (w->leaving && !w->running) { /* nobody need wait for a worker that is done */
		consensus_leave(&c->set, &w->member);
		w->row.unwritten = false;
		w->row.departed = true;
	}
	services_see_worker(c, w);
	save_worker(c, w, out);
	audit(c, "worker.away", w->row.facts.shard, 0, w->row.id, STR("reeve"),
	    w->row.departed ? detail_of(&out->batch.arena, "reason", STR("it left")) : STR_NULL,
	    out);
}
