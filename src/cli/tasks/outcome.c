/* SPDX-License-Identifier: Apache-2.0 */
/* How a task ended: as an exit code, and in words. */
#include <string.h>

#include "base/mem.h"
#include "base/timefmt.h"
#include "cli/output/output.h"
#include "cli/tasks/work.h"
#include "model/task/task.h"

static int failed_code(const json_t *task)
{
	int64_t signal = ji(task, "signal", 0), code = ji(task, "exit_code", 0);

	if (signal > 0 && signal < 128)
		return 128 + (int)signal;
	if (code > 0 && code < 256)
		return (int)code;
	return EXIT_FAILED;
}

int task_exit_code(const json_t *task)
{
	int64_t status = ji(task, "status", TASK_FAILED);

	switch (status) {
	case TASK_SUCCEEDED: return EXIT_OK;
	case TASK_FAILED: return failed_code(task);
	case TASK_TERMINATED: return EXIT_TIMED_OUT;
	case TASK_CANCELLED: return EXIT_INTERRUPTED;
	case TASK_ORPHANED: return EXIT_OURS;
	}
	if (status > TASK_FAILED) /* a plugin's own status */
		return failed_code(task) != EXIT_FAILED ? failed_code(task)
		       : status < EXIT_TIMED_OUT        ? (int)status
		                                        : EXIT_FAILED;
	return EXIT_OURS;
}

void task_outcome(const json_t *task, struct buf *out)
{
	int64_t began = jtime(task, "started"), ended = jtime(task, "ended");
	int64_t code = ji(task, "exit_code", -1), signal = ji(task, "signal", 0);
	char span[TIME_TEXT_MAX];

	buf_add_cstr(out, js(task, "state"));
	if (ji(task, "status", 0) > TASK_FAILED)
		buf_printf(out, " %lld", (long long)ji(task, "status", 0));
	if (signal > 0)
		buf_printf(out, " (signal %lld: %s)", (long long)signal, strsignal((int)signal));
	else if (code > 0)
		buf_printf(out, " (exit code %lld)", (long long)code);
	if (jhas(task, "worker"))
		buf_printf(out, " on %s", js(task, "worker"));
	if (began && ended >= began)
		buf_printf(out, " in %s", time_human_ms(ended - began, span));
	if (ji(task, "attempt", 1) > 1)
		buf_printf(out, ", attempt %lld", (long long)ji(task, "attempt", 1));
	/* A bare "exit code 3", or "cancelled", is said already. */
	if (*js(task, "reason") && strncmp(js(task, "reason"), "exit code", 9) &&
	    strcmp(js(task, "reason"), js(task, "state")))
		buf_printf(out, ": %s", js(task, "reason"));
}
