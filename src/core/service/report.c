/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What becomes of an instance's start, as its task's mover tells. Nothing is sent from here: the
 * service is noted, and looked at before the step ends.
 */
#include "core/service/unit.h"
#include "core/state.h"

static bool is_same(const struct unit *u, enum unit_text which, struct str text)
{
	return str_eq(unit_text(u, which), text);
}

/* Said again and again; only what is new is written. */
void service_fares(
    struct core *c, struct object *o, const struct task *t, const struct link_fares *f)
{
	struct unit *u = unit_of_task(c, (struct service *)o, t);
	bool changed;

	if (!u)
		return;
	changed = u->is_up != f->is_up || !is_same(u, TEXT_ADDRESS, f->address) ||
	          !is_same(u, TEXT_PORTS, f->ports);
	u->is_up = f->is_up;
	if (changed) {
		unit_set_text(u, TEXT_ADDRESS, f->address);
		unit_set_text(u, TEXT_PORTS, f->ports);
		unit_touch(c, u);
	}
	if (f->is_up && u->i.state == INSTANCE_CLAIMED) {
		unit_move(c, u, INSTANCE_RUNNING);
		unit_is_up(c, u);
		services_room(c); /* of starts under way */
	} else if (!f->is_up && u->i.state == INSTANCE_RUNNING) {
		unit_move(c, u, INSTANCE_CLAIMED);
	}
	changed |= u->i.is_ready != (f->is_ready && f->is_up && !u->i.is_stopping);
	unit_set_ready(c, u, f->is_ready && f->is_up && !u->i.is_stopping);
	if (changed)
		service_note(c, u->service);
}

static struct str crash_words(const struct task *t, struct arena *a)
{
	const struct task_state *s = &t->row.state;

	if (s->reason.n)
		return s->reason;
	if (s->signal)
		return arena_strf(a, "it ended by signal %d", s->signal);
	if (s->exit_code >= 0)
		return arena_strf(a, "it ended by itself, with exit code %d", s->exit_code);
	return STR("it ended");
}

static void crash(struct core *c, struct unit *u, struct str why)
{
	struct service *s = u->service;
	enum instance_state from = u->i.state;
	struct instance probe = u->i;

	instance_crash(&probe, &s->crash, c->now_ms);
	unit_set_text(u, TEXT_CRASH, why);
	unit_set_last(c, u, u->i.id);
	unit_move(c, u, probe.state);
	MUST(from == INSTANCE_CLAIMED || from == INSTANCE_RUNNING);
	u->i.crash_count = probe.crash_count;
	u->i.crashed_at_ms = probe.crashed_at_ms;
	s->n_crashes++;
	services_of(c)->crashes++;
	if (crash_wait_ms(&s->crash, u->i.crash_count) == CRASH_NEVER)
		s->gave_up = true;
}

/* Of one that is gone, whatever it was: its row goes at the end of the step. */
static void is_over(struct core *c, struct unit *u)
{
	unit_leave_site(c, u);
	unit_leave_limbo(c, u);
	u->i.id = 0;
	u->is_over = true;
	unit_set_ready(c, u, false);
	service_note(c, u->service);
}

/* Nobody knows when its worker was lost; while a server loads, not even how long that is ago. */
static int64_t hold_of_unknown(const struct core *c)
{
	return c->open ? c->hold_floor_ms - c->mono_ms : c->o.lost_hold_ms;
}

void service_task_ended(struct core *c, struct object *o, rid task)
{
	struct task *t = task_find(c, task);
	struct unit *u = t ? unit_of_task(c, (struct service *)o, t) : NULL;
	struct arena a = {0};

	if (!u)
		return;
	service_note(c, u->service);
	if (t->row.state.status == TASK_ORPHANED) /* of a loss that nobody told of */
		service_task_lost(c, o, t, hold_of_unknown(c));
	else if (u->i.is_stopping || u->i.presence != PRESENCE_ORDINARY)
		is_over(c, u);
	else if (t->row.state.status == TASK_CANCELLED) /* somebody cancelled the task */
		unit_move(c, u, INSTANCE_UNCLAIMED);
	else
		crash(c, u, crash_words(t, &a));
	arena_release(&a);
}

/* As on a silent worker, until it is certainly over. */
void service_task_lost(struct core *c, struct object *o, const struct task *t, int64_t hold_ms)
{
	struct unit *u = unit_of_task(c, (struct service *)o, t);

	if (!u)
		return;
	unit_leave_site(c, u);
	unit_set_ready(c, u, false);
	u->i.id = 0;
	unit_enter_limbo(c, u, hold_ms);
	unit_touch(c, u);
}

void service_given_back(
    struct core *c, struct object *o, const struct task *t, struct str reason, bool refused)
{
	struct unit *u = unit_of_task(c, (struct service *)o, t);

	if (!u)
		return;
	service_note(c, u->service);
	if (u->i.is_stopping || u->i.presence != PRESENCE_ORDINARY)
		is_over(c, u);
	else if (refused)
		crash(c, u, reason.n ? reason : STR("it could not be started"));
	else
		unit_move(c, u, INSTANCE_UNCLAIMED);
}

const char *service_refuses(
    const struct core *c, const struct object *o, const struct task *t, const struct event *ev)
{
	return "it is a start of a service's instance: that is started anew by itself";
}
