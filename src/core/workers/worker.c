/* SPDX-License-Identifier: Apache-2.0 */
/* Workers: who they are, what they serve, and what operators ask of them. */
#include "core/service/worker.h"
#include "core/state.h"

#include <stdlib.h>
#include <string.h>

#include "model/lines.h"

struct worker *worker_find(const struct core *c, rid id)
{
	return object_find(c, KIND_WORKER, id);
}

struct worker *worker_find_name(const struct core *c, struct str shard)
{
	return object_find_name(c, KIND_WORKER, shard);
}

struct worker *worker_by_link(const struct core *c, uint64_t link)
{
	return link ? idmap_get(&c->links, link) : NULL;
}

struct worker *worker_add(struct core *c, const struct worker_row *row)
{
	struct worker *w = xcalloc(1, sizeof *w);

	w->row = *row;
	row_own(&worker_table, &w->row, &w->strings);
	health_init(&w->health, c->mono_ms);
	TAILQ_INIT(&w->tasks);
	charge_offer(w);
	object_add(c, &w->object, KIND_WORKER, w->row.id, w->row.facts.shard);
	return w;
}

static void drain_arm(struct core *c, struct worker *w);

static void load(struct core *c, const void *row)
{
	struct worker *w = worker_add(c, row);

	drain_arm(c, w);
	services_see_worker(c, w);
	if (w->row.state == WORKER_MUST_DIE)
		health_lose(&w->health);
}

static int64_t version(const struct object *o)
{
	return ((const struct worker *)o)->row.version;
}

static void worker_free(struct core *c, struct worker *w)
{
	MUST(TAILQ_EMPTY(&w->tasks));
	fit_unlinked(c, w);
	fit_purge(c, w);
	if (w->is_roomy)
		TAILQ_REMOVE(&c->roomy, w, in_roomy);
	holdings_release(&w->holdings);
	free(w->left);
	timer_clear(c, TIMER_MONO, &w->watch);
	timer_clear(c, TIMER_MONO, &w->poll);
	timer_clear(c, TIMER_WALL, &w->drain);
	services_forget_worker(c, w);
	consensus_leave(&c->set, &w->member);
	if (w->link)
		idmap_del(&c->links, w->link);
	object_del(c, &w->object);
	free(w->strings);
	free(w->drained_by);
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

bool worker_may_start(const struct core *c, const struct worker *w)
{
	/* by its marks too: a server that was stopped has not looked at its workers yet */
	if ((w->health.state != WORKER_HEALTHY ||
	        health_lack(&w->health, worker_timeouts(c, w), c->mono_ms) != LACK_NOTHING) &&
	    !MUTANT(PLACE_ON_UNHEALTHY))
		return false;
	return w->link && !w->leaving && (!w->row.drained || MUTANT(DRAIN_IGNORED));
}

bool worker_has_room(const struct core *c, const struct worker *w)
{
	int32_t max = worker_maxthreads(c, w);

	return worker_may_start(c, w) &&
	       (max < 0 || w->running - (MUTANT(SERVICE_TAKES_THREADS) ? 0 : w->n_instances) < max);
}

/* Lists may name a queue or give its id. */
static bool names_queue(const struct core *c, struct str list, const struct queue *q)
{
	char id[ID_TEXT];

	return list.n && (lines_has(list, q->row.name) ||
	                     lines_has(list, str_of(id_format(&c->ids, q->row.id, id))));
}

bool worker_takes(const struct core *c, const struct worker *w, const struct task_spec *s)
{
	return (w->takes_input || !s->is_streamed) &&
	       (w->takes_needs || !owner_is_shown(c, &s->owner));
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

	m->refused = (struct link_refused){arena_str(&out->batch.arena, reason), die, restart};
	return m;
}

void worker_unlink(struct core *c, struct worker *w)
{
	idmap_del(&c->links, w->link);
	w->link = 0;
	w->generation++;
	fit_unlinked(c, w);
}

void worker_lose_tasks(
    struct core *c, struct worker *w, struct str reason, int64_t hold_ms, struct effects *out)
{
	struct task *t;

	while ((t = TAILQ_FIRST(&w->tasks)))
		task_end_lost(c, t, reason, hold_ms, out);
	place_room(c, w);
}

void worker_adopt_facts(struct core *c, struct worker *w, const struct worker_facts *f)
{
	w->row.facts = *f;
	row_own(&worker_table, &w->row, &w->strings);
	object_rename(c, &w->object, w->row.facts.shard);
	charge_offer(w);
}

static int too_many_gone(struct reply *r)
{
	problem_set(r->problem, ERR_CONFLICT,
	    "%d workers were removed or displaced lately, which is the limit", GONE_MAX);
	return problem_hint(
	    r->problem, "wait: each is remembered until it must have ended by itself");
}

static int remove_worker(
    struct core *c, struct object *o, const struct event *ev, struct reply *r, struct effects *out)
{
	struct worker *w = (struct worker *)o;
	bool is_lost = w->health.state == WORKER_MUST_DIE;

	if (w->link) {
		problem_set(r->problem, ERR_CONFLICT, "the worker is connected");
		return problem_hint(r->problem, "stop it first");
	}
	if ((c->o.is_volatile || start_owes(c, w)) && !is_lost && !ev->object.force) {
		/* the worker may come back with a set of its own, and run what nobody knows of */
		problem_set(r->problem, ERR_CONFLICT, "the worker is away, but not lost");
		return reply_hint(r, HINT_WORKER_LOSS, w->row.facts.shard);
	}
	if ((ev->object.force && !is_lost) || start_owes(c, w)) {
		if (!gone_has_room(c))
			return too_many_gone(r);
		gone_add(c, w, out); /* a worker that comes back must not be believed */
	}
	if (ev->object.force && !is_lost)
		watch_lose(c, w, STR("an operator declared it lost"), out);
	if (w->running) {
		problem_set(
		    r->problem, ERR_CONFLICT, "the worker still holds %d tasks", w->running);
		return reply_hint(r, HINT_WORKER_LOST, w->row.facts.shard);
	}
	worker_heard_of(c, w, out);
	batch_delete(&out->batch, &worker_table, o->id);
	object_audit(c, o, OBJECT_DELETED, ev->actor, STR_NULL, out);
	worker_free(c, w);
	return 0;
}

static void save(struct core *c, struct object *o, void *own, struct effects *out)
{
	struct worker *w = (struct worker *)o;

	row_own(&worker_table, &w->row, &w->strings);
	object_rename(c, o, w->row.facts.shard);
	save_worker(c, w, out);
}

static int set(
    struct core *c, struct object *o, const struct event *ev, struct reply *r, struct effects *out)
{
	struct worker *w = (struct worker *)o;

	if (!ev->object.fields)
		return 0;
	row_take(&worker_table, &w->row, ev->object.row, ev->object.fields);
	object_changed(c, o, &w->row, OBJECT_CHANGED, ev->actor, STR_NULL, out);
	if (w->link)
		effects_message(out, MSG_SETTINGS, w->link)->settings.maxthreads =
		    worker_maxthreads(c, w);
	place_room(c, w);
	return 0;
}

static int stop(
    struct core *c, struct object *o, const struct event *ev, struct reply *r, struct effects *out)
{
	struct worker *w = (struct worker *)o;
	bool restart = ev->object.verb == WORKER_RESTART;

	if (!w->link) {
		problem_set(r->problem, ERR_CONFLICT, "the worker is not connected");
		return reply_hint(r, HINT_WORKER_TELL, STR_NULL);
	}
	audit_object(
	    c, restart ? "worker.restarting" : "worker.stopping", o, ev->actor, STR_NULL, out);
	effects_message(out, MSG_SETTINGS, w->link)->settings =
	    (struct link_settings){worker_maxthreads(c, w), true, restart};
	return 0;
}

/* The name of the person who drained it is kept with the reason given. */
static void set_drained(struct worker *w, bool drained, struct str reason, struct str actor)
{
	bool keeps = drained && w->row.drained && !reason.n;

	w->row.drained = drained;
	if (keeps)
		return;
	w->row.drain_reason = drained ? reason : STR_NULL;
	free(w->drained_by);
	w->drained_by = drained && actor.n ? xstrndup(actor.p, actor.n) : NULL;
}

/* The drain's time is over: what is still there ends with that reason. */
static void drain_ended(struct core *c, struct timer *timer, struct effects *out)
{
	struct worker *w = CONTAINER_OF(timer, struct worker, drain);
	struct task *t;

	TAILQ_FOREACH (t, &w->tasks, on_worker)
		if (!task_is_told(&t->row.state))
			task_tell_end(c, t, WISH_CANCEL,
			    STR("its worker is drained, and the time given for that is over"), out);
}

static void drain_arm(struct core *c, struct worker *w)
{
	if (w->row.drained && w->row.drain_until_ms)
		timer_set(c, TIMER_WALL, &w->drain, w->row.drain_until_ms, w->row.id, drain_ended);
	else
		timer_clear(c, TIMER_WALL, &w->drain);
}

/* Also one that is away: it stays so when it comes back. Said again without a reason, the old one
 * stays. */
static int drain(
    struct core *c, struct object *o, const struct event *ev, struct reply *r, struct effects *out)
{
	struct worker *w = (struct worker *)o;
	struct str reason = ev->object.reason;

	set_drained(w, ev->object.verb == WORKER_DRAIN, reason, ev->actor);
	w->row.drain_until_ms = w->row.drained ? ev->object.until_ms : 0;
	drain_arm(c, w);
	reserve_lost(c, w);
	object_changed(c, o, &w->row, w->row.drained ? OBJECT_PAUSED : OBJECT_RESUMED, ev->actor,
	    reason.n ? detail_of(&out->batch.arena, "reason", reason) : STR_NULL, out);
	place_room(c, w);
	return 0;
}

static int act(
    struct core *c, struct object *o, const struct event *ev, struct reply *r, struct effects *out)
{
	bool drains = ev->object.verb == WORKER_DRAIN || ev->object.verb == WORKER_UNDRAIN;

	return (drains ? drain : stop)(c, o, ev, r, out);
}

static void release(struct core *c)
{
	struct worker *w;
	struct task *t;

	while ((w = object_first(c, KIND_WORKER))) {
		while ((t = TAILQ_FIRST(&w->tasks)))
			task_free(c, t);
		worker_free(c, w);
	}
}

const struct object_kind worker_kind = {
    .table = &worker_table,
    .events = {[OBJECT_CHANGED] = "worker.changed",
        [OBJECT_PAUSED] = "worker.drained",
        [OBJECT_RESUMED] = "worker.undrained",
        [OBJECT_DELETED] = "worker.removed"},
    .load = load,
    .version = version,
    .save = save,
    .set = set,
    .remove = remove_worker,
    .act = act,
    .release = release,
};
