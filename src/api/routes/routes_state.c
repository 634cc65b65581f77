/* SPDX-License-Identifier: Apache-2.0 */
/*
 * All routes, service by service in the order of their names, as fast as the client takes them; a
 * long service in pieces.
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
	void (*items)(const struct route_service *s, struct buf *b);
	bool has_heads; /* items lie in services */
	rid id;         /* of the service that is written, and where its next piece begins: */
	int64_t from;   /* 0: it is the next service's turn */
	bool is_first, is_first_item, is_draining;
};

static void walk_over(struct call *c)
{
	struct walk *w = c->state;

	w->is_draining = false;
	buf_release(&w->text);
	buf_release(&w->after);
}

/* A list of items of its own, of which only the items are taken. */
static void add_items(struct walk *w, const struct route_service *s, bool *is_first)
{
	AUTO(buf_release) struct buf items = {0};

	buf_add_char(&items, '[');
	w->items(s, &items);
	if (items.n == 1)
		return;
	if (!*is_first)
		buf_add_char(&w->text, ',');
	buf_add(&w->text, items.p + 1, items.n - 1);
	*is_first = false;
}

static void add_head(struct walk *w, const struct route_service *s)
{
	if (!w->is_first)
		buf_add_char(&w->text, ',');
	w->is_first = false;
	w->is_first_item = true;
	route_service_head(s, &w->text);
}

/* The service may have gone since its first piece; then its list ends here. */
static void add_part(struct call *c, struct walk *w)
{
	AUTO(arena_release) struct arena a = {0};
	struct route_part part;
	bool is_there = routes_part(c, w->id, w->from, &a, &part);

	if (!is_there && w->from == 0)
		return;
	if (w->has_heads && w->from == 0)
		add_head(w, &part.service);
	if (is_there)
		add_items(w, &part.service, w->has_heads ? &w->is_first_item : &w->is_first);
	w->from = is_there && part.next > 0 ? part.next : 0;
	if (w->has_heads && w->from == 0)
		buf_add_cstr(&w->text, "]}");
}

/* False: that was the last one. */
static bool add_next(struct call *c, struct walk *w)
{
	const struct core *core = c->host->core;

	if (w->from == 0) {
		w->id =
		    core_next_name(core, KIND_SERVICE, w->after.n ? buf_str(&w->after) : STR_NULL);
		if (!w->id)
			return false;
		buf_reset(&w->after);
		buf_add_str(&w->after, core_name(core, KIND_SERVICE, w->id));
	}
	add_part(c, w);
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
    struct call *c, void (*items)(const struct route_service *, struct buf *), const char *end)
{
	struct walk *w = call_state(c, sizeof *w);

	w->items = items;
	w->end = end;
	w->is_first = true;
	c->on_over = walk_over;
	call_header(c, "Cache-Control", "no-store");
	call_stream_start(c, "application/json");
	return w;
}

void routes_get(struct call *c)
{
	struct walk *w = begin(c, route_instances_json, "]}");
	uint64_t tag = core_services_tag(c->host->core);

	w->has_heads = true;
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
