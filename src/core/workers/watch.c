/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Watching the workers: the only place where a worker's state changes, by model/link/health.c, and
 * what such a change means. We step with the present time only, never with the exact moment that
 * passed: a server that was itself stopped for long must not condemn workers whose beats are
 * still waiting in its sockets.
 */
#include <stdlib.h>
#include <string.h>

#include "core/service/worker.h"
#include "core/state.h"

#define SET_EVERY_MS 50 /* consensus is computed at most so often */

static bool may_be_permitted(const struct core *c, const struct worker *w)
{
	return !c->o.is_volatile || consensus_permits(&c->set, &w->member);
}

/*
 * No set is told while the initial wait lasts: whoever heard of the few that are here already
 * would forget the larger set that it knows, and be a false consensus at the next restart.
 */
struct link_news watch_news(struct core *c, struct worker *w)
{
	struct set_id set = {0};

	if (w->member.is_in && (!c->start.waiting || MUTANT(SET_TOLD_WHILE_WAITING))) {
		consensus_told(&c->set, &w->member);
		set = c->set.id;
	}
	return (struct link_news){w->health.state, set, w->check_counted};
}

static void tell(struct core *c, struct worker *w, struct effects *out)
{
	if (w->link)
		effects_message(out, MSG_BEAT_ACK, w->link)->beat_ack.news = watch_news(c, w);
}

/* A set came into being at once for many: they need not wait for their next beats. */
void watch_tell_all(struct core *c, struct effects *out)
{
	struct member *m;

	TAILQ_FOREACH (m, &c->set.members, entry) {
		struct worker *w = CONTAINER_OF(m, struct worker, member);

		if (!w->health.has_been_healthy)
			tell(c, w, out);
	}
}

static const char *lack_texts[] = {
    [LACK_KNOWN] = "it has not spoken since the server started",
    [LACK_BEAT] = "no heartbeat",
    [LACK_CHECK] = "no healthcheck has succeeded in time",
    [LACK_CONSENSUS] = "the other workers do not know of it yet",
    [LACK_LIFE] = "it is lost",
    [LACK_NOTHING] = "",
};

static void lose(struct core *c, struct worker *w, struct str reason, struct effects *out)
{
	services_see_worker(c, w);
	timer_clear(c, TIMER_MONO, &w->watch);
	worker_heard_of(c, w, out);
	consensus_leave(&c->set, &w->member);
	if (w->link) {
		worker_refuse(w->link, true, true, reason, out);
		worker_unlink(c, w);
	}
	if (!start_owes(c, w))
		w->row.unwritten = false; /* all that it had is known, and held */
	save_worker(c, w, out);
	if (!w->row.departed) /* nobody misses it */
		audit(c, "worker.lost", w->row.facts.shard, 0, w->row.id, STR("reeve"),
		    detail_of(&out->batch.arena, "reason", reason), out);
	worker_lose_tasks(c, w,
	    arena_strf(&out->batch.arena, "its worker was lost: " STR_FMT, STR_ARG(reason)),
	    c->o.lost_hold_ms, out);
}

void watch_lose(struct core *c, struct worker *w, struct str reason, struct effects *out)
{
	health_lose(&w->health);
	lose(c, w, reason, out);
}

static void tell_watchers(struct core *c, struct worker *w, struct effects *out)
{
	enum health_lack lack = health_lack(&w->health, worker_timeouts(c, w), c->mono_ms);

	w->is_untold = false;
	if (w->row.departed)
		return;
	audit(c, w->health.state == WORKER_HEALTHY ? "worker.healthy" : "worker.unhealthy",
	    w->row.facts.shard, 0, w->row.id, STR("reeve"),
	    lack ? detail_of(&out->batch.arena, "reason", str_of(lack_texts[lack])) : STR_NULL,
	    out);
}

/* A worker's first healthcheck has failed, or was not answered, or was not enough. */
static void first_check_is_over(struct core *c, struct worker *w, struct effects *out)
{
	if (w->is_untold && w->health.state == WORKER_UNHEALTHY)
		tell_watchers(c, w, out);
}

static void changed(struct core *c, struct worker *w, enum worker_state before, struct effects *out)
{
	if (w->health.state == WORKER_MUST_DIE) {
		lose(c, w, STR("it was unhealthy for too long"), out);
		return;
	}
	/* durable with this very change, so before its first order */
	if (w->health.state == WORKER_HEALTHY && c->o.is_volatile && !MUTANT(UNWRITTEN_UNMARKED))
		w->row.unwritten = true;
	services_see_worker(c, w);
	save_worker(c, w, out);
	w->is_untold = before == WORKER_NEW && w->link;
	if (!w->is_untold || w->health.state == WORKER_HEALTHY)
		tell_watchers(c, w, out);
	tell(c, w, out);
	if (w->health.state == WORKER_HEALTHY)
		place_room(c, w);
}

static void look_again(struct core *c, struct timer *t, struct effects *out)
{
	watch_look(c, CONTAINER_OF(t, struct worker, watch), out);
}

void watch_look(struct core *c, struct worker *w, struct effects *out)
{
	enum worker_state before = w->health.state;
	int64_t next;
	bool moved;

	w->health.permitted = may_be_permitted(c, w);
	moved = health_step(&w->health, worker_timeouts(c, w), c->mono_ms);
	next = health_next_ms(&w->health, worker_timeouts(c, w));
	if (next == INT64_MAX)
		timer_clear(c, TIMER_MONO, &w->watch);
	else if (moved || !timer_is_set(&w->watch))
		timer_set(c, TIMER_MONO, &w->watch, next, w->row.id, look_again);
	if (moved)
		changed(c, w, before, out);
}

/* While it is healthy, a later beat only moves a timer: it finds out by itself when it fires. */
void watch_heard(struct core *c, struct worker *w, struct effects *out)
{
	if (health_lack(&w->health, worker_timeouts(c, w), c->mono_ms) == LACK_BEAT)
		place_room(c, w); /* we were stopped, and queues may have passed it by */
	w->health.beat_ms = c->mono_ms;
	w->has_spoken = true;
	worker_heard_of(c, w, out);
	w->row.last_seen_ms = c->now_ms;
	if (w->health.state != WORKER_HEALTHY)
		watch_look(c, w, out);
}

/* However short the heartbeats are: a slow worker is not flooded with what it cannot do faster. */
static int64_t check_again_ms(const struct timeouts *t)
{
	int64_t often = t->heartbeat_ms / 2, seldom = t->check_grace_ms / 16;

	return often > seldom ? often : seldom;
}

/* As long as it may still be answered it is not replaced: its answer would count for nothing. */
static bool check_may_be_answered(const struct core *c, const struct worker *w)
{
	int64_t age = c->mono_ms - w->check_sent_ms[w->check_sent % CHECKS_KEPT];

	return w->check_open && !w->check_gone && age <= c->o.timeouts.check_grace_ms &&
	       !MUTANT(CHECK_REPLACED);
}

static bool check_is_due(const struct core *c, const struct worker *w)
{
	int64_t age = c->mono_ms - w->check_sent_ms[w->check_sent % CHECKS_KEPT];

	if (!w->check_sent || w->check_gone)
		return true;
	if (w->check_counted == w->check_sent)
		return age >= c->o.timeouts.check_period_ms;
	return c->mono_ms - w->check_said_ms >= check_again_ms(&c->o.timeouts);
}

static void next_check(const struct core *c, struct worker *w)
{
	w->check_sent++;
	w->check_gone = false;
	w->check_open = true;
	w->check_beat = w->beat;
	w->check_sent_ms[w->check_sent % CHECKS_KEPT] = c->mono_ms;
}

void watch_check(struct core *c, struct worker *w, struct effects *out)
{
	if (!check_is_due(c, w))
		return;
	if (w->check_sent && w->check_counted != w->check_sent && !w->check_gone)
		first_check_is_over(c, w, out);
	if (!check_may_be_answered(c, w))
		next_check(c, w);
	w->check_said_ms = c->mono_ms;
	effects_message(out, MSG_CHECK, w->link)->check =
	    (struct link_check){w->check_sent, w->check_beat};
}

static void check_failed(struct worker *w, struct str reason)
{
	free(w->check_failed);
	w->check_failed = reason.p ? xstrndup(reason.p, reason.n) : NULL;
}

void watch_checked(struct core *c, const struct event *ev, struct effects *out)
{
	struct worker *w = worker_by_link(c, ev->link);
	uint64_t n = ev->checked.number;

	if (!w)
		return;
	watch_heard(c, w, out);
	if (n <= w->check_counted || n > w->check_sent || w->check_sent - n >= CHECKS_KEPT)
		return;
	w->check_open &= n != w->check_sent;
	if (!ev->checked.ok && !MUTANT(FAILED_CHECK_COUNTS)) {
		check_failed(w, ev->checked.reason.p ? ev->checked.reason : STR("it failed"));
		first_check_is_over(c, w, out);
		return;
	}
	check_failed(w, STR_NULL);
	w->check_counted = n;
	/* counted from the sending: the answer may have taken long */
	w->health.check_ms = w->check_sent_ms[n % CHECKS_KEPT];
	watch_look(c, w, out);
	first_check_is_over(c, w, out);
	place_room(c, w);
	tell(c, w, out);
}

static void kill_again(struct worker *w, struct effects *out)
{
	struct task *t;

	TAILQ_FOREACH (t, &w->tasks, on_worker)
		if (task_is_told(&t->row.state))
			effects_message(out, MSG_KILL, w->link)->kill =
			    (struct link_kill){t->row.id, t->row.state.token, STR("cancelled")};
}

void watch_beat(struct core *c, const struct event *ev, struct effects *out)
{
	struct worker *w = worker_by_link(c, ev->link);

	if (!w) {
		worker_refuse(ev->link, false, false,
		    STR("this connection is not this worker's present one"), out);
		return;
	}
	if (ev->beat.number > w->beat)
		w->beat = ev->beat.number;
	if (w->leaving && !ev->beat.leaving)
		place_room(c, w);
	if (w->leaving != ev->beat.leaving)
		services_see_worker(c, w);
	w->leaving = ev->beat.leaving;
	w->own = ev->beat.own;
	consensus_repeated(&c->set, &w->member, &ev->beat.set);
	watch_heard(c, w, out);
	if (!w->link)
		return; /* the beat came too late */
	effects_message(out, MSG_BEAT_ACK, w->link)->beat_ack =
	    (struct link_beat_ack){ev->beat.number, watch_news(c, w)};
	if (!w->leaving)
		watch_check(c, w, out);
	if (w->n_wishes)
		kill_again(w, out);
}

static void compute_set(struct core *c, struct effects *out)
{
	struct member *m, *next;

	uint64_t before = c->set.id.version;

	c->set_looked_ms = c->mono_ms;
	timer_clear(c, TIMER_MONO, &c->set_timer);
	if (!consensus_update(&c->set))
		return;
	if (c->set.id.version != before)
		watch_tell_all(c, out);
	TAILQ_FOREACH_SAFE (m, &c->set.members, entry, next) {
		struct worker *w = CONTAINER_OF(m, struct worker, member);

		if (!w->health.has_been_healthy)
			watch_look(c, w, out);
	}
}

static void compute_set_now(struct core *c, struct timer *t, struct effects *out)
{
	compute_set(c, out);
}

void watch_set(struct core *c, struct effects *out)
{
	if (!c->set.dirty || timer_is_set(&c->set_timer))
		return;
	if (c->mono_ms - c->set_looked_ms >= SET_EVERY_MS)
		compute_set(c, out);
	else
		timer_set(c, TIMER_MONO, &c->set_timer, c->set_looked_ms + SET_EVERY_MS, 0,
		    compute_set_now);
}
