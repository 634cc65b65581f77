/* SPDX-License-Identifier: Apache-2.0 */
/* The attempts this worker holds: accepted, started, over, acknowledged. */
#include <stdlib.h>
#include <string.h>

#include "agent/internal.h"
#include "base/mem.h"

const struct moves held_moves = {
    "attempt",
    {[HELD_WAITING] = "waiting",
        [HELD_STARTING] = "starting",
        [HELD_RUNNING] = "running",
        [HELD_ENDED] = "ended"},
    {
        {HELD_WAITING, HELD_STARTING, "no older attempt of its task is here any more"},
        {HELD_STARTING, HELD_RUNNING, "its process was made"},
        {HELD_RUNNING, HELD_ENDED, "its process is gone"},
        {HELD_STARTING, HELD_ENDED, "its process could not be made, or is gone"},
        {HELD_WAITING, HELD_ENDED, "never started: refused, killed, or the worker leaves"},
        {HELD_WAITING, HELD_RUNNING, "adopted: its process outlived an earlier worker's"},
    },
};

void held_move(struct held *h, enum held_state to)
{
	h->state = moves_make(&held_moves, h->state, to);
	fares_follow(h);
}

struct held *held_find(const struct agent *a, rid task, int64_t token)
{
	struct held *h = idmap_get(&a->by_task, task);

	while (h && h->token != token)
		h = h->older;
	return h;
}

struct held *held_add(struct agent *a, const struct link_run *run)
{
	struct held *h = xcalloc(1, sizeof *h);

	h->task = run->task;
	h->token = run->token;
	h->receipt = run->receipt;
	h->serial = ++a->serial;
	h->timeout_ms = run->timeout_ms;
	h->exit_codes = run->exit_codes;
	h->input.is_streamed = run->is_streamed;
	h->kill_method = run->kill_method;
	h->kill_wait_ms = run->kill_wait_given ? run->kill_wait_ms : a->o.term_wait_ms;
	output_init(&h->output, run->output_mode, run->output_max);
	h->older = idmap_get(&a->by_task, run->task);
	idmap_put(&a->by_task, run->task, h);
	TAILQ_INSERT_TAIL(&a->all, h, all);
	a->n_held++;
	a->n_live++;
	fares_add(a, h, run);
	return h;
}

static void held_free(struct held *h)
{
	output_release(&h->output);
	arena_release(&h->waiting);
	free(h->kill_reason);
	free(h->end_reason);
	free(h->end_result);
	free(h);
}

static void unlink_attempt(struct agent *a, struct held *h)
{
	struct held *newest = idmap_get(&a->by_task, h->task), *at = newest;

	if (newest == h) {
		if (h->older)
			idmap_put(&a->by_task, h->task, h->older);
		else
			idmap_del(&a->by_task, h->task);
		return;
	}
	while (at->older != h)
		at = at->older;
	at->older = h->older;
}

bool held_older_is_live(const struct held *h)
{
	for (const struct held *o = h->older; o; o = o->older)
		if (o->state != HELD_ENDED)
			return true;
	return false;
}

void held_start(struct held *h, const struct link_run *run, struct agent_effects *out)
{
	struct agent_effect *e = agent_effects_add(out, AF_START);

	held_move(h, HELD_STARTING);
	e->task = h->task;
	e->token = h->token;
	e->run = run;
}

/* As a new one does. The body is copied: it must outlive the message that brought it. */
void held_wait(struct held *h, const struct link_run *run)
{
	MUST(h->state == HELD_WAITING);
	h->waiting_run = link_run_copy(&h->waiting, run);
}

/* An attempt is over: a later one of the same task may have waited for that. */
static void start_waiting(struct agent *a, rid task, struct agent_effects *out)
{
	struct held *h = idmap_get(&a->by_task, task);

	if (h && h->state == HELD_WAITING && !h->stopping && a->phase == AGENT_SERVING &&
	    !held_older_is_live(h))
		held_start(h, h->waiting_run, out); /* freed with the record */
}

void held_drop(
    struct agent *a, struct held *h, const struct agent_event *in, struct agent_effects *out)
{
	struct agent_effect *e = agent_effects_add(out, AF_FORGET);
	rid task = h->task;

	e->task = h->task;
	e->token = h->token;
	if (h->state != HELD_ENDED)
		a->n_live--;
	output_forget(a, h);
	heap_del(&a->deadlines, &h->deadline);
	heap_del(&a->flushes, &h->flush);
	heap_del(&a->followed, &h->follow);
	unlink_attempt(a, h);
	fares_drop(a, h);
	TAILQ_REMOVE(&a->all, h, all);
	a->n_held--;
	held_free(h);
	start_waiting(a, task, out);
}

void held_free_all(struct agent *a)
{
	struct held *h;

	while ((h = TAILQ_FIRST(&a->all))) {
		fares_drop(a, h);
		TAILQ_REMOVE(&a->all, h, all);
		held_free(h);
	}
}

struct link_held held_ref(const struct held *h)
{
	bool over = h->state == HELD_ENDED;

	return (struct link_held){h->task, h->token, over, over ? h->end.started_ms : h->started_ms,
	    .receipt = h->receipt};
}

void send_ended(const struct agent *a, struct held *h, int64_t mono_ms, struct agent_effects *out)
{
	if (a->link != LINK_WELCOME)
		return;
	h->ended_sent_ms = mono_ms;
	agent_effects_add(out, AF_ENDED)->ended = &h->end;
}

static void finish(struct agent *a, struct held *h, const struct agent_exit *x,
    const struct agent_event *in, struct agent_effects *out)
{
	int64_t before = output_unacked(&h->output);

	a->n_live--;
	held_move(h, HELD_ENDED);
	heap_del(&a->deadlines, &h->deadline);
	outcome_of(h, x, in->now_ms);
	/* what goes inside the end does not wait for acknowledgements of its own */
	a->unacked -= (size_t)(before - output_unacked(&h->output));
	if (h->forget || a->phase == AGENT_DYING) {
		held_drop(a, h, in, out);
		return;
	}
	send_output(a, h, true, out);
	heap_del(&a->flushes, &h->flush);
	heap_del(&a->followed, &h->follow);
	send_ended(a, h, in->mono_ms, out);
	start_waiting(a, h->task, out);
}

void held_never(struct agent *a, struct held *h, const char *reason, const struct agent_event *in,
    struct agent_effects *out)
{
	struct agent_exit x = {EXIT_NEVER, 0, -1, 0, str_of(reason)};

	finish(a, h, &x, in, out);
}

int on_kill(struct agent *a, const struct agent_event *in, struct agent_effects *out)
{
	struct held *h = held_find(a, in->kill.task, in->kill.token);

	if (!h)
		return 0; /* over and acknowledged: the two messages crossed */
	h->forget |= in->kill.forget;
	if (h->state == HELD_ENDED) {
		if (h->forget)
			held_drop(a, h, in, out);
		return 0;
	}
	if (in->kill.reason.p && !h->kill_reason)
		h->kill_reason = xstrndup(in->kill.reason.p, in->kill.reason.n);
	if (h->forget)
		output_give_up(a, h, out);
	if (h->state == HELD_WAITING) {
		h->cause = CAUSE_KILL;
		held_never(a, h, "killed before it was started", in, out);
		return 0;
	}
	stop_held(a, h, CAUSE_KILL, in->mono_ms, out);
	return 0;
}

int on_ended_ack(struct agent *a, const struct agent_event *in, struct agent_effects *out)
{
	struct held *h = held_find(a, in->ended_ack.task, in->ended_ack.token);

	if (!h)
		return 0;
	if (h->state != HELD_ENDED) {
		note_of(out, h->task, h->token,
		    "the server acknowledged the end of an attempt that is not over");
		return ERR_PROTOCOL;
	}
	held_drop(a, h, in, out);
	return 0;
}

/* 0 stays the word for "never", whatever the wall clock says. */
static int64_t start_time(const struct agent_event *in)
{
	return in->now_ms > 0 ? in->now_ms : 1;
}

int on_started(struct agent *a, const struct agent_event *in, struct agent_effects *out)
{
	struct held *h = held_find(a, in->task, in->token);

	if (!h || h->state != HELD_STARTING)
		return ERR_PROTOCOL;
	held_move(h, HELD_RUNNING);
	h->started_ms = start_time(in);
	if (h->timeout_ms > 0 && !h->stopping)
		heap_put(&a->deadlines, &h->deadline, in->mono_ms + h->timeout_ms, h->serial);
	if (a->link == LINK_WELCOME)
		agent_effects_add(out, AF_STARTED)->started =
		    (struct link_started){h->task, h->token, h->started_ms, in->pid};
	send_input_ack(a, h, in->mono_ms, out);
	return 0;
}

/* A long runner that is not well is ended, and that is a failure of its own. */
int on_unwell(struct agent *a, const struct agent_event *in, struct agent_effects *out)
{
	struct held *h = held_find(a, in->task, in->token);

	if (!h || h->state == HELD_ENDED || h->stopping)
		return 0;
	h->kill_reason = xstrndup(in->unwell.p, in->unwell.n);
	stop_held(a, h, CAUSE_UNWELL, in->mono_ms, out);
	return 0;
}

/* The task's time limit runs from its own start, whoever was there to see it. */
int on_adopt(struct agent *a, const struct agent_event *in, struct agent_effects *out)
{
	struct held *h;

	if (a->link != LINK_DOWN || held_find(a, in->adopt.run->task, in->adopt.run->token))
		return ERR_PROTOCOL;
	h = held_add(a, in->adopt.run);
	held_move(h, HELD_RUNNING);
	h->started_ms = in->adopt.started_ms > 0 ? in->adopt.started_ms : 1;
	for (int i = 0; i < N_STREAMS; i++)
		output_resume(&h->output, i, in->adopt.output_from[i]);
	if (h->timeout_ms > 0)
		heap_put(&a->deadlines, &h->deadline, in->adopt.started_mono_ms + h->timeout_ms,
		    h->serial);
	return 0;
}

int on_exited(struct agent *a, const struct agent_event *in, struct agent_effects *out)
{
	struct held *h = held_find(a, in->task, in->token);

	if (!h || (h->state != HELD_STARTING && h->state != HELD_RUNNING))
		return ERR_PROTOCOL;
	if ((in->exit.kind == EXIT_ERROR || in->exit.kind == EXIT_STATUS) && h->started_ms == 0)
		h->started_ms =
		    start_time(in); /* a tried start counts as one, as far as safety goes */
	finish(a, h, &in->exit, in, out);
	return 0;
}
