/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A deploy in virtual time: there is always room, nothing gets lost, and revisions behave as the
 * file says. What is due next follows from the records alone.
 */
#include <stdlib.h>

#include "base/mem.h"
#include "graph/write/json_text.h"
#include "service/file/rollout_file.h"
#include "service/limits.h"
#include "service/write/write.h"

#define NEVER INT64_MAX
#define PLAYED_MAX_MS (10 * SERVICE_WAIT_MAX_MS) /* of virtual time; also: nothing gets lost */

struct playing {
	struct rollout_file *f;
	struct deploy_pass pass;
	int64_t now_ms, began_ms, moved_ms;
	size_t next_event;
	uint32_t n_steps;
	uint32_t least_ready, most_starts;
	struct buf *b;
};

static const struct rollout_revision *behaviour(const struct rollout_file *f, int64_t number)
{
	static const struct rollout_revision usual;

	for (size_t i = 0; i < f->n_revisions; i++)
		if (f->revisions[i].number == number)
			return &f->revisions[i];
	return &usual;
}

static bool is_on_worker(const struct instance *i)
{
	return i->state == INSTANCE_CLAIMED || i->state == INSTANCE_RUNNING;
}

/* --- what is due --- */

static int64_t least_of(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

static int64_t due_ms(const struct playing *x, const struct instance *i)
{
	const struct rollout_revision *r = behaviour(x->f, i->revision);
	int64_t due = NEVER, crash;

	switch (i->state) {
	case INSTANCE_UNCLAIMED: return x->pass.holds_starts ? NEVER : x->now_ms;
	case INSTANCE_CLAIMED: due = i->since_ms + r->starts_ms; break;
	case INSTANCE_CRASHED:
		crash = crash_due_ms(i, &x->f->policy);
		return crash == CRASH_NEVER ? NEVER : crash;
	case INSTANCE_RUNNING:
		if (!i->is_ready && !r->is_sick)
			due = i->since_ms + r->ready_ms;
		if (r->crash_ms)
			due = least_of(due, i->since_ms + r->crash_ms);
		break;
	case N_INSTANCE_STATES: break;
	}
	return i->is_stopping ? i->asked_ms + r->stops_ms : due;
}

/* What is due at this instant; true: the record is over. */
static bool go_on(struct playing *x, struct instance *i)
{
	const struct rollout_revision *r = behaviour(x->f, i->revision);

	if (i->is_stopping)
		return true;
	switch (i->state) {
	case INSTANCE_UNCLAIMED:
		instance_move(i, INSTANCE_CLAIMED, x->now_ms);
		i->worker = 0;
		break;
	case INSTANCE_CLAIMED: instance_move(i, INSTANCE_RUNNING, x->now_ms); break;
	case INSTANCE_CRASHED: instance_move(i, INSTANCE_UNCLAIMED, x->now_ms); break;
	case INSTANCE_RUNNING:
		if (r->crash_ms && i->since_ms + r->crash_ms <= x->now_ms) {
			instance_crash(i, &x->f->policy, x->now_ms);
		} else {
			i->is_ready = true;
			i->ready_ms = x->now_ms;
		}
		break;
	case N_INSTANCE_STATES: break;
	}
	return false;
}

static bool happen(struct playing *x)
{
	struct instances *r = &x->f->records;
	size_t kept = 0;
	bool any = false;

	for (size_t k = 0; k < r->n; k++) {
		bool is_due = due_ms(x, &r->v[k]) <= x->now_ms;
		bool is_over = is_due && go_on(x, &r->v[k]);

		any |= is_due;
		if (!is_over)
			r->v[kept++] = r->v[k];
	}
	r->n = kept;
	return any;
}

/* What nobody wants, as convergence stops it in a fresh domain. */
static bool converge(struct playing *x)
{
	struct instances *r = &x->f->records;
	size_t kept = 0;
	bool any = false;

	for (size_t k = 0; k < r->n; k++) {
		struct instance *i = &r->v[k];
		bool is_surplus = i->index >= x->f->wanted && !i->is_surge && !i->is_stopping;

		any |= is_surplus;
		if (is_surplus && is_on_worker(i)) {
			i->is_stopping = true;
			i->asked_ms = x->now_ms;
		}
		if (!is_surplus || is_on_worker(i))
			r->v[kept++] = *i;
	}
	r->n = kept;
	return any;
}

static int64_t next_ms(const struct playing *x)
{
	int64_t next = x->pass.look_at_ms;

	if (x->next_event < x->f->n_events)
		next = least_of(next, x->f->events[x->next_event].at_ms);
	for (size_t k = 0; k < x->f->records.n; k++)
		next = least_of(next, due_ms(x, &x->f->records.v[k]));
	return next > x->now_ms ? next : x->now_ms;
}

/* --- what people say --- */

static const char *crash(struct playing *x, uint32_t index)
{
	for (size_t k = 0; k < x->f->records.n; k++) {
		struct instance *i = &x->f->records.v[k];

		if (i->index != index || !is_on_worker(i) || i->is_stopping)
			continue;
		instance_crash(i, &x->f->policy, x->now_ms);
		return NULL;
	}
	return "it does not run";
}

static const char *say(struct playing *x, const struct rollout_event *e)
{
	struct deploy *d = &x->f->deploy;
	int64_t to = e->revision ? e->revision : d->stable;

	switch (e->kind) {
	case ROLLOUT_DEPLOY:
		if (e->revision == d->target)
			return "it is the target already";
		deploy_begin(d, e->revision, &x->f->strategy, x->now_ms);
		return NULL;
	case ROLLOUT_ROLLBACK:
		if (to == 0 || to == d->target)
			return "there is nothing to go back to";
		deploy_rollback(d, to, x->now_ms);
		return NULL;
	case ROLLOUT_PROMOTE:
		return deploy_promote(d, x->now_ms) ? NULL : "it does not wait for that";
	case ROLLOUT_SCALE: x->f->wanted = e->n; return NULL;
	case ROLLOUT_CRASHED: return crash(x, e->n);
	case N_ROLLOUT_EVENTS: break;
	}
	return NULL;
}

/* --- steps as JSON --- */

static void add_key(const struct playing *x, uint32_t index)
{
	AUTO(buf_release) struct buf key = {0};

	buf_printf(&key, STR_FMT "/%u", STR_ARG(x->f->name), index);
	json_key_text(x->b, "instance", buf_str(&key));
}

static void add_actions(const struct playing *x)
{
	json_key(x->b, "actions");
	buf_add_char(x->b, '[');
	for (size_t k = 0; k < x->pass.n; k++) {
		const struct deploy_action *a = &x->pass.v[k];

		json_next(x->b);
		buf_add_char(x->b, '{');
		json_key_text(x->b, "action", str_of(deploy_action_names[a->kind]));
		add_key(x, a->index);
		json_key_i64(x->b, "revision", a->revision);
		if (a->is_surge)
			json_key_bool(x->b, "surge", true);
		json_key_text(x->b, "reason", str_of(a->reason));
		buf_add_char(x->b, '}');
	}
	buf_add_char(x->b, ']');
}

static void step_begin(struct playing *x)
{
	x->n_steps++;
	json_next(x->b);
	buf_add_cstr(x->b, "\n  {");
	json_key_time(x->b, "at", x->now_ms);
	json_key_i64(x->b, "after_ms", x->now_ms - x->f->now_ms);
}

static void step_said(struct playing *x, const struct rollout_event *e, const char *refused)
{
	step_begin(x);
	json_key_text(x->b, "event", str_of(rollout_event_names[e->kind]));
	if (refused)
		json_key_text(x->b, "refused", str_of(refused));
	json_key_text(x->b, "state", str_of(deploy_state_names[x->f->deploy.state]));
	buf_add_char(x->b, '}');
}

/* So many that serve, and so many that run or may start any moment. */
static void count(const struct playing *x, uint32_t *ret_ready, uint32_t *ret_starts)
{
	*ret_ready = *ret_starts = 0;
	for (size_t k = 0; k < x->f->records.n; k++) {
		const struct instance *i = &x->f->records.v[k];

		*ret_ready += i->is_ready && !i->is_stopping;
		*ret_starts += is_on_worker(i);
	}
}

static void step_done(struct playing *x)
{
	AUTO(buf_release) struct buf words = {0};
	uint32_t ready, starts;

	step_begin(x);
	json_key_text(x->b, "state", str_of(deploy_state_names[x->f->deploy.state]));
	add_actions(x);
	count(x, &ready, &starts);
	json_key_i64(x->b, "ready", ready);
	json_key_i64(x->b, "healthy", x->pass.n_healthy);
	json_key_i64(x->b, "starts", starts);
	json_key_text(x->b, "waits_for", str_of(deploy_wait_names[x->pass.waits]));
	deploy_words(&x->f->deploy, &x->pass, &words);
	json_key_text(x->b, "why", buf_str(&words));
	buf_add_char(x->b, '}');
}

/* --- the play --- */

static bool pass(struct playing *x)
{
	static const uint8_t nobody[1] = {SEEN_PRESENT};
	struct converge_env env = {x->now_ms, PLAYED_MAX_MS, nobody};
	struct deploy_service s = {0, x->f->wanted, x->f->is_singleton, &x->f->strategy};
	enum deploy_state was = x->f->deploy.state;

	deploy_pass(&env, &s, &x->f->deploy, x->f->records.v, x->f->records.n, &x->pass);
	if (x->f->deploy.state != was)
		x->moved_ms = x->now_ms;
	deploy_apply(&x->f->records, 0, &x->pass, x->now_ms);
	if (x->pass.n || x->f->deploy.state != was)
		step_done(x);
	return x->pass.n > 0;
}

static void watch(struct playing *x)
{
	uint32_t ready, starts;

	count(x, &ready, &starts);
	if (ready < x->least_ready)
		x->least_ready = ready;
	if (starts > x->most_starts)
		x->most_starts = starts;
}

/* Everything of this instant, until nothing more follows from it. */
static void instant(struct playing *x)
{
	bool again = true;

	for (; x->next_event < x->f->n_events && x->f->events[x->next_event].at_ms <= x->now_ms;
	     x->next_event++) {
		const struct rollout_event *e = &x->f->events[x->next_event];

		step_said(x, e, say(x, e));
	}
	while (again && x->n_steps < ROLLOUT_STEPS_MAX) {
		again = happen(x);
		again |= converge(x);
		again |= pass(x);
	}
	watch(x);
}

/* Nobody says anything more, and what is left is over, or is only restarted again and again. */
static bool is_over(const struct playing *x)
{
	enum deploy_state state = x->f->deploy.state;

	if (x->next_event < x->f->n_events)
		return false;
	for (size_t k = 0; k < x->f->records.n; k++)
		if (x->f->records.v[k].is_stopping || x->f->records.v[k].index >= x->f->wanted)
			return state == DEPLOY_STALLED;
	return state == DEPLOY_STEADY || state == DEPLOY_STALLED || state == DEPLOY_WAITING;
}

static bool play(struct playing *x)
{
	uint32_t instants = 0;

	for (;;) {
		int64_t next;

		instant(x);
		next = next_ms(x);
		if (is_over(x) && !x->f->has_until)
			return true;
		if (next == NEVER || (x->f->has_until && next > x->f->until_ms))
			return is_over(x);
		if (++instants >= ROLLOUT_STEPS_MAX || x->n_steps >= ROLLOUT_STEPS_MAX ||
		    next - x->f->now_ms > PLAYED_MAX_MS)
			return false;
		x->now_ms = next;
	}
}

static int by_time(const void *a, const void *b)
{
	const struct rollout_event *x = a, *y = b;

	if (x->at_ms != y->at_ms)
		return x->at_ms < y->at_ms ? -1 : 1;
	return x->nth < y->nth ? -1 : x->nth > y->nth;
}

static void add_end(struct playing *x, bool has_ended)
{
	const struct deploy *d = &x->f->deploy;

	json_key(x->b, "end");
	buf_add_char(x->b, '{');
	json_key_bool(x->b, "ended", has_ended);
	json_key_text(x->b, "state", str_of(deploy_state_names[d->state]));
	json_key_i64(x->b, "target", d->target);
	if (d->stable)
		json_key_i64(x->b, "stable", d->stable);
	if (d->failed)
		json_key_i64(x->b, "failed", d->failed);
	json_key_i64(x->b, "took_ms", x->moved_ms - x->began_ms);
	json_key_i64(x->b, "least_ready", x->least_ready);
	json_key_i64(x->b, "most_starts", x->most_starts);
	buf_add_char(x->b, '}');
}

static void add_records(struct playing *x)
{
	json_key(x->b, "instances");
	buf_add_char(x->b, '[');
	for (size_t k = 0; k < x->f->records.n; k++) {
		const struct instance *i = &x->f->records.v[k];

		json_next(x->b);
		buf_add_cstr(x->b, "\n  {");
		add_key(x, i->index);
		json_key_text(x->b, "state", str_of(instance_state_names[i->state]));
		json_key_i64(x->b, "revision", i->revision);
		json_key_bool(x->b, "ready", i->is_ready);
		json_key_time(x->b, "since", i->since_ms);
		json_key_i64(x->b, "crash_count", i->crash_count);
		if (i->is_surge)
			json_key_bool(x->b, "surge", true);
		buf_add_char(x->b, '}');
	}
	buf_add_cstr(x->b, "\n]");
}

void rollout_file_play(struct rollout_file *f, struct buf *json)
{
	struct playing x = {.f = f, .now_ms = f->now_ms, .least_ready = UINT32_MAX, .b = json};
	bool has_ended;

	if (f->n_events)
		qsort(f->events, f->n_events, sizeof *f->events, by_time);
	x.began_ms = x.moved_ms = f->n_events ? f->events[0].at_ms : f->now_ms;
	buf_add_char(json, '{');
	json_key(json, "steps");
	buf_add_char(json, '[');
	has_ended = play(&x);
	buf_add_cstr(json, "\n]");
	add_end(&x, has_ended);
	add_records(&x);
	buf_add_cstr(json, "}\n");
	deploy_pass_release(&x.pass);
}
