/* SPDX-License-Identifier: Apache-2.0 */
/* A server's frame, from plain structs. */
#include <string.h>

#include "wire/encode.h"

static void put_needs(const struct link_run *r, struct arena *a, Reeve__Run *ret)
{
	Reeve__Need *p = PARTS(a, r->n_needs, Reeve__Need, REEVE__NEED__INIT, ret->needs);

	ret->n_needs = r->n_needs;
	OPTIONAL(ret, needs_left_out, (uint32_t)r->needs_left_out);
	for (size_t i = 0; i < r->n_needs; i++) {
		const struct link_need *n = &r->needs[i];

		p[i].task = n->task;
		p[i].state = encode_cstr(a, n->state);
		p[i].job = encode_cstr(a, n->job);
		p[i].worker = encode_cstr(a, n->worker);
		p[i].host = encode_cstr(a, n->host);
		p[i].target = encode_cstr(a, n->target);
		OPTIONAL(&p[i], attempt, n->attempt);
		p[i].has_exit_code = n->exit_code != -1;
		p[i].exit_code = n->exit_code;
		OPTIONAL(&p[i], signal, n->signal);
		OPTIONAL(&p[i], started_ms, n->started_ms);
		OPTIONAL(&p[i], ended_ms, n->ended_ms);
		p[i].reason = encode_reason(a, n->reason);
		p[i].has_result = n->result.p != NULL;
		p[i].result = encode_bytes(n->result);
		OPTIONAL(&p[i], cut, n->is_cut);
	}
}

static void put_run(const struct link_to_worker *m, struct arena *a, Reeve__ToWorker *ret)
{
	Reeve__Run *p = PARTS(a, m->n_run, Reeve__Run, REEVE__RUN__INIT, ret->run);

	ret->n_run = m->n_run;
	for (size_t i = 0; i < m->n_run; i++) {
		const struct link_run *r = &m->run[i];

		p[i].task = r->task;
		p[i].token = r->token;
		p[i].attempt = r->attempt;
		p[i].queue = encode_cstr(a, r->queue);
		p[i].plugin = encode_cstr(a, r->plugin);
		p[i].body = encode_bytes(r->body);
		p[i].has_env = r->env.p != NULL;
		p[i].env = encode_bytes(r->env);
		p[i].has_run = r->run_settings.p != NULL;
		p[i].run = encode_bytes(r->run_settings);
		OPTIONAL(&p[i], timeout_ms, r->timeout_ms);
		OPTIONAL(&p[i], output_mode, r->output_mode);
		OPTIONAL(&p[i], output_max, r->output_max);
		OPTIONAL(&p[i], max_attempts, r->max_attempts);
		OPTIONAL(&p[i], exit_codes, r->exit_codes);
		OPTIONAL(&p[i], streamed, r->is_streamed);
		put_needs(r, a, &p[i]);
		p[i].instance = encode_instance(&r->instance, a);
		OPTIONAL(&p[i], ports, r->n_ports);
		p[i].number = r->number;
		OPTIONAL(&p[i], notify_seq, r->notify_seq);
		p[i].has_receipt = receipt_is_given(&r->receipt);
		p[i].receipt = encode_receipt(&r->receipt);
	}
}

static void put_kill(const struct link_to_worker *m, struct arena *a, Reeve__ToWorker *ret)
{
	Reeve__Kill *p = PARTS(a, m->n_kill, Reeve__Kill, REEVE__KILL__INIT, ret->kill);

	ret->n_kill = m->n_kill;
	for (size_t i = 0; i < m->n_kill; i++) {
		p[i].task = m->kill[i].task;
		p[i].token = m->kill[i].token;
		p[i].reason = encode_reason(a, m->kill[i].reason);
		OPTIONAL(&p[i], forget, m->kill[i].forget);
	}
}

static void put_follow(const struct link_to_worker *m, struct arena *a, Reeve__ToWorker *ret)
{
	Reeve__Follow *p = PARTS(a, m->n_follow, Reeve__Follow, REEVE__FOLLOW__INIT, ret->follow);

	ret->n_follow = m->n_follow;
	for (size_t i = 0; i < m->n_follow; i++) {
		p[i].task = m->follow[i].task;
		p[i].token = m->follow[i].token;
		p[i].for_ms = m->follow[i].for_ms;
	}
}

static void put_acks(const struct link_to_worker *m, struct arena *a, Reeve__ToWorker *ret)
{
	Reeve__EndedAck *e =
	    PARTS(a, m->n_ended_ack, Reeve__EndedAck, REEVE__ENDED_ACK__INIT, ret->ended_ack);
	Reeve__OutputAck *o =
	    PARTS(a, m->n_output_ack, Reeve__OutputAck, REEVE__OUTPUT_ACK__INIT, ret->output_ack);

	ret->n_ended_ack = m->n_ended_ack;
	for (size_t i = 0; i < m->n_ended_ack; i++) {
		e[i].task = m->ended_ack[i].task;
		e[i].token = m->ended_ack[i].token;
	}
	ret->n_output_ack = m->n_output_ack;
	for (size_t i = 0; i < m->n_output_ack; i++) {
		o[i].task = m->output_ack[i].task;
		o[i].token = m->output_ack[i].token;
		o[i].stream = m->output_ack[i].stream;
		o[i].end = m->output_ack[i].end;
		OPTIONAL(&o[i], refused, m->output_ack[i].refused);
	}
}

static void put_input(const struct link_to_worker *m, struct arena *a, Reeve__ToWorker *ret)
{
	Reeve__Input *p = PARTS(a, m->n_input, Reeve__Input, REEVE__INPUT__INIT, ret->input);

	ret->n_input = m->n_input;
	for (size_t i = 0; i < m->n_input; i++) {
		p[i].task = m->input[i].task;
		p[i].token = m->input[i].token;
		p[i].offset = m->input[i].offset;
		p[i].has_data = m->input[i].data.n > 0;
		p[i].data = encode_bytes(m->input[i].data);
		OPTIONAL(&p[i], end, m->input[i].end);
	}
}

static void put_notify(const struct link_to_worker *m, struct arena *a, Reeve__ToWorker *ret)
{
	Reeve__Notify *p = PARTS(a, m->n_notify, Reeve__Notify, REEVE__NOTIFY__INIT, ret->notify);

	ret->n_notify = m->n_notify;
	for (size_t i = 0; i < m->n_notify; i++) {
		const struct link_notify *n = &m->notify[i];
		Reeve__TaskRef *to =
		    PARTS(a, n->n_refs, Reeve__TaskRef, REEVE__TASK_REF__INIT, p[i].refs);

		p[i].seq = n->seq;
		p[i].n_refs = n->n_refs;
		for (size_t k = 0; k < n->n_refs; k++) {
			to[k].task = n->refs[k].task;
			to[k].token = n->refs[k].token;
		}
	}
}

static Reeve__News *news(const struct link_news *n, struct arena *a)
{
	Reeve__News *m = arena_alloc(a, sizeof *m);

	*m = (Reeve__News)REEVE__NEWS__INIT;
	m->state = (Reeve__WorkerState)n->state;
	m->set = encode_set(&n->set, a);
	OPTIONAL(m, check, n->check);
	return m;
}

static Reeve__Timeouts *timeouts(const struct timeouts *t, struct arena *a)
{
	Reeve__Timeouts *m = arena_alloc(a, sizeof *m);

	*m = (Reeve__Timeouts)REEVE__TIMEOUTS__INIT;
	m->heartbeat_ms = t->heartbeat_ms;
	m->heartbeat_grace_ms = t->heartbeat_grace_ms;
	m->check_period_ms = t->check_period_ms;
	m->check_grace_ms = t->check_grace_ms;
	m->lose_after_ms = t->lose_after_ms;
	m->margin_ms = t->margin_ms;
	m->kill_wait_ms = t->kill_wait_ms;
	return m;
}

static Reeve__Welcome *put_welcome(const struct link_welcome *w, struct arena *a)
{
	Reeve__Welcome *m = arena_alloc(a, sizeof *m);

	*m = (Reeve__Welcome)REEVE__WELCOME__INIT;
	m->worker = w->worker;
	m->installation = encode_bytes(
	    (struct str){(const char *)w->ids.installation, sizeof w->ids.installation});
	m->server = w->server;
	m->timeouts = timeouts(&w->timeouts, a);
	m->news = news(&w->news, a);
	OPTIONAL(m, notify_seq, w->notify_seq);
	m->has_maxthreads = true;
	m->maxthreads = w->maxthreads;
	return m;
}

static Reeve__Refused *put_refused(const struct link_refused *r, struct arena *a)
{
	Reeve__Refused *m = arena_alloc(a, sizeof *m);

	*m = (Reeve__Refused)REEVE__REFUSED__INIT;
	m->reason = encode_reason(a, r->reason);
	if (!m->reason)
		m->reason = "";
	OPTIONAL(m, die, r->die);
	OPTIONAL(m, restart, r->restart);
	return m;
}

static Reeve__BeatAck *put_beat_ack(const struct link_beat_ack *b, struct arena *a)
{
	Reeve__BeatAck *m = arena_alloc(a, sizeof *m);

	*m = (Reeve__BeatAck)REEVE__BEAT_ACK__INIT;
	OPTIONAL(m, number, b->number);
	m->news = news(&b->news, a);
	return m;
}

void link_encode_to_worker(const struct link_to_worker *m, struct arena *a, struct buf *out)
{
	Reeve__ToWorker to = REEVE__TO_WORKER__INIT;
	Reeve__Check check = REEVE__CHECK__INIT;
	Reeve__Challenge challenge = REEVE__CHALLENGE__INIT;
	Reeve__Settings settings = REEVE__SETTINGS__INIT;

	if (m->challenge.n) {
		challenge.nonce = encode_bytes(m->challenge);
		to.challenge = &challenge;
	}
	if (m->welcome)
		to.welcome = put_welcome(m->welcome, a);
	if (m->refused)
		to.refused = put_refused(m->refused, a);
	if (m->has_beat_ack)
		to.beat_ack = put_beat_ack(&m->beat_ack, a);
	if (m->has_check) {
		check.number = m->check.number;
		OPTIONAL(&check, beat, m->check.beat);
		to.check = &check;
	}
	if (m->has_settings) {
		settings.has_maxthreads = true;
		settings.maxthreads = m->settings.maxthreads;
		OPTIONAL(&settings, leave, m->settings.leave);
		OPTIONAL(&settings, restart, m->settings.restart);
		to.settings = &settings;
	}
	to.has_clock = m->clock.n > 0;
	to.clock = encode_bytes(m->clock);
	put_run(m, a, &to);
	put_kill(m, a, &to);
	put_acks(m, a, &to);
	put_follow(m, a, &to);
	put_input(m, a, &to);
	put_notify(m, a, &to);
	encode_pack(&to.base, out);
}
