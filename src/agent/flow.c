/* SPDX-License-Identifier: Apache-2.0 */
/* Output on its way to the server: what is sent when, and how much may be on its way. */
#include "agent/internal.h"
#include "model/limits.h"
#include "model/objects/queue.h"

#define FLUSH_FIRST_MS 250
#define FLUSH_SLOWEST_MS 2000
/* For those who read along: soon enough to look immediate, late enough that the output of a short
 * task still travels inside its end. */
#define FOLLOW_FIRST_MS 20
#define FOLLOW_REPEATS_PER_MS 1024 /* bytes sent again, of all that are followed together */

static void set_reading(struct agent *a, struct held *h, bool read, struct agent_effects *out)
{
	struct agent_effect *e;

	if (h->paused != read)
		return;
	h->paused = !read;
	if (read)
		TAILQ_REMOVE(&a->paused, h, paused_entry);
	else
		TAILQ_INSERT_TAIL(&a->paused, h, paused_entry);
	e = agent_effects_add(out, AF_READ);
	e->task = h->task;
	e->token = h->token;
	e->read = read;
}

static bool is_full(const struct agent *a, const struct held *h)
{
	int64_t own = output_unacked(&h->output);

	return own > 0 && (own >= (int64_t)a->o.task_window || a->unacked >= a->o.link_window);
}

static void resume_paused(struct agent *a, struct agent_effects *out)
{
	struct held *h, *next;

	for (h = TAILQ_FIRST(&a->paused); h && a->unacked < a->o.link_window; h = next) {
		next = TAILQ_NEXT(h, paused_entry);
		if (!is_full(a, h))
			set_reading(a, h, true, out);
	}
}

static void send_chunk(struct held *h, int stream, struct chunk *c, struct agent_effects *out)
{
	agent_effects_add(out, AF_OUTPUT)->output = (struct output_row){
	    h->task, h->token, stream, c->offset, (int32_t)c->bytes.n, 0, buf_str(&c->bytes)};
	c->sent = c->bytes.n;
	h->output.chunked = true;
}

/* Sealed chunks, and with `partial` the unsealed ones too. */
void send_output(struct agent *a, struct held *h, bool partial, struct agent_effects *out)
{
	struct output *o = &h->output;
	struct chunk *c;

	if (a->link != LINK_WELCOME || o->discard || o->mode == OUTPUT_MODE_INLINE)
		return;
	for (int i = 0; i < N_STREAMS; i++) {
		STAILQ_FOREACH (c, &o->streams[i].chunks, next) {
			if (c->sent == c->bytes.n)
				continue;
			if (partial || c->bytes.n == OUTPUT_CHUNK_BYTES)
				send_chunk(h, i, c, out);
		}
	}
}

/* So much of the unsealed chunks would be sent once more. */
static int64_t repeated_bytes(const struct output *o)
{
	int64_t n = 0;

	for (int i = 0; i < N_STREAMS; i++) {
		const struct chunk *c = STAILQ_LAST(&o->streams[i].chunks, chunk, next);

		if (c && c->bytes.n < OUTPUT_CHUNK_BYTES)
			n += (int64_t)c->sent;
	}
	return n;
}

/*
 * People who read along want to see a line at once; nobody else does, and then a line now and then
 * shall not cost its chunk over and over. With many followed tasks, each waits for the others.
 */
static int64_t flush_wait_ms(const struct agent *a, const struct held *h)
{
	int64_t wait;

	if (!heap_has(&h->follow))
		return h->output.flush_every_ms;
	wait = repeated_bytes(&h->output) * (int64_t)a->followed.n / FOLLOW_REPEATS_PER_MS;
	if (wait < FOLLOW_FIRST_MS)
		return FOLLOW_FIRST_MS;
	return wait < FLUSH_SLOWEST_MS ? wait : FLUSH_SLOWEST_MS;
}

static void flush_by(struct agent *a, struct held *h, int64_t at)
{
	if (!heap_has(&h->flush) || h->flush.at > at)
		heap_put(&a->flushes, &h->flush, at, h->serial);
}

static void forget_followers(struct agent *a, int64_t mono_ms)
{
	struct heap_node *n;

	while ((n = heap_min(&a->followed)) && n->at <= mono_ms)
		heap_del(&a->followed, n);
}

/* The server says so again and again: whoever is forgotten by it is forgotten here. */
int on_follow(struct agent *a, const struct agent_event *in)
{
	struct held *h = held_find(a, in->follow.task, in->follow.token);

	if (!h || h->state == HELD_ENDED)
		return 0;
	if (in->follow.for_ms == 0) {
		heap_del(&a->followed, &h->follow);
		return 0;
	}
	heap_put(&a->followed, &h->follow, in->mono_ms + in->follow.for_ms, h->serial);
	if (heap_has(&h->flush)) /* what was held back until now */
		flush_by(a, h, in->mono_ms + flush_wait_ms(a, h));
	return 0;
}

int on_output(struct agent *a, const struct agent_event *in, struct agent_effects *out)
{
	struct held *h = held_find(a, in->task, in->token);
	int64_t before;
	size_t sent;

	if (!h || h->state == HELD_WAITING || h->state == HELD_ENDED)
		return ERR_PROTOCOL;
	before = output_unacked(&h->output);
	if (output_add(&h->output, in->output.stream, in->output.data) == 0)
		return 0;
	a->unacked += (size_t)(output_unacked(&h->output) - before);
	if (h->output.mode == OUTPUT_MODE_INLINE)
		return 0;
	sent = out->n;
	send_output(a, h, false, out);
	if (out->n > sent)
		h->output.flush_every_ms = FLUSH_FIRST_MS; /* no slow talker, then */
	forget_followers(a, in->mono_ms);
	flush_by(a, h, in->mono_ms + flush_wait_ms(a, h));
	if (is_full(a, h))
		set_reading(a, h, false, out);
	return 0;
}

void on_flushes(struct agent *a, int64_t mono_ms, struct agent_effects *out)
{
	struct heap_node *n;

	while ((n = heap_min(&a->flushes)) && n->at <= mono_ms) {
		struct held *h = CONTAINER_OF(n, struct held, flush);
		size_t before = out->n;

		heap_del(&a->flushes, n);
		send_output(a, h, true, out);
		if (out->n > before && !heap_has(&h->follow) &&
		    h->output.flush_every_ms < FLUSH_SLOWEST_MS)
			h->output.flush_every_ms *= 2;
	}
}

int on_output_ack(struct agent *a, const struct agent_event *in, struct agent_effects *out)
{
	struct held *h = held_find(a, in->output_ack.task, in->output_ack.token);

	if (!h || h->output.discard || h->output.mode == OUTPUT_MODE_INLINE)
		return 0;
	if (in->output_ack.refused) {
		output_give_up(a, h, out);
		return 0;
	}
	a->unacked -= (size_t)output_ack(&h->output, in->output_ack.stream, in->output_ack.end);
	resume_paused(a, out);
	return 0;
}

/* Out of the accounts; the counts of kept and dropped bytes stay as they are. */
void output_forget(struct agent *a, struct held *h)
{
	a->unacked -= (size_t)output_unacked(&h->output);
	h->output.discard = true;
	output_drop(&h->output);
	if (h->paused)
		TAILQ_REMOVE(&a->paused, h, paused_entry);
	h->paused = false;
}

void output_give_up(struct agent *a, struct held *h, struct agent_effects *out)
{
	set_reading(a, h, true, out);
	output_forget(a, h);
	output_cut(&h->output);
	resume_paused(a, out);
}

struct output_need agent_output_need(const struct agent *a, rid task, int64_t token, int stream)
{
	const struct held *h = held_find(a, task, token);

	return h ? output_need(&h->output, stream) : (struct output_need){0, INT64_MAX};
}
