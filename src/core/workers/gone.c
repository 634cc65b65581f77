/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Instances that were given up before they must have given up themselves: an operator removed them
 * as lost, or another machine has their name. Such a one may still be there, with tasks, with a set
 * of workers that leaves out who has come since, and with timeouts of a server before. It is told
 * to die whenever it says hello, until it must be over by itself, on our monotonic clock. How much
 * of that time has passed nobody knows after a restart, so it begins anew then, as the hold does.
 *
 * Its row is another's now, or nobody's. So it is remembered here, too, how far its lock had come:
 * an earlier start under it is a dead predecessor, whose hello was held up on its way. That is why
 * those whose name another machine has are remembered even if they were lost.
 *
 * Who is given up in the initial wait, unheard, may have started what no row tells of: it is still
 * waited for (it owes its word), also by the next server.
 *
 * In the store: "INSTANCE MS" of each, then "|" and " START OWES N:LOCK N:KEY" of each. Servers
 * before this one wrote the first part only, and read no further.
 */
#include "core/state.h"

#include <inttypes.h>
#include <stdlib.h>

#include "model/limits.h"

static bool is_over(const struct core *c, const struct gone *g)
{
	return c->mono_ms > g->until_ms;
}

static bool is_predecessor(const struct gone *g, const struct worker_facts *f)
{
	return g->lock.n && f->start <= g->start && lock_is_same(g->lock, g->key, f) &&
	       !MUTANT(PREDECESSOR_FORGOTTEN);
}

bool gone_has(const struct core *c, const struct worker_facts *f)
{
	for (size_t i = 0; i < c->n_gone; i++) {
		const struct gone *g = &c->gone[i];

		if ((g->instance == f->instance || is_predecessor(g, f)) && !is_over(c, g))
			return !MUTANT(REMOVED_FORGOTTEN);
	}
	return false;
}

static void release(struct gone *g)
{
	free((char *)g->lock.p);
	free((char *)g->key.p);
}

void gone_release(struct core *c)
{
	while (c->n_gone)
		release(&c->gone[--c->n_gone]);
}

static void forget_those_over(struct core *c)
{
	size_t n = 0;

	for (size_t i = 0; i < c->n_gone; i++)
		if (is_over(c, &c->gone[i]))
			release(&c->gone[i]);
		else
			c->gone[n++] = c->gone[i];
	c->n_gone = n;
}

bool gone_has_room(struct core *c)
{
	forget_those_over(c);
	return c->n_gone < GONE_MAX;
}

static void print(const struct core *c, struct buf *text)
{
	for (size_t i = 0; i < c->n_gone; i++)
		buf_printf(text, "%s%016" PRIx64 " %" PRId64, i ? " " : "", c->gone[i].instance,
		    c->gone[i].for_ms);
	buf_add_cstr(text, " |");
	for (size_t i = 0; i < c->n_gone; i++) {
		const struct gone *g = &c->gone[i];

		buf_printf(text, " %" PRId64 " %d %zu:", g->start, g->owes, g->lock.n);
		buf_add_str(text, g->lock);
		buf_printf(text, " %zu:", g->key.n);
		buf_add_str(text, g->key);
	}
}

static void save(struct core *c, struct effects *out)
{
	struct meta_row *m = arena_zalloc(&out->batch.arena, sizeof *m);
	struct buf text = {0};

	print(c, &text);
	m->name = STR("gone");
	m->value = arena_str(&out->batch.arena, buf_str(&text));
	batch_put(&out->batch, &meta_table, m);
	buf_release(&text);
}

static struct str copy(struct str s)
{
	return s.n ? (struct str){xstrndup(s.p, s.n), s.n} : STR_NULL;
}

void gone_add(struct core *c, const struct worker *w, struct effects *out)
{
	const struct timeouts *t = worker_timeouts(c, w);
	const struct worker_facts *f = &w->row.facts;
	bool owes = start_owes(c, w);
	int64_t for_ms = timeouts_to_lose_ms(t) + t->margin_ms + (owes ? c->o.lost_hold_ms : 0);

	MUST(gone_has_room(c));
	c->gone[c->n_gone++] = (struct gone){.instance = f->instance,
	    .for_ms = for_ms,
	    .until_ms = c->mono_ms + for_ms,
	    .owes = owes,
	    .start = f->start,
	    .lock = copy(f->lock),
	    .key = copy(f->key)};
	save(c, out);
}

/* "N:", then so many bytes. */
static bool load_text(struct str text, size_t *at, struct str *ret_text)
{
	int64_t n = start_number(text, at, 10);

	if (*at >= text.n || text.p[*at] != ':' || n < 0 || (uint64_t)n >= text.n - *at)
		return false;
	*ret_text = (struct str){text.p + *at + 1, (size_t)n};
	*at += 1 + (size_t)n;
	return true;
}

static void load_locks(struct core *c, struct str text, size_t at)
{
	for (size_t i = 0; i < c->n_gone; i++) {
		int64_t start = start_number(text, &at, 10);
		bool owes = start_number(text, &at, 10) != 0;
		struct str lock, key;

		if (!load_text(text, &at, &lock) || !load_text(text, &at, &key))
			return;
		c->gone[i].start = start;
		c->gone[i].owes = owes;
		c->gone[i].lock = copy(lock);
		c->gone[i].key = copy(key);
	}
}

void gone_load(struct core *c, struct str text)
{
	size_t at = 0;

	while (at < text.n && c->n_gone < GONE_MAX) {
		struct gone g = {.instance = (uint64_t)start_number(text, &at, 16)};

		g.for_ms = start_number(text, &at, 10);
		if (!g.instance || g.for_ms <= 0 || g.for_ms > 4 * DURATION_MAX_MS)
			break;
		c->gone[c->n_gone++] = g;
	}
	while (at < text.n && text.p[at] == ' ')
		at++;
	if (at < text.n && text.p[at] == '|')
		load_locks(c, text, at + 1);
}

bool gone_owe(const struct core *c)
{
	for (size_t i = 0; i < c->n_gone; i++)
		if (c->gone[i].owes && !is_over(c, &c->gone[i]))
			return true;
	return false;
}

/* The wait is over, so whatever they had is. */
void gone_settle(struct core *c, struct effects *out)
{
	if (!gone_owe(c))
		return;
	for (size_t i = 0; i < c->n_gone; i++)
		c->gone[i].owes = false;
	save(c, out);
}

void gone_started(struct core *c)
{
	for (size_t i = 0; i < c->n_gone; i++)
		c->gone[i].until_ms = c->mono_ms + c->gone[i].for_ms;
}
