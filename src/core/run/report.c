/* SPDX-License-Identifier: Apache-2.0 */
/* What workers report of their tasks. The token fences: only the present attempt is listened to. */
#include "core/state.h"

#include "model/limits.h"

#define GIVE_BACK_PAUSE_MS 1000

struct task *report_current(const struct core *c, const struct worker *w, rid task, int64_t token)
{
	struct task *t = w ? task_find(c, task) : NULL;

	if (!t || t->worker != w)
		return NULL;
	return t->row.state.token == token || MUTANT(TOKEN_UNCHECKED) ? t : NULL;
}

/* NULL: it is not welcome, or its time ran out before it was heard, and its tasks are gone. */
static struct worker *report_heard(struct core *c, uint64_t link, struct effects *out)
{
	struct worker *w = worker_by_link(c, link);

	if (w)
		watch_heard(c, w, out);
	return w && w->link ? w : NULL;
}

/* A worker that contradicts itself is not believed either way: the attempt counts, and is lost. */
void report_absent(
    struct core *c, struct task *t, struct str reason, int64_t delay_ms, struct effects *out)
{
	if (t->row.state.status == TASK_RUNNING)
		task_end_lost(c, t,
		    STR("its worker said that it ran, and then that it never did: nobody knows"),
		    c->o.lost_hold_ms, out);
	else
		task_give_back(c, t, reason, delay_ms, out);
}

void report_started(struct core *c, const struct event *ev, struct effects *out)
{
	struct worker *w = report_heard(c, ev->link, out);
	struct task *t = report_current(c, w, ev->started.task, ev->started.token);

	if (!t)
		return;
	unsure_settle(t);
	if (t->row.state.status != TASK_CLAIMED)
		return;
	times_started(c, &t->row.state, ev->started.started_ms);
	task_move(c, t, TASK_RUNNING, task_told_why(t), out);
}

void report_health(struct core *c, const struct event *ev, struct effects *out)
{
	struct worker *w = report_heard(c, ev->link, out);
	struct task *t = report_current(c, w, ev->health.task, ev->health.token);

	if (t)
		owner_fares(c, t, &ev->health.fares);
}

/* Of one stream. The queue's may have been changed since the run; a restarted server knows that. */
static int64_t output_max(const struct task *t)
{
	return t->output_max > 0 ? t->output_max : queue_output_max(&t->queue->row);
}

/* A worker keeps to the limit by itself. What one says beyond it counts as dropped. */
static void bound_output(struct task_state *s, int stream, int64_t max)
{
	bool is_inline = s->output_where == OUTPUT_INLINE;
	int64_t said = is_inline ? (int64_t)s->output[stream].n : s->output_bytes[stream];
	int64_t kept = said;

	if (said > max) /* of chunks, those that lie within it as a whole were taken */
		kept = is_inline ? max : max - max % OUTPUT_CHUNK_BYTES;
	if (is_inline)
		s->output[stream].n = (size_t)kept;
	s->output_bytes[stream] = kept;
	s->output_dropped[stream] += said - kept;
}

static void take_result(
    const struct core *c, struct task_state *s, const struct event *ev, int64_t max)
{
	s->exit_code = ev->ended.exit_code;
	s->signal = ev->ended.signal;
	s->usage = ev->ended.usage;
	s->result = ev->ended.result;
	times_ended(c, s, ev->ended.started_ms, ev->ended.ended_ms);
	s->output_where = ev->ended.output_where;
	for (int i = 0; i < N_STREAMS; i++) {
		s->output[i] = ev->ended.output[i];
		s->output_bytes[i] = ev->ended.output_bytes[i];
		s->output_dropped[i] = ev->ended.output_dropped[i];
		bound_output(s, i, max);
	}
}

static int end_status(const struct task *t, const struct event *ev, struct str *ret_reason)
{
	int status = ev->ended.status;

	*ret_reason = ev->ended.reason;
	if (ev->ended.killed && task_is_told(&t->row.state))
		return task_told_end(t, ret_reason);
	if (status == TASK_TERMINATED || (status > 0 && status <= PLUGIN_STATUS_MAX))
		return status;
	return TASK_FAILED;
}

void report_ended(struct core *c, const struct event *ev, struct effects *out)
{
	struct worker *w = report_heard(c, ev->link, out);
	struct task *t = report_current(c, w, ev->ended.task, ev->ended.token);
	struct str reason;
	int status;

	if (!w)
		return; /* not welcome: it says it again after its hello */
	effects_message(out, MSG_ENDED_ACK, w->link)->ended_ack =
	    (struct run_ref){ev->ended.task, ev->ended.token};
	if (!t)
		return;
	if (!ev->ended.started_ms && !ev->ended.killed) {
		/* no process was made; a pause keeps it from coming straight back to this worker */
		report_absent(c, t, ev->ended.reason, w->leaving ? 0 : GIVE_BACK_PAUSE_MS, out);
		return;
	}
	status = end_status(t, ev, &reason);
	take_result(c, &t->row.state, ev, output_max(t));
	task_end_attempt(c, t, status, reason,
	    (status == TASK_FAILED || status == TASK_TERMINATED) && !ev->ended.permanent, out);
}

void report_output(struct core *c, const struct event *ev, struct effects *out)
{
	const struct output_row *o = &ev->output;
	struct worker *w = report_heard(c, ev->link, out);
	struct task *t = report_current(c, w, o->task, o->token);

	if (!w)
		return;
	effects_message(out, MSG_OUTPUT_ACK, w->link)->output_ack = (struct link_output_ack){
	    o->task, o->token, o->stream, o->offset + o->raw_bytes, .refused = !t};
	/* a worker that goes on beyond the limit fills nobody's disk; its end says what is gone */
	if (!t || o->offset + o->raw_bytes > output_max(t))
		return;
	batch_put(&out->batch, &output_table, row_new(&out->batch.arena, &output_table, o));
}

void report_input_ack(struct core *c, const struct event *ev, struct effects *out)
{
	struct worker *w = report_heard(c, ev->link, out);
	struct task *t = report_current(c, w, ev->input_ack.task, ev->input_ack.token);

	if (t)
		input_ask(c, t, ev->input_ack.end, out);
}
