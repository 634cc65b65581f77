/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The link and the lease that it renews. The server declares a worker lost when it has heard
 * nothing for lose_after_ms. We count from the moment we SENT the last beat that it acknowledged,
 * which is earlier than its receipt, and give up a margin before the end: so our processes are
 * always over before the server may think so, without comparing two machines' clocks.
 */
#include <stdlib.h>

#include "agent/internal.h"
#include "base/mem.h"
#include "base/timefmt.h"

#define MARGIN_MOST_MS 30000
#define BEATS_MISSED 3

int64_t lease_margin_ms(const struct agent *a)
{
	int64_t quarter = a->lose_after_ms / 4;

	return quarter < MARGIN_MOST_MS ? quarter : MARGIN_MOST_MS;
}

int64_t agent_give_up_ms(const struct agent *a)
{
	if (a->acked_ms < 0)
		return INT64_MAX;
	return a->acked_ms + a->lose_after_ms - lease_margin_ms(a);
}

static void close_link(struct agent *a, struct agent_effects *out, const char *why)
{
	if (a->link != LINK_DOWN)
		agent_effects_add(out, AF_CLOSE)->why.text = str_of(why);
}

static int by_id(const void *x, const void *y)
{
	const struct agent_ref *a = x, *b = y;

	return a->task != b->task ? (a->task < b->task ? -1 : 1)
	                          : (a->token < b->token ? -1 : a->token > b->token);
}

int on_link_up(struct agent *a, const struct agent_event *in, struct agent_effects *out)
{
	struct agent_ref *refs = arena_alloc(&out->arena, a->n_held * sizeof *refs);
	struct agent_effect *e;
	struct held *h;
	size_t n = 0;

	if (a->phase == AGENT_DYING || a->phase == AGENT_GONE) {
		a->link = LINK_HELLO;
		close_link(a, out, "leaving");
		return 0;
	}
	TAILQ_FOREACH (h, &a->all, all)
		refs[n++] = (struct agent_ref){h->task, h->token, h->state == HELD_ENDED,
		    h->state == HELD_ENDED ? h->end.started_ms : h->started_ms};
	qsort(refs, n, sizeof *refs, by_id); /* rows side by side for the server */
	a->link = LINK_HELLO;
	a->hello_sent_ms = in->mono_ms;
	e = agent_effects_add(out, AF_HELLO);
	e->hello.refs = refs;
	e->hello.n = n;
	return 0;
}

int on_link_down(struct agent *a, const struct agent_event *in, struct agent_effects *out)
{
	struct held *h;

	a->link = LINK_DOWN;
	a->leaving_beat = 0;
	TAILQ_FOREACH (h, &a->all, all)
		output_unsend(&h->output);
	return 0;
}

void send_beat(struct agent *a, int64_t mono_ms, struct agent_effects *out)
{
	struct agent_effect *e = agent_effects_add(out, AF_BEAT);

	a->beat++;
	a->beat_sent_ms[a->beat % BEATS_KEPT] = mono_ms;
	a->next_beat_ms = mono_ms + a->heartbeat_ms;
	e->beat.number = a->beat;
	e->beat.leaving = a->phase == AGENT_LEAVING;
	if (e->beat.leaving && a->leaving_beat == 0)
		a->leaving_beat = a->beat;
}

/* What the last link may have lost is sent again: output first, then ends. */
static void send_again(struct agent *a, struct agent_effects *out)
{
	struct held *h;

	TAILQ_FOREACH (h, &a->all, all) {
		if (h->state != HELD_RUNNING && h->state != HELD_ENDED)
			continue;
		/* also what became due for its first sending while nobody listened */
		send_output(
		    a, h, h->output.chunked || h->state == HELD_ENDED || !heap_has(&h->flush), out);
		if (h->state == HELD_ENDED)
			send_ended(a, h, out);
	}
}

int on_welcome(struct agent *a, const struct agent_event *in, struct agent_effects *out)
{
	if (a->link != LINK_HELLO || a->phase == AGENT_DYING || a->phase == AGENT_GONE)
		return ERR_PROTOCOL;
	a->link = LINK_WELCOME;
	a->heartbeat_ms = in->welcome.heartbeat_ms;
	a->lose_after_ms = in->welcome.lose_after_ms;
	a->maxthreads = in->welcome.maxthreads;
	a->acked_ms = a->hello_sent_ms; /* the hello was heard */
	a->beat_acked = a->beat;        /* older beats' answers will not come any more */
	send_beat(a, in->mono_ms, out);
	send_again(a, out);
	return 0;
}

int on_refused(struct agent *a, const struct agent_event *in, struct agent_effects *out)
{
	const char *why = arena_printf(
	    &out->arena, "the server refused this worker: " STR_FMT, STR_ARG(in->why.reason));

	agent_effects_add(out, AF_NOTE)->why.text = str_of(why);
	if (in->why.die)
		start_dying(a, in->mono_ms, out, why);
	else
		close_link(a, out, why);
	return 0;
}

int on_beat_ack(struct agent *a, const struct agent_event *in, struct agent_effects *out)
{
	int64_t sent;

	if (a->link != LINK_WELCOME || in->beat <= a->beat_acked)
		return 0;
	if (in->beat > a->beat || a->beat - in->beat >= BEATS_KEPT)
		return ERR_PROTOCOL;
	sent = a->beat_sent_ms[in->beat % BEATS_KEPT];
	a->beat_acked = in->beat;
	if (sent > a->acked_ms)
		a->acked_ms = sent;
	return 0;
}

/* Everything ends, nothing is reported any more. */
void start_dying(struct agent *a, int64_t mono_ms, struct agent_effects *out, const char *why)
{
	struct held *h;

	if (a->phase == AGENT_DYING || a->phase == AGENT_GONE)
		return;
	a->phase = AGENT_DYING;
	a->exit_code = 1;
	free(a->exit_reason);
	a->exit_reason = xstrdup(why);
	close_link(a, out, why);
	TAILQ_FOREACH (h, &a->all, all) {
		if (h->state == HELD_ENDED || h->state == HELD_WAITING)
			continue;
		output_give_up(a, h, out);
		stop_held(a, h, CAUSE_SILENCE, mono_ms, out);
	}
}

void on_lease_time(struct agent *a, int64_t mono_ms, struct agent_effects *out)
{
	char waited[TIME_TEXT_MAX];

	if (a->phase == AGENT_DYING || a->phase == AGENT_GONE)
		return;
	if (mono_ms >= agent_give_up_ms(a)) {
		time_human_ms(mono_ms - a->acked_ms, waited);
		start_dying(a, mono_ms, out,
		    arena_printf(&out->arena, "no acknowledgement from the server for %s", waited));
		return;
	}
	if (a->link == LINK_HELLO && mono_ms >= a->hello_sent_ms + a->o.hello_wait_ms)
		close_link(a, out, "the server did not answer the hello");
	if (a->link != LINK_WELCOME || mono_ms < a->next_beat_ms)
		return;
	if (a->beat - a->beat_acked >= BEATS_MISSED)
		close_link(a, out, "the server does not answer");
	send_beat(a, mono_ms, out);
}

int64_t lease_wake_ms(const struct agent *a)
{
	int64_t at = agent_give_up_ms(a);
	int64_t hello = a->hello_sent_ms + a->o.hello_wait_ms;

	if (a->phase == AGENT_DYING || a->phase == AGENT_GONE)
		return INT64_MAX;
	if (a->link == LINK_HELLO && hello < at)
		at = hello;
	if (a->link == LINK_WELCOME && a->next_beat_ms < at)
		at = a->next_beat_ms;
	return at;
}
