/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Groups that were triggered get their jobs: what their owner asks for is drafted as if somebody
 * had posted it, and submitted into the group that is there. One at a time. Whatever keeps
 * it from that for a while is tried again; what cannot be drafted fails the group with the reason.
 */
#include "api/groups/owed.h"

#include <stdlib.h>

#include "api/groups/groups.h"

#define AGAIN_MS 1000

struct owed {
	struct api *api;
	struct api_host host; /* as the api's, but the answer comes to us */
	struct call *c;       /* the draft under way; NULL: none */
	rid group;            /* that is, or was, drafted last */
	void *timer;          /* until the next look; NULL: none is needed */
};

static void look(struct owed *o);

static void on_timer(void *arg)
{
	struct owed *o = arg;

	o->timer = NULL;
	look(o);
}

static void look_in(struct owed *o, int64_t ms)
{
	if (!o->timer)
		o->timer = o->host.timer(o->host.arg, ms, on_timer, o);
}

static bool passes(int code)
{
	return code == ERR_BUSY || code == ERR_STORE || code == ERR_IO || code == ERR_INTERNAL;
}

static void give_up(struct owed *o, rid group, struct str why)
{
	struct event ev = {.kind = EV_DO,
	    .actor = STR("reeve"),
	    .object = {.kind = KIND_GROUP, .id = group, .verb = GROUP_UNDRAFTED, .reason = why}};

	o->host.tell(o->host.arg, &ev);
}

/* Whether the brain refused it or nobody could draft it: its problem says so. */
static void answered(void *io, int status, const char *content_type, struct str body)
{
	struct owed *o = io;
	const struct problem *p = &o->c->problem;
	bool again = status >= 400 && passes(p->code);

	if (status >= 400 && !again)
		give_up(o, o->group, str_of(p->what));
	o->c = NULL;
	look_in(o, again ? AGAIN_MS : 0);
}

static void no_header(void *io, const char *name, const char *value)
{
}

static void no_close(void *io, void (*fn)(void *arg), void *arg)
{
}

static const struct api_io answers = {.header = no_header, .reply = answered, .on_close = no_close};

static void draft(struct owed *o, struct str text)
{
	const struct api_request r = {.method = API_POST, .io = o};
	struct call *c = call_new(o->api, &r);
	unsigned allowed;

	c->route = route_find(API_POST, STR("/v1/groups"), c->args, &allowed);
	c->host = &o->host;
	c->is_own = true;
	c->who = (struct principal){.name = STR("reeve"), .role = ROLE_ADMIN};
	o->c = c;
	groups_draft(c, text, o->group);
}

/* In turn, so that one which cannot be drafted for now does not keep the others waiting. */
static rid next(struct owed *o, struct arena *a, struct str *ret_text)
{
	rid id = core_owed(o->host.core, o->group, a, ret_text);

	return id ? id : core_owed(o->host.core, 0, a, ret_text);
}

static void look(struct owed *o)
{
	AUTO(arena_release) struct arena a = {0};
	struct str text;
	rid id;

	if (o->c || o->timer || !core_is_open(o->host.core))
		return;
	id = next(o, &a, &text);
	if (!id)
		return;
	o->group = id;
	if (text.p) {
		draft(o, text);
		return;
	}
	give_up(o, id,
	    arena_strf(&a, "its %s was deleted before its jobs were known",
	        kind_names[group_owner(group_row(o->host.core, id)).kind]));
	look_in(o, 0);
}

/* All are owed that a start finds, and those of each commit. */
void owed_saw_commit(struct api *a)
{
	if (!a->owed) {
		a->owed = xcalloc(1, sizeof *a->owed);
		a->owed->api = a;
		a->owed->host = a->host;
		a->owed->host.io = &answers;
	}
	look(a->owed);
}

void owed_free(struct api *a)
{
	if (a->owed && a->owed->timer)
		a->host.cancel_timer(a->host.arg, a->owed->timer);
	free(a->owed);
}
