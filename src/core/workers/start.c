/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The start. A durable server knows from its rows what was dispatched, so everything else may
 * start at once. After a volatile one nobody knows what the workers run: nothing is started until
 * every worker that may run something has spoken or must have ended it. That is so when the time
 * is up, or earlier when those who are here agree that they are all there is: see consensus.c.
 * They may lie, or be fewer than they think. So each worker's row says whether a volatile server
 * could give it tasks, and nobody of whom that is written may be missing. (Both are needed: a store
 * that was restored from a backup does not know who came later. Those who did know other sets.)
 *
 * Two meta rows outlive the process. "volatile": how many servers this store has seen since the
 * first volatile one, whether dispatched tasks may have been left behind that their rows call
 * queued (open, settled), and the last volatile server that could start anything: only the
 * sets that it told can say who may be running something; then its number among those servers, if
 * its orders had receipts (see hello.c). "timeouts": the longest that
 * workers may still go by, which have not spoken to us yet. A third one, "gone", is gone.c's.
 */
#include "core/state.h"

#include <string.h>

#include "model/limits.h"

#define TOKENS_PER_BOOT 32 /* bits */

static int64_t safe_wait_ms(const struct timeouts *t, int64_t hold_ms)
{
	return timeouts_to_lose_ms(t) + t->margin_ms + hold_ms;
}

bool core_heeds_receipts(const struct core *c)
{
	return c->o.is_volatile || c->start.was_volatile;
}

int64_t core_safe_wait_ms(const struct core_options *o)
{
	struct timeouts t = o->timeouts;

	if (!t.heartbeat_ms)
		timeouts_default(&t);
	return safe_wait_ms(&t, o->lost_hold_ms ? o->lost_hold_ms : 66000);
}

/* The next number of a row's text; *ret_at moves behind it. Anything else ends it. */
int64_t start_number(struct str text, size_t *ret_at, int base)
{
	static const char digits[] = "0123456789abcdef";
	uint64_t n = 0;

	while (*ret_at < text.n && text.p[*ret_at] == ' ')
		++*ret_at;
	for (; *ret_at < text.n; ++*ret_at) {
		const char *d = strchr(digits, text.p[*ret_at]);

		if (!text.p[*ret_at] || !d || d - digits >= base)
			break;
		n = n * (unsigned)base + (unsigned)(d - digits);
	}
	return (int64_t)n;
}

static void load_volatile(struct core *c, struct str text)
{
	size_t at = 0;

	c->start.boot = start_number(text, &at, 10);
	if (c->start.boot < 0 || c->start.boot > INT32_MAX)
		c->start.boot = INT32_MAX;
	c->start.was_volatile = at + 1 < text.n && text.p[at + 1] == 'o';
	while (++at < text.n && text.p[at] != ' ')
		;
	c->start.dispatcher = (uint64_t)start_number(text, &at, 16);
	c->start.receipts_from = start_number(text, &at, 10);
	if (c->start.receipts_from < 0 || c->start.receipts_from > c->start.boot)
		c->start.receipts_from = 0;
}

static void longest(int64_t *field, int64_t other)
{
	if (other > *field && other <= DURATION_MAX_MS)
		*field = other;
}

static void load_timeouts(struct core *c, struct str text)
{
	struct timeouts *t = &c->start.before;
	size_t at = 0;

	longest(&t->heartbeat_ms, start_number(text, &at, 10));
	longest(&t->heartbeat_grace_ms, start_number(text, &at, 10));
	longest(&t->check_period_ms, start_number(text, &at, 10));
	longest(&t->check_grace_ms, start_number(text, &at, 10));
	longest(&t->lose_after_ms, start_number(text, &at, 10));
	longest(&t->margin_ms, start_number(text, &at, 10));
	longest(&t->kill_wait_ms, start_number(text, &at, 10));
}

void start_load_meta(struct core *c, const struct meta_row *m)
{
	if (str_is(m->name, "volatile"))
		load_volatile(c, m->value);
	if (str_is(m->name, "gone"))
		gone_load(c, m->value);
	if (str_is(m->name, "timeouts") && !MUTANT(OLD_TIMEOUTS_FORGOTTEN))
		load_timeouts(c, m->value);
}

static void save(struct effects *out, const char *name, struct str value)
{
	struct meta_row *m = arena_zalloc(&out->batch.arena, sizeof *m);

	m->name = str_of(name);
	m->value = value;
	batch_put(&out->batch, &meta_table, m);
}

static void save_volatile(struct core *c, bool open, struct effects *out)
{
	bool ours = c->start.dispatcher == c->o.server;

	save(out, "volatile",
	    arena_strf(&out->batch.arena, "%lld %s %016llx %lld", (long long)c->start.boot,
	        open ? "open" : "settled", (unsigned long long)c->start.dispatcher,
	        (long long)(ours ? c->start.boot : c->start.receipts_from)));
}

static void save_timeouts(const struct timeouts *t, struct effects *out)
{
	save(out, "timeouts",
	    arena_strf(&out->batch.arena, "%lld %lld %lld %lld %lld %lld %lld",
	        (long long)t->heartbeat_ms, (long long)t->heartbeat_grace_ms,
	        (long long)t->check_period_ms, (long long)t->check_grace_ms,
	        (long long)t->lose_after_ms, (long long)t->margin_ms, (long long)t->kill_wait_ms));
}

int64_t start_token_floor(int64_t boot)
{
	return MUTANT(TOKEN_WITHOUT_BOOT) ? 0 : boot << TOKENS_PER_BOOT;
}

/* Tokens that were not written down must not be given out again: each process has its own. */
static void raise_tokens(struct core *c)
{
	if (c->o.is_volatile || c->start.boot)
		c->start.boot++;
	c->start.token_floor = start_token_floor(c->start.boot);
}

/* From now on something may be started. */
static void open_up(struct core *c, struct effects *out)
{
	if (c->o.is_volatile)
		c->start.dispatcher = c->o.server;
	if (c->start.boot)
		save_volatile(c, c->o.is_volatile, out);
}

static int64_t wait_ms(const struct core *c)
{
	if (c->o.caution_startup_wait && c->o.is_volatile)
		return c->o.startup_wait_ms;
	return safe_wait_ms(&c->start.before, c->o.lost_hold_ms);
}

static timer_fn time_is_up;

void start_begin(struct core *c, bool key_is_new, struct effects *out)
{
	struct start *s = &c->start;

	if (key_is_new)
		s->receipts_from = 0;
	raise_tokens(c);
	save_timeouts(&s->before, out);
	s->last_id = c->last_id;
	if (!s->was_volatile || MUTANT(NO_INITIAL_WAIT)) {
		open_up(c, out);
		return;
	}
	save_volatile(c, true, out);
	s->waiting = true;
	s->until_ms = c->mono_ms + wait_ms(c);
	timer_set(c, TIMER_MONO, &s->timer, s->until_ms, 0, time_is_up);
	audit(c, "server.waiting", STR("server"), 0, 0, STR("reeve"),
	    STR("{\"reason\":\"the last server was volatile: workers are waited for\"}"), out);
}

/* Everybody has spoken or is gone: nobody goes by older timeouts any more. */
void start_all_heard(struct core *c, struct effects *out)
{
	if (memcmp(&c->start.before, &c->o.timeouts, sizeof c->o.timeouts) == 0)
		return;
	c->start.before = c->o.timeouts;
	save_timeouts(&c->o.timeouts, out);
}

bool start_may_run(const struct core *c, const struct task_row *row)
{
	return c->start.waiting && row->state.status == TASK_QUEUED &&
	       row->id <= c->start.last_id && !MUTANT(CANCEL_WHILE_WAITING);
}

/* Only what the last one told who could start anything says who may be running something. */
static bool sets_count(const struct core *c)
{
	const struct member *m;

	TAILQ_FOREACH (m, &c->set.members, entry)
		if (m->initial.server && m->initial.server != c->start.dispatcher &&
		    !MUTANT(ANY_SERVERS_SET_COUNTS))
			return false;
	return true;
}

bool start_owes(const struct core *c, const struct worker *w)
{
	return c->start.waiting && w->row.unwritten && !w->health.known;
}

/* Sets are what workers say of each other; this is what we have written down of them ourselves. */
static bool somebody_owes(const struct core *c)
{
	struct worker *w;

	if (MUTANT(LIAR_ENDS_WAIT) || MUTANT_OF_SETS)
		return false;
	EACH_OBJECT(w, c, KIND_WORKER)
	if (start_owes(c, w))
		return true;
	return gone_owe(c);
}

/* A worker that was lost in the wait has ended by now whatever it had. */
static void settle(struct core *c, struct effects *out)
{
	struct worker *w;

	EACH_OBJECT(w, c, KIND_WORKER)
	{
		if (!start_owes(c, w) || w->health.state != WORKER_MUST_DIE)
			continue;
		w->row.unwritten = false;
		save_worker(c, w, out);
	}
	gone_settle(c, out);
}

static void end(struct core *c, const char *why, struct effects *out)
{
	settle(c, out);
	c->start.waiting = false;
	timer_clear(c, TIMER_MONO, &c->start.timer);
	open_up(c, out);
	watch_tell_all(c, out);
	audit(c, "server.ready", STR("server"), 0, 0, STR("reeve"),
	    detail_of(&out->batch.arena, "reason", str_of(why)), out);
}

static void time_is_up(struct core *c, struct timer *t, struct effects *out)
{
	end(c, "the initial wait is over", out);
}

void start_look(struct core *c, struct effects *out)
{
	if (!c->start.waiting)
		return;
	if (!c->start.parked_hellos && consensus_initial(&c->set) && sets_count(c) &&
	    !somebody_owes(c))
		end(c, "all workers have spoken, and agree that they are all", out);
}
