/* SPDX-License-Identifier: Apache-2.0 */
#include "server/http/http_api.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/world/clock.h"
#include "server/http/http_door.h"
#include "server/http/token_crypto.h"

struct http_api {
	struct loop *loop;
	struct engine *engine;
	struct readers *readers;
	struct http_server *server;
	struct api *api;
	struct token_key key; /* by which tokens that were found good are known again */
};

/* The host's side: api_host in terms of the engine. */

static const char *host_not_ready(void *arg)
{
	return engine_is_stuck(((struct http_api *)arg)->engine)
	           ? "the store cannot be written at the moment"
	           : NULL;
}

static struct search_index host_search_index(void *arg)
{
	return engine_search_index(((struct http_api *)arg)->engine);
}

static void host_load(void *arg, struct api_load *ret)
{
	struct http_api *h = arg;
	const struct loop_pace *pace = loop_pace(h->loop);

	*ret = (struct api_load){
	    .turns = pace->turns,
	    .long_turns = pace->long_turns,
	    .longest_turn_s = (double)pace->longest_us / 1e6,
	    .connections = http_connections(h->server),
	    .cut_off = http_cut_off(h->server),
	    .output_bytes = http_output(h->server),
	};
}

static int64_t host_wall(void *arg)
{
	return clock_wall_ms();
}

static int64_t host_mono(void *arg)
{
	return clock_mono_ms();
}

static void host_command(void *arg, struct event *ev, api_reply_fn *fn, void *fn_arg)
{
	engine_command(((struct http_api *)arg)->engine, ev, fn, fn_arg);
}

static bool host_when_durable(void *arg, uint64_t batch, api_reply_fn *fn, void *fn_arg)
{
	return engine_when_durable(((struct http_api *)arg)->engine, batch, fn, fn_arg);
}

static void host_tell(void *arg, struct event *ev)
{
	engine_step(((struct http_api *)arg)->engine, ev);
}

static int host_zone(void *arg, struct str name, struct zone_ref **ret_ref, struct problem *p)
{
	return engine_zone(((struct http_api *)arg)->engine, name, ret_ref, p);
}

static void host_read(void *arg, bool is_long, void (*work)(struct store_reader *, void *),
    void (*done)(void *), void *job)
{
	readers_run(((struct http_api *)arg)->readers, is_long, work, done, job);
}

static struct hub *hub_of(void *arg)
{
	return engine_hub(((struct http_api *)arg)->engine);
}

static void *host_watch(void *arg, api_notice_fn *fn, void *fn_arg)
{
	return hub_watch(hub_of(arg), fn, fn_arg);
}

static void host_unwatch(void *arg, void *handle)
{
	hub_unwatch(hub_of(arg), handle);
}

static bool host_replay(void *arg, uint64_t after, api_past_fn *fn, void *fn_arg)
{
	return hub_replay(hub_of(arg), after, fn, fn_arg);
}

static uint64_t host_last_seq(void *arg)
{
	return hub_last_seq(hub_of(arg));
}

struct once {
	struct loop_timer *timer;
	void (*fn)(void *);
	void *arg;
};

static void fire(void *arg)
{
	struct once o = *(struct once *)arg;

	loop_timer_free(o.timer);
	free(arg);
	o.fn(o.arg);
}

static void *host_timer(void *arg, int64_t ms, void (*fn)(void *), void *fn_arg)
{
	struct once *o = xmalloc(sizeof *o);

	*o = (struct once){loop_timer_new(((struct http_api *)arg)->loop, fire, o), fn, fn_arg};
	loop_timer_set(o->timer, ms);
	return o;
}

static void host_cancel_timer(void *arg, void *handle)
{
	struct once *o = handle;

	loop_timer_free(o->timer);
	free(o);
}

static void *host_watch_output(void *arg, rid task, void (*fn)(void *), void *fn_arg)
{
	return hub_watch_output(hub_of(arg), task, fn, fn_arg);
}

static void host_unwatch_output(void *arg, void *handle)
{
	hub_unwatch_output(hub_of(arg), handle);
}

static void on_request(struct http_request *r, void *arg)
{
	http_door_request(r, ((struct http_api *)arg)->api);
}

static void host_mac(void *arg, struct str text, unsigned char *ret_mac)
{
	token_mac(&((struct http_api *)arg)->key, text, ret_mac);
}

struct http_api *http_api_new(struct loop *l, struct engine *e, struct readers *r,
    const struct http_options *http, const struct api_options *o)
{
	struct http_api *h = xcalloc(1, sizeof *h);
	struct api_host host = {
	    .arg = h,
	    .io = &http_door_io,
	    .core = engine_core(e),
	    .ids = engine_ids(e),
	    .not_ready = host_not_ready,
	    .search_index = host_search_index,
	    .load = host_load,
	    .wall_ms = host_wall,
	    .mono_ms = host_mono,
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
	    .secret_random = token_random,
	    .secret_hash = token_hash,
	    .secret_fits = token_fits,
	    .secret_mac = host_mac,
	};

	h->loop = l;
	h->engine = e;
	h->readers = r;
	token_random(h->key.bytes, sizeof h->key.bytes);
	h->api = api_new(&host, o);
	h->server = http_server_new(l, http, on_request, h);
	return h;
}

struct http_server *http_api_server(struct http_api *h)
{
	return h->server;
}

struct api *http_api_api(struct http_api *h)
{
	return h->api;
}

void http_api_free(struct http_api *h)
{
	if (h->server)
		http_server_free(h->server);
	api_free(h->api);
	free(h);
}
