/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Protobuf to plain structs, written by somebody else: the first value out of bounds refuses the
 * whole frame. protobuf-c allocates from the arena, so there is nothing to free and strings can be
 * used where they are.
 */
#include "wire/link.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "link.pb-c.h"
#include "model/limits.h"
#include "model/lines.h"
#include "model/queue.h"
#include "wire/text.h"

#define LOCK_MAX_BYTES 4608
#define JOIN_TOKEN_MAX_BYTES 1024
#define HOST_MAX_BYTES 255
#define OFFSET_MAX (1LL << 50)
#define BODY_MAX (2 * (size_t)TASK_BODY_MAX) /* JSON may grow a little when it is written anew */

static void *alloc_from(void *arena, size_t n)
{
	return arena_alloc(arena, n);
}

static void free_nothing(void *arena, void *p)
{
}

static int bad(struct problem *p, const char *part)
{
	problem_set(p, ERR_PROTOCOL, "a frame on the worker link has a bad value in %s", part);
	problem_hint(p, "both ends must be Reeve and speak protocol %d", LINK_PROTOCOL);
	return problem_field(p, part), ERR_PROTOCOL;
}

#define CHECK(cond, part)                    \
	do {                                 \
		if (!(cond))                 \
			return bad(p, part); \
	} while (0)

static struct str of_bytes(ProtobufCBinaryData b)
{
	/* absent and empty are one */
	return b.len ? (struct str){(const char *)b.data, b.len} : STR_NULL;
}

static struct str of_text(char *s)
{
	struct str text = s && *s ? str_of(s) : STR_NULL;

	if (text.p)
		text_clean(s, text.n);
	return text;
}

static bool is_name_or_none(const char *s, size_t max)
{
	return !s || !*s || text_is_name(str_of(s), max);
}

static bool is_ref(uint64_t task, int64_t token)
{
	return task != 0 && task < (1ull << 56) && token > 0;
}

static int get_list(char **items, size_t n, size_t max_items, size_t max_bytes, const char *part,
    struct arena *a, struct str *ret_lines, struct problem *p)
{
	struct buf b = {0};

	*ret_lines = STR_NULL;
	CHECK(n <= max_items, part);
	for (size_t i = 0; i < n; i++)
		CHECK(text_is_name(str_of(items[i]), max_bytes), part);
	for (size_t i = 0; i < n; i++)
		lines_add(&b, str_of(items[i]));
	if (n > 0)
		*ret_lines = lines_sorted(a, buf_str(&b));
	buf_release(&b);
	return 0;
}

static int get_lists(
    const Reeve__Hello *m, struct arena *a, struct worker_facts *f, struct problem *p)
{
	int r;

	for (size_t i = 0; i < m->n_labels; i++)
		CHECK(strchr(m->labels[i], '=') > m->labels[i], "hello.labels");
	if ((r = get_list(m->labels, m->n_labels, LABELS_MAX, LABEL_MAX_BYTES, "hello.labels", a,
	         &f->labels, p)) < 0)
		return r;
	if ((r = get_list(m->plugins, m->n_plugins, PLUGINS_MAX, NAME_MAX_BYTES, "hello.plugins", a,
	         &f->plugins, p)) < 0)
		return r;
	if ((r = get_list(m->active_queues, m->n_active_queues, 10000, NAME_MAX_BYTES,
	         "hello.active_queues", a, &f->active_queues, p)) < 0)
		return r;
	return get_list(m->ignore_queues, m->n_ignore_queues, 10000, NAME_MAX_BYTES,
	    "hello.ignore_queues", a, &f->ignore_queues, p);
}

static int get_tasks(
    const Reeve__Hello *m, struct arena *a, struct link_hello *h, struct problem *p)
{
	CHECK(m->n_tasks <= LINK_HELLO_TASKS_MAX, "hello.tasks");
	h->n_tasks = m->n_tasks;
	h->tasks = arena_alloc(a, m->n_tasks * sizeof *h->tasks);
	for (size_t i = 0; i < m->n_tasks; i++) {
		const Reeve__TaskRef *r = m->tasks[i];

		CHECK(is_ref(r->task, r->token), "hello.tasks");
		CHECK(r->started_ms >= 0, "hello.tasks");
		h->tasks[i] = (struct link_task_ref){r->task, r->token, r->ended, r->started_ms};
	}
	return 0;
}

static int get_hello(
    const Reeve__Hello *m, struct arena *a, struct link_hello **ret_hello, struct problem *p)
{
	struct link_hello *h = arena_zalloc(a, sizeof *h);
	struct worker_facts *f = &h->facts;
	int r;

	*ret_hello = h;
	h->protocol = m->protocol;
	CHECK(m->protocol == LINK_PROTOCOL, "hello.protocol");
	CHECK(is_name_or_none(m->token, JOIN_TOKEN_MAX_BYTES), "hello.token");
	CHECK(text_is_name(str_of(m->shard), NAME_MAX_BYTES), "hello.shard");
	CHECK(m->instance != 0, "hello.instance");
	CHECK(m->started_ms >= 0, "hello.started_ms");
	CHECK(text_is_name(str_of(m->lock), LOCK_MAX_BYTES), "hello.lock");
	CHECK(is_name_or_none(m->host, HOST_MAX_BYTES), "hello.host");
	CHECK(is_name_or_none(m->zone, NAME_MAX_BYTES), "hello.zone");
	CHECK(is_name_or_none(m->target, NAME_MAX_BYTES), "hello.target");
	CHECK(is_name_or_none(m->version, NAME_MAX_BYTES), "hello.version");
	CHECK(m->maxthreads >= -1 && m->maxthreads <= THREADS_MAX, "hello.maxthreads");
	h->join_token = of_text(m->token);
	f->shard = str_of(m->shard);
	f->instance = m->instance;
	f->started_ms = m->started_ms;
	f->lock = str_of(m->lock);
	f->host = of_text(m->host);
	f->zone = of_text(m->zone);
	f->target = of_text(m->target);
	f->version = of_text(m->version);
	f->maxthreads = m->maxthreads;
	if ((r = get_lists(m, a, f, p)) < 0)
		return r;
	return get_tasks(m, a, h, p);
}

static int get_started(
    const Reeve__ToServer *m, struct arena *a, struct link_to_server *ret, struct problem *p)
{
	ret->n_started = m->n_started;
	ret->started = arena_alloc(a, m->n_started * sizeof *ret->started);
	for (size_t i = 0; i < m->n_started; i++) {
		const Reeve__Started *s = m->started[i];

		CHECK(is_ref(s->task, s->token), "started");
		CHECK(s->started_ms > 0 && s->pid >= 0, "started");
		ret->started[i] = (struct link_started){s->task, s->token, s->started_ms, s->pid};
	}
	return 0;
}

static int get_output(
    const Reeve__ToServer *m, struct arena *a, struct link_to_server *ret, struct problem *p)
{
	ret->n_output = m->n_output;
	ret->output = arena_alloc(a, m->n_output * sizeof *ret->output);
	for (size_t i = 0; i < m->n_output; i++) {
		const Reeve__Output *o = m->output[i];

		CHECK(is_ref(o->task, o->token), "output");
		CHECK(o->stream >= 0 && o->stream < N_STREAMS, "output.stream");
		CHECK(o->offset >= 0 && o->offset <= OFFSET_MAX, "output.offset");
		CHECK(o->offset % OUTPUT_CHUNK_BYTES == 0, "output.offset");
		CHECK(o->raw_bytes > 0 && o->raw_bytes <= OUTPUT_CHUNK_BYTES, "output.raw_bytes");
		CHECK(o->codec == 0 || o->codec == 1, "output.codec");
		CHECK(o->data.len > 0 && o->data.len <= (size_t)o->raw_bytes, "output.data");
		CHECK(o->codec == 1 || o->data.len == (size_t)o->raw_bytes, "output.data");
		ret->output[i] = (struct output_row){o->task, o->token, o->stream, o->offset,
		    o->raw_bytes, o->codec, of_bytes(o->data)};
	}
	return 0;
}

static int check_ended(const Reeve__Ended *e, struct problem *p)
{
	CHECK(is_ref(e->task, e->token), "ended");
	CHECK(e->status == TASK_TERMINATED || (e->status > 0 && e->status <= PLUGIN_STATUS_MAX),
	    "ended.status");
	CHECK(e->exit_code >= -1 && e->exit_code <= 255, "ended.exit_code");
	CHECK(e->signal >= 0 && e->signal <= 64, "ended.signal");
	CHECK(!e->reason || strlen(e->reason) <= REASON_MAX_BYTES, "ended.reason");
	CHECK(e->started_ms >= 0 && e->ended_ms > 0, "ended.ended_ms");
	CHECK(e->output_where >= OUTPUT_NONE && e->output_where <= OUTPUT_CHUNKS,
	    "ended.output_where");
	CHECK(e->stdout.len <= LINK_INLINE_MAX && e->stderr.len <= LINK_INLINE_MAX, "ended.output");
	CHECK(
	    e->output_where == OUTPUT_INLINE || e->stdout.len + e->stderr.len == 0, "ended.output");
	CHECK(e->stdout_bytes >= 0 && e->stderr_bytes >= 0, "ended.output_bytes");
	CHECK(e->stdout_dropped >= 0 && e->stderr_dropped >= 0, "ended.output_dropped");
	return 0;
}

static int get_ended(
    const Reeve__ToServer *m, struct arena *a, struct link_to_server *ret, struct problem *p)
{
	ret->n_ended = m->n_ended;
	ret->ended = arena_alloc(a, m->n_ended * sizeof *ret->ended);
	for (size_t i = 0; i < m->n_ended; i++) {
		const Reeve__Ended *e = m->ended[i];

		if (check_ended(e, p) < 0)
			return ERR_PROTOCOL;
		ret->ended[i] = (struct link_ended){
		    .task = e->task,
		    .token = e->token,
		    .status = e->status,
		    .exit_code = e->exit_code,
		    .signal = e->signal,
		    .reason = of_text(e->reason),
		    .started_ms = e->started_ms,
		    .ended_ms = e->ended_ms,
		    .killed = e->killed,
		    .permanent = e->permanent,
		    .output_where = e->output_where,
		    .output = {of_bytes(e->stdout), of_bytes(e->stderr)},
		    .output_bytes = {e->stdout_bytes, e->stderr_bytes},
		    .output_dropped = {e->stdout_dropped, e->stderr_dropped},
		};
	}
	return 0;
}

int link_decode_to_server(
    struct str payload, struct arena *a, struct link_to_server *ret_message, struct problem *p)
{
	ProtobufCAllocator from = {alloc_from, free_nothing, a};
	Reeve__ToServer *m;
	int r;

	*ret_message = (struct link_to_server){0};
	m = reeve__to_server__unpack(&from, payload.n, (const uint8_t *)payload.p);
	CHECK(m, "its encoding");
	if (m->hello && (r = get_hello(m->hello, a, &ret_message->hello, p)) < 0)
		return r;
	if (m->beat) {
		ret_message->has_beat = true;
		ret_message->beat = m->beat->number;
		ret_message->leaving = m->beat->leaving;
	}
	if ((r = get_started(m, a, ret_message, p)) < 0)
		return r;
	if ((r = get_output(m, a, ret_message, p)) < 0)
		return r;
	return get_ended(m, a, ret_message, p);
}

static int get_welcome(
    const Reeve__Welcome *m, struct arena *a, struct link_welcome **ret, struct problem *p)
{
	struct link_welcome *w = arena_zalloc(a, sizeof *w);

	*ret = w;
	CHECK(m->worker != 0, "welcome.worker");
	CHECK(m->installation.len == sizeof w->ids.installation, "welcome.installation");
	CHECK(m->heartbeat_ms > 0 && m->heartbeat_ms <= DURATION_MAX_MS, "welcome.heartbeat_ms");
	CHECK(m->lose_after_ms > m->heartbeat_ms && m->lose_after_ms <= DURATION_MAX_MS,
	    "welcome.lose_after_ms");
	CHECK(m->maxthreads >= -1 && m->maxthreads <= THREADS_MAX, "welcome.maxthreads");
	w->worker = m->worker;
	memcpy(w->ids.installation, m->installation.data, sizeof w->ids.installation);
	w->heartbeat_ms = m->heartbeat_ms;
	w->lose_after_ms = m->lose_after_ms;
	w->maxthreads = m->maxthreads;
	return 0;
}

static int get_run(
    const Reeve__ToWorker *m, struct arena *a, struct link_to_worker *ret, struct problem *p)
{
	ret->n_run = m->n_run;
	ret->run = arena_alloc(a, m->n_run * sizeof *ret->run);
	for (size_t i = 0; i < m->n_run; i++) {
		const Reeve__Run *r = m->run[i];

		CHECK(is_ref(r->task, r->token), "run");
		CHECK(r->attempt >= 1 && r->max_attempts >= 0, "run.attempt");
		CHECK(text_is_name(str_of(r->queue), NAME_MAX_BYTES), "run.queue");
		CHECK(text_is_name(str_of(r->plugin), NAME_MAX_BYTES), "run.plugin");
		CHECK(r->body.len <= BODY_MAX && r->env.len <= BODY_MAX, "run.body");
		CHECK(r->timeout_ms >= 0 && r->timeout_ms <= DURATION_MAX_MS, "run.timeout_ms");
		CHECK(r->output_mode >= 0 && r->output_mode < N_OUTPUT_MODES, "run.output_mode");
		CHECK(r->output_max >= 0 && r->output_max <= OFFSET_MAX, "run.output_max");
		ret->run[i] = (struct link_run){r->task, r->token, r->attempt, r->max_attempts,
		    str_of(r->queue), str_of(r->plugin), of_bytes(r->body), of_bytes(r->env),
		    r->timeout_ms, r->output_max, r->output_mode, r->exit_codes};
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

		CHECK(is_ref(k->task, k->token), "kill");
		CHECK(!k->reason || strlen(k->reason) <= REASON_MAX_BYTES, "kill.reason");
		ret->kill[i] = (struct link_kill){k->task, k->token, of_text(k->reason), k->forget};
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

		CHECK(is_ref(e->task, e->token), "ended_ack");
		ret->ended_ack[i] = (struct link_ended_ack){e->task, e->token};
	}
	ret->n_output_ack = m->n_output_ack;
	ret->output_ack = arena_alloc(a, m->n_output_ack * sizeof *ret->output_ack);
	for (size_t i = 0; i < m->n_output_ack; i++) {
		const Reeve__OutputAck *o = m->output_ack[i];

		CHECK(is_ref(o->task, o->token), "output_ack");
		CHECK(o->stream >= 0 && o->stream < N_STREAMS, "output_ack.stream");
		CHECK(o->end >= 0 && o->end <= OFFSET_MAX, "output_ack.end");
		ret->output_ack[i] =
		    (struct link_output_ack){o->task, o->token, o->stream, o->end, o->refused};
	}
	return 0;
}

static int get_singles(
    const Reeve__ToWorker *m, struct arena *a, struct link_to_worker *ret, struct problem *p)
{
	if (m->refused) {
		ret->refused = arena_zalloc(a, sizeof *ret->refused);
		CHECK(strlen(m->refused->reason) <= REASON_MAX_BYTES, "refused.reason");
		ret->refused->reason = of_text(m->refused->reason);
		ret->refused->die = m->refused->die;
	}
	if (m->settings) {
		CHECK(m->settings->maxthreads >= -1, "settings.maxthreads");
		ret->has_settings = true;
		ret->maxthreads = m->settings->maxthreads;
	}
	if (m->beat_ack) {
		ret->has_beat_ack = true;
		ret->beat_ack = m->beat_ack->number;
	}
	return m->welcome ? get_welcome(m->welcome, a, &ret->welcome, p) : 0;
}

int link_decode_to_worker(
    struct str payload, struct arena *a, struct link_to_worker *ret_message, struct problem *p)
{
	ProtobufCAllocator from = {alloc_from, free_nothing, a};
	Reeve__ToWorker *m;
	int r;

	*ret_message = (struct link_to_worker){0};
	m = reeve__to_worker__unpack(&from, payload.n, (const uint8_t *)payload.p);
	CHECK(m, "its encoding");
	if ((r = get_singles(m, a, ret_message, p)) < 0)
		return r;
	if ((r = get_acks(m, a, ret_message, p)) < 0)
		return r;
	if ((r = get_run(m, a, ret_message, p)) < 0)
		return r;
	return get_kill(m, a, ret_message, p);
}
