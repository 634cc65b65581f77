/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One frame per turn of the loop, however much has happened in it. A start whose end is in the
 * same frame is left out: the end says when it was, and the server saves a write. So a frame of
 * nothing but starts waits a little for what is over at once.
 */
#include <stdlib.h>
#include <zstd.h>

#include "base/mem.h"
#include "worker/internal.h"

#define FRAME_BYTES ((size_t)1 << 20) /* send at once above this; frames are limited */
#define FRAME_PARTS (LINK_PARTS_MAX / 4)
#define FRAME_OUTPUT (LINK_OUTPUT_MAX / 4)
#define COMPRESS_FROM 512
#define COMPRESS_LEVEL 1
#define START_WAIT_MS 8 /* nobody sees that a task is called running so much later */

static void take_started_back(struct outbox *o, rid task)
{
	uintptr_t place = (uintptr_t)idmap_del(&o->started, task);

	if (place)
		o->m.started[place - 1].task = 0;
}

static void add_started(struct outbox *o, const struct link_started *s)
{
	GROW(o->m.started, o->cap_started, o->m.n_started + 1);
	o->m.started[o->m.n_started++] = *s;
	idmap_put(&o->started, s->task, (void *)(uintptr_t)o->m.n_started);
	o->bytes += 32;
}

static struct str compressed(struct outbox *o, struct str raw)
{
	size_t room = ZSTD_compressBound(raw.n), n;
	char *to = arena_alloc(&o->arena, room);

	if (!o->compressor)
		o->compressor = ZSTD_createCCtx();
	MUST(o->compressor);
	n = ZSTD_compressCCtx(o->compressor, to, room, raw.p, raw.n, COMPRESS_LEVEL);
	if (ZSTD_isError(n) || n >= raw.n - raw.n / 16)
		return STR_NULL; /* not worth the reader's time */
	return (struct str){to, n};
}

static void add_output(struct outbox *o, struct output_row row)
{
	struct str small = row.data.n >= COMPRESS_FROM ? compressed(o, row.data) : STR_NULL;

	row.codec = small.p != NULL;
	row.data = small.p ? small : arena_str(&o->arena, row.data);
	GROW(o->m.output, o->cap_output, o->m.n_output + 1);
	o->m.output[o->m.n_output++] = row;
	o->bytes += row.data.n + 64;
	o->output_bytes += (size_t)row.raw_bytes;
}

static void add_input_ack(struct outbox *o, const struct link_input_ack *k)
{
	GROW(o->m.input_ack, o->cap_input_ack, o->m.n_input_ack + 1);
	o->m.input_ack[o->m.n_input_ack++] = *k;
	o->bytes += 32;
}

static void add_health(struct outbox *o, struct link_health h)
{
	h.fares.address = arena_str(&o->arena, h.fares.address);
	h.fares.ports = arena_str(&o->arena, h.fares.ports);
	GROW(o->m.health, o->cap_health, o->m.n_health + 1);
	o->m.health[o->m.n_health++] = h;
	o->bytes += 64 + h.fares.address.n + h.fares.ports.n;
}

static void add_ended(struct outbox *o, const struct link_ended *e)
{
	struct link_ended *to;

	take_started_back(o, e->task);
	GROW(o->m.ended, o->cap_ended, o->m.n_ended + 1);
	to = &o->m.ended[o->m.n_ended++];
	*to = *e;
	to->reason = arena_str(&o->arena, e->reason);
	to->result = arena_str(&o->arena, e->result);
	for (int i = 0; i < N_STREAMS; i++) {
		to->output[i] = arena_str(&o->arena, e->output[i]);
		o->bytes += e->output[i].n;
	}
	o->bytes += 64 + e->reason.n + e->result.n;
}

static void add_checked(struct outbox *o, struct link_checked c)
{
	c.reason = arena_str(&o->arena, c.reason);
	GROW(o->m.checked, o->cap_checked, o->m.n_checked + 1);
	o->m.checked[o->m.n_checked++] = c;
	o->bytes += 32 + c.reason.n;
}

static void add_notified(struct outbox *o, struct link_notified n)
{
	n.held = arena_memdup(&o->arena, n.held, n.n_held * sizeof *n.held);
	n.absent = arena_memdup(&o->arena, n.absent, n.n_absent * sizeof *n.absent);
	GROW(o->m.notified, o->cap_notified, o->m.n_notified + 1);
	o->m.notified[o->m.n_notified++] = n;
	o->bytes += 16 + 32 * (n.n_held + n.n_absent);
}

static size_t parts_of(const struct link_to_server *m)
{
	return m->n_started + m->n_health + m->n_input_ack + m->n_output + m->n_ended +
	       m->n_checked + m->n_notified;
}

void outbox_add(struct worker *w, const struct agent_effect *e)
{
	struct outbox *o = &w->outbox;

	if (!w->link_open)
		return;
	switch (e->kind) {
	case AF_BEAT:
		o->m.has_beat = true;
		o->m.beat = e->beat;
		break;
	case AF_CHECKED: add_checked(o, e->checked); break;
	case AF_NOTIFIED: add_notified(o, e->notified); break;
	case AF_STARTED: add_started(o, &e->started); break;
	case AF_HEALTH: add_health(o, e->health); break;
	case AF_INPUT_ACK: add_input_ack(o, &e->input_ack); break;
	case AF_OUTPUT: add_output(o, e->output); break;
	case AF_ENDED: add_ended(o, e->ended); break;
	default: MUST(!"a part of a frame");
	}
	if (o->bytes >= FRAME_BYTES || o->output_bytes >= FRAME_OUTPUT ||
	    parts_of(&o->m) >= FRAME_PARTS)
		outbox_flush(w);
}

void outbox_hello(struct worker *w, const struct link_hello *from)
{
	struct outbox *o = &w->outbox;
	struct link_hello hello = *from;
	struct link_to_server m = {.hello = &hello};

	hello.protocol = LINK_PROTOCOL;
	hello.facts = w->facts;
	hello.takes_input = true;
	hello.takes_needs = true;
	hello.takes_services = true;
	worker_trace_sent(w, &m);
	buf_reset(&o->encoded);
	link_encode_to_server(&m, &o->arena, &o->encoded);
	link_send(w->link, buf_str(&o->encoded));
}

static void drop_empty_starts(struct outbox *o)
{
	size_t n = 0;

	for (size_t i = 0; i < o->m.n_started; i++) {
		if (!o->m.started[i].task)
			continue;
		idmap_del(&o->started, o->m.started[i].task);
		o->m.started[n++] = o->m.started[i];
	}
	o->m.n_started = n;
}

void outbox_drop(struct outbox *o)
{
	drop_empty_starts(o);
	o->m.n_started = o->m.n_health = o->m.n_input_ack = o->m.n_output = o->m.n_ended = 0;
	o->m.n_checked = o->m.n_notified = 0;
	o->m.has_beat = false;
	o->bytes = o->output_bytes = 0;
	arena_reset(&o->arena);
}

static bool is_empty(const struct link_to_server *m)
{
	return parts_of(m) == 0 && !m->has_beat;
}

static void on_patience_end(void *arg)
{
	outbox_flush(arg);
}

void outbox_open(struct worker *w)
{
	w->outbox.patience = loop_timer_new(w->loop, on_patience_end, w);
}

static bool only_starts(const struct outbox *o)
{
	return o->m.n_started && parts_of(&o->m) == o->m.n_started && !o->m.has_beat;
}

void outbox_end_turn(struct worker *w)
{
	struct outbox *o = &w->outbox;

	if (!only_starts(o)) {
		outbox_flush(w);
	} else if (!o->waits) {
		o->waits = true;
		loop_timer_set(o->patience, START_WAIT_MS);
	}
}

void outbox_flush(struct worker *w)
{
	struct outbox *o = &w->outbox;

	if (o->waits)
		loop_timer_set(o->patience, -1);
	o->waits = false;
	drop_empty_starts(o);
	if (!w->link_open || is_empty(&o->m)) {
		outbox_drop(o);
		return;
	}
	worker_trace_sent(w, &o->m);
	buf_reset(&o->encoded);
	link_encode_to_server(&o->m, &o->arena, &o->encoded);
	link_send(w->link, buf_str(&o->encoded));
	outbox_drop(o);
}

void outbox_release(struct outbox *o)
{
	free(o->m.started);
	free(o->m.health);
	free(o->m.input_ack);
	free(o->m.output);
	free(o->m.ended);
	free(o->m.checked);
	free(o->m.notified);
	idmap_release(&o->started);
	arena_release(&o->arena);
	buf_release(&o->encoded);
	ZSTD_freeCCtx(o->compressor);
	*o = (struct outbox){0};
}
