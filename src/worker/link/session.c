/* SPDX-License-Identifier: Apache-2.0 */
/* The link: dialled, dialled again, and what comes over it turned into events for the brain. */
#include "base/world/log.h"
#include "wire/json/settings.h"
#include "worker/internal.h"

#define REDIAL_FIRST_MS 50
#define REDIAL_SLOWEST_MS 5000
/* Longer than the server waits for a handshake: so it can still say that it awaited one. */
#define CHALLENGE_WAIT_MS 12000

static const char *const hints[N_LINK_FAULTS] = {
    [LINK_FAULT_UNTRUSTED] = "--tls-ca FILE names the certificate authority to trust",
    [LINK_FAULT_NAME] = "its certificate is for another name: use that one with --join",
    [LINK_FAULT_DISTRUSTED] = "it does not trust this worker's certificate: that of --tls-cert "
                              "must be signed by an authority of its --link-tls-ca",
    [LINK_FAULT_WANTS_CERT] = "if it demands a certificate of yours, give it with --tls-cert and "
                              "--tls-key",
    [LINK_FAULT_IS_PLAIN] = "it does not speak TLS: leave out --tls-ca if you trust the way to it",
    [LINK_FAULT_IS_TLS] = "if it speaks TLS there, --tls-ca FILE names the certificate authority "
                          "to trust",
};

static void on_open(struct link *l, void *arg)
{
	struct worker *w = arg;

	worker_trace_link(w, "dialled", w->o->server);
}

/* The server speaks first, and until we have knocked there is nothing else to say. */
static void before_knock(struct worker *w, const struct link_to_worker *m)
{
	if (m->refused)
		log_warn("%s: " STR_FMT, w->o->server, STR_ARG(m->refused->reason));
	if (!m->challenge.n)
		return;
	key_knock(w, m->challenge);
	w->link_open = true;
	given_address(w);
	worker_feed(w, (struct agent_event){.kind = AE_LINK_UP});
}

static void feed_welcome(struct worker *w, const struct link_to_worker *m)
{
	if (!m->welcome)
		return;
	w->ids = m->welcome->ids;
	w->timeouts = m->welcome->timeouts;
	worker_feed(w, (struct agent_event){.kind = AE_WELCOME, .welcome = *m->welcome});
	if (!agent_is_welcome(w->agent))
		return;
	log_info("connected to %s", w->o->server);
	notify_status(w->notify, "connected to %s", w->o->server);
	w->redial_ms = REDIAL_FIRST_MS;
	if (!w->ready_told && w->o->on_ready)
		w->o->on_ready(w->o->arg);
	w->ready_told = true;
}

static void feed_refused(struct worker *w, const struct link_to_worker *m)
{
	if (m->refused)
		worker_feed(w, (struct agent_event){.kind = AE_REFUSED, .refused = *m->refused});
}

/* How it wants to be ended is the brain's to know; the rest of its settings are the hand's. */
static void take_kill(struct worker *w, struct link_run *run)
{
	struct str own = json_member(run->body, "run");
	struct run_settings s;
	struct problem p = {0};

	if ((!run->run_settings.n && !own.n) ||
	    settings_merge(run->run_settings, own, &w->frame_arena, &s, &p) < 0)
		return;
	run->kill_method = s.kill.method;
	run->kill_wait_given = s.kill.wait_ms >= 0;
	run->kill_wait_ms = s.kill.wait_ms;
}

static void feed_run(struct worker *w, const struct link_to_worker *m)
{
	for (size_t i = 0; i < m->n_run; i++) {
		take_kill(w, &m->run[i]);
		worker_feed(w, (struct agent_event){.kind = AE_RUN, .run = &m->run[i]});
	}
}

#define FEED_IF_THERE(part, event)                                                            \
	static void feed_##part(struct worker *w, const struct link_to_worker *m)             \
	{                                                                                     \
		if (m->has_##part)                                                            \
			worker_feed(w, (struct agent_event){.kind = event, .part = m->part}); \
	}
#define FEED_EACH(part, event)                                                                   \
	static void feed_##part(struct worker *w, const struct link_to_worker *m)                \
	{                                                                                        \
		for (size_t i = 0; i < m->n_##part; i++)                                         \
			worker_feed(w, (struct agent_event){.kind = event, .part = m->part[i]}); \
	}

FEED_IF_THERE(settings, AE_SETTINGS)
FEED_IF_THERE(beat_ack, AE_BEAT_ACK)
FEED_IF_THERE(check, AE_CHECK)
FEED_EACH(ended_ack, AE_ENDED_ACK)
FEED_EACH(output_ack, AE_OUTPUT_ACK)
FEED_EACH(input, AE_INPUT)
FEED_EACH(kill, AE_KILL)
FEED_EACH(follow, AE_FOLLOW)
FEED_EACH(notify, AE_NOTIFY)

static void on_frame(struct link *l, struct str payload, void *arg)
{
	struct worker *w = arg;
	struct link_to_worker m;
	struct problem p;

	arena_reset(&w->frame_arena);
	if (link_decode_to_worker(payload, &w->frame_arena, &m, &p) < 0) {
		log_error("%s: %s", w->o->server, p.what);
		if (w->link_open)
			session_close(w, p.what);
		else
			link_close(l, p.what);
		return;
	}
	if (!w->link_open) {
		before_knock(w, &m);
		return;
	}
	worker_trace_received(w, &m);
#define X(part) feed_##part(w, &m);
	LINK_TO_WORKER_ORDER(X)
#undef X
}

/* A worker that dies, or is gone, ends its tasks and says nothing more to anybody. */
static bool dials_again(const struct worker *w)
{
	enum agent_phase phase = agent_phase(w->agent);

	return phase == AGENT_SERVING || phase == AGENT_LEAVING;
}

/* Silence has other reasons once a server was there that spoke as we do. */
static const char *hint_of(const struct worker *w, enum link_fault fault)
{
	bool is_guess = fault == LINK_FAULT_IS_TLS || fault == LINK_FAULT_WANTS_CERT;

	return is_guess && w->ready_told ? NULL : hints[fault];
}

static void on_close(struct link *l, const char *why, void *arg)
{
	struct worker *w = arg;
	int64_t wait = w->redial_ms / 2 + (int64_t)rng_below(&w->rng, (uint64_t)w->redial_ms);
	int64_t slowest = w->timeouts.heartbeat_ms;
	const char *hint;

	/* a longer pause could cost us our life, where the limits are short */
	if (slowest > REDIAL_SLOWEST_MS)
		slowest = REDIAL_SLOWEST_MS;
	if (slowest < REDIAL_FIRST_MS)
		slowest = REDIAL_FIRST_MS;
	w->link = NULL;
	w->link_open = false;
	worker_trace_link(w, "the link is gone", why);
	if (w->closing) {
		loop_stop(w->loop);
		return;
	}
	outbox_drop(&w->outbox);
	if (!dials_again(w)) {
		log_info("%s: %s", w->o->server, why);
		worker_feed(w, (struct agent_event){.kind = AE_LINK_DOWN});
		return;
	}
	hint = hint_of(w, link_fault(l));
	log_warn("%s: %s%s%s; dialling again in %d ms", w->o->server, why, hint ? ": " : "",
	    hint ? hint : "", (int)wait);
	notify_status(w->notify, "not connected to %s: %s", w->o->server, why);
	worker_feed(w, (struct agent_event){.kind = AE_LINK_DOWN});
	loop_timer_set(w->redial, wait);
	w->redial_ms = w->redial_ms * 2 < slowest ? w->redial_ms * 2 : slowest;
}

void session_dial(struct worker *w)
{
	static const struct link_events events = {
	    .on_open = on_open, .on_frame = on_frame, .on_close = on_close};
	struct link_options options = {.first_ms = CHALLENGE_WAIT_MS};

	if (w->redial_ms == 0)
		w->redial_ms = REDIAL_FIRST_MS;
	w->link = link_dial(w->loop, w->o->server, w->tls, &options, &events, w);
}

void session_close(struct worker *w, const char *why)
{
	if (!w->link || !w->link_open)
		return;
	outbox_flush(w);
	w->link_open = false;
	link_close(w->link, why);
}
