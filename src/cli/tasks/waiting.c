/* SPDX-License-Identifier: Apache-2.0 */
/* Waiting for one task or for everything that matches, and `reeve wait`. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/world/clock.h"
#include "cli/frame/cmds.h"
#include "cli/frame/interrupt.h"
#include "cli/group/group.h"
#include "cli/output/output.h"
#include "cli/reach/target.h"
#include "cli/tasks/work.h"
#include "model/task/task.h"

#define LONG_POLL_MS 20000
#define POLL_MIN_MS 200
#define POLL_MAX_MS 5000

static int timed_out(struct cli *c)
{
	problem_set(&c->problem, ERR_TIMEOUT, "it has not ended in the given time");
	return problem_hint(&c->problem, "it goes on; `reeve wait` again, or `reeve cancel`");
}

static int interrupted(struct cli *c)
{
	return problem_set(&c->problem, ERR_TIMEOUT, "interrupted");
}

int wait_task(struct cli *c, const char *id, int64_t timeout_ms, json_t **ret_task)
{
	int64_t deadline = timeout_ms < 0 ? INT64_MAX : clock_mono_ms() + timeout_ms;

	for (;;) {
		AUTO(json_drop) json_t *task = NULL;
		int64_t left = deadline - clock_mono_ms();
		AUTO(free_cstr) char *path = NULL;
		int r;

		left = left > LONG_POLL_MS ? LONG_POLL_MS : left < 0 ? 0 : left;
		path = xasprintf("/v1/tasks/%s?wait=%lldms", id, (long long)left);
		r = cli_get(c, path, &task);
		if (r < 0)
			return r;
		if (task_is_ended((int)ji(task, "status", TASK_QUEUED))) {
			*ret_task = TAKE(task);
			return 0;
		}
		if (clock_mono_ms() >= deadline)
			return timed_out(c);
	}
}

/* Rests between two looks; longer when looking itself takes long. */
static void rest(struct cli *c, int64_t took_ms, int64_t deadline)
{
	int64_t ms = took_ms * 10, now = clock_mono_ms();

	ms = ms < POLL_MIN_MS ? POLL_MIN_MS : ms > POLL_MAX_MS ? POLL_MAX_MS : ms;
	if (deadline - now < ms)
		ms = deadline - now;
	for (int64_t until = now + ms; now < until && interrupt_count() == 0; now = clock_mono_ms())
		client_pump(c->client, until - now);
}

int wait_goes_on(struct cli *c, const struct progress *p, int64_t begin_ms, int64_t deadline)
{
	if (clock_mono_ms() < deadline && interrupt_count() == 0) {
		rest(c, clock_mono_ms() - begin_ms, deadline);
		return 0;
	}
	if (p->drawn)
		fputc('\n', stderr);
	return interrupt_count() > 0 ? interrupted(c) : timed_out(c);
}

static int summary_code(const struct counts *n)
{
	return n->failed + n->cancelled > 0 ? EXIT_FAILED : EXIT_OK;
}

int wait_summary(struct cli *c, const char *path, int64_t timeout_ms)
{
	int64_t deadline = timeout_ms < 0 ? INT64_MAX : clock_mono_ms() + timeout_ms;
	struct progress progress = {.begin_ms = clock_mono_ms()};

	interrupt_catch();
	for (;;) {
		AUTO(json_drop) json_t *summary = NULL;
		int64_t begin = clock_mono_ms();
		struct counts n;
		bool over;
		int r = cli_get(c, path, &summary);

		if (r < 0)
			return r;
		counts_from_summary(summary, &n);
		over = ji(summary, "live", 0) == 0;
		progress_show(&progress, c, &n, over);
		if (over)
			return summary_code(&n);
		if (wait_goes_on(c, &progress, begin, deadline) < 0)
			return c->problem.code;
	}
}

static int wait_for_filter(struct cli *c, const char *batch, int64_t timeout_ms)
{
	AUTO(buf_release) struct buf url = {0};
	int r;

	buf_add_cstr(&url, "/v1/tasks/summary");
	if (batch)
		url_add(&url, "batch", batch);
	r = filter_url(c, &url);
	return r < 0 ? r : wait_summary(c, url.p, timeout_ms);
}

/* The task's own exit code, or what the batch's tasks or the group's jobs amount to. */
static int wait_for_one(struct cli *c, const char *typed, int64_t timeout_ms)
{
	AUTO(json_drop) json_t *task = NULL;
	AUTO(buf_release) struct buf words = {0};
	struct target t;
	int r = target_find(c, typed, &t);

	if (r < 0)
		return r;
	if (t.kind == TARGET_BATCH)
		return wait_for_filter(c, t.id, timeout_ms);
	if (t.kind == TARGET_GROUP)
		return group_wait(c, t.id, timeout_ms);
	r = wait_task(c, t.id, timeout_ms, &task);
	if (r < 0)
		return r;
	buf_printf(&words, "%s %s ", state_glyph(js(task, "state"), c->term.utf8), t.id);
	task_outcome(task, &words);
	cli_note(c, "%s", words.p);
	return task_exit_code(task);
}

static int wait_for_named(struct cli *c, int64_t timeout_ms)
{
	int64_t begin = clock_mono_ms();
	int code = EXIT_OK;

	for (size_t i = 0; i < c->options.n_args; i++) {
		int64_t left = timeout_ms < 0 ? -1 : timeout_ms - (clock_mono_ms() - begin);
		int r = wait_for_one(c, c->options.args[i],
		    timeout_ms < 0 ? -1
		    : left < 0     ? 0
		                   : left);

		if (r < 0)
			return r;
		if (r != EXIT_OK)
			code = c->options.n_args == 1 ? r : EXIT_FAILED;
	}
	return code;
}

static int wait_for(struct cli *c, int64_t timeout_ms)
{
	if (c->options.n_args > 0 && filter_given(c)) {
		problem_set(&c->problem, ERR_INVALID, "ids and filters cannot be mixed");
		return problem_hint(&c->problem, "wait for the ids, or for what matches");
	}
	if (c->options.n_args > 0)
		return wait_for_named(c, timeout_ms);
	if (filter_given(c))
		return wait_for_filter(c, NULL, timeout_ms);
	problem_set(&c->problem, ERR_INVALID, "nothing to wait for was named");
	return problem_hint(&c->problem, "name ids, @last, --batch ID or filters");
}

int cmd_wait(struct cli *c)
{
	int64_t timeout_ms = -1;
	int r;

	if (options_given(&c->options, "timeout") && options_given(&c->options, "wait-timeout"))
		return problem_set(&c->problem, ERR_INVALID,
		    "--timeout and --wait-timeout mean the same: give one of them");
	if (options_duration(&c->options, "timeout", &timeout_ms, &c->problem) < 0 ||
	    options_duration(&c->options, "wait-timeout", &timeout_ms, &c->problem) < 0)
		return c->problem.code;
	r = wait_for(c, timeout_ms);
	if (r != ERR_TIMEOUT)
		return r;
	if (interrupt_count() > 0)
		return 128 + interrupt_signal();
	cli_complain(&c->term, &c->problem);
	return EXIT_TIMED_OUT;
}
