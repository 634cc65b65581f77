/* SPDX-License-Identifier: Apache-2.0 */
/* The events of a file, in the order of their times; a wait that is over ends by itself. */
#include <stdlib.h>

#include "base/mem.h"
#include "graph/write/json_text.h"
#include "service/file/crash_file.h"
#include "service/write/write.h"

struct step {
	struct crash_event event;
	enum instance_state from;
	const char *refused; /* NULL: it happened */
	struct instance after;
};

struct playing {
	struct crash_file *file;
	struct step *steps;
	size_t n, cap;
};

static int by_time(const void *a, const void *b)
{
	const struct crash_event *x = a, *y = b;

	if (x->at_ms != y->at_ms)
		return x->at_ms < y->at_ms ? -1 : 1;
	return x->nth < y->nth ? -1 : x->nth > y->nth;
}

static int step_by_time(const void *a, const void *b)
{
	const struct step *x = a, *y = b;

	if (x->event.at_ms != y->event.at_ms)
		return x->event.at_ms < y->event.at_ms ? -1 : 1;
	return x->event.nth < y->event.nth ? -1 : x->event.nth > y->event.nth;
}

static const struct crash_policy *policy_of(const struct crash_file *f, const struct instance *i)
{
	return f->has_policy[i->service] ? &f->policies[i->service] : &f->policy;
}

static const char *move_to(struct instance *i, enum instance_state to, int64_t now_ms)
{
	if (!moves_allowed(&instance_moves, i->state, to))
		return "an instance in this state cannot";
	instance_move(i, to, now_ms);
	return NULL;
}

static const char *happen(
    const struct crash_file *f, struct instance *i, const struct crash_event *e)
{
	switch (e->kind) {
	case CRASH_CLAIMED: return move_to(i, INSTANCE_CLAIMED, e->at_ms);
	case CRASH_RUNNING: return move_to(i, INSTANCE_RUNNING, e->at_ms);
	case CRASH_RESTART:
		if (i->state != INSTANCE_CRASHED)
			return "it does not wait";
		return move_to(i, INSTANCE_UNCLAIMED, e->at_ms);
	case CRASH_DUE: return move_to(i, INSTANCE_UNCLAIMED, e->at_ms);
	case CRASH_CRASHED:
	case N_CRASH_EVENTS: break;
	}
	if (i->state != INSTANCE_CLAIMED && i->state != INSTANCE_RUNNING)
		return "it is on no worker: this crash is known, or is another's";
	instance_crash(i, policy_of(f, i), e->at_ms);
	return NULL;
}

static void step(struct playing *x, const struct crash_event *e)
{
	struct instance *i = &x->file->instances[e->instance];
	struct step *s;

	GROW(x->steps, x->cap, x->n + 1);
	s = &x->steps[x->n++];
	*s = (struct step){.event = *e, .from = i->state};
	s->refused = happen(x->file, i, e);
	s->after = *i;
}

static void end_wait(struct playing *x, uint32_t n, int64_t until_ms, uint32_t nth)
{
	struct instance *i = &x->file->instances[n];
	int64_t due = crash_due_ms(i, policy_of(x->file, i));

	if (i->state == INSTANCE_CRASHED && due != CRASH_NEVER && due <= until_ms)
		step(x, &(struct crash_event){due, n, nth, CRASH_DUE});
}

static void play(struct playing *x)
{
	struct crash_file *f = x->file;
	int64_t until = 0;

	if (f->n_events)
		qsort(f->events, f->n_events, sizeof *f->events, by_time);
	for (uint32_t i = 0; i < f->n_events; i++) {
		f->events[i].nth = i + 1;
		end_wait(x, f->events[i].instance, f->events[i].at_ms, i);
		step(x, &f->events[i]);
		until = f->events[i].at_ms;
	}
	if (f->has_until)
		until = f->until_ms;
	for (uint32_t n = 0; n < f->keys.n; n++)
		end_wait(x, n, until, (uint32_t)f->n_events + 1 + n);
	if (x->n)
		qsort(x->steps, x->n, sizeof *x->steps, step_by_time);
}

static void add_wait(const struct crash_file *f, const struct instance *i, struct buf *b)
{
	const struct crash_policy *p = policy_of(f, i);

	json_key_i64(b, "crash_count", i->crash_count);
	if (i->state != INSTANCE_CRASHED)
		return;
	if (crash_due_ms(i, p) == CRASH_NEVER) {
		json_key_bool(b, "never", true);
		return;
	}
	json_key_i64(b, "wait_ms", crash_wait_ms(p, i->crash_count));
	json_key_time(b, "restarts_at", crash_due_ms(i, p));
}

static void add_step(const struct crash_file *f, const struct step *s, struct buf *b)
{
	json_key_time(b, "at", s->event.at_ms);
	json_key_text(b, "instance", f->keys.texts[s->event.instance]);
	json_key_text(b, "event", str_of(crash_event_names[s->event.kind]));
	json_key_text(b, "from", str_of(instance_state_names[s->from]));
	json_key_text(b, "state", str_of(instance_state_names[s->after.state]));
	add_wait(f, &s->after, b);
	if (s->refused)
		json_key_text(b, "refused", str_of(s->refused));
}

static void add_instance(const struct crash_file *f, uint32_t n, struct buf *b)
{
	const struct instance *i = &f->instances[n];

	json_key_text(b, "instance", f->keys.texts[n]);
	json_key_text(b, "state", str_of(instance_state_names[i->state]));
	json_key_time(b, "since", i->since_ms);
	add_wait(f, i, b);
	if (i->crashed_at_ms)
		json_key_time(b, "crashed_at", i->crashed_at_ms);
}

struct named {
	struct str service;
	uint32_t index, n;
};

static int by_name(const void *a, const void *b)
{
	const struct named *x = a, *y = b;
	int c = str_cmp(x->service, y->service);

	return c ? c : x->index < y->index ? -1 : x->index > y->index;
}

static void add_instances(const struct crash_file *f, struct buf *b)
{
	struct named *order = xcalloc(f->keys.n + 1, sizeof *order);

	for (uint32_t n = 0; n < f->keys.n; n++)
		order[n] = (struct named){
		    f->services.texts[f->instances[n].service], f->instances[n].index, n};
	qsort(order, f->keys.n, sizeof *order, by_name);
	for (uint32_t k = 0; k < f->keys.n; k++) {
		json_next(b);
		buf_add_cstr(b, "\n  {");
		add_instance(f, order[k].n, b);
		buf_add_char(b, '}');
	}
	free(order);
}

void crash_file_play(struct crash_file *f, struct buf *json)
{
	struct playing x = {.file = f};

	play(&x);
	buf_add_char(json, '{');
	json_key(json, "steps");
	buf_add_char(json, '[');
	for (size_t i = 0; i < x.n; i++) {
		json_next(json);
		buf_add_cstr(json, "\n  {");
		add_step(f, &x.steps[i], json);
		buf_add_char(json, '}');
	}
	buf_add_cstr(json, "\n]");
	json_key(json, "instances");
	buf_add_char(json, '[');
	add_instances(f, json);
	buf_add_cstr(json, "\n]}\n");
	free(x.steps);
}
