/* SPDX-License-Identifier: Apache-2.0 */
/* A worker's frame, from plain structs. */
#include <string.h>

#include "wire/encode.h"

static Reeve__TaskRef **refs(const struct link_held *from, size_t n, struct arena *a)
{
	Reeve__TaskRef **ptrs;
	Reeve__TaskRef *to = PARTS(a, n, Reeve__TaskRef, REEVE__TASK_REF__INIT, ptrs);

	for (size_t i = 0; i < n; i++) {
		to[i].task = from[i].task;
		to[i].token = from[i].token;
		to[i].has_ended = to[i].ended = from[i].ended;
		to[i].started_ms = from[i].started_ms;
		to[i].has_started_ms = from[i].started_ms != 0;
		to[i].has_receipt = receipt_is_given(&from[i].receipt);
		to[i].receipt = encode_receipt(&from[i].receipt);
		to[i].instance = encode_instance(&from[i].instance, a);
		if (!to[i].instance)
			continue;
		to[i].queue = encode_cstr(a, from[i].queue);
		to[i].fares = encode_fares(&from[i].fares, a);
	}
	return ptrs;
}

void link_proof(struct str challenge, uint64_t instance, struct str shard, struct buf *out)
{
	buf_printf(out, "reeve link %d\n%016llx\n", LINK_PROTOCOL, (unsigned long long)instance);
	buf_add_str(out, challenge);
	buf_add_str(out, shard);
}

static Reeve__Knock *put_knock(const struct link_knock *k, struct arena *a)
{
	Reeve__Knock *m = arena_alloc(a, sizeof *m);

	*m = (Reeve__Knock)REEVE__KNOCK__INIT;
	m->protocol = k->protocol;
	m->token = encode_cstr(a, k->join_token);
	m->shard = encode_cstr(a, k->shard);
	m->instance = k->instance;
	m->key = encode_bytes(k->key);
	m->signature = encode_bytes(k->signature);
	return m;
}

static Reeve__Hello *put_hello(const struct link_hello *h, struct arena *a)
{
	const struct worker_facts *f = &h->facts;
	Reeve__Hello *m = arena_alloc(a, sizeof *m);

	*m = (Reeve__Hello)REEVE__HELLO__INIT;
	m->protocol = h->protocol;
	m->shard = encode_cstr(a, f->shard);
	m->instance = f->instance;
	m->started_ms = f->started_ms;
	m->start = f->start;
	m->lock = encode_cstr(a, f->lock);
	m->host = encode_cstr(a, f->host);
	m->zone = encode_cstr(a, f->zone);
	m->target = encode_cstr(a, f->target);
	m->version = encode_cstr(a, f->version);
	m->labels = encode_lines(a, f->labels, &m->n_labels);
	m->plugins = encode_lines(a, f->plugins, &m->n_plugins);
	m->active_queues = encode_lines(a, f->active_queues, &m->n_active_queues);
	m->ignore_queues = encode_lines(a, f->ignore_queues, &m->n_ignore_queues);
	m->has_maxthreads = true;
	m->maxthreads = f->maxthreads;
	m->n_tasks = h->n_tasks;
	m->tasks = refs(h->tasks, h->n_tasks, a);
	m->set = encode_set(&h->set, a);
	m->dial = h->dial;
	m->offer = encode_lines(a, f->offer, &m->n_offer);
	OPTIONAL(m, receipts, !h->drops_receipts);
	OPTIONAL(m, inputs, h->takes_input);
	OPTIONAL(m, needs, h->takes_needs);
	OPTIONAL(m, services, h->takes_services);
	return m;
}

static void put_started(const struct link_to_server *m, struct arena *a, Reeve__ToServer *ret)
{
	Reeve__Started *p =
	    PARTS(a, m->n_started, Reeve__Started, REEVE__STARTED__INIT, ret->started);

	ret->n_started = m->n_started;
	for (size_t i = 0; i < m->n_started; i++) {
		p[i].task = m->started[i].task;
		p[i].token = m->started[i].token;
		p[i].started_ms = m->started[i].started_ms;
		p[i].has_pid = m->started[i].pid != 0;
		p[i].pid = m->started[i].pid;
	}
}

static void put_health(const struct link_to_server *m, struct arena *a, Reeve__ToServer *ret)
{
	Reeve__Health *p = PARTS(a, m->n_health, Reeve__Health, REEVE__HEALTH__INIT, ret->health);

	ret->n_health = m->n_health;
	for (size_t i = 0; i < m->n_health; i++) {
		p[i].task = m->health[i].task;
		p[i].token = m->health[i].token;
		p[i].fares = encode_fares(&m->health[i].fares, a);
	}
}

static void put_input_ack(const struct link_to_server *m, struct arena *a, Reeve__ToServer *ret)
{
	Reeve__InputAck *p =
	    PARTS(a, m->n_input_ack, Reeve__InputAck, REEVE__INPUT_ACK__INIT, ret->input_ack);

	ret->n_input_ack = m->n_input_ack;
	for (size_t i = 0; i < m->n_input_ack; i++) {
		p[i].task = m->input_ack[i].task;
		p[i].token = m->input_ack[i].token;
		p[i].end = m->input_ack[i].end;
	}
}

static void put_output(const struct link_to_server *m, struct arena *a, Reeve__ToServer *ret)
{
	Reeve__Output *p = PARTS(a, m->n_output, Reeve__Output, REEVE__OUTPUT__INIT, ret->output);

	ret->n_output = m->n_output;
	for (size_t i = 0; i < m->n_output; i++) {
		p[i].task = m->output[i].task;
		p[i].token = m->output[i].token;
		p[i].stream = m->output[i].stream;
		p[i].offset = m->output[i].offset;
		p[i].raw_bytes = m->output[i].raw_bytes;
		p[i].codec = m->output[i].codec;
		p[i].data = encode_bytes(m->output[i].data);
	}
}

static void put_end_output(const struct link_ended *e, Reeve__Ended *ret)
{
	OPTIONAL(ret, output_where, e->output_where);
	if (e->output_where == OUTPUT_INLINE) {
		ret->has_stdout = e->output[STDOUT].n > 0;
		ret->stdout = encode_bytes(e->output[STDOUT]);
		ret->has_stderr = e->output[STDERR].n > 0;
		ret->stderr = encode_bytes(e->output[STDERR]);
	}
	OPTIONAL(ret, stdout_bytes, e->output_bytes[STDOUT]);
	OPTIONAL(ret, stderr_bytes, e->output_bytes[STDERR]);
	OPTIONAL(ret, stdout_dropped, e->output_dropped[STDOUT]);
	OPTIONAL(ret, stderr_dropped, e->output_dropped[STDERR]);
}

static Reeve__Usage *put_usage(const struct usage *u, struct arena *a)
{
	Reeve__Usage *m;

	if (!u->known)
		return NULL;
	m = arena_alloc(a, sizeof *m);
	*m = (Reeve__Usage)REEVE__USAGE__INIT;
	OPTIONAL(m, user_us, u->user_us);
	OPTIONAL(m, system_us, u->system_us);
	OPTIONAL(m, peak_memory, u->peak_memory);
	OPTIONAL(m, oom_kills, u->oom_kills);
	return m;
}

static void put_ended(const struct link_to_server *m, struct arena *a, Reeve__ToServer *ret)
{
	Reeve__Ended *p = PARTS(a, m->n_ended, Reeve__Ended, REEVE__ENDED__INIT, ret->ended);

	ret->n_ended = m->n_ended;
	for (size_t i = 0; i < m->n_ended; i++) {
		const struct link_ended *e = &m->ended[i];

		p[i].task = e->task;
		p[i].token = e->token;
		p[i].status = e->status;
		p[i].has_exit_code = e->exit_code != -1;
		p[i].exit_code = e->exit_code;
		OPTIONAL(&p[i], signal, e->signal);
		p[i].reason = encode_reason(a, e->reason);
		OPTIONAL(&p[i], started_ms, e->started_ms);
		p[i].ended_ms = e->ended_ms;
		OPTIONAL(&p[i], killed, e->killed);
		OPTIONAL(&p[i], permanent, e->permanent);
		put_end_output(e, &p[i]);
		p[i].usage = put_usage(&e->usage, a);
		p[i].has_result = e->result.n > 0;
		p[i].result = encode_bytes(e->result);
	}
}

static void put_checked(const struct link_to_server *m, struct arena *a, Reeve__ToServer *ret)
{
	Reeve__Checked *p =
	    PARTS(a, m->n_checked, Reeve__Checked, REEVE__CHECKED__INIT, ret->checked);

	ret->n_checked = m->n_checked;
	for (size_t i = 0; i < m->n_checked; i++) {
		p[i].number = m->checked[i].number;
		OPTIONAL(&p[i], ok, m->checked[i].ok);
		p[i].reason = encode_reason(a, m->checked[i].reason);
	}
}

static void put_notified(const struct link_to_server *m, struct arena *a, Reeve__ToServer *ret)
{
	Reeve__Notified *p =
	    PARTS(a, m->n_notified, Reeve__Notified, REEVE__NOTIFIED__INIT, ret->notified);

	ret->n_notified = m->n_notified;
	for (size_t i = 0; i < m->n_notified; i++) {
		const struct link_notified *n = &m->notified[i];

		p[i].seq = n->seq;
		p[i].n_held = n->n_held;
		p[i].held = refs(n->held, n->n_held, a);
		p[i].n_absent = n->n_absent;
		p[i].absent = refs(n->absent, n->n_absent, a);
	}
}

static void put_beat(const struct link_beat *b, struct arena *a, Reeve__Beat *ret)
{
	ret->number = b->number;
	OPTIONAL(ret, leaving, b->leaving);
	ret->own = (Reeve__WorkerState)b->own;
	ret->set = encode_set(&b->set, a);
}

void link_encode_to_server(const struct link_to_server *m, struct arena *a, struct buf *out)
{
	Reeve__ToServer to = REEVE__TO_SERVER__INIT;
	Reeve__Beat beat = REEVE__BEAT__INIT;

	if (m->knock)
		to.knock = put_knock(m->knock, a);
	if (m->hello)
		to.hello = put_hello(m->hello, a);
	if (m->has_beat) {
		put_beat(&m->beat, a, &beat);
		to.beat = &beat;
	}
	to.has_clock = m->clock.n > 0;
	to.clock = encode_bytes(m->clock);
	put_checked(m, a, &to);
	put_notified(m, a, &to);
	put_started(m, a, &to);
	put_health(m, a, &to);
	put_input_ack(m, a, &to);
	put_output(m, a, &to);
	put_ended(m, a, &to);
	encode_pack(&to.base, out);
}
