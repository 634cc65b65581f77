/* SPDX-License-Identifier: Apache-2.0 */
/* How an attempt ended, as the server and people will read it. */
#include <stdlib.h>
#include <string.h>

#include "agent/internal.h"
#include "base/mem.h"
#include "base/mutant.h"
#include "base/timefmt.h"
#include "model/objects/queue.h"
#include "model/run/settings.h"

static void set_reason(struct held *h, char *reason)
{
	free(h->end_reason);
	h->end_reason = reason;
	h->end.reason = str_of(reason);
}

/* 99, 100 and 111 mean more than other codes, where the queue says so. */
static bool special_code(struct held *h, int code)
{
	switch (code) {
	case 99:
		h->end.status = TASK_SUCCEEDED;
		set_reason(h, xstrdup("skipped"));
		return true;
	case 100:
		h->end.permanent = true;
		set_reason(h, xstrdup("exit code 100: permanent failure"));
		return true;
	case 111: set_reason(h, xstrdup("exit code 111: temporary failure")); return true;
	default: return false;
	}
}

static void of_code(struct held *h, const struct agent_exit *x)
{
	h->end.exit_code = x->exit_code;
	h->end.status = x->exit_code == 0 ? TASK_SUCCEEDED : TASK_FAILED;
	if (x->status > 0)
		h->end.status = x->status;
	else if (h->exit_codes && special_code(h, x->exit_code))
		return;
	else if (x->exit_code != 0)
		set_reason(h, xasprintf("exit code %d%s", x->exit_code,
		                  x->usage.oom_kills > 0 ? " (out of memory)" : ""));
}

static void of_signal(struct held *h, const struct agent_exit *x)
{
	const char *name = sigabbrev_np(x->signal);

	h->end.signal = x->signal;
	if (x->usage.oom_kills > 0)
		set_reason(h, xasprintf("out of memory: ended by signal %d", x->signal));
	else if (name)
		set_reason(h, xasprintf("ended by signal %d (SIG%s)", x->signal, name));
	else
		set_reason(h, xasprintf("ended by signal %d", x->signal));
}

static void by_itself(struct held *h, const struct agent_exit *x)
{
	h->end.status = TASK_FAILED;
	if (x->kind == EXIT_SIGNAL && MUTANT(SIGNAL_IS_SUCCESS))
		h->end.status = TASK_SUCCEEDED;
	h->end.exit_code = -1;
	switch (x->kind) {
	case EXIT_CODE: of_code(h, x); break;
	case EXIT_SIGNAL: of_signal(h, x); break;
	case EXIT_ERROR: h->end.exit_code = x->exit_code; break;
	case EXIT_STATUS:
		h->end.status = x->status;
		h->end.exit_code = x->exit_code;
		break;
	case EXIT_NEVER: break;
	}
	h->end.permanent |= x->permanent;
	if (x->reason.p)
		set_reason(h, xstrndup(x->reason.p, x->reason.n));
}

/* Too much of a result is a failure, and none of it is kept: half of one would be worse than none.
 */
static void take_result(struct held *h, const struct agent_exit *x)
{
	h->end.usage = x->usage;
	if (x->result.n > RESULT_FILE_MAX && h->end.status == TASK_SUCCEEDED) {
		h->end.status = TASK_FAILED;
		set_reason(
		    h, xasprintf("its result file holds more than %u bytes", RESULT_FILE_MAX));
	}
	if (!x->result.n || x->result.n > RESULT_FILE_MAX)
		return;
	h->end_result = xmalloc(x->result.n);
	memcpy(h->end_result, x->result.p, x->result.n);
	h->end.result = (struct str){h->end_result, x->result.n};
}

/* What we did to it says more than how it then died. */
static void by_us(struct held *h)
{
	char limit[TIME_TEXT_MAX];

	switch (h->cause) {
	case CAUSE_TIMEOUT:
		h->end.status = TASK_TERMINATED;
		set_reason(
		    h, xasprintf("time limit of %s reached", time_human_ms(h->timeout_ms, limit)));
		break;
	case CAUSE_KILL:
		h->end.status = TASK_TERMINATED;
		h->end.killed = true;
		set_reason(h, xstrdup(h->kill_reason ? h->kill_reason : "killed"));
		break;
	case CAUSE_UNWELL:
		h->end.status = TASK_FAILED;
		set_reason(h, xstrdup(h->kill_reason));
		break;
	case CAUSE_LEAVE:
	case CAUSE_SILENCE:
		h->end.status = TASK_FAILED;
		set_reason(h, xstrdup("the worker was stopped"));
		break;
	case CAUSE_NONE: break;
	}
}

void outcome_of(struct held *h, const struct agent_exit *x, int64_t now_ms)
{
	struct output *o = &h->output;
	bool inside;

	h->end = (struct link_ended){
	    .task = h->task, .token = h->token, .exit_code = -1, .ended_ms = now_ms};
	h->end.started_ms = x->kind == EXIT_NEVER ? 0 : h->started_ms;
	if (x->kind == EXIT_SIGNAL && MUTANT(ENDED_SAYS_NEVER_STARTED))
		h->end.started_ms = 0;
	by_itself(h, x);
	take_result(h, x);
	by_us(h);
	inside = output_finish_inline(o);
	for (int i = 0; i < N_STREAMS; i++) {
		h->end.output_bytes[i] = o->streams[i].kept;
		h->end.output_dropped[i] = o->streams[i].dropped;
		if (inside)
			h->end.output[i] = buf_str(&o->streams[i].whole);
	}
	if (output_kept(o) > 0)
		h->end.output_where = inside ? OUTPUT_INLINE : OUTPUT_CHUNKS;
	else
		h->end.output_where = OUTPUT_NONE;
}
