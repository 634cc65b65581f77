/* SPDX-License-Identifier: Apache-2.0 */
#include "server/http/http_door.h"

#define PARAMS_MAX (API_PARAMS_MAX + 1) /* one too many is seen, and refused */

static void io_header(void *io, const char *name, const char *value)
{
	http_reply_header(io, name, value);
}

static void io_reply(void *io, int status, const char *type, struct str body)
{
	http_reply(io, status, type, body);
}

static void io_reply_kept(void *io, int status, const char *type, struct str body)
{
	http_reply_kept(io, status, type, body);
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

const struct api_io http_door_io = {io_header, io_reply, io_reply_kept, io_stream_start,
    io_stream_write, io_stream_pending, io_stream_on_drain, io_stream_end, io_on_close};

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

void http_door_request(struct http_request *r, struct api *api)
{
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
	api_handle(api, &q);
}
