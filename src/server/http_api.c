/* SPDX-License-Identifier: Apache-2.0 */
#include "server/http_api.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/mem.h"

#define PARAMS_MAX (API_PARAMS_MAX + 1) /* one too many is seen, and refused */

struct http_api {
	struct loop *loop;
	struct engine *engine;
	struct readers *readers;
	struct http_server *server;
	struct api *api;
};

/* The answer's side: api_io in terms of net/http. */

static void io_header(void *io, const char *name, const char *value)
{
	http_reply_header(io, name, value);
}

static void io_reply(void *io, int status, const char *type, struct str body)
{
	http_reply(io, status, type, body);
}

static void io_stream_start(void *io, int status, const char *type)
{
	http_stream_start(io, status, type);
}

static void io_stream_write(void *io, struct str bytes)
{
	http_stream_write(io, bytes);
}

static size_t io_stream_pending(void *io)
{
	return http_stream_pending(io);
}

static void io_stream_on_drain(void *io, void (*fn)(void *), void *arg)
{
	http_stream_on_drain(io, fn, arg);
}

static void io_stream_end(void *io)
{
	http_stream_end(io);
}

static void io_on_close(void *io, void (*fn)(void *), void *arg)
{
	http_on_close(io, fn, arg);
}

static const struct api_io io_ops = {io_header, io_reply, io_stream_start, io_stream_write,
    io_stream_pending, io_stream_on_drain, io_stream_end, io_on_close};

/* The host's side: api_host in terms of the engine. */

static const char *host_not_ready(void *arg)
{
	return engine_is_stuck(((struct http_api *)arg)->engine)
	           ? "the store can not be written at the moment"
	           : NULL;
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

static int host_zone(void *arg, struct str name, struct zone_ref **ret_ref, struct problem *p)
{
	return engine_zone(((struct http_api *)arg)->engine, name, ret_ref, p);
}

static void host_read(
    void *arg, void (*work)(struct store_reader *, void *), void (*done)(void *), void *job)
{
	readers_run(((struct http_api *)arg)->readers, work, done, job);
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

static bool host_replay(void *arg, uint64_t after, api_notice_fn *fn, void *fn_arg)
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

static const enum api_method methods[] = {
    [HTTP_GET] = API_GET,
    [HTTP_HEAD] = API_GET,
    [HTTP_POST] = API_POST,
    [HTTP_PUT] = API_PUT,
    [HTTP_PATCH] = API_PATCH,
    [HTTP_DELETE] = API_DELETE,
    [HTTP_OPTIONS] = API_OPTIONS,
};

static size_t take_params(const struct http_request *r, struct api_param *ret)
{
	size_t n = 0;

	while (n < PARAMS_MAX && http_query_at(r, n, &ret[n].key, &ret[n].value))
		n++;
	return n;
}

static void on_request(struct http_request *r, void *arg)
{
	struct http_api *h = arg;
	const struct http_peer *peer = http_peer(r);
	struct api_param params[PARAMS_MAX];
	enum http_method m = http_method(r);
	struct api_request q = {
	    .path = http_path(r),
	    .params = params,
	    .n_params = take_params(r, params),
	    .body = http_body(r),
	    .content_type = http_header(r, "Content-Type"),
	    .accept = http_header(r, "Accept"),
	    .authorization = http_header(r, "Authorization"),
	    .idempotency_key = http_header(r, "Idempotency-Key"),
	    .if_match = http_header(r, "If-Match"),
	    .if_none_match = http_header(r, "If-None-Match"),
	    .last_event_id = http_header(r, "Last-Event-ID"),
	    .origin = http_header(r, "Origin"),
	    .host = http_header(r, "Host"),
	    .is_unix = peer->is_unix,
	    .is_loopback = peer->is_loopback,
	    .is_tls = peer->is_tls,
	    .uid = peer->uid,
	    .io = r,
	};

	if (m > HTTP_OPTIONS) {
		http_reply_header(r, "Allow", "GET, HEAD, POST, PATCH, DELETE");
		http_reply(r, 405, "text/plain", STR(""));
		return;
	}
	q.method = methods[m];
	api_handle(h->api, &q);
}

struct http_api *http_api_new(struct loop *l, struct engine *e, struct readers *r,
    const struct http_options *http, const struct api_options *o)
{
	struct http_api *h = xcalloc(1, sizeof *h);
	struct api_host host = {
	    .arg = h,
	    .io = &io_ops,
	    .core = engine_core(e),
	    .ids = engine_ids(e),
	    .not_ready = host_not_ready,
	    .wall_ms = host_wall,
	    .mono_ms = host_mono,
	    .command = host_command,
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
	};

	h->loop = l;
	h->engine = e;
	h->readers = r;
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
