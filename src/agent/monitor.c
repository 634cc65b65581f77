/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/monitor.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

const struct moves monitor_moves = {
    "monitor",
    {[MONITOR_ASLEEP] = "asleep",
        [MONITOR_STARTING] = "starting",
        [MONITOR_WELL] = "well",
        [MONITOR_FAILED] = "failed"},
    {
        {MONITOR_ASLEEP, MONITOR_STARTING, "the process runs"},
        {MONITOR_ASLEEP, MONITOR_WELL, "it runs, and there is nothing to look at"},
        {MONITOR_STARTING, MONITOR_WELL, "`healthy_after` good looks in a row"},
        {MONITOR_STARTING, MONITOR_FAILED, "not well within `start_timeout`"},
        {MONITOR_WELL, MONITOR_FAILED, "`unhealthy_after` bad looks in a row"},
    },
};

void monitor_move(struct monitor *m, enum monitor_state to)
{
	m->state = moves_make(&monitor_moves, m->state, to);
	m->row = 0;
	if (to == MONITOR_FAILED)
		m->looking = false;
}

static int64_t at_least(int64_t n, int64_t least)
{
	return n < least ? least : n;
}

void monitor_init(struct monitor *m, const struct run_check *c)
{
	*m = (struct monitor){
	    .state = MONITOR_ASLEEP,
	    .watched = c->kind != CHECK_NONE,
	    .start_timeout_ms = at_least(c->start_timeout_ms, 0),
	    .start_interval_ms = at_least(c->start_interval_ms, MONITOR_LEAST_MS),
	    .interval_ms = at_least(c->interval_ms, MONITOR_LEAST_MS),
	    .timeout_ms = at_least(c->timeout_ms, 1),
	    .healthy_after = (int32_t)at_least(c->healthy_after, 1),
	    .unhealthy_after = (int32_t)at_least(c->unhealthy_after, 1),
	};
}

/* "60s", "1500ms": as people write it into a task. */
static const char *span(int64_t ms, char text[static 32])
{
	if (ms % 1000)
		snprintf(text, 32, "%" PRId64 "ms", ms);
	else
		snprintf(text, 32, "%" PRId64 "s", ms / 1000);
	return text;
}

static int64_t later(int64_t from_ms, int64_t by_ms)
{
	int64_t sum;

	return __builtin_add_overflow(from_ms, by_ms, &sum) ? INT64_MAX : sum;
}

/* Until then the look under way may be answered; an answer at that very moment still counts. */
static int64_t look_limit_ms(const struct monitor *m)
{
	return later(m->look_ms, m->timeout_ms);
}

static int64_t start_limit_ms(const struct monitor *m)
{
	if (m->state != MONITOR_STARTING || m->start_timeout_ms == 0)
		return INT64_MAX;
	return later(m->started_ms, m->start_timeout_ms);
}

static void remember(struct monitor *m, struct str why)
{
	if (why.n == 0)
		why = STR("the check failed");
	snprintf(m->why, sizeof m->why, "%.*s",
	    (int)(why.n < sizeof m->why ? why.n : sizeof m->why), why.p);
}

static void look_over(struct monitor *m, int64_t now_ms)
{
	m->looking = false;
	m->look_ms =
	    later(now_ms, m->state == MONITOR_STARTING ? m->start_interval_ms : m->interval_ms);
}

static void take_good(struct monitor *m, int64_t now_ms, struct monitor_effect *ret)
{
	if (m->state == MONITOR_WELL) {
		m->row = 0;
	} else if (++m->row >= m->healthy_after) {
		monitor_move(m, MONITOR_WELL);
		ret->kind = MONITOR_IS_WELL;
	}
	look_over(m, now_ms); /* after the move: the interval is that of the new state */
}

static void take_bad(struct monitor *m, struct str why, int64_t now_ms, struct monitor_effect *ret)
{
	remember(m, why);
	look_over(m, now_ms);
	if (m->state == MONITOR_STARTING) {
		m->row = 0;
	} else if (++m->row >= m->unhealthy_after) {
		snprintf(ret->why, sizeof ret->why, "became unhealthy: %s", m->why);
		ret->kind = MONITOR_HAS_FAILED;
		monitor_move(m, MONITOR_FAILED);
	}
}

static void take_result(
    struct monitor *m, const struct monitor_event *ev, int64_t now_ms, struct monitor_effect *ret)
{
	if (!m->looking || ev->number != m->number || now_ms > look_limit_ms(m))
		return; /* of a look that was given up; a late one is counted as such below */
	if (ev->ok)
		take_good(m, now_ms, ret);
	else
		take_bad(m, ev->why, now_ms, ret);
}

static void take_silence(struct monitor *m, int64_t now_ms, struct monitor_effect *ret)
{
	char text[64], limit[32];

	snprintf(text, sizeof text, "timed out after %s", span(m->timeout_ms, limit));
	take_bad(m, str_of(text), now_ms, ret);
}

static void give_up_start(struct monitor *m, struct monitor_effect *ret)
{
	char limit[32];

	snprintf(ret->why, sizeof ret->why, "never healthy after %s: %s",
	    span(m->start_timeout_ms, limit), m->why[0] ? m->why : "no check has been answered");
	ret->kind = MONITOR_HAS_FAILED;
	monitor_move(m, MONITOR_FAILED);
}

static void look(struct monitor *m, int64_t now_ms, struct monitor_effect *ret)
{
	m->looking = true;
	m->look_ms = now_ms;
	ret->kind = MONITOR_CHECK;
	ret->number = ++m->number;
}

static void begin(struct monitor *m, int64_t now_ms, struct monitor_effect *ret)
{
	if (m->state != MONITOR_ASLEEP)
		return;
	m->started_ms = m->look_ms = now_ms;
	monitor_move(m, m->watched ? MONITOR_STARTING : MONITOR_WELL);
	if (!m->watched)
		ret->kind = MONITOR_IS_WELL;
}

void monitor_step(
    struct monitor *m, const struct monitor_event *ev, int64_t now_ms, struct monitor_effect *ret)
{
	ret->kind = MONITOR_NOTHING;
	ret->number = 0;
	ret->why[0] = 0;
	if (ev->kind == MONITOR_STARTED)
		begin(m, now_ms, ret);
	else if (ev->kind == MONITOR_RESULT)
		take_result(m, ev, now_ms, ret);
	if (m->state == MONITOR_ASLEEP || m->state == MONITOR_FAILED || !m->watched)
		return;
	if (m->looking && now_ms >= look_limit_ms(m))
		take_silence(m, now_ms, ret);
	if (now_ms >= start_limit_ms(m)) /* after the result: one at the very limit counts */
		give_up_start(m, ret);
	if (m->state != MONITOR_FAILED && !m->looking && now_ms >= m->look_ms)
		look(m, now_ms, ret);
}

int64_t monitor_wake_ms(const struct monitor *m)
{
	int64_t due, limit = start_limit_ms(m);

	if (!m->watched || m->state == MONITOR_ASLEEP || m->state == MONITOR_FAILED)
		return INT64_MAX;
	due = m->looking ? look_limit_ms(m) : m->look_ms;
	return due < limit ? due : limit;
}
