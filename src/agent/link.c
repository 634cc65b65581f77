/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The link to the server: hello with everything held, then beats. What a broken link may have
 * lost is said again on the next one, and ends also on the same one until they are acknowledged.
 */
#include <stdlib.h>

#include "agent/internal.h"
#include "base/mutant.h"

#define BEATS_MISSED 3
#define SILENCE_LEAST_MS 5000 /* no sooner, unless even that is more than may be */
#define SAID_AGAIN_LEAST_MS 1000

const struct moves link_moves = {
    "link",
    {[LINK_DOWN] = "down",
        [LINK_HELLO] = "hello",
        [LINK_WELCOME] = "welcome",
        [LINK_CLOSING] = "closing"},
    {
        {LINK_DOWN, LINK_HELLO, "connected: it says who it is and what it holds"},
        {LINK_HELLO, LINK_WELCOME, "the server welcomes it"},
        {LINK_HELLO, LINK_CLOSING, "no answer in 30 s, refused, or the worker is dying"},
        {LINK_WELCOME, LINK_CLOSING, "three beats unanswered, refused, or the worker is dying"},
        {LINK_CLOSING, LINK_DOWN, "closed"},
        {LINK_WELCOME, LINK_DOWN, "broken"},
        {LINK_HELLO, LINK_DOWN, "broken"},
    },
};

void link_move(struct agent *a, enum link_state to)
{
	a->link = moves_make(&link_moves, a->link, to);
}

void close_link(struct agent *a, struct agent_effects *out, const char *why)
{
	if (a->link != LINK_HELLO && a->link != LINK_WELCOME)
		return;
	link_move(a, LINK_CLOSING);
	agent_effects_add(out, AF_CLOSE)->why.text = str_of(why);
}

static int by_id(const void *x, const void *y)
{
	const struct link_held *a = x, *b = y;

	return a->task != b->task ? (a->task < b->task ? -1 : 1)
	                          : (a->token < b->token ? -1 : a->token > b->token);
}

static bool is_told(const struct held *h)
{
	return !(h->state == HELD_ENDED && MUTANT(HELLO_OMITS_ENDED)) &&
	       !(h->state == HELD_STARTING && MUTANT(HELLO_OMITS_STARTING));
}

static void send_hello(struct agent *a, struct agent_effects *out)
{
	struct link_held *refs = arena_alloc(&out->arena, a->n_held * sizeof *refs);
	struct link_hello *hello = arena_zalloc(&out->arena, sizeof *hello);
	struct held *h;
	size_t n = 0;

	TAILQ_FOREACH (h, &a->all, all) {
		if (!is_told(h))
			continue;
		refs[n] = held_ref(h);
		fares_in_hello(h, &refs[n++]);
	}
	qsort(refs, n, sizeof *refs, by_id); /* rows side by side for the server */
	hello->tasks = refs;
	hello->n_tasks = n;
	if (a->phase == AGENT_SERVING) /* who leaves speaks for no set any more */
		hello->set = a->set;
	hello->dial = a->o.dials_before + a->n_links;
	agent_effects_add(out, AF_HELLO)->hello = hello;
}

int on_link_up(struct agent *a, const struct agent_event *in, struct agent_effects *out)
{
	if (a->link != LINK_DOWN)
		on_link_down(a, in, out);
	link_move(a, LINK_HELLO);
	if (is_ending(a)) {
		close_link(a, out, "leaving");
		return 0;
	}
	a->n_links++;
	a->hello_sent_ms = in->mono_ms;
	a->beat_before = a->beat;
	a->beats.n = 0;
	a->run_top = 0;
	a->run_bits = 0;
	send_hello(a, out);
	return 0;
}

int on_link_down(struct agent *a, const struct agent_event *in, struct agent_effects *out)
{
	struct held *h, *next;

	if (a->link != LINK_DOWN) /* one that never came up goes down, too */
		link_move(a, LINK_DOWN);
	a->leaving_beat = 0;
	for (h = TAILQ_FIRST(&a->all); h; h = next) {
		next = TAILQ_NEXT(h, all);
		output_unsend(&h->output);
		if (h->state == HELD_ENDED && MUTANT(ENDED_FORGOTTEN_ON_CUT))
			held_drop(a, h, in, out);
	}
	return 0;
}

void send_beat(struct agent *a, int64_t mono_ms, struct agent_effects *out)
{
	struct agent_effect *e = agent_effects_add(out, AF_BEAT);

	a->beat++;
	beat_log_add(&a->beats, a->beat, mono_ms);
	a->next_beat_ms = mono_ms + a->own.heartbeat_ms;
	if (MUTANT(BEAT_COUNTS_UNANSWERED))
		health_heard(a, mono_ms);
	e->beat.number = a->beat;
	e->beat.own = a->health.state;
	e->beat.set = a->set;
	a->set_is_new = false;
	a->beat_is_extra = false;
	e->beat.leaving = a->phase == AGENT_LEAVING;
	if (e->beat.leaving && a->leaving_beat == 0)
		a->leaving_beat = a->beat;
}

/* What the last link may have lost is sent again: output first, then ends. */
static void send_again(struct agent *a, int64_t mono_ms, struct agent_effects *out)
{
	struct held *h;

	TAILQ_FOREACH (h, &a->all, all) {
		if (h->state != HELD_RUNNING && h->state != HELD_ENDED)
			continue;
		/* also what became due for its first sending while nobody listened */
		send_output(
		    a, h, h->output.chunked || h->state == HELD_ENDED || !heap_has(&h->flush), out);
		if (h->state == HELD_ENDED)
			send_ended(a, h, mono_ms, out);
		send_input_ack(a, h, mono_ms, out);
	}
	fares_welcomed(a, out);
}

/* An end, or a wish for input, that went unanswered for as long as a beat may be lost; said twice
 * it does no harm. */
static void say_again(struct agent *a, int64_t mono_ms, struct agent_effects *out)
{
	int64_t wait_ms =
	    a->own.heartbeat_ms > SAID_AGAIN_LEAST_MS ? a->own.heartbeat_ms : SAID_AGAIN_LEAST_MS;
	struct held *h;

	TAILQ_FOREACH (h, &a->all, all) {
		if (h->state == HELD_ENDED && mono_ms - h->ended_sent_ms >= wait_ms &&
		    !MUTANT(ENDED_SENT_ONCE))
			send_ended(a, h, mono_ms, out);
		if (mono_ms - h->input.asked_ms >= wait_ms)
			send_input_ack(a, h, mono_ms, out);
	}
	fares_with_beat(a, out);
}

int on_welcome(struct agent *a, const struct agent_event *in, struct agent_effects *out)
{
	if (a->link != LINK_HELLO || is_ending(a))
		return 0; /* said twice, or our end crossed it */
	link_move(a, LINK_WELCOME);
	a->maxthreads = in->welcome.maxthreads;
	a->notify_seq = in->welcome.notify_seq;
	a->beat_acked = a->beat; /* older beats' answers will not come any more */
	health_welcomed(a, in);
	health_news(a, &in->welcome.news, in->mono_ms, out);
	on_health_time(a, in->mono_ms, out);
	if (is_ending(a))
		return 0;
	send_beat(a, in->mono_ms, out);
	send_again(a, in->mono_ms, out);
	return 0;
}

int on_refused(struct agent *a, const struct agent_event *in, struct agent_effects *out)
{
	const char *why = arena_printf(
	    &out->arena, "the server refused this worker: " STR_FMT, STR_ARG(in->refused.reason));

	if (is_ending(a) || (a->link != LINK_HELLO && a->link != LINK_WELCOME))
		return 0;
	agent_effects_add(out, AF_NOTE)->why.text = str_of(why);
	if (in->refused.die)
		start_dying(
		    a, in->mono_ms, out, why, in->refused.restart && a->o.restart_when_lost);
	else
		close_link(a, out, why);
	return 0;
}

/*
 * Others may wait for us to know of them: a new set is repeated at once, but only once between
 * two regular beats, or ever new sets would make us beat without end.
 */
static void repeat_set(struct agent *a, int64_t mono_ms, struct agent_effects *out)
{
	int64_t next = a->next_beat_ms;

	if (!a->set_is_new || a->beat_is_extra || a->link != LINK_WELCOME || is_ending(a))
		return;
	send_beat(a, mono_ms, out);
	a->beat_is_extra = true;
	a->next_beat_ms = next;
}

int on_beat_ack(struct agent *a, const struct agent_event *in, struct agent_effects *out)
{
	uint64_t number = in->beat_ack.number;
	int64_t sent = beat_log_sent_ms(&a->beats, number, a->hello_sent_ms);

	if (a->link != LINK_WELCOME || is_ending(a))
		return 0;
	if (number > a->beat)
		return ERR_PROTOCOL;
	if (number > a->beat_acked) {
		health_heard(a, MUTANT(BEAT_STAMPED_AT_ACK) ? in->mono_ms : sent);
		a->beat_acked = number;
	}
	health_news(a, &in->beat_ack.news, in->mono_ms, out);
	repeat_set(a, in->mono_ms, out);
	return 0;
}

/*
 * Three beats without an answer; but beats may be so short that a busy machine, or a far one, takes
 * longer than three of them for anything.
 */
static int64_t silence_limit_ms(const struct agent *a)
{
	int64_t beats = BEATS_MISSED * a->own.heartbeat_ms;
	int64_t least = (a->own.heartbeat_ms + a->own.heartbeat_grace_ms) / 2;

	if (least > SILENCE_LEAST_MS)
		least = SILENCE_LEAST_MS;
	return beats > least ? beats : least;
}

static bool is_silent(const struct agent *a, int64_t mono_ms)
{
	int64_t since = beat_log_sent_ms(&a->beats, a->beat_acked + 1, a->hello_sent_ms);

	return a->beat - a->beat_acked >= BEATS_MISSED && mono_ms - since >= silence_limit_ms(a);
}

void on_link_time(struct agent *a, int64_t mono_ms, struct agent_effects *out)
{
	if (is_ending(a))
		return;
	if (a->link == LINK_HELLO && mono_ms >= a->hello_sent_ms + a->o.hello_wait_ms)
		close_link(a, out, "the server did not answer the hello");
	if (a->link != LINK_WELCOME || mono_ms < a->next_beat_ms)
		return;
	if (is_silent(a, mono_ms)) {
		close_link(a, out, "the server does not answer");
		return;
	}
	if (a->beat - a->beat_acked >= BEATS_OPEN_MAX) {
		a->next_beat_ms = mono_ms + silence_limit_ms(a) / 8 + 1;
		return;
	}
	send_beat(a, mono_ms, out);
	say_again(a, mono_ms, out);
}

int64_t link_wake_ms(const struct agent *a)
{
	if (is_ending(a))
		return INT64_MAX;
	if (a->link == LINK_HELLO)
		return a->hello_sent_ms + a->o.hello_wait_ms;
	if (a->link == LINK_WELCOME)
		return a->next_beat_ms;
	return INT64_MAX;
}
