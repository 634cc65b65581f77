/* SPDX-License-Identifier: Apache-2.0 */
/* `reeve run`: a task's output here, and its end as our own. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/world/clock.h"
#include "cli/frame/cmds.h"
#include "cli/frame/interrupt.h"
#include "cli/output/output.h"
#include "cli/reach/last.h"
#include "cli/reach/target.h"
#include "cli/tasks/sender.h"
#include "cli/tasks/work.h"
#include "model/task/task.h"

#define WHY_AFTER_MS 2000
#define PUMP_MS 100 /* how late a word about waiting may come */

struct run {
	struct cli *c;
	char id[25];
	struct follower streams[2];
	struct sender sender; /* of its standard input */
	bool cancelled;
	int signal;        /* by which it was cancelled; 0: by none */
	int64_t why_at_ms; /* when to say what it waits for; 0: no more */
	char *why;         /* what was said last */
};

static int cancel_it(struct run *r, const char *reason)
{
	AUTO(json_drop)
	json_t *body = json_pack("{s:s}", "reason", reason), *reply = NULL;
	AUTO(free_cstr) char *path = xasprintf("/v1/tasks/%s/cancel", r->id);
	int result;

	r->cancelled = true;
	result = cli_call(r->c, "POST", path, body, &reply);
	/* The task may have ended a moment before. */
	return result == ERR_CONFLICT ? 0 : result;
}

/* "^C" stands in this line of the terminal: ours is the next. */
static int interrupted(struct run *r)
{
	AUTO(free_cstr) char *reason = NULL;

	r->signal = interrupt_signal();
	if (r->signal == SIGINT) {
		cli_note(r->c, "\nreeve: cancelling %s; Ctrl-C again leaves at once", r->id);
		return cancel_it(r, "Ctrl-C in reeve run");
	}
	reason = xasprintf("reeve run was ended by SIG%s", sigabbrev_np(r->signal));
	cli_note(r->c, "reeve: cancelling %s: %s; another signal leaves at once", r->id, reason);
	return cancel_it(r, reason);
}

/* A signal that ended us is seen in our end, as it would be without a server. */
static int code_of_end(const struct run *r, const json_t *task)
{
	bool is_cancelled = ji(task, "status", 0) == TASK_CANCELLED;

	return r->signal && is_cancelled ? 128 + r->signal : task_exit_code(task);
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

/* The task takes no more when it has ended: then the rest of what there is to read stays. */
static int send_input(struct run *r)
{
	sender_step(&r->sender);
	if (!r->sender.done || r->sender.result >= 0 || r->sender.result == ERR_CONFLICT)
		return 0;
	sender_cancel(&r->sender);
	return r->sender.result;
}

/* Nobody sees what it writes any more: it ends, as it would here. */
static int output_error(const struct run *r)
{
	return r->streams[0].write_error ? r->streams[0].write_error : r->streams[1].write_error;
}

/* We do not wait for its end: a pipe's other commands do not either. */
static int end_unseen(struct run *r)
{
	int result = 0;

	if (!r->cancelled) {
		cli_note(r->c, "reeve: cancelling %s: %s", r->id,
		    output_error(r) == EPIPE ? "nobody reads its output any more"
		                             : "its output cannot be written here");
		result = cancel_it(r, "nobody reads the output of reeve run");
	}
	if (result < 0 || output_error(r) == EPIPE)
		return result < 0 ? result : EXIT_UNREAD;
	return problem_set(
	    &r->c->problem, ERR_IO, "the output cannot be written: %s", strerror(output_error(r)));
}

/* A signal may have come while the task was being submitted. */
static int follow_both(struct run *r)
{
	int seen = 0, result;

	while (followers_step(r->streams, false)) {
		result = send_input(r);
		if (result < 0)
			return result;
		client_pump(r->c->client, sender_wait_ms(&r->sender, PUMP_MS));
		if (output_error(r))
			return end_unseen(r);
		if (interrupt_count() > seen) {
			seen = interrupt_count();
			if (r->cancelled ||
			    options_switch(&r->c->options, "detach-on-interrupt", false))
				return problem_set(&r->c->problem, ERR_TIMEOUT, "interrupted");
			result = interrupted(r);
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
		result = interrupted(r);
		if (result < 0)
			return result;
	}
}

static int finish_run(struct run *r)
{
	AUTO(json_drop) json_t *task = NULL;
	AUTO(buf_release) struct buf words = {0};
	int result = follow_both(r), code;

	if (result == EXIT_UNREAD)
		return result;
	if (result == 0)
		result = wait_for_end(r, &task);
	if (result == ERR_TIMEOUT && interrupt_count() > 0) {
		cli_note(r->c, "\nreeve: left; `reeve logs -f %s` follows it again", r->id);
		return 128 + interrupt_signal();
	}
	if (result < 0)
		return result;
	code = code_of_end(r, task);
	buf_printf(&words, "%s ", state_glyph(js(task, "state"), r->c->term.utf8));
	task_outcome(task, &words);
	if (r->c->term.err_tty || code != EXIT_OK)
		cli_note(r->c, "reeve: %s", words.p);
	return code;
}

static int run_it(struct run *r, json_t *task)
{
	struct cli *c = r->c;
	AUTO(json_drop) json_t *reply = NULL;
	struct client *client = cli_client(c);
	int result;

	if (!client)
		return c->problem.code;
	/* A task that was submitted is known here, and so is cancelled. */
	client_outlast(client, 1);
	result = cli_call(c, "POST", "/v1/tasks", task, &reply);
	client_outlast(client, 0);
	if (result < 0)
		return result;
	if (!is_id(js(reply, "id")))
		return problem_set(&c->problem, ERR_PROTOCOL, "the server's reply has no id");
	memcpy(r->id, js(reply, "id"), sizeof r->id);
	last_save(LAST_TASK, r->id);
	if (jb(reply, "duplicate")) {
		r->sender.done = true; /* the old task reads what it was given then */
		cli_note(c, "reeve: a task with this key is there already; following %s", r->id);
	}
	if (!c->quiet)
		r->why_at_ms = clock_mono_ms() + WHY_AFTER_MS;
	for (int i = 0; i < 2; i++)
		r->streams[i] = (struct follower){.c = c,
		    .id = r->id,
		    .stream = i ? "stderr" : "stdout",
		    .follow = true,
		    .fd = i ? STDERR_FILENO : STDOUT_FILENO};
	return finish_run(r);
}

int cmd_run(struct cli *c)
{
	AUTO(json_drop) json_t *task = NULL;
	struct run r = {.c = c};
	int result;

	if (task_from_options(c, 0, true, &task) < 0 ||
	    stdin_put(c, true, false, task, &r.sender) < 0)
		return c->problem.code;
	r.sender.id = r.id;
	r.sender.waits = true;
	directory_put_here(c, false, task);
	interrupt_catch();
	result = run_it(&r, task);
	sender_release(&r.sender);
	call_abort(r.streams[0].call);
	call_abort(r.streams[1].call);
	free(r.why);
	return result;
}
