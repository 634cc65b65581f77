/* SPDX-License-Identifier: Apache-2.0 */
#include "service/life/crash.h"

#include "base/mutant.h"

const struct crash_policy crash_policy_default = {
    .at_once = 2,
    .wait_ms = 30 * 1000,
    .factor = 2 * FACTOR_ONE,
    .wait_max_ms = 960 * 1000,
    .stop_at = 200,
    .reset_after_ms = 5 * 60 * 1000,
};

/* One step at a time, and never past the longest: no power can overflow. */
static int64_t wait_after(const struct crash_policy *p, uint32_t times)
{
	int64_t wait = p->wait_ms;

	for (; times && wait < p->wait_max_ms && p->factor > FACTOR_ONE; times--)
		wait = wait / FACTOR_ONE * p->factor + wait % FACTOR_ONE * p->factor / FACTOR_ONE;
	return wait < p->wait_max_ms ? wait : p->wait_max_ms;
}

int64_t crash_wait_ms(const struct crash_policy *p, uint32_t count)
{
	if (p->stop_at && count >= p->stop_at)
		return CRASH_NEVER;
	return count <= p->at_once ? 0 : wait_after(p, count - p->at_once - 1);
}

static bool ran_long_enough(const struct instance *i, const struct crash_policy *p, int64_t now_ms)
{
	return p->reset_after_ms && i->state == INSTANCE_RUNNING &&
	       now_ms - i->since_ms >= p->reset_after_ms;
}

void instance_crash(struct instance *i, const struct crash_policy *p, int64_t now_ms)
{
	i->crash_count = ran_long_enough(i, p, now_ms) ? 1 : i->crash_count + 1;
	i->crashed_at_ms = now_ms;
	instance_move(i,
	    crash_wait_ms(p, i->crash_count) == 0 ? INSTANCE_UNCLAIMED : INSTANCE_CRASHED, now_ms);
}

int64_t crash_due_ms(const struct instance *i, const struct crash_policy *p)
{
	int64_t wait = crash_wait_ms(p, i->crash_count);

	return wait == CRASH_NEVER ? CRASH_NEVER : i->crashed_at_ms + wait;
}

bool crash_is_due(const struct instance *i, const struct crash_policy *p, int64_t now_ms)
{
	int64_t due = crash_due_ms(i, p);

	if (i->state != INSTANCE_CRASHED || due == CRASH_NEVER)
		return false;
	if (MUTANT(SERVICE_CRASHED_FORGOTTEN))
		return false;
	return now_ms >= due || now_ms < i->crashed_at_ms || MUTANT(SERVICE_CRASH_NOT_WAITED);
}
