/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/look.h"

#include <inttypes.h>
#include <stdio.h>

static int64_t at_least(int64_t n, int64_t least)
{
	return n < least ? least : n;
}

const char *look_span(int64_t ms, char text[static 32])
{
	if (ms % 1000)
		snprintf(text, 32, "%" PRId64 "ms", ms);
	else
		snprintf(text, 32, "%" PRId64 "s", ms / 1000);
	return text;
}

int64_t look_later(int64_t from_ms, int64_t by_ms)
{
	int64_t sum;

	return __builtin_add_overflow(from_ms, by_ms, &sum) ? INT64_MAX : sum;
}

void look_use(struct look *l, const struct run_check *c, int64_t interval_ms, int64_t first_ms)
{
	l->watched = c->kind != CHECK_NONE;
	l->interval_ms = at_least(interval_ms, LOOK_LEAST_MS);
	l->timeout_ms = at_least(c->timeout_ms, 1);
	l->is_under_way = false;
	l->at_ms = first_ms;
}

void look_drop(struct look *l)
{
	l->watched = l->is_under_way = false;
}

/* Until then the look under way may be answered; an answer at that very moment still counts. */
static int64_t limit_ms(const struct look *l)
{
	return look_later(l->at_ms, l->timeout_ms);
}

static enum look_answer bad(struct look *l, struct str why)
{
	l->is_under_way = false;
	if (why.n == 0)
		why = STR("the check failed");
	snprintf(l->why, sizeof l->why, "%.*s",
	    (int)(why.n < sizeof l->why ? why.n : sizeof l->why), why.p);
	return LOOK_BAD;
}

enum look_answer look_answered(
    struct look *l, uint64_t number, bool ok, struct str why, int64_t now_ms)
{
	if (!l->is_under_way || number != l->number || now_ms > limit_ms(l))
		return LOOK_NOTHING; /* a late one counts as silence */
	l->is_under_way = false;
	return ok ? LOOK_GOOD : bad(l, why);
}

enum look_answer look_silence(struct look *l, int64_t now_ms)
{
	char text[64], limit[32];

	if (!l->is_under_way || now_ms < limit_ms(l))
		return LOOK_NOTHING;
	snprintf(text, sizeof text, "timed out after %s", look_span(l->timeout_ms, limit));
	return bad(l, str_of(text));
}

void look_again(struct look *l, int64_t now_ms)
{
	l->at_ms = look_later(now_ms, l->interval_ms);
}

bool look_open(struct look *l, int64_t now_ms)
{
	if (!l->watched || l->is_under_way || now_ms < l->at_ms)
		return false;
	l->is_under_way = true;
	l->at_ms = now_ms;
	l->number++;
	return true;
}

int64_t look_wake_ms(const struct look *l)
{
	if (!l->watched)
		return INT64_MAX;
	return l->is_under_way ? limit_ms(l) : l->at_ms;
}
