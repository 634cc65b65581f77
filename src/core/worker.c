/* SPDX-License-Identifier: Apache-2.0 */
/* Workers: who they are, what they serve, and what operators ask of them. */
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

#define N_FACT_STRINGS 11

static void fact_strings(struct worker_facts *f, struct str *ret_fields[N_FACT_STRINGS])
{
	struct str *all[N_FACT_STRINGS] = {&f->shard, &f->lock, &f->key, &f->host, &f->zone,
	    &f->target, &f->version, &f->labels, &f->plugins, &f->active_queues, &f->ignore_queues};

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
	health_init(&w->health, c->mono_ms);
	TAILQ_INIT(&w->tasks);
	c->n_workers++;
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
	heap_del(&c->watch_timers, &w->watch);
	heap_del(&c->poll_timers, &w->poll);
	consensus_leave(&c->set, &w->member);
	if (w->link)
		idmap_del(&c->links, w->link);
	c->n_workers--;
	RB_REMOVE(worker_ids, &c->workers, w);
	RB_REMOVE(worker_names, &c->worker_names, w);
	free(w->strings);
	free(w->check_failed);
	free(w);
}

/* An operator is believed; a worker that wants more than it can have would hoard tasks. */
int32_t worker_maxthreads(const struct core *c, const struct worker *w)
{
	int32_t own = w->row.facts.maxthreads, most = c->o.maxthreads_max;

	if (w->row.maxthreads_is_set)
		return w->row.maxthreads_set;
	return most && (own < 0 || own > most) ? most : own;
}

const struct timeouts *worker_timeouts(const struct core *c, const struct worker *w)
{
	return w->is_unheard ? &c->start.before : &c->o.timeouts;
}

void worker_heard_of(struct core *c, struct worker *w, struct effects *out)
{
	if (!w->is_unheard)
		return;
	w->is_unheard = false;
	if (--c->start.n_unheard == 0)
		start_all_heard(c, out);
}

bool worker_has_room(const struct core *c, const struct worker *w)
{
	int32_t max = worker_maxthreads(c, w);

	/* by its marks too: a server that was stopped has not looked at its workers yet */
	if ((w->health.state != WORKER_HEALTHY ||
	        health_lack(&w->health, worker_timeouts(c, w), c->mono_ms) != LACK_NOTHING) &&
	    !MUTANT(PLACE_ON_UNHEALTHY))
		return false;
	return w->link && !w->leaving && (max < 0 || w->running < max);
}

/* Lists may name a queue or give its id. */
static bool names_queue(const struct core *c, struct str list, const struct queue *q)
{
	char id[ID_TEXT];

	return list.n && (lines_has(list, q->row.name) ||
	                     lines_has(list, str_of(id_format(&c->ids, q->row.id, id))));
}

enum unserved worker_unserved(const struct core *c, const struct worker *w, const struct queue *q)
{
	const struct worker_facts *f = &w->row.facts;

	if (!lines_has(f->plugins, q->row.plugin))
		return UNSERVED_PLUGIN;
	if (f->active_queues.n && !names_queue(c, f->active_queues, q))
		return UNSERVED_ACTIVE;
	if (!f->active_queues.n && names_queue(c, f->ignore_queues, q))
		return UNSERVED_IGNORED;
	return UNSERVED_NO;
}

struct message *worker_refuse(
    uint64_t link, bool die, bool restart, struct str reason, struct effects *out)
{
	struct message *m = effects_message(out, MSG_REFUSED, link);

	m->why.reason = arena_str(&out->batch.arena, reason);
	m->why.die = die;
	m->why.restart = restart;
	return m;
}

void worker_unlink(struct core *c, struct worker *w)
{
	idmap_del(&c->links, w->link);
	w->link = 0;
	w->generation++;
}

void worker_lose_tasks(
    struct core *c, struct worker *w, struct str reason, int64_t hold_ms, struct effects *out)
{
	struct task *t;

	while ((t = TAILQ_FIRST(&w->tasks)))
		task_end_lost(c, t, reason, hold_ms, out);
	place_room(c);
}

/* The name's tree is keyed by a string that set_facts() frees: take it out meanwhile. */
void worker_adopt_facts(struct core *c, struct worker *w, const struct worker_facts *f)
{
	char *old = TAKE(w->strings);

	RB_REMOVE(worker_names, &c->worker_names, w);
	set_facts(w, f);
	RB_INSERT(worker_names, &c->worker_names, w);
	free(old);
}

static int too_many_gone(struct reply *r)
{
	problem_set(r->problem, ERR_CONFLICT,
	    "%d workers were removed or displaced lately, which is the limit", GONE_MAX);
	return problem_hint(
	    r->problem, "wait: each is remembered until it must have ended by itself");
}

static int remove_worker(
    struct core *c, struct worker *w, const struct event *ev, struct reply *r, struct effects *out)
{
	bool is_lost = w->health.state == WORKER_MUST_DIE;

	if (w->link) {
		problem_set(r->problem, ERR_CONFLICT, "the worker is connected");
		return problem_hint(r->problem, "stop it first");
	}
	if ((c->o.is_volatile || start_owes(c, w)) && !is_lost && !ev->worker.lost) {
		/* it may come back with a set of its own, and run what nobody knows of */
		problem_set(r->problem, ERR_CONFLICT, "the worker is away, but not lost");
		return reply_hint(r, HINT_WORKER_LOSS, w->row.facts.shard);
	}
	if ((ev->worker.lost && !is_lost) || start_owes(c, w)) {
		if (!gone_has_room(c))
			return too_many_gone(r);
		gone_add(c, w, out); /* it may be wrong, or come back: it must not be believed */
	}
	if (ev->worker.lost && !is_lost)
		watch_lose(c, w, STR("an operator declared it lost"), out);
	if (w->running) {
		problem_set(
		    r->problem, ERR_CONFLICT, "the worker still holds %d tasks", w->running);
		return reply_hint(r, HINT_WORKER_LOST, w->row.facts.shard);
	}
	worker_heard_of(c, w, out);
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
		    worker_maxthreads(c, w);
	place_room(c);
}

static int stop_worker(
    struct core *c, struct worker *w, const struct event *ev, struct reply *r, struct effects *out)
{
	struct message *m;

	if (!w->link) {
		problem_set(r->problem, ERR_CONFLICT, "the worker is not connected");
		return reply_hint(r, HINT_WORKER_TELL, STR_NULL);
	}
	audit(c, ev->worker.restart ? "worker.restarting" : "worker.stopping", w->row.facts.shard,
	    0, w->row.id, ev->actor, STR_NULL, out);
	m = effects_message(out, MSG_SETTINGS, w->link);
	m->welcome.maxthreads = worker_maxthreads(c, w);
	m->welcome.leave = true;
	m->welcome.restart = ev->worker.restart;
	return 0;
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
	if (ev->kind == EV_WORKER_STOP)
		return stop_worker(c, w, ev, r, out);
	if (ev->worker.set_maxthreads)
		set_threads(c, w, ev, out);
	return 0;
}
