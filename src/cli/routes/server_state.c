/* SPDX-License-Identifier: Apache-2.0 */
/* The state of routes from the server: at once, or as it changes, over broken connections. */
#include <string.h>

#include "base/mem.h"
#include "base/world/clock.h"
#include "cli/output/output.h"
#include "cli/reach/client.h"
#include "cli/routes/routes.h"

#define STREAM "/v1/routes/stream"
#define TRIES_SLOWEST 6 /* 100 ms doubled so often */

int routes_server_get(struct cli *c, struct buf *ret_text)
{
	AUTO(reply_release) struct reply reply = {0};
	const struct request q = {.method = "GET", .path = "/v1/routes"};
	struct client *client = cli_client(c);
	int r = client ? client_do(client, &q, &reply, &c->problem) : c->problem.code;

	if (r < 0)
		return r;
	buf_add_str(ret_text, buf_str(&reply.body));
	return 0;
}

static void drop_pending(struct routes_follow *f)
{
	json_decref(f->pending);
	f->pending = NULL;
}

/* Until all is told again, what was known counts. */
static void take_reset(struct routes_follow *f)
{
	json_object_clear(f->services);
	drop_pending(f);
	f->is_synced = false;
}

/* A long service comes in pieces, and counts when it is whole. */
static bool take_service(struct routes_follow *f, const char *kind, json_t *value)
{
	bool is_first = !strcmp(kind, "service");

	if (is_first) {
		drop_pending(f);
		f->pending = json_incref(value);
	} else if (!f->pending || strcmp(js(f->pending, "name"), js(value, "name"))) {
		return false;
	} else {
		json_array_extend(
		    json_object_get(f->pending, "instances"), json_object_get(value, "instances"));
	}
	if (jb(value, "more"))
		return false;
	json_object_del(f->pending, "more");
	json_object_set(f->services, js(f->pending, "name"), f->pending);
	if (ji(f->pending, "tag", 0) > f->tag)
		f->tag = ji(f->pending, "tag", 0);
	drop_pending(f);
	return true;
}

static void take_gone(struct routes_follow *f, const json_t *value)
{
	if (f->pending && !strcmp(js(f->pending, "name"), js(value, "name")))
		drop_pending(f);
	json_object_del(f->services, js(value, "name"));
}

static void take(const char *kind, const char *data, void *arg)
{
	struct routes_follow *f = arg;
	AUTO(json_drop) json_t *value = json_loads(data, 0, NULL);

	if (!json_is_object(value))
		return;
	f->tries = 0;
	if (!strcmp(kind, "reset")) {
		take_reset(f);
		return;
	}
	if (!strcmp(kind, "service") || !strcmp(kind, "instances")) {
		f->is_changed |= *js(value, "name") && take_service(f, kind, value);
		return;
	}
	if (!strcmp(kind, "synced"))
		f->is_synced = true;
	else if (!strcmp(kind, "gone"))
		take_gone(f, value);
	else
		return;
	if (ji(value, "tag", 0) > f->tag)
		f->tag = ji(value, "tag", 0);
	f->is_changed = true;
}

static void on_bytes(struct str bytes, void *arg)
{
	sse_feed(&((struct routes_follow *)arg)->sse, bytes);
}

static void begin(struct routes_follow *f)
{
	const struct request q = {.method = "GET",
	    .path = STREAM,
	    .accept = "text/event-stream",
	    .last_event_id = f->sse.last_id[0] ? f->sse.last_id : NULL,
	    .on_data = on_bytes,
	    .arg = f};

	if (!f->services)
		f->services = json_object();
	f->sse.fn = take;
	f->sse.arg = f;
	sse_reset(&f->sse);
	drop_pending(f);
	f->call = client_start(f->c->client, &q);
}

/* Said once, until it is there again: who keeps a proxy up to date waits for it for ever. */
static void ended(struct routes_follow *f)
{
	AUTO(reply_release) struct reply reply = {0};
	struct problem *p = &f->c->problem;
	int r = call_finish(TAKE(f->call), &reply, p);

	if (!f->is_synced)
		f->sse.last_id[0] = 0; /* the telling was cut off: from the beginning */
	if (r < 0 && !client_may_retry(r, &reply)) {
		f->result = r;
		return;
	}
	if (r < 0 && f->tries == 1)
		cli_note(f->c, "reeve: %s; it is tried again", p->what);
	*p = (struct problem){0};
	f->retry_at_ms =
	    clock_mono_ms() + (100ll << (f->tries < TRIES_SLOWEST ? f->tries : TRIES_SLOWEST));
	f->tries++;
}

bool routes_follow_step(struct routes_follow *f, int64_t wait_ms)
{
	if (!cli_client(f->c)) {
		f->result = f->c->problem.code;
		return false;
	}
	if (!f->call && clock_mono_ms() >= f->retry_at_ms)
		begin(f);
	client_pump(f->c->client, wait_ms);
	if (f->call && call_is_done(f->call))
		ended(f);
	return f->result == 0;
}

void routes_follow_state(const struct routes_follow *f, struct buf *ret_text)
{
	AUTO(json_drop) json_t *state = json_object(), *list = json_array();
	AUTO(free_cstr) char *text = NULL;
	const char *name;
	json_t *service;

	json_object_foreach(f->services, name, service)
	{
		json_array_append(list, service);
	}
	json_object_set_new(state, "tag", json_integer(f->tag));
	json_object_set(state, "services", list);
	text = json_dumps(state, JSON_COMPACT);
	buf_reset(ret_text);
	buf_add_cstr(ret_text, text);
}

void routes_follow_release(struct routes_follow *f)
{
	if (f->call)
		call_abort(f->call);
	sse_release(&f->sse);
	drop_pending(f);
	json_decref(f->services);
}
