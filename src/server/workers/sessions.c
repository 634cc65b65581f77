/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A session is one connection of a worker, with a number that is never used again. The brain
 * speaks of numbers; a message for a number that is gone is dropped, which is safe: the brain
 * hears of the loss, and the worker's next hello tells what it has.
 */
#include "server/workers/sessions.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/data/idmap.h"
#include "base/mem.h"
#include "base/moves.h"
#include "base/secret.h"
#include "base/world/clock.h"
#include "base/world/log.h"
#include "model/limits.h"
#include "net/link/proof.h"
#include "server/workers/newcomers.h"
#include "server/workers/parcel.h"
#include "wire/link/link.h"

/* A stranger that can reach the port could otherwise fill the disk with lines about itself. */
#define STRANGERS_LOGGED 10
#define STRANGERS_MS 10000

/* A peer that has not been let in costs little, and not for long. */
#define KNOCK_MAX_BYTES 65536
#define KNOCK_WAIT_MS 10000

#define OWN_TOKEN "the server's own" /* no name that a token of the store could have */

/*
 *   stranger --knock--> known --hello--> greeted
 *      |                  |
 *      '--refused---------+--refused--> turned away
 */
enum session_state {
	SESSION_STRANGER,
	SESSION_KNOWN,   /* the knock was accepted: the worker may say hello */
	SESSION_GREETED, /* the hello was accepted, for the brain */
	SESSION_TURNED_AWAY,
	N_SESSION_STATES
};

static const struct moves session_moves = {
    "session",
    {[SESSION_STRANGER] = "stranger",
        [SESSION_KNOWN] = "known",
        [SESSION_GREETED] = "greeted",
        [SESSION_TURNED_AWAY] = "turned away"},
    {
        {SESSION_STRANGER, SESSION_KNOWN, "its knock proves who it is, and its token is right"},
        {SESSION_STRANGER, SESSION_TURNED_AWAY, "no knock, wrong token or version, malformed"},
        {SESSION_KNOWN, SESSION_GREETED, "its hello is accepted for the brain"},
        {SESSION_KNOWN, SESSION_TURNED_AWAY,
            "no hello, another worker's, one too many, or malformed"},
    },
};

struct session {
	struct sessions *all;
	enum session_state state;
	struct link *link;
	uint64_t number;
	unsigned char nonce[LINK_NONCE_BYTES];
	char *shard;       /* who it has proven to be; NULL: a stranger */
	rid token_id;      /* of the token that let it in; 0: the server's own */
	char *zone;        /* the zone that the join token is for; NULL: any */
	char *token;       /* the name of what let it in; NULL: it was here before */
	uint64_t instance; /* and which process of it */
	char key[2 * LINK_KEY_BYTES + 1];
	char *traced_as; /* as its own trace calls it; NULL: no trace is wanted */
	struct parcel out;
	TAILQ_ENTRY(session) touched;
	bool is_touched;
	struct session *next, **prev; /* all of them, for the end */
};

struct sessions {
	struct loop *loop;
	struct engine *engine;
	struct join *join;
	struct newcomers *newcomers;
	struct link_listener *listener;
	char *join_token;
	struct tracing *trace;
	struct idmap by_number;
	uint64_t last;
	struct arena arena; /* of one frame */
	struct session *first;
	TAILQ_HEAD(, session) touched;
	struct loop_timer *strangers_timer; /* runs while lines about strangers are counted */
	unsigned strangers;                 /* in this period */
};

static void on_strangers(void *arg)
{
	struct sessions *all = arg;

	if (all->strangers > STRANGERS_LOGGED)
		log_warn("and %u more like this: connections to the worker port that were turned "
		         "away, or closed before their hello",
		    all->strangers - STRANGERS_LOGGED);
	all->strangers = 0;
}

/* About a connection that has not proved to be a worker: only some of these lines are logged. */
static bool may_log_stranger(struct sessions *all)
{
	if (all->strangers++ == 0)
		loop_timer_set(all->strangers_timer, STRANGERS_MS);
	return all->strangers <= STRANGERS_LOGGED;
}

static void session_move(struct session *s, enum session_state to)
{
	s->state = moves_make(&session_moves, s->state, to);
}

/* A session that was greeted stays that: the brain is to hear of its loss. */
static void turn_away(struct session *s, const char *why)
{
	struct link_refused refused = {.reason = str_of(why)};
	struct link_to_worker m = {.refused = &refused};
	struct buf frame = {0};

	if (may_log_stranger(s->all)) {
		log_warn("worker at %s turned away: %s", link_peer(s->link), why);
		tracing_sent(s->all->trace, link_peer(s->link), &m);
	}
	if (s->state != SESSION_GREETED)
		session_move(s, SESSION_TURNED_AWAY);
	link_encode_to_worker(&m, &s->all->arena, &frame);
	link_send(s->link, buf_str(&frame));
	buf_release(&frame);
	link_close(s->link, why);
}

/* Each attempt with whether it was given to who has proven to be this worker. */
static const struct link_held *held_and_proven(struct session *s, const struct link_hello *h)
{
	struct receipts *receipts = engine_heeds_receipts(s->all->engine);
	struct link_held *held =
	    arena_memdup(&s->all->arena, h->tasks, h->n_tasks * sizeof *h->tasks);

	for (size_t i = 0; receipts && i < h->n_tasks; i++)
		held[i].proven = receipt_holds(
		    receipts, held[i].task, held[i].token, str_of(s->shard), &held[i].receipt);
	return held;
}

static void send_challenge(struct session *s)
{
	struct link_to_worker m = {.challenge = {(char *)s->nonce, sizeof s->nonce}};
	struct buf frame = {0};

	for (size_t i = 0; i < sizeof s->nonce; i += sizeof(uint64_t)) {
		uint64_t bits = clock_random();

		memcpy(s->nonce + i, &bits, sizeof bits);
	}
	arena_reset(&s->all->arena);
	link_encode_to_worker(&m, &s->all->arena, &frame);
	link_send(s->link, buf_str(&frame));
	buf_release(&frame);
}

/* With fresh bytes of ours in it: what was said on another connection proves nothing here. */
static bool key_is_proven(const struct session *s, const struct link_knock *k)
{
	struct buf what = {0};
	bool proven;

	link_proof(
	    (struct str){(const char *)s->nonce, sizeof s->nonce}, k->instance, k->shard, &what);
	proven = proof_holds(k->key, buf_str(&what), k->signature);
	buf_release(&what);
	return proven;
}

/* By the server's own token, or by one of the store. */
static enum join_answer ask_join(struct session *s, const struct link_knock *k)
{
	struct sessions *all = s->all;
	struct join_terms terms;
	enum join_answer answer;

	if (secret_equal(k->join_token, str_of(all->join_token))) {
		s->token = xstrdup(OWN_TOKEN);
		return JOIN_YES;
	}
	if (!all->join)
		return JOIN_NO;
	answer = join_ask(all->join, k->join_token, k->shard, str_of(s->key), &terms);
	s->zone = terms.zone.n ? xstrndup(terms.zone.p, terms.zone.n) : NULL;
	s->token = terms.token.n ? xstrndup(terms.token.p, terms.token.n) : NULL;
	s->token_id = terms.id;
	return answer;
}

static const char wrong_token[] = "the join token is missing or wrong";

static const char *why_not(struct session *s, const struct link_knock *k)
{
	struct str id, secret;

	/* what cannot be one is not worth a look at the rest */
	if (!secret_equal(k->join_token, str_of(s->all->join_token)) &&
	    !token_split(k->join_token, &id, &secret))
		return wrong_token;
	if (!link_peer_may_be(s->link, k->shard))
		return "its certificate is not for this name: the CN or a DNS name of a worker's "
		       "certificate must be the worker's --name";
	if (proof_key_is_weak(k->key))
		return "its key is one for which anybody can sign: remove the file `key` from its "
		       "state directory, so that it makes another";
	return key_is_proven(s, k) ? NULL : "the proof of its key does not hold";
}

static void write_down(struct session *s, struct str actor, struct str shard, const char *why)
{
	if (s->all->join)
		join_write_down(s->all->join, actor, STR_NULL, shard, why);
}

/* As the bearer of what let it in, or by the name that its key has proven. */
static void refuse_known(struct session *s, const char *why)
{
	char actor[sizeof "worker:" + NAME_MAX_BYTES];

	if (!s->token)
		snprintf(actor, sizeof actor, "worker:%s", s->shard);
	else if (strcmp(s->token, OWN_TOKEN) == 0) /* whose bearer may call itself anything */
		snprintf(actor, sizeof actor, "join-token");
	else
		snprintf(actor, sizeof actor, "token:%s", s->token);
	write_down(s, str_of(actor), str_of(s->shard), why);
	turn_away(s, why);
}

/* From here on it may send more than a knock, as who it has proven to be. */
static bool admit(struct session *s, const struct link_knock *k)
{
	const char *why = why_not(s, k);
	bool answer_is_ours = why != NULL;
	enum join_answer answer = JOIN_NO;

	for (size_t i = 0; !why && i < k->key.n; i++)
		snprintf(s->key + 2 * i, 3, "%02x", (unsigned char)k->key.p[i]);
	if (!why)
		answer = ask_join(s, k);
	if (!why && answer == JOIN_NO) /* which is written down */
		why = wrong_token;
	if (why) {
		if (answer_is_ours)
			write_down(s, STR("unknown"), k->shard, why);
		turn_away(s, why);
		return false;
	}
	if (answer == JOIN_LATER) { /* the worker dials again, and is known then */
		session_move(s, SESSION_TURNED_AWAY);
		link_close(s->link, "its join token is being looked at");
		return false;
	}
	session_move(s, SESSION_KNOWN);
	s->shard = xstrndup(k->shard.p, k->shard.n);
	s->instance = k->instance;
	link_admit(s->link);
	link_expect(s->link);
	return true;
}

static bool is_new_name(const struct sessions *all, struct str shard)
{
	const struct core *c = engine_core(all->engine);

	return core_is_open(c) && !core_find(c, KIND_WORKER, shard);
}

static bool greet(struct session *s, struct link_hello *h)
{
	struct sessions *all = s->all;
	int64_t now_ms = clock_wall_ms();
	struct buf name = {0};

	if (!str_is(h->facts.shard, s->shard) || h->facts.instance != s->instance) {
		refuse_known(s, "its hello is of another worker than its knock");
		return false;
	}
	if (s->zone && !str_is(h->facts.zone, s->zone)) {
		refuse_known(s, "its join token is for another zone");
		return false;
	}
	if (is_new_name(all, h->facts.shard) &&
	    !newcomers_take(all->newcomers, s->token_id, clock_mono_ms())) {
		turn_away(s, newcomers_why(all->newcomers));
		return false;
	}
	h->facts.key = str_of(s->key);
	if (h->facts.started_ms > now_ms) /* only shown; its clock is ahead */
		h->facts.started_ms = now_ms;
	session_move(s, SESSION_GREETED);
	if (all->trace) {
		trace_process_name(h->facts.shard, h->facts.instance, &name);
		s->traced_as = buf_take(&name);
	}
	return true;
}

/* What was said over this connection is what happens to the brain. */
static void hear(struct session *s, struct event ev)
{
	ev.link = s->number;
	engine_step(s->all->engine, &ev);
}

static void hear_hello(struct session *s, const struct link_hello *h)
{
	struct event ev = {.kind = EV_HELLO, .let_in = str_of(s->token), .hello = *h};

	ev.hello.tasks = held_and_proven(s, h);
	hear(s, ev);
}

#define HEAR_EACH(what, parts)                    \
	for (size_t i = 0; i < m->n_##parts; i++) \
	hear(s, (struct event){.kind = what, .parts = m->parts[i]})

static void take(struct session *s, const struct link_to_server *m)
{
	bool is_first = s->state != SESSION_GREETED;

	if (is_first && !greet(s, m->hello))
		return;
	tracing_received(s->all->trace, s->traced_as, m);
	if (is_first)
		hear_hello(s, m->hello);
	HEAR_EACH(EV_CHECKED, checked);
	if (m->has_beat)
		hear(s, (struct event){.kind = EV_BEAT, .beat = m->beat});
	HEAR_EACH(EV_NOTIFIED, notified);
	HEAR_EACH(EV_STARTED, started);
	HEAR_EACH(EV_HEALTH, health);
	HEAR_EACH(EV_INPUT_ACK, input_ack);
	HEAR_EACH(EV_OUTPUT, output);
	HEAR_EACH(EV_ENDED, ended);
}

static void on_frame(struct link *l, struct str payload, void *arg)
{
	struct session *s = arg;
	struct link_to_server m;
	struct problem p = {0};

	arena_reset(&s->all->arena);
	if (link_decode_to_server(payload, &s->all->arena, &m, &p) != 0)
		turn_away(s, p.what);
	else if (s->state == SESSION_STRANGER && !m.knock)
		turn_away(s, "the first frame must be a knock");
	else if (s->state == SESSION_STRANGER && !admit(s, m.knock))
		return;
	else if (s->state == SESSION_GREETED || m.hello)
		take(s, &m);
	else if (!m.knock)
		turn_away(s, "a hello must follow the knock");
}

/* Of the two ends, what could be wrong with which. */
static const char *const hints[N_LINK_FAULTS] = {
    [LINK_FAULT_UNTRUSTED] = "its certificate must be signed by an authority of --link-tls-ca",
    [LINK_FAULT_NO_CERT] = "this server demands a certificate of each worker: give it one with its "
                           "--tls-cert and --tls-key",
    [LINK_FAULT_DISTRUSTED] = "it does not trust this server's certificate: its --tls-ca must name "
                              "the authority that signed it, and its --join a name that is in it",
    [LINK_FAULT_IS_PLAIN] = "it does not speak TLS: its --tls-ca FILE names the certificate "
                            "authority to trust",
    [LINK_FAULT_IS_TLS] = "it speaks TLS, and this port does not: give the server --link-tls-cert "
                          "and --link-tls-key, or leave out its --tls-ca if you trust the way",
};

static void session_free(struct session *s)
{
	parcel_release(&s->out);
	free(s->traced_as);
	free(s->shard);
	free(s->zone);
	free(s->token);
	free(s);
}

/* A handshake that failed: whose mistake it is can often be said. Who only looked is not told of.
 */
static void on_stranger(struct link *l, const char *why, void *arg)
{
	const char *hint = hints[link_fault(l)];

	if (hint && may_log_stranger(arg))
		log_warn("worker at %s turned away: %s: %s", link_peer(l), why, hint);
}

static void on_close(struct link *l, const char *why, void *arg)
{
	struct session *s = arg;
	bool was_greeted = s->state == SESSION_GREETED;

	if (!was_greeted && hints[link_fault(l)])
		on_stranger(l, why, s->all);
	else if (was_greeted || (s->state != SESSION_TURNED_AWAY && may_log_stranger(s->all)))
		log_info("worker link %llu (%s) closed: %s", (unsigned long long)s->number,
		    link_peer(l), why);
	if (was_greeted)
		tracing_link(s->all->trace, s->traced_as, "loses the link of ", why);
	idmap_del(&s->all->by_number, s->number);
	if (was_greeted && s->all->engine)
		hear(s, (struct event){.kind = EV_LINK_LOST});
	if (s->is_touched)
		TAILQ_REMOVE(&s->all->touched, s, touched);
	*s->prev = s->next;
	if (s->next)
		s->next->prev = s->prev;
	session_free(s);
}

static void *on_accept(struct link *l, const char *peer, void *arg)
{
	struct sessions *all = arg;
	struct session *s = xcalloc(1, sizeof *s);

	s->all = all;
	s->link = l;
	s->number = ++all->last;
	s->next = all->first;
	s->prev = &all->first;
	if (s->next)
		s->next->prev = &s->next;
	all->first = s;
	idmap_put(&all->by_number, s->number, s);
	send_challenge(s);
	return s;
}

static const struct link_events events = {
    .on_frame = on_frame, .on_close = on_close, .on_stranger = on_stranger};

struct sessions *sessions_new(
    struct loop *l, const struct sessions_options *o, struct problem *ret_problem)
{
	struct link_options limits = {.first_ms = KNOCK_WAIT_MS,
	    .strangers_max = o->strangers_max,
	    .stranger_frame = KNOCK_MAX_BYTES,
	    .passed_fd = o->passed_fd,
	    .buffered_max = o->buffered_max};
	struct sessions *s = xcalloc(1, sizeof *s);

	s->loop = l;
	s->join_token = xstrdup(o->join_token);
	s->trace = o->trace;
	s->newcomers = newcomers_new(o->joins_per_minute);
	TAILQ_INIT(&s->touched);
	s->listener =
	    link_listen(l, o->address, o->tls, &limits, &events, on_accept, s, ret_problem);
	if (!s->listener) {
		newcomers_free(s->newcomers);
		free(s->join_token);
		free(s);
		return NULL;
	}
	s->strangers_timer = loop_timer_new(l, on_strangers, s);
	return s;
}

void sessions_set_token(struct sessions *s, const char *join_token)
{
	free(s->join_token);
	s->join_token = xstrdup(join_token);
}

void sessions_join_by(struct sessions *s, struct join *j)
{
	s->join = j;
}

void sessions_serve(struct sessions *s, struct engine *e)
{
	s->engine = e;
}

int sessions_port(const struct sessions *s)
{
	return link_listener_port(s->listener);
}

static void send_now(struct session *s)
{
	struct link_to_worker m = parcel_frame(&s->out, engine_ids(s->all->engine));
	struct buf frame = {0};
	bool last = m.refused != NULL;

	tracing_sent(s->all->trace, s->traced_as, &m);
	arena_reset(&s->all->arena);
	link_encode_to_worker(&m, &s->all->arena, &frame);
	parcel_clear(&s->out);
	link_send(s->link, buf_str(&frame));
	buf_release(&frame);
	if (last)
		link_close(s->link, "refused");
}

static void touch(struct session *s)
{
	if (s->is_touched)
		return;
	s->is_touched = true;
	TAILQ_INSERT_TAIL(&s->all->touched, s, touched);
}

/* To the run that was just added. */
static void add_receipt(struct session *s)
{
	struct receipts *receipts = engine_gives_receipts(s->all->engine);
	struct link_run *run = &s->out.frame.run[s->out.frame.n_run - 1];

	if (receipts)
		run->receipt = receipt_make(receipts, run->task, run->token, str_of(s->shard));
}

static void send_touched(struct sessions *all)
{
	struct session *s;

	while ((s = TAILQ_FIRST(&all->touched))) {
		TAILQ_REMOVE(&all->touched, s, touched);
		s->is_touched = false;
		send_now(s);
	}
}

/* Of the run that was just added: whoever waits for its output is here already. */
static void add_follow(struct session *s, const struct link_run *run)
{
	if (hub_is_followed(engine_hub(s->all->engine), run->task))
		parcel_add_follow(
		    &s->out, (struct link_follow){run->task, run->token, FOLLOW_FOR_MS});
}

void sessions_follow(struct sessions *all, uint64_t link, const struct link_follow *f)
{
	struct session *s = idmap_get(&all->by_number, link);

	if (!s)
		return;
	parcel_add_follow(&s->out, *f);
	touch(s);
	send_touched(all);
}

void sessions_send(struct sessions *all, const struct message *m, size_t n)
{
	struct session *s = NULL;

	for (size_t i = 0; i < n; i++) {
		if (!s || s->number != m[i].link)
			s = idmap_get(&all->by_number, m[i].link);
		if (!s)
			continue;
		if (parcel_is_full(&s->out))
			send_now(s);
		parcel_add(&s->out, &m[i]);
		if (m[i].kind == MSG_RUN) {
			add_receipt(s);
			add_follow(s, &m[i].run);
		}
		touch(s);
	}
	send_touched(all);
}

void sessions_free(struct sessions *s)
{
	link_listener_free(s->listener);
	loop_timer_free(s->strangers_timer);
	s->engine = NULL;
	while (s->first) {
		struct session *x = s->first;

		s->first = x->next;
		link_end(x->link);
		session_free(x);
	}
	idmap_release(&s->by_number);
	arena_release(&s->arena);
	newcomers_free(s->newcomers);
	free(s->join_token);
	free(s);
}
