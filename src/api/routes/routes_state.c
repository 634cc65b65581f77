/* SPDX-License-Identifier: Apache-2.0 */
/*
 * All routes, service by service in the order of their names, as fast as the client takes them.
 * What changes meanwhile is as it is when its turn comes; the tag is that of the beginning, so the
 * stream tells of all that came after it.
 */
#include "api/routes/routes.h"
#include "core/service/view.h"

#define PIECE_BYTES (64u << 10)

struct walk {
	struct buf text;
	struct buf after; /* the last name; empty: none was */
	const char *end;
	void (*write)(const struct route_service *s, struct buf *b);
	bool is_first, has_begun, is_draining;
};

static void walk_over(struct call *c)
{
	struct walk *w = c->state;

	w->is_draining = false;
	buf_release(&w->text);
	buf_release(&w->after);
}

/* A list of items of its own, of which only the items are taken. */
static void add(struct walk *w, const struct route_service *s)
{
	AUTO(buf_release) struct buf items = {0};

	buf_add_char(&items, '[');
	w->write(s, &items);
	if (items.n == 1)
		return;
	if (!w->is_first)
		buf_add_char(&w->text, ',');
	buf_add(&w->text, items.p + 1, items.n - 1);
	w->is_first = false;
}

/* False: that was the last one. */
static bool add_next(struct call *c, struct walk *w)
{
	AUTO(arena_release) struct arena a = {0};
	const struct core *core = c->host->core;
	rid id = core_next_name(core, KIND_SERVICE, w->after.n ? buf_str(&w->after) : STR_NULL);
	struct route_service s;

	if (!id)
		return false;
	buf_reset(&w->after);
	buf_add_str(&w->after, core_name(core, KIND_SERVICE, id));
	if (routes_of(c, id, &a, &s))
		add(w, &s);
	return true;
}

static void walk_on(struct call *c);

static void drained(void *arg)
{
	struct call *c = arg;
	struct walk *w = c->state;

	if (!w->is_draining)
		return;
	w->is_draining = false;
	walk_on(c);
}

static void walk_on(struct call *c)
{
	const struct api_io *io = c->host->io;
	struct walk *w = c->state;
	bool more = true;

	while (more && w->text.n < PIECE_BYTES)
		more = add_next(c, w);
	if (!more)
		buf_add_cstr(&w->text, w->end);
	io->stream_write(c->req.io, buf_str(&w->text));
	buf_reset(&w->text);
	if (!more) {
		call_stream_end(c);
		return;
	}
	w->is_draining = true;
	io->stream_on_drain(c->req.io, drained, c);
}

static struct walk *begin(
    struct call *c, void (*write)(const struct route_service *, struct buf *), const char *end)
{
	struct walk *w = call_state(c, sizeof *w);

	w->write = write;
	w->end = end;
	w->is_first = true;
	c->on_over = walk_over;
	call_header(c, "Cache-Control", "no-store");
	call_stream_start(c, "application/json");
	return w;
}

void routes_get(struct call *c)
{
	struct walk *w = begin(c, route_service_json, "]}");
	uint64_t tag = core_services_tag(c->host->core);

	buf_printf(&w->text, "{\"tag\":%llu,\"next\":\"", (unsigned long long)tag);
	routes_place(c, tag, &w->text);
	buf_add_cstr(&w->text, "\",\"services\":[");
	walk_on(c);
}

void routes_prometheus(struct call *c)
{
	struct walk *w = begin(c, route_prometheus_json, "]");

	buf_add_char(&w->text, '[');
	walk_on(c);
}
