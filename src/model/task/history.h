/* SPDX-License-Identifier: Apache-2.0 */
/* Earlier attempts of a task, as text in its row: one line each, oldest first, tab-separated. */
#ifndef MODEL_HISTORY_H
#define MODEL_HISTORY_H

#include "base/arena.h"
#include "model/task/task.h"

struct attempt {
	int32_t number;
	int64_t token;
	rid worker;
	int64_t claimed_ms, started_ms, ended_ms;
	int32_t status, exit_code, signal;
	bool times_doubtful;
	struct str reason;
};

/* The present attempt of `s` appended to its history; the oldest lines go when it grows too long.
 */
struct str history_append(struct arena *a, const struct task_state *s);
bool history_next(struct str *rest, struct attempt *ret_attempt);
void attempt_of(const struct task_state *s, struct attempt *ret_attempt);

#endif
