/* SPDX-License-Identifier: Apache-2.0 */
#include "model/task/history.h"

#include <string.h>

#include "model/limits.h"
#include "model/lines.h"

#define DOUBTFUL "?\t" /* before the reason, which holds no tab: its times were moved */

void attempt_of(const struct task_state *s, struct attempt *ret_attempt)
{
	*ret_attempt =
	    (struct attempt){s->attempt, s->token, s->worker, s->claimed_ms, s->started_ms,
	        s->ended_ms, s->status, s->exit_code, s->signal, s->times_doubtful, s->reason};
}

struct str history_append(struct arena *a, const struct task_state *s)
{
	struct str reason = lines_flat(a, s->reason);
	struct str line = arena_strf(a,
	    "%d\t%lld\t%llu\t%lld\t%lld\t%lld\t%d\t%d\t%d\t%s" STR_FMT "\n", s->attempt,
	    (long long)s->token, (unsigned long long)s->worker, (long long)s->claimed_ms,
	    (long long)s->started_ms, (long long)s->ended_ms, s->status, s->exit_code, s->signal,
	    s->times_doubtful ? DOUBTFUL : "", STR_ARG(reason));

	return lines_append(a, s->history, line, HISTORY_MAX_BYTES);
}

static bool number(struct str *line, int64_t *ret_n)
{
	struct str part;

	return str_next(line, '\t', &part) && str_to_i64(part, INT64_MIN, INT64_MAX, ret_n);
}

static bool doubtful(struct str *line)
{
	size_t n = sizeof DOUBTFUL - 1;

	if (line->n < n || memcmp(line->p, DOUBTFUL, n) != 0)
		return false;
	*line = (struct str){line->p + n, line->n - n};
	return true;
}

bool history_next(struct str *rest, struct attempt *ret)
{
	struct str line;
	int64_t n[9];

	if (!rest->p || rest->n == 0 || !str_next(rest, '\n', &line))
		return false;
	for (int i = 0; i < 9; i++)
		if (!number(&line, &n[i]))
			return false;
	*ret = (struct attempt){(int32_t)n[0], n[1], (rid)n[2], n[3], n[4], n[5], (int32_t)n[6],
	    (int32_t)n[7], (int32_t)n[8], doubtful(&line), line};
	return true;
}
