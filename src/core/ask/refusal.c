/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Callers that were not allowed something: written down, so many a minute of each, that nobody
 * fills the disk by being refused. Each has a budget of his own, that nobody hides others by being
 * refused often; all who show nothing that is known share one. How many were left out is told when
 * the minute is over. A name that was only claimed, without its secret, counts apart from its
 * bearer's.
 */
#include "core/state.h"

#include <stdlib.h>

#define REFUSALS_A_MINUTE 20
#define MINUTE_MS 60000
#define REFUSERS_MAX (2 * TOKENS_MAX + 64) /* each token, claimed and shown, and some users */
#define UNKNOWN "unknown"

struct refuser {
	char *actor, *token; /* token: claimed; NULL: none */
	int64_t since_ms;    /* monotonic */
	unsigned written, left_out;
};

static bool is_of(const struct refuser *f, struct str actor, struct str token)
{
	return str_is(actor, f->actor) && (f->token ? str_is(token, f->token) : !token.p);
}

static void tell_left_out(struct core *c, const struct refuser *f, struct effects *out)
{
	struct arena *a = &out->batch.arena;
	struct str token = f->token ? str_of(f->token) : STR_NULL;
	const struct detail details[] = {
	    {"why", arena_strf(a, "%u more of %s%s%s in this minute were left out", f->left_out,
	                f->actor, f->token ? " as token:" : "", f->token ? f->token : "")},
	    {"token", token}};

	audit(c, "access.refused", STR_NULL, 0, 0, str_of(f->actor),
	    details_of(a, details, sizeof details / sizeof details[0]), out);
}

static void forget(struct refusals *x, size_t i)
{
	free(x->of[i].actor);
	free(x->of[i].token);
	x->of[i] = x->of[--x->n];
}

static timer_fn minute_is_over;

static void tell_later(struct core *c, const struct refuser *f)
{
	struct timer *t = &c->refusals.timer;
	int64_t at = f->since_ms + MINUTE_MS;

	if (!timer_is_set(t) || at < t->node.at)
		timer_set(c, TIMER_MONO, t, at, 0, minute_is_over);
}

static void forget_past(struct core *c, struct effects *out)
{
	struct refusals *x = &c->refusals;

	timer_clear(c, TIMER_MONO, &x->timer);
	for (size_t i = x->n; i-- > 0;) {
		const struct refuser *f = &x->of[i];

		if (c->mono_ms - f->since_ms >= MINUTE_MS) {
			if (f->left_out)
				tell_left_out(c, f, out);
			forget(x, i);
		} else if (f->left_out) {
			tell_later(c, f);
		}
	}
}

static void minute_is_over(struct core *c, struct timer *t, struct effects *out)
{
	forget_past(c, out);
}

static struct refuser *find(struct refusals *x, struct str actor, struct str token)
{
	for (size_t i = 0; i < x->n; i++)
		if (is_of(&x->of[i], actor, token))
			return &x->of[i];
	return NULL;
}

static struct refuser *add(struct core *c, struct str actor, struct str token)
{
	struct refusals *x = &c->refusals;
	struct refuser *f;

	GROW(x->of, x->cap, x->n + 1);
	f = &x->of[x->n++];
	*f = (struct refuser){.actor = xstrndup(actor.p, actor.n),
	    .token = token.p ? xstrndup(token.p, token.n) : NULL,
	    .since_ms = c->mono_ms};
	return f;
}

/* Whose budget this comes from. Too many at once: then the rest is counted with the unknown. */
static struct refuser *budget_of(
    struct core *c, struct str actor, struct str token, struct effects *out)
{
	struct refuser *f = find(&c->refusals, actor, token);

	if ((f && c->mono_ms - f->since_ms >= MINUTE_MS) || (!f && c->refusals.n >= REFUSERS_MAX)) {
		forget_past(c, out);
		f = find(&c->refusals, actor, token);
	}
	if (f)
		return f;
	if (c->refusals.n < REFUSERS_MAX)
		return add(c, actor, token);
	f = find(&c->refusals, STR(UNKNOWN), STR_NULL);
	return f ? f : add(c, STR(UNKNOWN), STR_NULL);
}

void refusal(struct core *c, const struct event *ev, struct effects *out)
{
	const struct detail details[] = {
	    {"why", ev->refused.why}, {"token", ev->refused.token}, {"worker", ev->refused.worker}};
	struct refuser *f = budget_of(c, ev->actor, ev->refused.token, out);

	if (f->written < REFUSALS_A_MINUTE) {
		f->written++;
		audit(c, "access.refused", ev->refused.subject, 0, 0, ev->actor,
		    details_of(&out->batch.arena, details, sizeof details / sizeof details[0]),
		    out);
		return;
	}
	f->left_out++;
	tell_later(c, f);
}

void refusals_release(struct core *c)
{
	while (c->refusals.n)
		forget(&c->refusals, c->refusals.n - 1);
	free(c->refusals.of);
}
