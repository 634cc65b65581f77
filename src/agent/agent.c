/* SPDX-License-Identifier: Apache-2.0 */
/* The door: one event in, its effects out; then what time has brought, then whether to leave. */
#include "agent/agent.h"

#include <stdlib.h>

#include "agent/internal.h"
#include "base/mem.h"

void agent_effects_release(struct agent_effects *e)
{
	free(e->items);
	arena_release(&e->arena);
	*e = (struct agent_effects){0};
}

void agent_effects_reset(struct agent_effects *e)
{
	e->n = 0;
	arena_reset(&e->arena);
}

struct agent_effect *agent_effects_add(struct agent_effects *e, enum agent_effect_kind kind)
{
	GROW(e->items, e->cap, e->n + 1);
	e->items[e->n] = (struct agent_effect){.kind = kind};
	return &e->items[e->n++];
}

const struct moves agent_moves = {
    "agent",
    {[AGENT_SERVING] = "serving",
        [AGENT_LEAVING] = "leaving",
        [AGENT_DYING] = "dying",
        [AGENT_GONE] = "gone"},
    {
        {AGENT_SERVING, AGENT_LEAVING, "SIGTERM, or told to stop"},
        {AGENT_LEAVING, AGENT_GONE, "all is over, and acknowledged or 3 s waited"},
        {AGENT_SERVING, AGENT_DYING, "it must die, or is told to"},
        {AGENT_LEAVING, AGENT_DYING, "it must die, or is told to"},
        {AGENT_DYING, AGENT_GONE, "all processes are gone"},
    },
};

void agent_move(struct agent *a, enum agent_phase to)
{
	a->phase = moves_make(&agent_moves, a->phase, to);
}

bool is_ending(const struct agent *a)
{
	return a->phase == AGENT_DYING || a->phase == AGENT_GONE;
}

void note_of(struct agent_effects *out, rid task, int64_t token, const char *text)
{
	struct agent_effect *e = agent_effects_add(out, AF_NOTE);

	e->task = task;
	e->token = token;
	e->why.text = str_of(text);
}

void note(struct agent_effects *out, const char *text)
{
	note_of(out, 0, 0, text);
}

struct agent *agent_new(const struct agent_options *o)
{
	struct agent *a = xcalloc(1, sizeof *a);

	a->o = *o;
	if (a->o.term_wait_ms <= 0)
		a->o.term_wait_ms = 10000;
	if (a->o.leave_wait_ms <= 0)
		a->o.leave_wait_ms = 3000;
	if (a->o.hello_wait_ms <= 0)
		a->o.hello_wait_ms = 30000;
	if (a->o.task_window == 0)
		a->o.task_window = (size_t)1 << 20;
	if (a->o.link_window == 0)
		a->o.link_window = (size_t)4 << 20;
	a->leave_by_ms = INT64_MAX;
	a->maxthreads = -1;
	TAILQ_INIT(&a->all);
	TAILQ_INIT(&a->paused);
	TAILQ_INIT(&a->instances);
	return a;
}

void agent_free(struct agent *a)
{
	if (!a)
		return;
	held_free_all(a);
	idmap_release(&a->by_task);
	heap_release(&a->deadlines);
	heap_release(&a->flushes);
	heap_release(&a->followed);
	free(a->exit_reason);
	free(a);
}

static void kill_all(struct agent *a, int64_t mono_ms, struct agent_effects *out)
{
	struct held *h;

	TAILQ_FOREACH (h, &a->all, all)
		if (h->state == HELD_STARTING || h->state == HELD_RUNNING)
			heap_put(&a->deadlines, &h->deadline, mono_ms, h->serial);
	a->leave_by_ms = mono_ms;
}

static int on_leave(struct agent *a, const struct agent_event *in, struct agent_effects *out)
{
	struct held *h;

	if (a->phase != AGENT_SERVING) {
		a->restart = false;
		kill_all(a, in->mono_ms, out);
		return 0;
	}
	agent_move(a, AGENT_LEAVING);
	if (a->link == LINK_WELCOME)
		send_beat(a, in->mono_ms, out);
	TAILQ_FOREACH (h, &a->all, all)
		if (h->state == HELD_STARTING || h->state == HELD_RUNNING)
			stop_held(a, h, CAUSE_LEAVE, in->mono_ms, out);
	return 0;
}

/* An operator's wish, through the server: go, as if told here; and perhaps come back. */
static int on_settings(struct agent *a, const struct agent_event *in, struct agent_effects *out)
{
	a->maxthreads = in->settings.maxthreads;
	if (!in->settings.leave || a->phase != AGENT_SERVING)
		return 0;
	on_leave(a, in, out);
	a->restart = in->settings.restart;
	return 0;
}

/* A waiting attempt has no process: when its turn would come while leaving, it ends unstarted. */
static void end_waiting(struct agent *a, const struct agent_event *in, struct agent_effects *out)
{
	struct agent_event kill = *in;
	struct held *h, *next;

	for (h = TAILQ_FIRST(&a->all); h; h = next) {
		next = TAILQ_NEXT(h, all);
		if (h->state != HELD_WAITING)
			continue;
		kill.kind = AE_KILL;
		kill.kill = (struct link_kill){h->task, h->token, STR("the worker is leaving"),
		    .forget = a->phase == AGENT_DYING};
		on_kill(a, &kill, out);
	}
}

static void leave(struct agent *a, int code, const char *why, struct agent_effects *out)
{
	struct agent_effect *e = agent_effects_add(out, AF_EXIT);

	agent_move(a, AGENT_GONE);
	e->why.code = code;
	e->why.restart = a->restart;
	e->why.text = str_of(why);
}

static bool all_said(const struct agent *a)
{
	if (a->n_held > 0)
		return false;
	if (a->link == LINK_DOWN || a->link == LINK_CLOSING)
		return !a->health.known; /* nobody has heard of us */
	return a->leaving_beat && a->beat_acked >= a->leaving_beat;
}

static void maybe_leave(struct agent *a, const struct agent_event *in, struct agent_effects *out)
{
	if (a->phase != AGENT_LEAVING && a->phase != AGENT_DYING)
		return;
	end_waiting(a, in, out);
	if (a->n_live > 0)
		return;
	if (a->phase == AGENT_DYING) {
		leave(a, a->exit_code, a->exit_reason, out);
		return;
	}
	if (a->leave_by_ms == INT64_MAX)
		a->leave_by_ms = in->mono_ms + a->o.leave_wait_ms;
	if (all_said(a))
		leave(a, 0, "all is over", out);
	else if (in->mono_ms >= a->leave_by_ms)
		leave(a, 0, "all is over, but the server did not acknowledge everything", out);
}

static int dispatch(struct agent *a, const struct agent_event *in, struct agent_effects *out)
{
	switch (in->kind) {
	case AE_LINK_UP: return on_link_up(a, in, out);
	case AE_LINK_DOWN: return on_link_down(a, in, out);
	case AE_WELCOME: return on_welcome(a, in, out);
	case AE_REFUSED: return on_refused(a, in, out);
	case AE_SETTINGS: return on_settings(a, in, out);
	case AE_BEAT_ACK: return on_beat_ack(a, in, out);
	case AE_ENDED_ACK: return on_ended_ack(a, in, out);
	case AE_OUTPUT_ACK: return on_output_ack(a, in, out);
	case AE_INPUT: return on_input(a, in, out);
	case AE_INPUT_TAKEN: return on_input_taken(a, in, out);
	case AE_RUN: return on_run(a, in, out);
	case AE_KILL: return on_kill(a, in, out);
	case AE_FOLLOW: return on_follow(a, in);
	case AE_NOTIFY: return on_notify(a, in, out);
	case AE_CHECK: return on_check(a, in, out);
	case AE_CHECKED: return on_checked(a, in, out);
	case AE_UNWELL: return on_unwell(a, in, out);
	case AE_FARES: return on_fares(a, in, out);
	case AE_ADOPT: return on_adopt(a, in, out);
	case AE_STARTED: return on_started(a, in, out);
	case AE_OUTPUT: return on_output(a, in, out);
	case AE_EXITED: return on_exited(a, in, out);
	case AE_LEAVE: return on_leave(a, in, out);
	case AE_WAKE: return 0;
	}
	return ERR_INTERNAL;
}

int agent_step(struct agent *a, const struct agent_event *in, struct agent_effects *out)
{
	int r;

	/* first of all: what has happened to us in silence forbids what the event may ask for */
	on_health_time(a, in->mono_ms, out);
	/* before output goes out, which a KILL may give up; but who has exited was in time */
	if (in->kind != AE_EXITED)
		on_deadlines(a, in, out);
	r = dispatch(a, in, out);
	on_health_time(a, in->mono_ms, out); /* the event may have brought good news */
	on_link_time(a, in->mono_ms, out);
	on_deadlines(a, in, out);
	on_flushes(a, in->mono_ms, out);
	maybe_leave(a, in, out);
	return r;
}

int64_t agent_wake_ms(const struct agent *a)
{
	int64_t at = link_wake_ms(a), health = health_wake_ms(a);
	const struct heap_node *n;

	if (a->phase == AGENT_GONE)
		return INT64_MAX;
	if (health < at)
		at = health;
	if ((n = heap_min(&a->deadlines)) && n->at < at)
		at = n->at;
	if ((n = heap_min(&a->flushes)) && n->at < at)
		at = n->at;
	if (a->n_live == 0 && a->leave_by_ms < at) /* before, it would wake us over and over */
		at = a->leave_by_ms;
	return at;
}

enum agent_phase agent_phase(const struct agent *a)
{
	return a->phase;
}

bool agent_will_return(const struct agent *a)
{
	return a->restart;
}

bool agent_is_welcome(const struct agent *a)
{
	return a->link == LINK_WELCOME;
}

size_t agent_live(const struct agent *a)
{
	return a->n_live;
}

size_t agent_held(const struct agent *a)
{
	return a->n_held;
}
