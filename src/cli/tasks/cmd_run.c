/* SPDX-License-Identifier: Apache-2.0 */
/* `reeve run` and `reeve logs`: a task's output here, and its end as our own. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "cli/frame/cmds.h"
#include "cli/frame/interrupt.h"
#include "cli/output/output.h"
#include "cli/reach/last.h"
#include "cli/tasks/work.h"
#include "model/task.h"

#define WHY_AFTER_MS 2000
#define PUMP_MS 100 /* how late a word about waiting may come */

struct run {
	struct cli *c;
	char id[25];
	struct follower streams[2];
	bool cancelled;
	int64_t why_at_ms; /* when to say what it waits for; 0: no more */
	char *why;         /* what was said last */
};

static int cancel_it(struct run *r)
{
	AUTO(json_drop)
	json_t *body = json_pack("{s:s}", "reason", "Ctrl-C in reeve run"), *reply = NULL;
	AUTO(free_cstr) char *path = xasprintf("/v1/tasks/%s/cancel", r->id);
	int result;

	r->cancelled = true;
	cli_note(r->c, "\nreeve: cancelling %s; Ctrl-C again leaves at once", r->id);
	result = cli_call(r->c, "POST", path, body, &reply);
	/* The task may have ended a moment before. */
	return result == ERR_CONFLICT ? 0 : result;
}

/* All that holds it back, in one line. */
static void add_reasons(const json_t *why, struct buf *out)
{
	json_t *reason;
	size_t i;

	json_array_foreach(json_object_get(why, "reasons"), i, reason)
	    buf_printf(out, "%s%s", i ? "; " : "", js(reason, "text"));
	if (i == 0)
		buf_add_cstr(out, js(why, "summary"));
}

/* Says why it has not started yet, again when the reasons have changed. */
static void say_why(struct run *r)
{
	AUTO(json_drop) json_t *task = NULL, *why = NULL;
	AUTO(free_cstr) char *path = xasprintf("/v1/tasks/%s", r->id);
	AUTO(free_cstr) char *why_path = xasprintf("/v1/tasks/%s/why", r->id);
	AUTO(buf_release) struct buf words = {0};

	r->why_at_ms = clock_mono_ms() + WHY_AFTER_MS;
	if (cli_get(r->c, path, &task) < 0)
		return;
	if (task_phase((int)ji(task, "status", 0)) >= PHASE_RUNNING) {
		r->why_at_ms = 0;
		return;
	}
	if (cli_get(r->c, why_path, &why) < 0)
		return;
	add_reasons(why, &words);
	if (words.n > 0 && (!r->why || strcmp(r->why, words.p))) {
		cli_note(r->c, "reeve: waiting: %s", words.p);
		free(r->why);
		r->why = buf_take(&words);
	}
}

/* Moves both on; false when both have ended, and there is nothing to wait for any more. */
static bool step_both(struct follower streams[2], bool in_turn)
{
	follower_step(&streams[0]);
	if (!in_turn || streams[0].done)
		follower_step(&streams[1]);
	return !streams[0].done || !streams[1].done;
}

static int follow_both(struct run *r)
{
	int seen = interrupt_count(), result;

	while (step_both(r->streams, false)) {
		client_pump(r->c->client, PUMP_MS);
		if (interrupt_count() > seen) {
			seen = interrupt_count();
			if (r->cancelled ||
			    options_switch(&r->c->options, "detach-on-interrupt", false))
				return problem_set(&r->c->problem, ERR_TIMEOUT, "interrupted");
			result = cancel_it(r);
			if (result < 0)
				return result;
		}
		if (r->streams[0].offset + r->streams[1].offset > 0)
			r->why_at_ms = 0;
		if (r->why_at_ms && clock_mono_ms() >= r->why_at_ms)
			say_why(r);
	}
	for (int i = 0; i < 2; i++)
		if (r->streams[i].result < 0)
			return r->streams[i].result;
	return 0;
}

/* The streams have ended; so has the task, or it is about to. */
static int wait_for_end(struct run *r, json_t **ret_task)
{
	for (;;) {
		int result = wait_task(r->c, r->id, -1, ret_task);

		if (result != ERR_TIMEOUT || r->cancelled ||
		    options_switch(&r->c->options, "detach-on-interrupt", false))
			return result;
		result = cancel_it(r);
		if (result < 0)
			return result;
	}
}

static int finish_run(struct run *r)
{
	AUTO(json_drop) json_t *task = NULL;
	AUTO(buf_release) struct buf words = {0};
	int result = follow_both(r), code;

	if (result == 0)
		result = wait_for_end(r, &task);
	if (result == ERR_TIMEOUT && interrupt_count() > 0) {
		cli_note(r->c, "\nreeve: left; `reeve logs -f %s` follows it again", r->id);
		return 128 + interrupt_signal();
	}
	if (result < 0)
		return result;
	code = task_exit_code(task);
	buf_printf(&words, "%s ", state_glyph(js(task, "state"), r->c->term.utf8));
	task_outcome(task, &words);
	if (r->c->term.err_tty || code != EXIT_OK)
		cli_note(r->c, "reeve: %s", words.p);
	return code;
}

int cmd_run(struct cli *c)
{
	AUTO(json_drop) json_t *task = NULL, *reply = NULL;
	struct run r = {.c = c};
	int result;

	if (task_from_options(c, 0, true, &task) < 0 || stdin_put(c, true, task) < 0)
		return c->problem.code;
	directory_put_here(c, false, task);
	interrupt_catch();
	result = cli_call(c, "POST", "/v1/tasks", task, &reply);
	if (result < 0)
		return result;
	if (!is_id(js(reply, "id")))
		return problem_set(&c->problem, ERR_PROTOCOL, "the server's reply has no id");
	memcpy(r.id, js(reply, "id"), sizeof r.id);
	last_save(LAST_TASK, r.id);
	if (jb(reply, "duplicate"))
		cli_note(c, "reeve: a task with this key is there already; following %s", r.id);
	if (!c->quiet)
		r.why_at_ms = clock_mono_ms() + WHY_AFTER_MS;
	r.streams[0] = (struct follower){
	    .c = c, .id = r.id, .stream = "stdout", .follow = true, .fd = STDOUT_FILENO};
	r.streams[1] = (struct follower){
	    .c = c, .id = r.id, .stream = "stderr", .follow = true, .fd = STDERR_FILENO};
	result = finish_run(&r);
	call_abort(r.streams[0].call);
	call_abort(r.streams[1].call);
	free(r.why);
	return result;
}

/*
 * A batch is called like its first task, and its id is what `submit --array` prints: whoever types
 * it may not mean that one task.
 */
static int note_batch(struct cli *c, const char *id)
{
	AUTO(json_drop) json_t *summary = NULL;
	AUTO(buf_release) struct buf url = {0};
	int64_t total;
	int r;

	if (c->quiet || !strcmp(c->options.args[0], "@last"))
		return 0;
	buf_add_cstr(&url, "/v1/tasks/summary");
	url_add(&url, "batch", id);
	r = cli_get(c, url.p, &summary);
	if (r == ERR_UNREACHABLE) /* long enough was tried; of all else the stream will tell */
		return r;
	c->problem = (struct problem){0};
	total = ji(summary, "total", 0);
	if (total > 1)
		cli_note(c,
		    "reeve: %s is a batch of %lld tasks; this is the output of its first\n"
		    "  hint: `reeve task ls --batch %s` shows the others, `reeve logs ID` the "
		    "output of one",
		    id, (long long)total, id);
	return 0;
}

int cmd_logs(struct cli *c)
{
	bool out = options_switch(&c->options, "stdout", false);
	bool err = options_switch(&c->options, "stderr", false);
	bool follow = options_switch(&c->options, "follow", false);
	struct follower streams[2];
	char id[25];
	int r = 0;

	if (id_resolve(c->options.args[0], id, &c->problem) < 0 || !cli_client(c) ||
	    note_batch(c, id) < 0)
		return c->problem.code;
	for (int i = 0; i < 2; i++)
		streams[i] = (struct follower){.c = c,
		    .id = id,
		    .stream = i ? "stderr" : "stdout",
		    .attempt = options_get(&c->options, "attempt"),
		    .follow = follow,
		    .fd = STDOUT_FILENO,
		    .done = i ? out && !err : err && !out};
	while (step_both(streams, !follow))
		client_pump(c->client, PUMP_MS);
	for (int i = 0; i < 2 && r == 0; i++)
		r = streams[i].result;
	return r;
}
