/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/readiness.h"

#include <stdio.h>

const struct moves readiness_moves = {
    "readiness",
    {[READINESS_ASLEEP] = "asleep", [READINESS_UNREADY] = "unready", [READINESS_READY] = "ready"},
    {
        {READINESS_ASLEEP, READINESS_UNREADY, "it is up, and has a readiness check"},
        {READINESS_ASLEEP, READINESS_READY, "it is up and has none, or was ready before"},
        {READINESS_UNREADY, READINESS_READY, "`healthy_after` good looks in a row"},
        {READINESS_READY, READINESS_UNREADY, "`unhealthy_after` bad looks in a row"},
    },
};

void readiness_move(struct readiness *r, enum readiness_state to)
{
	r->state = moves_make(&readiness_moves, r->state, to);
	r->row = 0;
}

void readiness_init(struct readiness *r, const struct run_check *c)
{
	*r = (struct readiness){.check = *c};
}

static void become(struct readiness *r, enum readiness_state to, struct monitor_effect *ret)
{
	readiness_move(r, to);
	ret->kind = to == READINESS_READY ? MONITOR_IS_READY : MONITOR_IS_UNREADY;
	if (to == READINESS_UNREADY)
		snprintf(ret->why, sizeof ret->why, "%s", r->look.why);
}

static void begin(struct readiness *r, bool was_ready, int64_t now_ms, struct monitor_effect *ret)
{
	if (r->state != READINESS_ASLEEP)
		return;
	look_use(&r->look, &r->check, r->check.interval_ms, now_ms);
	if (was_ready || r->check.kind == CHECK_NONE)
		become(r, READINESS_READY, ret);
	else
		readiness_move(r, READINESS_UNREADY); /* as everybody thinks that it is */
}

static void take(
    struct readiness *r, enum look_answer answer, int64_t now_ms, struct monitor_effect *ret)
{
	bool is_ready = r->state == READINESS_READY, good = answer == LOOK_GOOD;

	if (answer == LOOK_NOTHING)
		return;
	look_again(&r->look, now_ms);
	if (good == is_ready)
		r->row = 0;
	else if (++r->row >= (good ? r->check.healthy_after : r->check.unhealthy_after))
		become(r, good ? READINESS_READY : READINESS_UNREADY, ret);
}

void readiness_step(
    struct readiness *r, const struct monitor_event *ev, int64_t now_ms, struct monitor_effect *ret)
{
	ret->kind = MONITOR_NOTHING;
	ret->number = 0;
	ret->why[0] = 0;
	if (ev->kind == MONITOR_STARTED)
		begin(r, ev->ok, now_ms, ret);
	else if (ev->kind == MONITOR_RESULT)
		take(r, look_answered(&r->look, ev->number, ev->ok, ev->why, now_ms), now_ms, ret);
	take(r, look_silence(&r->look, now_ms), now_ms, ret);
	if (ret->kind == MONITOR_NOTHING && look_open(&r->look, now_ms)) {
		ret->kind = MONITOR_CHECK;
		ret->number = r->look.number;
	}
}

int64_t readiness_wake_ms(const struct readiness *r)
{
	return look_wake_ms(&r->look);
}
