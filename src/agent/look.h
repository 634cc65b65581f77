/* SPDX-License-Identifier: Apache-2.0 */
/*
 * When to look at a long runner, and which answers count. One look at a time: the next one is due
 * an interval after the end of the one before, so slow answers cannot pile up looks. What the
 * answers mean is the caller's part: monitor.h, readiness.h.
 */
#ifndef AGENT_LOOK_H
#define AGENT_LOOK_H

#include "model/run/settings.h"

#define LOOK_WHY_MAX 256
#define LOOK_LEAST_MS 10 /* between two looks, whatever was asked for */

struct look {
	bool watched; /* there is something to look at */
	bool is_under_way;
	int64_t interval_ms, timeout_ms;
	int64_t at_ms;          /* when the look under way began, or when the next one is due */
	uint64_t number;        /* of the last look */
	char why[LOOK_WHY_MAX]; /* of the last failure; empty: none yet */
};

enum look_answer { LOOK_NOTHING, LOOK_GOOD, LOOK_BAD };

/* From now on at this; the numbers run on. The first look is due at `first_ms`. */
void look_use(struct look *l, const struct run_check *c, int64_t interval_ms, int64_t first_ms);
void look_drop(struct look *l); /* an answer that comes later counts for nothing */
/* What the answer to look `number` counts for: late and foreign ones for nothing. */
enum look_answer look_answered(
    struct look *l, uint64_t number, bool ok, struct str why, int64_t now_ms);
/* LOOK_BAD: nobody has answered in time. */
enum look_answer look_silence(struct look *l, int64_t now_ms);
/* The next look is due an interval from now. */
void look_again(struct look *l, int64_t now_ms);
/* True: a look begins now, and has a new number. */
bool look_open(struct look *l, int64_t now_ms);
int64_t look_wake_ms(const struct look *l); /* INT64_MAX: never */

/* "60s", "1500ms": as people write it into a task. */
const char *look_span(int64_t ms, char text[static 32]);
int64_t look_later(int64_t from_ms, int64_t by_ms); /* at most INT64_MAX */

#endif
