/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/cases/herd.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/agent.h"
#include "base/mem.h"
#include "base/world/clock.h"
#include "net/link/link.h"
#include "net/link/proof.h"
#include "wire/link/link.h"

#define CHECK_TAKES_MS 5 /* what a tiny process takes: so its result is a frame of its own */
#define DIAL_EVERY_MS 5
#define REDIAL_FIRST_MS 50 /* as a real worker does it */
#define REDIAL_SLOWEST_MS 5000
#define NEVER INT64_MAX

struct herd_worker {
	struct herd *herd;
	struct agent *agent;
	struct link *link; /* NULL: none */
	bool open, healthy;
	uint64_t server;          /* of its last welcome */
	uint64_t instance, known; /* version of the set that it knows */
	uint64_t check;           /* to be answered then */
	int64_t backoff_ms;
	int64_t check_at_ms, redial_ms; /* NEVER: not now */
	uint64_t beat;                  /* the worker's last beat, sent then */
	int64_t beat_ns;
	struct loop_timer *timer;
	struct link_to_server out; /* one frame for everything that a step leads to */
	struct link_checked checked;
};

static void flush(struct herd_worker *w)
{
	struct herd *h = w->herd;

	if (!w->open || (!w->out.has_beat && !w->out.n_checked && !w->out.hello && !w->out.knock))
		return;
	w->out.checked = &w->checked;
	buf_reset(&h->encoded);
	link_encode_to_server(&w->out, &h->arena, &h->encoded);
	link_send(w->link, buf_str(&h->encoded));
	h->frames_out++;
	if (w->out.has_beat) {
		w->beat = w->out.beat.number;
		w->beat_ns = bench_ns();
	}
	w->out = (struct link_to_server){0};
	arena_reset(&h->arena);
}

static struct str name_of(const struct herd_worker *w)
{
	return arena_strf(&w->herd->arena, "bench-%05u", (unsigned)(w - w->herd->workers) + 1);
}

/* Such facts as a worker of some size has: they are what the server keeps of it. */
static void say_hello(struct herd_worker *w, const struct link_hello *from)
{
	struct herd *h = w->herd;
	unsigned number = (unsigned)(w - h->workers) + 1;
	struct link_hello hello = {
	    .protocol = LINK_PROTOCOL,
	    .facts =
	        {
	            .shard = name_of(w),
	            .instance = w->instance,
	            .started_ms = clock_wall_ms(),
	            .start = clock_wall_ms(),
	            .lock = arena_strf(&h->arena,
	                "0123456789abcdef0123456789abcdef:/var/lib/reeve/worker-%05u", number),
	            .host = arena_strf(&h->arena, "host%05u.example.net", number),
	            .zone = arena_strf(&h->arena, "z%u", number % 3),
	            .target = STR("x86_64-linux"),
	            .version = STR(REEVE_VERSION),
	            .labels = STR("disk=ssd\nteam=bench\n"),
	            .plugins = STR("command\nnoop\n"),
	            .maxthreads = 16,
	        },
	    .set = from->set,
	    .dial = from->dial,
	};

	w->out = (struct link_to_server){.hello = &hello};
	flush(w);
}

static void carry_out(struct herd_worker *w, const struct agent_effect *e)
{
	switch (e->kind) {
	case AF_HELLO: say_hello(w, e->hello); break;
	case AF_BEAT:
		w->out.has_beat = true;
		w->out.beat = e->beat;
		break;
	case AF_CHECK:
		w->check = e->check;
		w->check_at_ms = clock_mono_ms() + CHECK_TAKES_MS;
		break;
	case AF_CHECKED:
		w->checked =
		    (struct link_checked){.number = e->checked.number, .ok = e->checked.ok};
		w->out.n_checked = 1;
		break;
	case AF_CLOSE:
	case AF_EXIT:
		if (w->link)
			link_close(w->link, "the brain wants it");
		break;
	default: break; /* nothing is ever run here */
	}
}

static void look(struct herd_worker *w)
{
	struct herd *h = w->herd;
	const struct set_id *set = agent_set(w->agent);
	bool welcome = h->server && w->server == h->server;
	bool healthy = welcome && agent_health(w->agent) == WORKER_HEALTHY;
	uint64_t version = welcome && set->server == h->server ? set->version : 0;

	h->n_healthy += (size_t)healthy - (size_t)w->healthy;
	w->healthy = healthy;
	if (version > h->newest) {
		h->newest = version;
		h->n_know = 0;
	}
	if (version == h->newest && version > w->known)
		h->n_know++;
	w->known = version;
}

static void feed(struct herd_worker *w, struct agent_event e)
{
	struct agent_effects *out = &w->herd->effects;

	e.now_ms = clock_wall_ms();
	e.mono_ms = clock_mono_ms();
	agent_effects_reset(out);
	agent_step(w->agent, &e, out);
	for (size_t i = 0; i < out->n; i++)
		carry_out(w, &out->items[i]);
	look(w);
}

static void set_timer(struct herd_worker *w)
{
	int64_t now = clock_mono_ms(), at = agent_wake_ms(w->agent);

	if (w->check_at_ms < at)
		at = w->check_at_ms;
	if (w->redial_ms < at)
		at = w->redial_ms;
	loop_timer_set(w->timer, at == NEVER ? -1 : at > now ? at - now : 0);
}

static void finish(struct herd_worker *w)
{
	flush(w);
	set_timer(w);
}

/* A key of its own, as every worker has; this one need not be kept. */
static void knock(struct herd_worker *w, struct str challenge)
{
	unsigned char secret[PROOF_KEY_BYTES] = "bench", key[PROOF_KEY_BYTES];
	unsigned char signature[PROOF_SIGNATURE_BYTES];
	struct link_knock k = {.protocol = LINK_PROTOCOL,
	    .join_token = str_of(w->herd->join_token),
	    .shard = name_of(w),
	    .instance = w->instance,
	    .key = {(char *)key, sizeof key},
	    .signature = {(char *)signature, sizeof signature}};
	struct buf what = {0};

	memcpy(secret + 8, &w->instance, sizeof w->instance);
	link_proof(challenge, k.instance, k.shard, &what);
	proof_public(secret, key);
	proof_sign(secret, buf_str(&what), signature);
	buf_release(&what);
	w->out = (struct link_to_server){.knock = &k};
	flush(w);
}

static void on_challenge(struct herd_worker *w, struct str challenge)
{
	w->open = true;
	knock(w, challenge);
	feed(w, (struct agent_event){.kind = AE_LINK_UP});
}

static void on_answer(struct herd_worker *w, const struct link_beat_ack *m)
{
	struct herd *h = w->herd;

	if (h->sampling && m->number == w->beat && w->beat_ns) {
		samples_add(&h->answers, bench_ns() - w->beat_ns);
		w->beat_ns = 0;
	}
	feed(w, (struct agent_event){.kind = AE_BEAT_ACK, .beat_ack = *m});
}

static void take(struct herd_worker *w, const struct link_to_worker *m)
{
	if (m->welcome) {
		w->backoff_ms = REDIAL_FIRST_MS;
		w->server = w->herd->server = m->welcome->server;
		feed(w, (struct agent_event){.kind = AE_WELCOME, .welcome = *m->welcome});
	}
	if (m->refused)
		feed(w, (struct agent_event){.kind = AE_REFUSED, .refused = *m->refused});
	if (m->has_beat_ack)
		on_answer(w, &m->beat_ack);
	if (m->has_check)
		feed(w, (struct agent_event){.kind = AE_CHECK, .check = m->check});
}

static void on_frame(struct link *l, struct str payload, void *arg)
{
	struct herd_worker *w = arg;
	struct link_to_worker m;

	arena_reset(&w->herd->arena);
	w->herd->frames_in++;
	if (link_decode_to_worker(payload, &w->herd->arena, &m, NULL) < 0) {
		link_close(l, "a frame that makes no sense");
		return;
	}
	if (m.challenge.n && !w->open)
		on_challenge(w, m.challenge);
	take(w, &m);
	finish(w);
}

static void on_close(struct link *l, const char *why, void *arg)
{
	struct herd_worker *w = arg;

	if (!w->herd->quiet && w->herd->links_lost++ == 0)
		bench_note("a worker's link was lost: %s", why);
	w->link = NULL;
	w->open = false;
	w->out = (struct link_to_server){0};
	feed(w, (struct agent_event){.kind = AE_LINK_DOWN});
	w->redial_ms = clock_mono_ms() + w->backoff_ms / 2 +
	               (int64_t)rng_below(&w->herd->rng, (uint64_t)w->backoff_ms);
	w->backoff_ms =
	    w->backoff_ms * 2 < REDIAL_SLOWEST_MS ? w->backoff_ms * 2 : REDIAL_SLOWEST_MS;
	set_timer(w);
}

static void dial(struct herd_worker *w)
{
	static const struct link_events events = {.on_frame = on_frame, .on_close = on_close};

	w->redial_ms = NEVER;
	w->link = link_dial(w->herd->loop, w->herd->address, NULL, NULL, &events, w);
}

static void on_timer(void *arg)
{
	struct herd_worker *w = arg;
	int64_t now = clock_mono_ms();

	if (w->redial_ms <= now)
		dial(w);
	if (w->check_at_ms <= now) {
		w->check_at_ms = NEVER;
		feed(w, (struct agent_event){
		            .kind = AE_CHECKED, .checked = {.number = w->check, .ok = true}});
	}
	feed(w, (struct agent_event){.kind = AE_WAKE});
	finish(w);
}

static void add(struct herd *h)
{
	struct herd_worker *w = &h->workers[h->n_dialled++];

	*w = (struct herd_worker){
	    .herd = h, .check_at_ms = NEVER, .redial_ms = NEVER, .backoff_ms = REDIAL_FIRST_MS};
	w->agent = agent_new(&(struct agent_options){0});
	w->timer = loop_timer_new(h->loop, on_timer, w);
	while (w->instance == 0)
		w->instance = clock_random();
	dial(w);
}

static void on_dialler(void *arg)
{
	struct herd *h = arg;
	int64_t passed = clock_mono_ms() - h->dial_start_ms;
	size_t wanted = h->n, all = h->n - h->dial_from;

	if (passed < h->dial_ms)
		wanted = h->dial_from + (size_t)((int64_t)all * passed / h->dial_ms);
	while (h->n_dialled < wanted)
		add(h);
	if (h->n_dialled < h->n)
		loop_timer_set(h->dialler, DIAL_EVERY_MS);
}

void herd_aim(struct herd *h, int port)
{
	snprintf(h->address, sizeof h->address, "127.0.0.1:%d", port);
	h->server = h->newest = 0;
	h->n_know = h->n_healthy = 0;
	for (size_t i = 0; i < h->n_dialled; i++) {
		h->workers[i].healthy = false;
		h->workers[i].known = 0;
	}
}

void herd_init(struct herd *h, struct loop *loop, int port, const char *join_token, size_t max)
{
	*h = (struct herd){.loop = loop, .join_token = join_token, .max = max};
	herd_aim(h, port);
	h->rng.state = clock_random();
	h->workers = xcalloc(max, sizeof *h->workers);
	h->dialler = loop_timer_new(loop, on_dialler, h);
}

void herd_grow(struct herd *h, size_t n, int64_t over_ms)
{
	MUST(h->n + n <= h->max && h->n_dialled == h->n);
	h->dial_from = h->n;
	h->n += n;
	h->dial_start_ms = clock_mono_ms();
	h->dial_ms = over_ms;
	loop_timer_set(h->dialler, 0);
}

void herd_release(struct herd *h)
{
	for (size_t i = 0; i < h->n_dialled; i++) {
		struct herd_worker *w = &h->workers[i];

		if (w->link)
			link_end(w->link);
		loop_timer_free(w->timer);
		agent_free(w->agent);
	}
	loop_timer_free(h->dialler);
	agent_effects_release(&h->effects);
	arena_release(&h->arena);
	samples_release(&h->answers);
	buf_release(&h->encoded);
	free(h->workers);
}
