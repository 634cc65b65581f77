/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Twins by unique key, for those who do not see everything. The core knows who holds a key, but
 * not what labels he has: these are in the store, and looked up some hundreds at a time.
 */
#include "api/tasks/submit.h"

#define TWINS_AT_ONCE 500

const char hidden_twin[] = "the key is taken by a task that this token cannot see";

static size_t next_end(const struct submit *s)
{
	size_t left = s->reply.n - s->checked;

	return s->checked + (left < TWINS_AT_ONCE ? left : TWINS_AT_ONCE);
}

/* On a reader's thread; all that it touches lies in the call's arenas. */
static void read_twins(struct store_reader *r, void *arg)
{
	struct call *c = arg;
	struct submit *s = c->state;
	const struct outcome *o = s->outcomes + s->checked;
	size_t n = next_end(s) - s->checked;

	arena_reset(&c->row_arena);
	s->seen = arena_zalloc(&c->row_arena, n * sizeof *s->seen);
	c->code = 0;
	for (size_t i = 0; i < n && !c->code; i++) {
		if (!o[i].twin)
			continue;
		if (i && o[i - 1].twin && o[i].id == o[i - 1].id)
			s->seen[i] = s->seen[i - 1];
		else
			c->code = read_bare_task(r, o[i].id, &c->row_arena, &s->seen[i]);
	}
}

static void twins_read(struct call *c);

static void check_on(struct call *c)
{
	struct submit *s = c->state;

	while (s->checked < s->reply.n && !s->outcomes[s->checked].twin)
		s->checked++;
	if (s->checked < s->reply.n)
		call_read_long(c, read_twins, twins_read);
	else
		s->on_hidden(c);
}

static void twins_read(struct call *c)
{
	struct submit *s = c->state;
	size_t from = s->checked, end = next_end(s);

	if (call_read_failed(c))
		return;
	for (size_t i = from; i < end; i++) {
		const struct task_row *t = &s->seen[i - from];

		if (s->outcomes[i].twin &&
		    !(t->id && scope_covers(c, t->spec.queue, t->spec.labels)))
			s->outcomes[i] = (struct outcome){.code = ERR_CONFLICT, .why = hidden_twin};
	}
	s->checked = end;
	check_on(c);
}

void submit_hide_twins(struct call *c, const struct reply *r, call_fn *fn)
{
	struct submit *s = c->state;

	s->outcomes = arena_memdup(&c->arena, r->outcomes, r->n * sizeof *s->outcomes);
	s->reply = *r;
	s->reply.outcomes = s->outcomes;
	s->on_hidden = fn;
	check_on(c);
}
