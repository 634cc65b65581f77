/* SPDX-License-Identifier: Apache-2.0 */
/* The host of the interface, played step by step. */
#include "world.h"

#include <bsd/sys/queue.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "world_internal.h"

static int64_t host_wall(void *arg)
{
	return ((struct world *)arg)->wall;
}

static int64_t host_mono(void *arg)
{
	return ((struct world *)arg)->mono;
}

static void step(struct world *w, struct event *ev)
{
	ev->now_ms = w->wall;
	ev->mono_ms = w->mono;
	ev->seed = ++w->seed;
	core_step(w->core, ev, &w->fx[w->now]);
}

static struct search_index host_search_index(void *arg)
{
	return (struct search_index){.lacks_ms = ((struct world *)arg)->index_lacks_ms};
}

void world_index_lacks(struct world *w, int64_t since_ms)
{
	w->index_lacks_ms = since_ms;
}

static void host_tell(void *arg, struct event *ev)
{
	step(arg, ev);
}

static int host_zone(void *arg, struct str name, struct zone_ref **ret_ref, struct problem *p)
{
	return zones_get(((struct world *)arg)->zones, name, ret_ref, p);
}

/* As the server does it: the brain hears of a zone before the schedule that is in it. */
static void tell_zone(struct world *w, const struct event *ev)
{
	struct zone_ref *ref = NULL;
	struct event zone = {.kind = EV_ZONE};
	struct str name = core_zone_named(ev);

	if (!name.p)
		return;
	assert_int_equal(zones_get(w->zones, name, &ref, NULL), 0);
	zone.zone.name = name;
	zone.zone.zone = ref->zone;
	step(w, &zone);
	GROW(w->held, w->cap_held, w->n_held + 1);
	w->held[w->n_held++] = ref;
}

static uint64_t expect(struct world *w, api_reply_fn *fn, void *fn_arg)
{
	struct expected *e = xcalloc(1, sizeof *e);

	*e = (struct expected){.ticket = ++w->ticket, .fn = fn, .arg = fn_arg};
	TAILQ_INSERT_TAIL(&w->expected, e, link);
	return e->ticket;
}

/* What has been committed here is durable: only the present batch is not. */
static bool host_when_durable(void *arg, uint64_t batch, api_reply_fn *fn, void *fn_arg)
{
	struct world *w = arg;

	if (batch < w->fx[w->now].batch.seq)
		return false;
	effects_reply(&w->fx[w->now], expect(w, fn, fn_arg));
	return true;
}

static void host_command(void *arg, struct event *ev, api_reply_fn *fn, void *fn_arg)
{
	struct world *w = arg;

	tell_zone(w, ev);
	ev->ticket = expect(w, fn, fn_arg);
	step(w, ev);
}

static void host_read(void *arg, bool is_long, void (*work)(struct store_reader *, void *),
    void (*done)(void *), void *job)
{
	struct world *w = arg;
	struct job *j = xcalloc(1, sizeof *j);

	*j = (struct job){.work = work, .done = done, .arg = job};
	TAILQ_INSERT_TAIL(&w->jobs, j, link);
}

static void *host_watch(void *arg, api_notice_fn *fn, void *fn_arg)
{
	struct world *w = arg;

	w->notice_fn = fn;
	w->notice_arg = fn_arg;
	return w;
}

static void host_unwatch(void *arg, void *handle)
{
	((struct world *)arg)->notice_fn = NULL;
}

static bool host_replay(void *arg, uint64_t after, api_past_fn *fn, void *fn_arg)
{
	struct world *w = arg;

	if (after < w->forgotten)
		return false;
	for (size_t i = 0; i < w->n_past; i++)
		if (w->past[i].seq > after && !fn(&w->past[i], fn_arg))
			break;
	return true;
}

static uint64_t host_last_seq(void *arg)
{
	return ((struct world *)arg)->last_seq;
}

static void *host_timer(void *arg, int64_t ms, void (*fn)(void *), void *fn_arg)
{
	struct world *w = arg;
	struct timer *t = xcalloc(1, sizeof *t);

	*t = (struct timer){.at = w->mono + ms, .fn = fn, .arg = fn_arg};
	TAILQ_INSERT_TAIL(&w->timers, t, link);
	return t;
}

static void host_cancel_timer(void *arg, void *handle)
{
	struct world *w = arg;

	TAILQ_REMOVE(&w->timers, (struct timer *)handle, link);
	free(handle);
}

static void *host_watch_output(void *arg, rid task, void (*fn)(void *), void *fn_arg)
{
	struct world *w = arg;
	struct output_watch *o = xcalloc(1, sizeof *o);

	*o = (struct output_watch){.task = task, .fn = fn, .arg = fn_arg};
	TAILQ_INSERT_TAIL(&w->outputs, o, link);
	return o;
}

static void host_unwatch_output(void *arg, void *handle)
{
	struct world *w = arg;

	TAILQ_REMOVE(&w->outputs, (struct output_watch *)handle, link);
	free(handle);
}

static void keep_past(struct world *w, const struct notice *n)
{
	GROW(w->past, w->cap_past, w->n_past + 1);
	w->past[w->n_past] = *n;
	w->past[w->n_past].subject = arena_str(&w->past_arena, n->subject);
	w->past[w->n_past++].detail = arena_str(&w->past_arena, n->detail);
	w->last_seq = n->seq;
}

static void deliver_reply(struct world *w, const struct reply *r)
{
	struct expected *e;

	TAILQ_FOREACH (e, &w->expected, link)
		if (e->ticket == r->ticket)
			break;
	assert_non_null(e);
	TAILQ_REMOVE(&w->expected, e, link);
	e->fn(r, e->arg);
	free(e);
}

static void tell_outputs(struct world *w, rid task)
{
	struct output_watch *o;

	TAILQ_FOREACH (o, &w->outputs, link)
		if (o->task == task)
			o->fn(o->arg);
}

static void deliver(struct world *w, struct effects *fx)
{
	for (size_t i = 0; i < fx->n_messages; i++)
		world_message(w, &fx->messages[i]);
	for (size_t i = 0; i < fx->n_notices; i++) {
		keep_past(w, &fx->notices[i]);
		if (w->notice_fn)
			w->notice_fn(&fx->notices[i], w->notice_arg);
		if (fx->notices[i].task && task_is_ended(fx->notices[i].status))
			tell_outputs(w, fx->notices[i].task);
	}
	if (w->notice_fn)
		w->notice_fn(NULL, w->notice_arg);
	for (size_t i = 0; i < fx->batch.n; i++)
		if (fx->batch.rows[i].table == &output_table)
			tell_outputs(w, ((const struct output_row *)fx->batch.rows[i].row)->task);
	for (size_t i = 0; i < fx->n_replies; i++)
		deliver_reply(w, &fx->replies[i]);
	for (size_t i = 0; i < fx->n_reads; i++)
		world_answer_read(w, &fx->reads[i]);
}

bool world_commit_once(struct world *w)
{
	struct effects *fx = &w->fx[w->now];

	while (core_is_midway(w->core))
		step(w, &(struct event){.kind = EV_GO_ON});
	if (effects_empty(fx))
		return false;
	w->now = !w->now; /* what the callbacks cause goes into the next batch */
	effects_reset(&w->fx[w->now], ++w->batches);
	assert_int_equal(store_commit(w->store, &fx->batch, NULL), 0);
	deliver(w, fx);
	return true;
}

bool world_job_once(struct world *w)
{
	struct job *j = TAILQ_FIRST(&w->jobs);

	if (!j)
		return false;
	TAILQ_REMOVE(&w->jobs, j, link);
	j->work(w->reader, j->arg);
	j->done(j->arg);
	free(j);
	return true;
}

static bool run_timer(struct world *w)
{
	struct timer *t;

	TAILQ_FOREACH (t, &w->timers, link)
		if (t->at <= w->mono)
			break;
	if (!t)
		return false;
	TAILQ_REMOVE(&w->timers, t, link);
	t->fn(t->arg);
	free(t);
	return true;
}

void world_run(struct world *w)
{
	while (world_commit_once(w) || world_job_once(w) || run_timer(w))
		;
}

void world_advance(struct world *w, int64_t ms)
{
	struct event ev = {.kind = EV_WAKE};

	w->wall += ms;
	w->mono += ms;
	step(w, &ev);
	world_run(w);
}

void world_step(struct world *w, struct event *ev)
{
	step(w, ev);
}

/* As little as will do: the real ones are the server's. */

static void host_random(void *ret_bytes, size_t n)
{
	static unsigned char next;

	memset(ret_bytes, ++next, n);
}

static bool host_hash(struct str secret, char *ret_text, size_t size)
{
	return snprintf(ret_text, size, "hash of " STR_FMT, STR_ARG(secret)) < (int)size;
}

int world_checks;

static bool host_fits(struct str hash, struct str secret)
{
	world_checks++;
	return str_starts(hash, "hash of ") && str_eq((struct str){hash.p + 8, hash.n - 8}, secret);
}

static void host_mac(void *arg, struct str text, unsigned char *ret_mac)
{
	memset(ret_mac, 0, SECRET_MAC_BYTES);
	for (size_t i = 0; i < text.n; i++)
		ret_mac[i % SECRET_MAC_BYTES] =
		    (unsigned char)(ret_mac[i % SECRET_MAC_BYTES] * 31 + text.p[i]);
}

struct world *world_new(void)
{
	return world_new_with(&(struct core_options){.server = 0xabcdef});
}

struct world *world_new_with(const struct core_options *co)
{
	struct world *w = xcalloc(1, sizeof *w);
	struct store_options so = {.create = true, .migrate = true};
	struct problem p = {0};
	struct api_options o = {.facts = {.version = "0.0.1",
	                            .backend = "memory",
	                            .started_ms = WORLD_START_MS,
	                            .listen = "127.0.0.1:7\n"}};
	struct api_host h = {.arg = w,
	    .io = &world_io,
	    .ids = &w->ids,
	    .wall_ms = host_wall,
	    .mono_ms = host_mono,
	    .search_index = host_search_index,
	    .command = host_command,
	    .when_durable = host_when_durable,
	    .tell = host_tell,
	    .zone = host_zone,
	    .read = host_read,
	    .watch = host_watch,
	    .unwatch = host_unwatch,
	    .replay = host_replay,
	    .last_seq = host_last_seq,
	    .timer = host_timer,
	    .cancel_timer = host_cancel_timer,
	    .watch_output = host_watch_output,
	    .unwatch_output = host_unwatch_output,
	    .secret_random = host_random,
	    .secret_hash = host_hash,
	    .secret_fits = host_fits,
	    .secret_mac = host_mac};

	TAILQ_INIT(&w->expected);
	TAILQ_INIT(&w->jobs);
	TAILQ_INIT(&w->timers);
	TAILQ_INIT(&w->outputs);
	w->wall = WORLD_START_MS + 5000;
	w->mono = 1000000;
	memcpy(w->ids.installation, "\x0a\x0b\x0c\x0d\x0e", 5);
	w->zones = zones_new(NULL);
	assert_int_equal(store_open("memory:", &so, &w->store, &p), 0);
	w->reader = store_reader_open(w->store, &p);
	h.core = w->core = core_new(co);
	w->api = api_new(&h, &o);
	return w;
}

void world_load_meta(struct world *w, const struct meta_row *m)
{
	struct event ev = {.kind = EV_LOAD_ROW, .load = {&meta_table, m}};

	step(w, &ev);
}

void world_open(struct world *w)
{
	struct event ev = {.kind = EV_LOAD_DONE};

	step(w, &ev);
	world_run(w);
}

void world_free(struct world *w)
{
	struct expected *e;
	struct job *j;

	api_free(w->api);
	while ((e = TAILQ_FIRST(&w->expected))) {
		TAILQ_REMOVE(&w->expected, e, link);
		free(e);
	}
	while ((j = TAILQ_FIRST(&w->jobs))) {
		TAILQ_REMOVE(&w->jobs, j, link);
		free(j);
	}
	assert_true(TAILQ_EMPTY(&w->timers));
	assert_true(TAILQ_EMPTY(&w->outputs));
	core_free(w->core);
	for (size_t i = 0; i < w->n_held; i++)
		zone_ref_drop(w->held[i]);
	free(w->held);
	zones_free(w->zones);
	effects_release(&w->fx[0]);
	effects_release(&w->fx[1]);
	store_reader_close(w->reader);
	store_close(w->store);
	arena_release(&w->past_arena);
	free(w->past);
	free(w);
}

struct api *world_api(struct world *w)
{
	return w->api;
}

const struct core *world_core(struct world *w)
{
	return w->core;
}

const struct id_space *world_ids(struct world *w)
{
	return &w->ids;
}

int64_t world_now(struct world *w)
{
	return w->wall;
}

void world_options(struct world *w, const struct api_options *o)
{
	api_set_options(w->api, o);
}

void world_forget_past(struct world *w)
{
	w->n_past = 0;
	w->forgotten = w->last_seq;
}

size_t world_watches(const struct world *w)
{
	const struct timer *t;
	const struct output_watch *o;
	size_t n = 0;

	TAILQ_FOREACH (t, &w->timers, link)
		n++;
	TAILQ_FOREACH (o, &w->outputs, link)
		n++;
	return n;
}
