/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What workers say of time. Their clocks are not ours: whatever the server decides by time, it
 * decides by its own. What a worker says is only shown, and only if it is possible: an attempt
 * starts after its order and has ended when we hear so. What is not possible is moved to where it
 * is, with its length kept, and marked.
 */
#include "core/state.h"

/* Clocks that are kept in step differ by less. */
#define CLOCKS_DIFFER_MS 1000

struct span {
	int64_t from, to;
};

/* Never empty, also when our own clock was set back since the order. */
static struct span possible(const struct core *c, const struct task_state *s)
{
	int64_t from = s->claimed_ms > 0 ? s->claimed_ms : 1;

	return (struct span){from < c->now_ms ? from : c->now_ms, c->now_ms};
}

static int64_t into(struct span g, int64_t t)
{
	return t < g.from ? g.from : t > g.to ? g.to : t;
}

static bool moved(int64_t said, int64_t is)
{
	return said < is ? is - said > CLOCKS_DIFFER_MS : said - is > CLOCKS_DIFFER_MS;
}

static int64_t not_negative(int64_t t)
{
	return t > 0 ? t : 0;
}

void times_started(const struct core *c, struct task_state *s, int64_t said_ms)
{
	int64_t said = not_negative(said_ms);

	s->started_ms = into(possible(c, s), said);
	s->times_doubtful = moved(said, s->started_ms);
}

void times_ended(const struct core *c, struct task_state *s, int64_t started_ms, int64_t ended_ms)
{
	struct span g = possible(c, s);
	int64_t began = not_negative(started_ms), ended = not_negative(ended_ms), length;

	if (!began) { /* an attempt that never began, or whose start is known */
		s->ended_ms = into(g, ended);
		s->times_doubtful |= moved(ended, s->ended_ms);
		return;
	}
	length = into((struct span){0, g.to - g.from}, ended > began ? ended - began : 0);
	s->started_ms = into((struct span){g.from, g.to - length}, began);
	s->ended_ms = s->started_ms + length;
	s->times_doubtful = moved(began, s->started_ms) || moved(ended, s->ended_ms);
}

/* A volatile server that was restarted knows only when the task was submitted. */
void times_adopted(const struct core *c, struct task_row *t, int64_t said_ms)
{
	struct span g = {t->ctime_ms < c->now_ms ? t->ctime_ms : c->now_ms, c->now_ms};

	t->state.claimed_ms = said_ms ? into(g, said_ms) : c->now_ms;
}

void times_forget(struct task_state *s)
{
	s->started_ms = s->ended_ms = 0;
	s->times_doubtful = 0;
}
