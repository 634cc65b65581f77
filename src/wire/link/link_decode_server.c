/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A worker's frame, written by somebody else: the first value out of bounds refuses all of it.
 * protobuf-c allocates from the arena, so there is nothing to free and strings can be used where
 * they are.
 */
#include <string.h>
#include <zstd.h>

#include "model/limits.h"
#include "model/lines.h"
#include "model/objects/queue.h"
#include "model/run/settings.h"
#include "model/task/need.h"
#include "wire/decode.h"
#include "wire/text.h"

#define LOCK_MAX_BYTES 4608
#define JOIN_TOKEN_MAX_BYTES 1024

static bool is_name_or_none(const char *s, size_t max)
{
	return !s || !*s || text_is_name(str_of(s), max);
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
	if ((r = get_list(m->ignore_queues, m->n_ignore_queues, 10000, NAME_MAX_BYTES,
	         "hello.ignore_queues", a, &f->ignore_queues, p)) < 0)
		return r;
	if ((r = get_list(m->offer, m->n_offer, OFFER_LINES_MAX, NAME_MAX_BYTES, "hello.offer", a,
	         &f->offer, p)) < 0)
		return r;
	CHECK(offer_is_valid(f->offer), "hello.offer");
	return 0;
}

static int get_refs(Reeve__TaskRef *const *refs, size_t n, const char *part, struct arena *a,
    const struct link_held **ret_refs, struct problem *p)
{
	struct link_held *to = arena_alloc(a, n * sizeof *to);

	*ret_refs = to;
	for (size_t i = 0; i < n; i++) {
		const Reeve__TaskRef *r = refs[i];

		CHECK(decode_is_ref(r->task, r->token), part);
		CHECK(r->started_ms >= 0, part);
		to[i] = (struct link_held){.task = r->task,
		    .token = r->token,
		    .ended = r->ended,
		    .started_ms = r->started_ms};
		CHECK(decode_receipt(r->receipt, &to[i].receipt), part);
		CHECK(!r->queue || text_is_name(str_of(r->queue), NAME_MAX_BYTES), part);
		to[i].queue = str_of(r->queue);
		if (decode_instance(r->instance, a, &to[i].instance, p) < 0 ||
		    decode_fares(r->fares, a, &to[i].fares, p) < 0)
			return ERR_PROTOCOL;
	}
	return 0;
}

static int bad_version(uint64_t theirs, struct problem *p)
{
	problem_set(p, ERR_PROTOCOL,
	    "the worker speaks version %llu of the link's protocol, the server version %d: update "
	    "the older one, for both ends must be the same",
	    (unsigned long long)theirs, LINK_PROTOCOL);
	return problem_field(p, "protocol"), ERR_PROTOCOL;
}

/*
 * Another version's first frame may lack what this one requires, and is no message at all then.
 * Its version can still be told: the hello is field 1 of a frame, the knock field 8, the version is
 * field 1 of either, and they are written first.
 */
static bool peek_version(struct str frame, uint64_t *ret_version)
{
	uint64_t tag, bytes;

	return decode_varint(&frame, &tag) && (tag == (1 << 3 | 2) || tag == (8 << 3 | 2)) &&
	       decode_varint(&frame, &bytes) && decode_varint(&frame, &tag) &&
	       tag == (1 << 3 | 0) && decode_varint(&frame, ret_version);
}

static int get_knock(
    const Reeve__Knock *m, struct arena *a, struct link_knock **ret_knock, struct problem *p)
{
	struct link_knock *k = arena_zalloc(a, sizeof *k);

	*ret_knock = k;
	if (m->protocol != LINK_PROTOCOL)
		return bad_version(m->protocol, p);
	CHECK(is_name_or_none(m->token, JOIN_TOKEN_MAX_BYTES), "knock.token");
	CHECK(text_is_name(str_of(m->shard), NAME_MAX_BYTES), "knock.shard");
	CHECK(m->instance != 0, "knock.instance");
	CHECK(m->key.len == LINK_KEY_BYTES, "knock.key");
	CHECK(m->signature.len == LINK_SIGNATURE_BYTES, "knock.signature");
	*k = (struct link_knock){m->protocol, decode_text(m->token), str_of(m->shard), m->instance,
	    decode_bytes(m->key), decode_bytes(m->signature)};
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
	if (m->protocol != LINK_PROTOCOL)
		return bad_version(m->protocol, p);
	CHECK(text_is_name(str_of(m->shard), NAME_MAX_BYTES), "hello.shard");
	CHECK(m->instance != 0, "hello.instance");
	CHECK(m->started_ms >= 0, "hello.started_ms");
	CHECK(m->start > 0 && m->start <= START_MAX, "hello.start");
	CHECK(m->dial != 0 && m->dial <= DIAL_MAX, "hello.dial");
	CHECK(text_is_name(str_of(m->lock), LOCK_MAX_BYTES), "hello.lock");
	CHECK(is_name_or_none(m->host, HOST_MAX_BYTES), "hello.host");
	CHECK(is_name_or_none(m->zone, NAME_MAX_BYTES), "hello.zone");
	CHECK(is_name_or_none(m->target, NAME_MAX_BYTES), "hello.target");
	CHECK(is_name_or_none(m->version, NAME_MAX_BYTES), "hello.version");
	CHECK(m->maxthreads >= -1 && m->maxthreads <= THREADS_MAX, "hello.maxthreads");
	f->shard = str_of(m->shard);
	f->instance = m->instance;
	f->started_ms = m->started_ms;
	f->start = m->start;
	h->dial = m->dial;
	h->drops_receipts = !m->receipts;
	h->takes_input = m->inputs;
	h->takes_needs = m->needs;
	h->takes_services = m->services;
	f->lock = str_of(m->lock);
	f->host = decode_text(m->host);
	f->zone = decode_text(m->zone);
	f->target = decode_text(m->target);
	f->version = decode_text(m->version);
	f->maxthreads = m->maxthreads;
	if ((r = get_lists(m, a, f, p)) < 0)
		return r;
	if ((r = decode_set(m->set, "hello.set", &h->set, p)) < 0)
		return r;
	CHECK(m->n_tasks <= LINK_HELLO_TASKS_MAX, "hello.tasks");
	h->n_tasks = m->n_tasks;
	return get_refs(m->tasks, m->n_tasks, "hello.tasks", a, &h->tasks, p);
}

static int get_beat(const Reeve__Beat *m, struct link_beat *ret, struct problem *p)
{
	CHECK(m->number != 0, "beat.number");
	ret->number = m->number;
	ret->leaving = m->leaving;
	if (decode_state((int)m->own, "beat.own", &ret->own, p) < 0)
		return ERR_PROTOCOL;
	return decode_set(m->set, "beat.set", &ret->set, p);
}

static int get_checked(
    const Reeve__ToServer *m, struct arena *a, struct link_to_server *ret, struct problem *p)
{
	ret->n_checked = m->n_checked;
	ret->checked = arena_alloc(a, m->n_checked * sizeof *ret->checked);
	for (size_t i = 0; i < m->n_checked; i++) {
		const Reeve__Checked *c = m->checked[i];

		CHECK(c->number != 0, "checked.number");
		CHECK(!c->reason || strlen(c->reason) <= REASON_MAX_BYTES, "checked.reason");
		ret->checked[i] = (struct link_checked){c->number, c->ok, decode_text(c->reason)};
	}
	return 0;
}

static int get_notified(
    const Reeve__ToServer *m, struct arena *a, struct link_to_server *ret, struct problem *p)
{
	ret->n_notified = m->n_notified;
	ret->notified = arena_zalloc(a, m->n_notified * sizeof *ret->notified);
	for (size_t i = 0; i < m->n_notified; i++) {
		const Reeve__Notified *n = m->notified[i];
		struct link_notified *to = &ret->notified[i];

		CHECK(n->seq != 0, "notified.seq");
		CHECK(n->n_held <= LINK_NOTIFY_MAX && n->n_absent <= LINK_NOTIFY_MAX, "notified");
		to->seq = n->seq;
		to->n_held = n->n_held;
		to->n_absent = n->n_absent;
		if (get_refs(n->held, n->n_held, "notified.held", a, &to->held, p) < 0 ||
		    get_refs(n->absent, n->n_absent, "notified.absent", a, &to->absent, p) < 0)
			return ERR_PROTOCOL;
	}
	return 0;
}

static int get_started(
    const Reeve__ToServer *m, struct arena *a, struct link_to_server *ret, struct problem *p)
{
	ret->n_started = m->n_started;
	ret->started = arena_alloc(a, m->n_started * sizeof *ret->started);
	for (size_t i = 0; i < m->n_started; i++) {
		const Reeve__Started *s = m->started[i];

		CHECK(decode_is_ref(s->task, s->token), "started");
		CHECK(s->started_ms > 0 && s->pid >= 0, "started");
		ret->started[i] = (struct link_started){s->task, s->token, s->started_ms, s->pid};
	}
	return 0;
}

static int get_health(
    const Reeve__ToServer *m, struct arena *a, struct link_to_server *ret, struct problem *p)
{
	ret->n_health = m->n_health;
	ret->health = arena_alloc(a, m->n_health * sizeof *ret->health);
	for (size_t i = 0; i < m->n_health; i++) {
		const Reeve__Health *h = m->health[i];

		CHECK(decode_is_ref(h->task, h->token), "health");
		ret->health[i] = (struct link_health){.task = h->task, .token = h->token};
		if (decode_fares(h->fares, a, &ret->health[i].fares, p) < 0)
			return ERR_PROTOCOL;
	}
	return 0;
}

static int get_input_ack(
    const Reeve__ToServer *m, struct arena *a, struct link_to_server *ret, struct problem *p)
{
	ret->n_input_ack = m->n_input_ack;
	ret->input_ack = arena_alloc(a, m->n_input_ack * sizeof *ret->input_ack);
	for (size_t i = 0; i < m->n_input_ack; i++) {
		const Reeve__InputAck *k = m->input_ack[i];

		CHECK(decode_is_ref(k->task, k->token), "input_ack");
		CHECK(k->end >= 0 && k->end <= OFFSET_MAX, "input_ack.end");
		ret->input_ack[i] = (struct link_input_ack){k->task, k->token, k->end};
	}
	return 0;
}

/* A chunk that cannot be unpacked would be found by whoever reads the log, far too late. */
static bool unpacks(const Reeve__Output *o)
{
	static ZSTD_DCtx *unpacker; /* the loop's only: making one costs more than using it */
	char raw[OUTPUT_CHUNK_BYTES];

	if (o->codec == 0)
		return o->data.len == (size_t)o->raw_bytes;
	if (!unpacker)
		unpacker = ZSTD_createDCtx();
	return unpacker && ZSTD_decompressDCtx(unpacker, raw, (size_t)o->raw_bytes, o->data.data,
	                       o->data.len) == (size_t)o->raw_bytes;
}

static int get_output(
    const Reeve__ToServer *m, struct arena *a, struct link_to_server *ret, struct problem *p)
{
	int64_t raw_bytes = 0;

	ret->n_output = m->n_output;
	ret->output = arena_alloc(a, m->n_output * sizeof *ret->output);
	for (size_t i = 0; i < m->n_output; i++) {
		const Reeve__Output *o = m->output[i];

		CHECK(decode_is_ref(o->task, o->token), "output");
		CHECK(o->stream >= 0 && o->stream < N_STREAMS, "output.stream");
		CHECK(o->offset >= 0 && o->offset <= OFFSET_MAX, "output.offset");
		CHECK(o->offset % OUTPUT_CHUNK_BYTES == 0, "output.offset");
		CHECK(o->raw_bytes > 0 && o->raw_bytes <= OUTPUT_CHUNK_BYTES, "output.raw_bytes");
		CHECK(o->codec == 0 || o->codec == 1, "output.codec");
		CHECK(o->data.len > 0 && o->data.len <= (size_t)o->raw_bytes, "output.data");
		CHECK((raw_bytes += o->raw_bytes) <= LINK_OUTPUT_MAX,
		    "output: too much in one frame");
		CHECK(unpacks(o), "output.data");
		ret->output[i] = (struct output_row){o->task, o->token, o->stream, o->offset,
		    o->raw_bytes, o->codec, decode_bytes(o->data)};
	}
	return 0;
}

static int check_ended(const Reeve__Ended *e, struct problem *p)
{
	CHECK(decode_is_ref(e->task, e->token), "ended");
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
	CHECK(e->result.len <= RESULT_FILE_MAX, "ended.result");
	return 0;
}

/* More than anybody can have measured is cut, not refused: the end itself shall not be lost. */
static int64_t believable(int64_t n)
{
	return n < COUNT_MAX ? n : COUNT_MAX;
}

static int get_usage(const Reeve__Usage *u, struct usage *ret_usage, struct problem *p)
{
	if (!u)
		return 0;
	CHECK(u->user_us >= 0 && u->system_us >= 0, "ended.usage");
	CHECK(u->peak_memory >= 0 && u->oom_kills >= 0, "ended.usage");
	*ret_usage = (struct usage){believable(u->user_us), believable(u->system_us),
	    believable(u->peak_memory), u->oom_kills, true};
	return 0;
}

static int get_ended(
    const Reeve__ToServer *m, struct arena *a, struct link_to_server *ret, struct problem *p)
{
	ret->n_ended = m->n_ended;
	ret->ended = arena_alloc(a, m->n_ended * sizeof *ret->ended);
	for (size_t i = 0; i < m->n_ended; i++) {
		const Reeve__Ended *e = m->ended[i];
		struct usage usage = {0};

		if (check_ended(e, p) < 0 || get_usage(e->usage, &usage, p) < 0)
			return ERR_PROTOCOL;
		ret->ended[i] = (struct link_ended){
		    .task = e->task,
		    .token = e->token,
		    .status = e->status,
		    .exit_code = e->exit_code,
		    .signal = e->signal,
		    .reason = decode_text(e->reason),
		    .started_ms = e->started_ms,
		    .ended_ms = e->ended_ms,
		    .killed = e->killed,
		    .permanent = e->permanent,
		    .output_where = e->output_where,
		    .output = {decode_bytes(e->stdout), decode_bytes(e->stderr)},
		    .output_bytes = {believable(e->stdout_bytes), believable(e->stderr_bytes)},
		    .output_dropped = {believable(e->stdout_dropped),
		        believable(e->stderr_dropped)},
		    .usage = usage,
		    .result = decode_bytes(e->result),
		};
	}
	return 0;
}

int link_decode_to_server(
    struct str payload, struct arena *a, struct link_to_server *ret_message, struct problem *p)
{
	ProtobufCAllocator from = decode_allocator(a);
	enum decode_walked walked;
	Reeve__ToServer *m;
	uint64_t version;
	int r;

	*ret_message = (struct link_to_server){0};
	walked =
	    decode_walk(&reeve__to_server__descriptor, payload, LINK_PARTS_MAX, LINK_FIELDS_MAX);
	CHECK(walked != DECODE_TOO_MUCH, "the number of its parts");
	m = reeve__to_server__unpack(&from, payload.n, (const uint8_t *)payload.p);
	if (!m && peek_version(payload, &version) && version != LINK_PROTOCOL)
		return bad_version(version, p);
	CHECK(m, "its encoding");
	CHECK(walked == DECODE_CLEAN, "a string: it holds a NUL");
	if ((r = decode_clock(m->clock, &ret_message->clock, p)) < 0)
		return r;
	if (m->knock && (r = get_knock(m->knock, a, &ret_message->knock, p)) < 0)
		return r;
	if (m->hello && (r = get_hello(m->hello, a, &ret_message->hello, p)) < 0)
		return r;
	if ((r = get_checked(m, a, ret_message, p)) < 0)
		return r;
	ret_message->has_beat = m->beat != NULL;
	if (m->beat && (r = get_beat(m->beat, &ret_message->beat, p)) < 0)
		return r;
	if ((r = get_notified(m, a, ret_message, p)) < 0)
		return r;
	if ((r = get_started(m, a, ret_message, p)) < 0)
		return r;
	if ((r = get_health(m, a, ret_message, p)) < 0)
		return r;
	if ((r = get_input_ack(m, a, ret_message, p)) < 0)
		return r;
	if ((r = get_output(m, a, ret_message, p)) < 0)
		return r;
	return get_ended(m, a, ret_message, p);
}
