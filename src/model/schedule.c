/* SPDX-License-Identifier: Apache-2.0 */
#include "model/schedule.h"

const char *const schedule_state_names[N_SCHEDULE_STATES] = {"active", "paused", "finished"};
const struct moves schedule_moves = {
    "schedule",
    {[SCHEDULE_ACTIVE] = "active", [SCHEDULE_PAUSED] = "paused", [SCHEDULE_FINISHED] = "finished"},
    {
        {SCHEDULE_ACTIVE, SCHEDULE_PAUSED, "paused by an operator"},
        {SCHEDULE_PAUSED, SCHEDULE_ACTIVE, "resumed, or the time given to the pause is over"},
        {SCHEDULE_ACTIVE, SCHEDULE_FINISHED, "its last tick is past, or its end date"},
        {SCHEDULE_FINISHED, SCHEDULE_ACTIVE, "a change of its times begins it anew"},
    },
};

const char *const overlap_names[N_OVERLAPS] = {"allow", "skip", "queue", "replace"};
const char *const missed_names[N_MISSED] = {"skip", "once", "all"};
const char *const tick_outcome_names[N_TICK_OUTCOMES] = {
    "fired", "skipped", "waiting", "manual", "backfill"};

static int find(const char *const *names, int n, struct str s)
{
	for (int i = 0; i < n; i++)
		if (str_is(s, names[i]))
			return i;
	return -1;
}

int overlap_parse(struct str s)
{
	return find(overlap_names, N_OVERLAPS, s);
}

int missed_parse(struct str s)
{
	return find(missed_names, N_MISSED, s);
}
