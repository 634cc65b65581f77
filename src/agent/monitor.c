/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/monitor.h"

#include <stdio.h>

const struct moves monitor_moves = {
    "monitor",
    {[MONITOR_ASLEEP] = "asleep",
        [MONITOR_STARTING] = "starting",
        [MONITOR_WELL] = "well",
        [MONITOR_FAILED] = "failed"},
    {
        {MONITOR_ASLEEP, MONITOR_STARTING, "the process runs"},
        {MONITOR_ASLEEP, MONITOR_WELL, "it runs and has no startup check, or has passed it before"},
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
		look_drop(&m->look);
}

void monitor_init(struct monitor *m, const struct run_checks *c)
{
	*m = (struct monitor){.startup = c->startup, .liveness = c->liveness};
}

static void become_well(struct monitor *m, int64_t now_ms, struct monitor_effect *ret)
{
	monitor_move(m, MONITOR_WELL);
	look_use(&m->look, &m->liveness, m->liveness.interval_ms, now_ms);
	look_again(&m->look, now_ms);
	ret->kind = MONITOR_IS_WELL;
}

static void take_good(struct monitor *m, int64_t now_ms, struct monitor_effect *ret)
{
	look_again(&m->look, now_ms);
	if (m->state == MONITOR_WELL)
		m->row = 0;
	else if (++m->row >= m->startup.healthy_after)
		become_well(m, now_ms, ret);
}

static void take_bad(struct monitor *m, int64_t now_ms, struct monitor_effect *ret)
{
	look_again(&m->look, now_ms);
	if (m->state == MONITOR_STARTING) {
		m->row = 0;
	} else if (++m->row >= m->liveness.unhealthy_after) {
		snprintf(ret->why, sizeof ret->why, "became unhealthy: %s", m->look.why);
		ret->kind = MONITOR_HAS_FAILED;
		monitor_move(m, MONITOR_FAILED);
	}
}

static void take(
    struct monitor *m, enum look_answer answer, int64_t now_ms, struct monitor_effect *ret)
{
	if (answer == LOOK_GOOD)
		take_good(m, now_ms, ret);
	else if (answer == LOOK_BAD)
		take_bad(m, now_ms, ret);
}

static int64_t start_limit_ms(const struct monitor *m)
{
	if (m->state != MONITOR_STARTING || m->startup.start_timeout_ms <= 0)
		return INT64_MAX;
	return look_later(m->started_ms, m->startup.start_timeout_ms);
}

static void give_up_start(struct monitor *m, struct monitor_effect *ret)
{
	char limit[32];

	snprintf(ret->why, sizeof ret->why, "never healthy after %s: %s",
	    look_span(m->startup.start_timeout_ms, limit),
	    m->look.why[0] ? m->look.why : "no check has been answered");
	ret->kind = MONITOR_HAS_FAILED;
	monitor_move(m, MONITOR_FAILED);
}

static void begin(struct monitor *m, bool was_well, int64_t now_ms, struct monitor_effect *ret)
{
	if (m->state != MONITOR_ASLEEP)
		return;
	m->started_ms = now_ms;
	if (was_well || m->startup.kind == CHECK_NONE) {
		become_well(m, now_ms, ret);
		return;
	}
	monitor_move(m, MONITOR_STARTING);
	look_use(&m->look, &m->startup, m->startup.start_interval_ms, now_ms);
}

void monitor_step(
    struct monitor *m, const struct monitor_event *ev, int64_t now_ms, struct monitor_effect *ret)
{
	ret->kind = MONITOR_NOTHING;
	ret->number = 0;
	ret->why[0] = 0;
	if (ev->kind == MONITOR_STARTED)
		begin(m, ev->ok, now_ms, ret);
	else if (ev->kind == MONITOR_RESULT)
		take(m, look_answered(&m->look, ev->number, ev->ok, ev->why, now_ms), now_ms, ret);
	take(m, look_silence(&m->look, now_ms), now_ms, ret);
	if (now_ms >= start_limit_ms(m)) /* after the result: one at the very limit counts */
		give_up_start(m, ret);
	if (ret->kind == MONITOR_NOTHING && look_open(&m->look, now_ms)) {
		ret->kind = MONITOR_CHECK;
		ret->number = m->look.number;
	}
}

int64_t monitor_wake_ms(const struct monitor *m)
{
	int64_t due = look_wake_ms(&m->look), limit = start_limit_ms(m);

	return due < limit ? due : limit;
}

const struct run_check *monitor_check(const struct monitor *m)
{
	return m->state == MONITOR_WELL ? &m->liveness : &m->startup;
}
