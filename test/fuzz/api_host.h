/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A host for fuzzing the interface: a core with one queue and two schedules, an empty store, every
 * command answered at once. Included by the targets; each has its own copy.
 */
#ifndef FUZZ_API_HOST_H
#define FUZZ_API_HOST_H

#include <stdlib.h>
#include <string.h>

#include "api/frame/api.h"
#include "base/mem.h"
#include "model/objects/schedule.h"

#define HOST_TIMERS 16

struct fuzz_timer {
	void (*fn)(void *);
	void *arg;
};

struct fuzz_host {
	struct core *core;
	struct store *store;
	struct store_reader *reader;
	struct zones *zones; /* without files: offsets and POSIX strings */
	struct effects fx;
	struct api *api;
	struct id_space ids;
	int code; /* what commands are answered with */
	int answers;
	bool ended;
	void (*close)(void *);
	void *close_arg;
	struct fuzz_timer *timers[HOST_TIMERS];
};

static struct fuzz_host host;

static void io_header(void *io, const char *name, const char *value)
{
	for (const char *p = value; *p; p++)
		MUST(*p != '\r' && *p != '\n');
}

static void io_reply(void *io, int status, const char *type, struct str body)
{
	MUST(host.answers++ == 0 && status >= 200 && status < 600);
	host.ended = true;
}

static void io_stream_start(void *io, int status, const char *type)
{
	MUST(host.answers++ == 0);
}

static void io_stream_write(void *io, struct str bytes)
{
	MUST(host.answers == 1 && !host.ended);
}

static size_t io_stream_pending(void *io)
{
	return 0;
}

static void io_stream_on_drain(void *io, void (*fn)(void *), void *arg)
{
}

static void io_stream_end(void *io)
{
	MUST(!host.ended);
	host.ended = true;
}

static void io_on_close(void *io, void (*fn)(void *), void *arg)
{
	host.close = fn;
	host.close_arg = arg;
}

static int64_t host_time(void *arg)
{
	return 1700000000000ll;
}

static void host_tell(void *arg, struct event *ev)
{
}

static void host_command(void *arg, struct event *ev, api_reply_fn *fn, void *fn_arg)
{
	size_t n = ev->kind == EV_SUBMIT ? ev->submit.n : ev->kind <= EV_TASK_SET ? ev->tasks.n : 0;
	struct outcome *o = xcalloc(n + 1, sizeof *o);
	struct problem p = {0};
	struct reply r = {.code = host.code, .id = 5, .outcomes = o, .n = n, .problem = &p};

	for (size_t i = 0; i < n; i++)
		o[i] = (struct outcome){.id = 100 + i, .status = TASK_QUEUED};
	if (r.code)
		problem_set(&p, r.code, "refused");
	fn(&r, fn_arg);
	free(o);
}

static bool host_when_durable(void *arg, uint64_t batch, api_reply_fn *fn, void *fn_arg)
{
	return false;
}

static int host_zone(void *arg, struct str name, struct zone_ref **ret_ref, struct problem *p)
{
	return zones_get(host.zones, name, ret_ref, p);
}

static void host_read(void *arg, bool is_long, void (*work)(struct store_reader *, void *),
    void (*done)(void *), void *job)
{
	work(host.reader, job);
	done(job);
}

static void *host_watch(void *arg, api_notice_fn *fn, void *fn_arg)
{
	return arg;
}

static void host_unwatch(void *arg, void *handle)
{
}

static bool host_replay(void *arg, uint64_t after, api_past_fn *fn, void *fn_arg)
{
	return after % 2;
}

static uint64_t host_last_seq(void *arg)
{
	return 7;
}

static void *host_timer(void *arg, int64_t ms, void (*fn)(void *), void *fn_arg)
{
	struct fuzz_timer *t = xmalloc(sizeof *t);
	int i = 0;

	*t = (struct fuzz_timer){fn, fn_arg};
	while (i < HOST_TIMERS && host.timers[i])
		i++;
	MUST(i < HOST_TIMERS);
	host.timers[i] = t;
	return t;
}

static void host_cancel_timer(void *arg, void *handle)
{
	for (int i = 0; i < HOST_TIMERS; i++)
		if (host.timers[i] == handle)
			host.timers[i] = NULL;
	free(handle);
}

static void *host_watch_output(void *arg, rid task, void (*fn)(void *), void *fn_arg)
{
	return arg;
}

static void host_random(void *ret_bytes, size_t n)
{
	memset(ret_bytes, 7, n);
}

static bool host_hash(struct str secret, char *ret_text, size_t size)
{
	ret_text[0] = 'h';
	ret_text[1] = 0;
	return true;
}

static bool host_fits(struct str hash, struct str secret)
{
	return false;
}

static void host_mac(void *arg, struct str text, unsigned char *ret_mac)
{
	memset(ret_mac, 0, SECRET_MAC_BYTES);
	for (size_t i = 0; i < text.n; i++)
		ret_mac[i % SECRET_MAC_BYTES] ^= (unsigned char)text.p[i];
}

static void host_unwatch_output(void *arg, void *handle)
{
}

static void host_schedules(void)
{
	struct schedule_row rows[] = {
	    {.id = 8, .name = STR("ten"), .items = STR("{\"epoch\":{\"period\":10}}")},
	    {.id = 9,
	        .name = STR("wall"),
	        .items = STR("{\"minute\":30,\"dst_fixes\":\"vixie\"}"),
	        .source = STR("crontab 30 * * * *"),
	        .zone = STR("UTC")}};
	struct event zone = {.kind = EV_ZONE, .zone = {STR("UTC"), cron_zone_utc()}};

	core_step(host.core, &zone, &host.fx);
	for (int i = 0; i < 2; i++) {
		rows[i].queue = 5;
		core_step(host.core,
		    &(struct event){.kind = EV_LOAD_ROW, .load = {&schedule_table, &rows[i]}},
		    &host.fx);
	}
}

static const struct api_io host_io = {.header = io_header,
    .reply = io_reply,
    .reply_kept = io_reply,
    .stream_start = io_stream_start,
    .stream_write = io_stream_write,
    .stream_pending = io_stream_pending,
    .stream_on_drain = io_stream_on_drain,
    .stream_end = io_stream_end,
    .on_close = io_on_close};

static void host_start(const struct api_io *io)
{
	struct store_options so = {.create = true, .migrate = true};
	struct api_options o = {.facts = {.version = "0", .listen = "a:1\n"}};
	struct core_options co = {0};
	struct queue_row q;
	struct event load = {.kind = EV_LOAD_ROW, .load = {&queue_table, &q}};
	struct event done = {.kind = EV_LOAD_DONE};
	struct api_host h = {.arg = &host,
	    .io = io,
	    .ids = &host.ids,
	    .wall_ms = host_time,
	    .mono_ms = host_time,
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

	queue_defaults(&q);
	q.id = 5;
	q.name = STR("default");
	MUST(store_open("memory:", &so, &host.store, NULL) == 0);
	host.reader = store_reader_open(host.store, NULL);
	host.zones = zones_new("/nonexistent");
	h.core = host.core = core_new(&co);
	core_step(host.core, &load, &host.fx);
	host_schedules();
	core_step(host.core, &done, &host.fx);
	host.api = api_new(&h, &o);
}

static void host_fire(void)
{
	for (int i = 0; i < HOST_TIMERS; i++) {
		struct fuzz_timer *t = host.timers[i];

		if (!t)
			continue;
		host.timers[i] = NULL;
		t->fn(t->arg);
		free(t);
	}
}

/* One request to its end: an answer, a stream that the client leaves, or a wait that expires. */
static inline void host_ask(struct api_request *r)
{
	if (!host.api)
		host_start(&host_io);
	host.answers = 0;
	host.ended = false;
	host.close = NULL;
	r->is_unix = r->is_loopback = true;
	r->io = &host;
	api_handle(host.api, r);
	for (int i = 0; !host.answers; i++) {
		MUST(i < 1000); /* something must bring the answer */
		host_fire();
	}
	if (!host.ended) {
		MUST(host.close);
		host.close(host.close_arg);
	}
	for (int i = 0; i < HOST_TIMERS; i++)
		MUST(!host.timers[i]);
}

#endif
