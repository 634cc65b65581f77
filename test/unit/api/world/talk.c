/* SPDX-License-Identifier: Apache-2.0 */
/* The client's side: requests by hand, answers recorded. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "world_internal.h"

static void io_header(void *io, const char *name, const char *value)
{
	buf_printf(&((struct talk *)io)->headers, "%s: %s\n", name, value);
}

static void io_reply(void *io, int status, const char *type, struct str body)
{
	struct talk *t = io;

	t->answers++;
	t->status = status;
	t->ended = true;
	snprintf(t->type, sizeof t->type, "%s", type ? type : "");
	buf_add_str(&t->body, body);
}

static void io_reply_kept(void *io, int status, const char *type, struct str body)
{
	((struct talk *)io)->kept = body.p;
	io_reply(io, status, type, body);
}

static void io_stream_start(void *io, int status, const char *type)
{
	struct talk *t = io;

	t->answers++;
	t->status = status;
	t->streaming = true;
	snprintf(t->type, sizeof t->type, "%s", type);
}

static void io_stream_write(void *io, struct str bytes)
{
	struct talk *t = io;

	assert_true(t->streaming && !t->ended);
	buf_add_str(&t->body, bytes);
}

static size_t io_stream_pending(void *io)
{
	return ((struct talk *)io)->pending;
}

static void io_stream_on_drain(void *io, void (*fn)(void *), void *arg)
{
	((struct talk *)io)->drain = fn;
	((struct talk *)io)->drain_arg = arg;
}

static void io_stream_end(void *io)
{
	assert_false(((struct talk *)io)->ended);
	((struct talk *)io)->ended = true;
}

static void io_on_close(void *io, void (*fn)(void *), void *arg)
{
	((struct talk *)io)->close = fn;
	((struct talk *)io)->close_arg = arg;
}

const struct api_io world_io = {io_header, io_reply, io_reply_kept, io_stream_start,
    io_stream_write, io_stream_pending, io_stream_on_drain, io_stream_end, io_on_close};

struct talk *talk_new(enum api_method m, const char *target, const char *body)
{
	struct talk *t = xcalloc(1, sizeof *t);
	struct str rest, part;

	snprintf(t->target, sizeof t->target, "%s", target);
	rest = str_of(t->target);
	str_next(&rest, '?', &t->req.path);
	while (str_next(&rest, '&', &part) && t->req.n_params < 16) {
		struct api_param *p = &t->params[t->req.n_params++];

		str_next(&part, '=', &p->key);
		p->value = part.p ? part : STR("");
	}
	t->req.params = t->params;
	t->req.method = m;
	t->req.body = str_of(body);
	t->req.is_unix = t->req.is_loopback = true;
	t->req.io = t;
	return t;
}

void talk_send(struct world *w, struct talk *t)
{
	api_handle(w->api, &t->req);
}

void talk_hang_up(struct talk *t)
{
	if (t->close)
		t->close(t->close_arg);
	t->close = NULL;
}

void talk_free(struct talk *t)
{
	assert_true(t->answers <= 1);
	buf_release(&t->headers);
	buf_release(&t->body);
	free(t);
}

const char *talk_header(struct talk *t, const char *name, char *out, size_t n)
{
	struct str rest = buf_str(&t->headers), line;

	out[0] = 0;
	while (rest.n && str_next(&rest, '\n', &line))
		if (str_starts(line, name) && line.n > strlen(name) && line.p[strlen(name)] == ':')
			snprintf(out, n, "%.*s", (int)(line.n - strlen(name) - 2),
			    line.p + strlen(name) + 2);
	return out;
}

struct talk *ask(struct world *w, enum api_method m, const char *target, const char *body)
{
	struct talk *t = talk_new(m, target, body);

	talk_send(w, t);
	world_run(w);
	return t;
}

json_t *talk_json(struct talk *t)
{
	json_error_t e;
	json_t *v = json_loadb(t->body.p ? t->body.p : "", t->body.n, 0, &e);

	if (!v)
		fail_msg("not JSON (%s): %s", e.text, t->body.p ? t->body.p : "(empty)");
	return v;
}

json_t *ask_json(
    struct world *w, enum api_method m, const char *target, const char *body, int status)
{
	struct talk *t = ask(w, m, target, body);
	json_t *v = t->body.n ? talk_json(t) : NULL;

	if (t->status != status)
		fail_msg("%s: status %d, expected %d: %s", target, t->status, status,
		    t->body.p ? t->body.p : "");
	talk_free(t);
	return v;
}

rid world_submit(struct world *w, const char *body)
{
	json_t *v =
	    ask_json(w, API_POST, "/v1/tasks", body ? body : "{\"command\":[\"true\"]}", 201);
	rid id = 0;

	assert_true(id_parse(&w->ids, str_of(json_string_value(json_object_get(v, "id"))), &id));
	assert_true(id != 0);
	json_decref(v);
	return id;
}

const char *jstr(json_t *v, const char *key)
{
	const char *s = json_string_value(json_object_get(v, key));

	return s ? s : "";
}

long long jint(json_t *v, const char *key)
{
	assert_true(json_is_integer(json_object_get(v, key)));
	return json_integer_value(json_object_get(v, key));
}
