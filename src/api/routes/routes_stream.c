/* SPDX-License-Identifier: Apache-2.0 */
/*
 * GET /v1/routes/stream: services as they change, in the order of their tags. A follower is a place
 * in that order, not a copy of anything: who reads slowly is told later what is so then.
 *
 * A long service is told in pieces; a change of it meanwhile is told after them.
 *
 *   walking (told of all services, by id) -> following (told what has changed since)
 *   following -> walking: too much has changed since, or nobody knows any more what is gone
 */
#include "api/routes/routes.h"
#include "base/mem.h"
#include "core/service/view.h"

#define HEARTBEAT_MS 15000
#define LAG_BYTES (8u << 10) /* unread, and it is told no more until it has read them */
#define PIECE_BYTES (32u << 10)
#define CHANGES_MOST 4096 /* more of them, and all is told anew: to find each takes its time */

struct follower {
	TAILQ_ENTRY(follower) link;
	struct call *c;
	uint64_t tag; /* all up to here is told, or will be when the walk is over */
	rid at;       /* walking: the last service that was told */
	rid part_of;  /* a long service, of which the next piece begins */
	int64_t part; /* at this index; 0: none is under way */
	uint64_t part_place;
	void *timer;
	struct buf text;
	bool is_walking, is_draining, is_listed;
};

TAILQ_HEAD(follower_list, follower);

struct route_followers {
	struct follower_list all;
};

static void begin_event(struct follower *f, const char *kind, uint64_t tag)
{
	if (tag) {
		buf_add_cstr(&f->text, "id: ");
		routes_place(f->c, tag, &f->text);
		buf_add_char(&f->text, '\n');
	}
	buf_printf(&f->text, "event: %s\ndata: ", kind);
}

static void end_event(struct follower *f)
{
	buf_add_cstr(&f->text, "\n\n");
}

static void tell_tag(struct follower *f, const char *kind, uint64_t place)
{
	begin_event(f, kind, place);
	buf_printf(&f->text, "{\"tag\":%llu}", (unsigned long long)f->tag);
	end_event(f);
}

static void tell_gone(struct follower *f, struct str name, uint64_t tag)
{
	begin_event(f, "gone", tag);
	buf_add_char(&f->text, '{'); /* it is no element of what stands before it */
	jw_mstr(&f->text, "name", name);
	jw_mi64(&f->text, "tag", (int64_t)tag);
	jw_close(&f->text, '}');
	end_event(f);
}

/* What is behind the first piece, under the service's name. */
static void tell_instances(struct follower *f, const struct route_part *part, uint64_t place)
{
	AUTO(buf_release) struct buf items = {0};

	buf_add_char(&items, '[');
	route_instances_json(&part->service, &items);
	begin_event(f, "instances", part->next > 0 ? 0 : place);
	buf_add_char(&f->text, '{');
	jw_mstr(&f->text, "name", part->service.name);
	jw_mbool(&f->text, "more", part->next > 0);
	buf_printf(&f->text, ",\"instances\":" STR_FMT "]}", STR_ARG(buf_str(&items)));
	end_event(f);
}

static void tell_head(struct follower *f, const struct route_part *part, uint64_t place)
{
	AUTO(buf_release) struct buf json = {0};

	route_service_head(&part->service, &json);
	route_instances_json(&part->service, &json);
	begin_event(f, "service", part->next > 0 ? 0 : place);
	buf_printf(&f->text, STR_FMT "]%s}", STR_ARG(buf_str(&json)),
	    part->next > 0 ? ",\"more\":true" : "");
	end_event(f);
}

/* If it has gone meanwhile, that is a change, which is told in its turn. */
static void tell_rest(struct follower *f)
{
	AUTO(arena_release) struct arena a = {0};
	struct route_part part;
	bool is_there = routes_part(f->c, f->part_of, f->part, &a, &part);

	if (is_there)
		tell_instances(f, &part, f->part_place);
	f->part = is_there && part.next > 0 ? part.next : 0;
}

/* `place`: it is known by this then that all before is told; 0: it is not. */
static void tell_service(struct follower *f, rid id, struct str name, uint64_t place)
{
	AUTO(arena_release) struct arena a = {0};
	struct route_part part;

	if (!routes_part(f->c, id, 0, &a, &part)) {
		if (place)
			tell_gone(f, name, place); /* it may have been of the domain */
		return;
	}
	tell_head(f, &part, place);
	f->part_of = id;
	f->part = part.next > 0 ? part.next : 0;
	f->part_place = place;
}

static void begin_walk(struct follower *f)
{
	f->is_walking = true;
	f->at = 0;
	f->tag = core_services_tag(f->c->host->core);
	tell_tag(f, "reset", 0);
}

static bool walk_on(struct follower *f)
{
	const struct core *core = f->c->host->core;
	rid id = core_next(core, KIND_SERVICE, f->at);

	if (id) {
		f->at = id;
		tell_service(f, id, STR_NULL, 0);
		return true;
	}
	f->is_walking = false;
	tell_tag(f, "synced", f->tag);
	return true;
}

static bool is_far_behind(const struct follower *f)
{
	const struct core *core = f->c->host->core;

	return f->tag < core_services_tag_floor(core) ||
	       core_services_tag(core) - f->tag > CHANGES_MOST;
}

/* False: it has been told everything. */
static bool tell_one(struct follower *f)
{
	struct service_change change;

	if (f->part) {
		tell_rest(f);
		return true;
	}
	if (f->is_walking)
		return walk_on(f);
	if (is_far_behind(f)) {
		begin_walk(f);
		return true;
	}
	if (!core_service_changed(f->c->host->core, f->tag, &change))
		return false;
	f->tag = change.tag;
	if (change.id)
		tell_service(f, change.id, change.name, change.tag);
	else
		tell_gone(f, change.name, change.tag);
	return true;
}

/* Most commits are about something else. */
static bool has_heard_all(const struct follower *f)
{
	return !f->is_walking && !f->part && !f->text.n &&
	       f->tag == core_services_tag(f->c->host->core);
}

static void tell(struct follower *f);

static void drained(void *arg)
{
	struct follower *f = arg;

	if (!f->is_draining)
		return;
	f->is_draining = false;
	tell(f);
}

static void wait_for_drain(struct follower *f)
{
	f->is_draining = true;
	f->c->host->io->stream_on_drain(f->c->req.io, drained, f);
}

static void tell(struct follower *f)
{
	const struct api_io *io = f->c->host->io;
	bool more = true;

	if (f->is_draining || has_heard_all(f))
		return;
	if (io->stream_pending(f->c->req.io) > LAG_BYTES) {
		wait_for_drain(f);
		return;
	}
	while (more && f->text.n < PIECE_BYTES)
		more = tell_one(f);
	if (f->text.n)
		io->stream_write(f->c->req.io, buf_str(&f->text));
	buf_release(&f->text); /* most are quiet */
	if (more)
		wait_for_drain(f);
}

static void heartbeat(void *arg)
{
	struct follower *f = arg;
	const struct api_host *h = f->c->host;

	f->timer = h->timer(h->arg, HEARTBEAT_MS, heartbeat, f);
	if (h->io->stream_pending(f->c->req.io) == 0)
		h->io->stream_write(f->c->req.io, STR(": still here\n\n"));
}

static void follower_over(struct call *c)
{
	struct follower *f = c->state;

	if (f->is_listed)
		TAILQ_REMOVE(&c->api->routes->all, f, link);
	if (f->timer)
		c->host->cancel_timer(c->host->arg, f->timer);
	f->is_listed = f->is_draining = false;
	f->timer = NULL;
	buf_release(&f->text);
}

static void list(struct follower *f)
{
	struct api *a = f->c->api;

	if (!a->routes) {
		a->routes = xcalloc(1, sizeof *a->routes);
		TAILQ_INIT(&a->routes->all);
	}
	TAILQ_INSERT_TAIL(&a->routes->all, f, link);
	f->is_listed = true;
}

void routes_stream(struct call *c)
{
	struct follower *f = call_state(c, sizeof *f);
	struct str at = c->req.last_event_id.p ? c->req.last_event_id : c->query[Q_CURSOR];
	const struct api_host *h = c->host;

	f->c = c;
	f->tag = routes_place_in(c, at);
	c->on_over = follower_over;
	call_header(c, "Cache-Control", "no-store");
	call_header(c, "X-Accel-Buffering", "no");
	call_stream_start(c, "text/event-stream");
	buf_add_cstr(&f->text, ": reeve\nretry: 2000\n\n");
	f->timer = h->timer(h->arg, HEARTBEAT_MS, heartbeat, f);
	list(f);
	if (!f->tag || f->tag > core_services_tag(h->core))
		begin_walk(f);
	tell(f);
}

void routes_saw_commit(struct api *a)
{
	struct follower *f, *next;

	if (!a->routes)
		return;
	TAILQ_FOREACH_SAFE (f, &a->routes->all, link, next)
		tell(f);
}

void routes_free(struct api *a)
{
	free(a->routes);
}
