/* SPDX-License-Identifier: Apache-2.0 */
/* A server's frame: the first value out of bounds refuses all of it. */
#include <string.h>

#include "model/limits.h"
#include "model/objects/group.h"
#include "model/objects/queue.h"
#include "model/run/settings.h"
#include "wire/decode.h"
#include "wire/text.h"

#define BODY_MAX (2 * (size_t)TASK_BODY_MAX) /* JSON may grow a little when it is written anew */
#define TIMEOUT_MAX_MS (366LL * 86400 * 1000)

static int get_timeouts(const Reeve__Timeouts *m, struct timeouts *ret, struct problem *p)
{
	const int64_t all[] = {m->heartbeat_ms, m->heartbeat_grace_ms, m->check_period_ms,
	    m->check_grace_ms, m->lose_after_ms, m->margin_ms, m->kill_wait_ms};

	for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
		CHECK(all[i] >= 0 && all[i] <= TIMEOUT_MAX_MS, "welcome.timeouts");
	CHECK(m->heartbeat_ms > 0, "welcome.timeouts.heartbeat_ms");
	CHECK(m->check_period_ms > 0, "welcome.timeouts.check_period_ms");
	CHECK(m->lose_after_ms > 0, "welcome.timeouts.lose_after_ms");
	*ret = (struct timeouts){
	    .heartbeat_ms = m->heartbeat_ms,
	    .heartbeat_grace_ms = m->heartbeat_grace_ms,
	    .check_period_ms = m->check_period_ms,
	    .check_grace_ms = m->check_grace_ms,
	    .lose_after_ms = m->lose_after_ms,
	    .margin_ms = m->margin_ms,
	    .kill_wait_ms = m->kill_wait_ms,
	};
	return 0;
}

static int get_news(
    const Reeve__News *m, const char *part, struct link_news *ret, struct problem *p)
{
	ret->check = m->check;
	if (decode_state((int)m->state, part, &ret->state, p) < 0)
		return ERR_PROTOCOL;
	return decode_set(m->set, part, &ret->set, p);
}

static int get_welcome(
    const Reeve__Welcome *m, struct arena *a, struct link_welcome **ret, struct problem *p)
{
	struct link_welcome *w = arena_zalloc(a, sizeof *w);

	*ret = w;
	CHECK(m->worker != 0, "welcome.worker");
	CHECK(m->installation.len == sizeof w->ids.installation, "welcome.installation");
	CHECK(m->server != 0, "welcome.server");
	CHECK(m->maxthreads >= -1 && m->maxthreads <= THREADS_MAX, "welcome.maxthreads");
	w->worker = m->worker;
	memcpy(w->ids.installation, m->installation.data, sizeof w->ids.installation);
	w->server = m->server;
	w->notify_seq = m->notify_seq;
	w->maxthreads = m->maxthreads;
	if (get_timeouts(m->timeouts, &w->timeouts, p) < 0)
		return ERR_PROTOCOL;
	return get_news(m->news, "welcome.news", &w->news, p);
}

static bool is_short(const char *text, size_t most)
{
	return !text || strlen(text) <= most;
}

static int get_needs(const Reeve__Run *m, struct arena *a, struct link_run *ret, struct problem *p)
{
	struct link_need *needs = arena_alloc(a, m->n_needs * sizeof *needs);

	CHECK(m->n_needs <= NEEDS_SHOWN_MAX, "run.needs");
	for (size_t i = 0; i < m->n_needs; i++) {
		const Reeve__Need *n = m->needs[i];

		CHECK(n->task != 0, "run.needs.task");
		CHECK(n->state[0] && is_short(n->state, NAME_MAX_BYTES), "run.needs.state");
		CHECK(is_short(n->job, JOB_NAME_MAX_BYTES), "run.needs.job");
		CHECK(is_short(n->worker, NAME_MAX_BYTES), "run.needs.worker");
		CHECK(is_short(n->host, HOST_MAX_BYTES), "run.needs.host");
		CHECK(is_short(n->target, NAME_MAX_BYTES), "run.needs.target");
		CHECK(is_short(n->reason, REASON_MAX_BYTES), "run.needs.reason");
		CHECK(n->result.len <= RESULT_FILE_MAX, "run.needs.result");
		needs[i] = (struct link_need){n->task, decode_text(n->job), decode_text(n->state),
		    decode_text(n->worker), decode_text(n->host), decode_text(n->target),
		    n->attempt, n->exit_code, n->signal, n->started_ms, n->ended_ms,
		    decode_text(n->reason), decode_bytes(n->result), n->cut};
	}
	ret->needs = needs;
	ret->n_needs = m->n_needs;
	ret->needs_left_out = m->needs_left_out;
	return 0;
}

static int get_run(
    const Reeve__ToWorker *m, struct arena *a, struct link_to_worker *ret, struct problem *p)
{
	ret->n_run = m->n_run;
	ret->run = arena_alloc(a, m->n_run * sizeof *ret->run);
	for (size_t i = 0; i < m->n_run; i++) {
		const Reeve__Run *r = m->run[i];

		CHECK(decode_is_ref(r->task, r->token), "run");
		CHECK(r->attempt >= 1 && r->max_attempts >= 0, "run.attempt");
		CHECK(text_is_name(str_of(r->queue), NAME_MAX_BYTES), "run.queue");
		CHECK(text_is_name(str_of(r->plugin), NAME_MAX_BYTES), "run.plugin");
		CHECK(r->body.len <= BODY_MAX && r->env.len <= BODY_MAX, "run.body");
		CHECK(r->run.len <= BODY_MAX, "run.run");
		CHECK(r->timeout_ms >= 0 && r->timeout_ms <= DURATION_MAX_MS, "run.timeout_ms");
		CHECK(r->output_mode >= 0 && r->output_mode < N_OUTPUT_MODES, "run.output_mode");
		CHECK(r->output_max >= 0 && r->output_max <= OFFSET_MAX, "run.output_max");
		CHECK(r->number != 0, "run.number");
		ret->run[i] = (struct link_run){r->task, r->token, r->attempt, r->max_attempts,
		    str_of(r->queue), str_of(r->plugin), decode_bytes(r->body),
		    decode_bytes(r->env), decode_bytes(r->run), r->timeout_ms, r->output_max,
		    r->output_mode, r->exit_codes, r->number, r->notify_seq, {{0}}, r->streamed};
		CHECK(decode_receipt(r->receipt, &ret->run[i].receipt), "run.receipt");
		CHECK(r->ports <= PORTS_MAX, "run.ports");
		ret->run[i].n_ports = r->ports;
		if (decode_instance(r->instance, a, &ret->run[i].instance, p) < 0)
			return ERR_PROTOCOL;
		if (r->n_needs && get_needs(r, a, &ret->run[i], p) < 0)
			return ERR_PROTOCOL;
	}
	return 0;
}

static int get_kill(
    const Reeve__ToWorker *m, struct arena *a, struct link_to_worker *ret, struct problem *p)
{
	ret->n_kill = m->n_kill;
	ret->kill = arena_alloc(a, m->n_kill * sizeof *ret->kill);
	for (size_t i = 0; i < m->n_kill; i++) {
		const Reeve__Kill *k = m->kill[i];

		CHECK(decode_is_ref(k->task, k->token), "kill");
		CHECK(!k->reason || strlen(k->reason) <= REASON_MAX_BYTES, "kill.reason");
		ret->kill[i] =
		    (struct link_kill){k->task, k->token, decode_text(k->reason), k->forget};
	}
	return 0;
}

static int get_follow(
    const Reeve__ToWorker *m, struct arena *a, struct link_to_worker *ret, struct problem *p)
{
	ret->n_follow = m->n_follow;
	ret->follow = arena_alloc(a, m->n_follow * sizeof *ret->follow);
	for (size_t i = 0; i < m->n_follow; i++) {
		const Reeve__Follow *f = m->follow[i];

		CHECK(decode_is_ref(f->task, f->token), "follow");
		CHECK(f->for_ms >= 0 && f->for_ms <= FOLLOW_MAX_MS, "follow.for_ms");
		ret->follow[i] = (struct link_follow){f->task, f->token, f->for_ms};
	}
	return 0;
}

static int get_notify(
    const Reeve__ToWorker *m, struct arena *a, struct link_to_worker *ret, struct problem *p)
{
	ret->n_notify = m->n_notify;
	ret->notify = arena_zalloc(a, m->n_notify * sizeof *ret->notify);
	for (size_t i = 0; i < m->n_notify; i++) {
		const Reeve__Notify *n = m->notify[i];
		struct link_notify *to = &ret->notify[i];
		struct run_ref *refs;

		CHECK(n->seq != 0, "notify.seq");
		CHECK(n->n_refs <= LINK_NOTIFY_MAX, "notify.refs");
		to->seq = n->seq;
		to->n_refs = n->n_refs;
		to->refs = refs = arena_alloc(a, n->n_refs * sizeof *refs);
		for (size_t k = 0; k < n->n_refs; k++) {
			CHECK(decode_is_ref(n->refs[k]->task, n->refs[k]->token), "notify.refs");
			refs[k] = (struct run_ref){n->refs[k]->task, n->refs[k]->token};
		}
	}
	return 0;
}

static int get_acks(
    const Reeve__ToWorker *m, struct arena *a, struct link_to_worker *ret, struct problem *p)
{
	ret->n_ended_ack = m->n_ended_ack;
	ret->ended_ack = arena_alloc(a, m->n_ended_ack * sizeof *ret->ended_ack);
	for (size_t i = 0; i < m->n_ended_ack; i++) {
		const Reeve__EndedAck *e = m->ended_ack[i];

		CHECK(decode_is_ref(e->task, e->token), "ended_ack");
		ret->ended_ack[i] = (struct run_ref){e->task, e->token};
	}
	ret->n_output_ack = m->n_output_ack;
	ret->output_ack = arena_alloc(a, m->n_output_ack * sizeof *ret->output_ack);
	for (size_t i = 0; i < m->n_output_ack; i++) {
		const Reeve__OutputAck *o = m->output_ack[i];

		CHECK(decode_is_ref(o->task, o->token), "output_ack");
		CHECK(o->stream >= 0 && o->stream < N_STREAMS, "output_ack.stream");
		CHECK(o->end >= 0 && o->end <= OFFSET_MAX, "output_ack.end");
		ret->output_ack[i] =
		    (struct link_output_ack){o->task, o->token, o->stream, o->end, o->refused};
	}
	return 0;
}

static int get_input(
    const Reeve__ToWorker *m, struct arena *a, struct link_to_worker *ret, struct problem *p)
{
	ret->n_input = m->n_input;
	ret->input = arena_alloc(a, m->n_input * sizeof *ret->input);
	for (size_t i = 0; i < m->n_input; i++) {
		const Reeve__Input *n = m->input[i];

		CHECK(decode_is_ref(n->task, n->token), "input");
		CHECK(n->offset >= 0 && n->offset <= OFFSET_MAX, "input.offset");
		CHECK(n->data.len <= INPUT_PART_BYTES, "input.data");
		CHECK(n->data.len > 0 || n->end, "input.data");
		ret->input[i] = (struct link_input){
		    n->task, n->token, n->offset, decode_bytes(n->data), n->end};
	}
	return 0;
}

static int get_singles(
    const Reeve__ToWorker *m, struct arena *a, struct link_to_worker *ret, struct problem *p)
{
	if (m->refused) {
		ret->refused = arena_zalloc(a, sizeof *ret->refused);
		CHECK(strlen(m->refused->reason) <= REASON_MAX_BYTES, "refused.reason");
		ret->refused->reason = decode_text(m->refused->reason);
		ret->refused->die = m->refused->die;
		ret->refused->restart = m->refused->restart;
	}
	if (m->settings) {
		CHECK(m->settings->maxthreads >= -1 && m->settings->maxthreads <= THREADS_MAX,
		    "settings.maxthreads");
		ret->has_settings = true;
		ret->settings = (struct link_settings){
		    m->settings->maxthreads, m->settings->leave, m->settings->restart};
	}
	if (m->beat_ack) {
		ret->has_beat_ack = true;
		ret->beat_ack.number = m->beat_ack->number;
		if (get_news(m->beat_ack->news, "beat_ack.news", &ret->beat_ack.news, p) < 0)
			return ERR_PROTOCOL;
	}
	if (m->check) {
		CHECK(m->check->number != 0, "check.number");
		ret->has_check = true;
		ret->check = (struct link_check){m->check->number, m->check->beat};
	}
	return m->welcome ? get_welcome(m->welcome, a, &ret->welcome, p) : 0;
}

int link_decode_to_worker(
    struct str payload, struct arena *a, struct link_to_worker *ret_message, struct problem *p)
{
	ProtobufCAllocator from = decode_allocator(a);
	Reeve__ToWorker *m;
	int r;

	*ret_message = (struct link_to_worker){0};
	m = reeve__to_worker__unpack(&from, payload.n, (const uint8_t *)payload.p);
	CHECK(m, "its encoding");
	CHECK(
	    decode_strings_ok(&reeve__to_worker__descriptor, payload), "a string: it holds a NUL");
	if ((r = decode_clock(m->clock, &ret_message->clock, p)) < 0)
		return r;
	if (m->challenge) {
		CHECK(m->challenge->nonce.len == LINK_NONCE_BYTES, "challenge.nonce");
		ret_message->challenge = decode_bytes(m->challenge->nonce);
	}
	if ((r = get_singles(m, a, ret_message, p)) < 0)
		return r;
	if ((r = get_acks(m, a, ret_message, p)) < 0)
		return r;
	if ((r = get_input(m, a, ret_message, p)) < 0)
		return r;
	if ((r = get_run(m, a, ret_message, p)) < 0)
		return r;
	if ((r = get_kill(m, a, ret_message, p)) < 0)
		return r;
	if ((r = get_follow(m, a, ret_message, p)) < 0)
		return r;
	return get_notify(m, a, ret_message, p);
}
