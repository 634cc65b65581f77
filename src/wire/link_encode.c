/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Plain structs to protobuf. The generated structs are built in the arena and packed straight into
 * the buffer. What we send is our own, so a bad value here is a bug, not an error.
 */
#include "wire/link.h"

#include <string.h>

#include "base/mem.h"
#include "link.pb-c.h"
#include "model/limits.h"
#include "model/lines.h"
#include "wire/text.h"

static char *cstr(struct arena *a, struct str s)
{
	return s.p ? (char *)arena_str(a, s).p : NULL;
}

static ProtobufCBinaryData bytes(struct str s)
{
	return (ProtobufCBinaryData){.len = s.n, .data = (uint8_t *)s.p};
}

/* One array of n structs and one of pointers to them: what protobuf-c wants of repeated fields. */
#define PARTS(a, n, type, init, ret_ptrs)                                \
	({                                                               \
		type *items_ = arena_alloc((a), (n) * sizeof *items_);   \
		(ret_ptrs) = arena_alloc((a), (n) * sizeof *(ret_ptrs)); \
		for (size_t i_ = 0; i_ < (n); i_++) {                    \
			items_[i_] = (type)init;                         \
			(ret_ptrs)[i_] = &items_[i_];                    \
		}                                                        \
		items_;                                                  \
	})

static void pack(const ProtobufCMessage *m, struct buf *out)
{
	size_t n = protobuf_c_message_get_packed_size(m);

	buf_reserve(out, n);
	protobuf_c_message_pack(m, (uint8_t *)out->p + out->n);
	out->n += n;
	out->p[out->n] = 0;
}

static char **list(struct arena *a, struct str lines, size_t *ret_n)
{
	size_t n = lines_count(lines), i = 0;
	char **items = arena_alloc(a, n * sizeof *items);
	struct str item;

	while (i < n && lines_next(&lines, &item))
		items[i++] = cstr(a, item);
	*ret_n = i;
	return items;
}

static void put_tasks(const struct link_hello *h, struct arena *a, Reeve__Hello *ret)
{
	Reeve__TaskRef *refs =
	    PARTS(a, h->n_tasks, Reeve__TaskRef, REEVE__TASK_REF__INIT, ret->tasks);

	ret->n_tasks = h->n_tasks;
	for (size_t i = 0; i < h->n_tasks; i++) {
		refs[i].task = h->tasks[i].task;
		refs[i].token = h->tasks[i].token;
		refs[i].has_ended = refs[i].ended = h->tasks[i].ended;
		refs[i].started_ms = h->tasks[i].started_ms;
		refs[i].has_started_ms = h->tasks[i].started_ms != 0;
	}
}

static Reeve__Hello *put_hello(const struct link_hello *h, struct arena *a)
{
	const struct worker_facts *f = &h->facts;
	Reeve__Hello *m = arena_alloc(a, sizeof *m);

	*m = (Reeve__Hello)REEVE__HELLO__INIT;
	m->protocol = h->protocol;
	m->token = cstr(a, h->join_token);
	m->shard = cstr(a, f->shard);
	m->instance = f->instance;
	m->started_ms = f->started_ms;
	m->lock = cstr(a, f->lock);
	m->host = cstr(a, f->host);
	m->zone = cstr(a, f->zone);
	m->target = cstr(a, f->target);
	m->version = cstr(a, f->version);
	m->labels = list(a, f->labels, &m->n_labels);
	m->plugins = list(a, f->plugins, &m->n_plugins);
	m->active_queues = list(a, f->active_queues, &m->n_active_queues);
	m->ignore_queues = list(a, f->ignore_queues, &m->n_ignore_queues);
	m->has_maxthreads = true;
	m->maxthreads = f->maxthreads;
	put_tasks(h, a, m);
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
		p[i].data = bytes(m->output[i].data);
	}
}

#define OPTIONAL(to, name, value) ((to)->has_##name = ((to)->name = (value)) != 0)

static void put_end_output(const struct link_ended *e, Reeve__Ended *ret)
{
	OPTIONAL(ret, output_where, e->output_where);
	if (e->output_where == OUTPUT_INLINE) {
		ret->has_stdout = e->output[STDOUT].n > 0;
		ret->stdout = bytes(e->output[STDOUT]);
		ret->has_stderr = e->output[STDERR].n > 0;
		ret->stderr = bytes(e->output[STDERR]);
	}
	OPTIONAL(ret, stdout_bytes, e->output_bytes[STDOUT]);
	OPTIONAL(ret, stderr_bytes, e->output_bytes[STDERR]);
	OPTIONAL(ret, stdout_dropped, e->output_dropped[STDOUT]);
	OPTIONAL(ret, stderr_dropped, e->output_dropped[STDERR]);
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
		p[i].reason = cstr(a, text_head(e->reason, REASON_MAX_BYTES));
		OPTIONAL(&p[i], started_ms, e->started_ms);
		p[i].ended_ms = e->ended_ms;
		OPTIONAL(&p[i], killed, e->killed);
		OPTIONAL(&p[i], permanent, e->permanent);
		put_end_output(e, &p[i]);
	}
}

void link_encode_to_server(const struct link_to_server *m, struct arena *a, struct buf *out)
{
	Reeve__ToServer to = REEVE__TO_SERVER__INIT;
	Reeve__Beat beat = REEVE__BEAT__INIT;

	if (m->hello)
		to.hello = put_hello(m->hello, a);
	if (m->has_beat) {
		beat.number = m->beat;
		OPTIONAL(&beat, leaving, m->leaving);
		to.beat = &beat;
	}
	put_started(m, a, &to);
	put_output(m, a, &to);
	put_ended(m, a, &to);
	pack(&to.base, out);
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
		p[i].queue = cstr(a, r->queue);
		p[i].plugin = cstr(a, r->plugin);
		p[i].body = bytes(r->body);
		p[i].has_env = r->env.p != NULL;
		p[i].env = bytes(r->env);
		OPTIONAL(&p[i], timeout_ms, r->timeout_ms);
		OPTIONAL(&p[i], output_mode, r->output_mode);
		OPTIONAL(&p[i], output_max, r->output_max);
		OPTIONAL(&p[i], max_attempts, r->max_attempts);
		OPTIONAL(&p[i], exit_codes, r->exit_codes);
	}
}

static void put_kill(const struct link_to_worker *m, struct arena *a, Reeve__ToWorker *ret)
{
	Reeve__Kill *p = PARTS(a, m->n_kill, Reeve__Kill, REEVE__KILL__INIT, ret->kill);

	ret->n_kill = m->n_kill;
	for (size_t i = 0; i < m->n_kill; i++) {
		p[i].task = m->kill[i].task;
		p[i].token = m->kill[i].token;
		p[i].reason = cstr(a, text_head(m->kill[i].reason, REASON_MAX_BYTES));
		OPTIONAL(&p[i], forget, m->kill[i].forget);
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

static void put_welcome(const struct link_welcome *w, Reeve__Welcome *ret)
{
	ret->worker = w->worker;
	ret->installation =
	    bytes((struct str){(const char *)w->ids.installation, sizeof w->ids.installation});
	ret->heartbeat_ms = w->heartbeat_ms;
	ret->lose_after_ms = w->lose_after_ms;
	ret->has_maxthreads = true;
	ret->maxthreads = w->maxthreads;
}

void link_encode_to_worker(const struct link_to_worker *m, struct arena *a, struct buf *out)
{
	Reeve__ToWorker to = REEVE__TO_WORKER__INIT;
	Reeve__Welcome welcome = REEVE__WELCOME__INIT;
	Reeve__Refused refused = REEVE__REFUSED__INIT;
	Reeve__BeatAck beat = REEVE__BEAT_ACK__INIT;
	Reeve__Settings settings = REEVE__SETTINGS__INIT;

	if (m->welcome) {
		put_welcome(m->welcome, &welcome);
		to.welcome = &welcome;
	}
	if (m->refused) {
		refused.reason = cstr(a, text_head(m->refused->reason, REASON_MAX_BYTES));
		if (!refused.reason)
			refused.reason = "";
		OPTIONAL(&refused, die, m->refused->die);
		to.refused = &refused;
	}
	if (m->has_beat_ack) {
		beat.number = m->beat_ack;
		to.beat_ack = &beat;
	}
	if (m->has_settings) {
		settings.has_maxthreads = true;
		settings.maxthreads = m->maxthreads;
		to.settings = &settings;
	}
	put_run(m, a, &to);
	put_kill(m, a, &to);
	put_acks(m, a, &to);
	pack(&to.base, out);
}
