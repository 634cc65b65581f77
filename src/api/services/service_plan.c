/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What would change: two services, or two revisions, compared as they are shown. A member inside an
 * object is named by its path.
 */
#include <stdio.h>

#include "api/services/plan.h"
#include "base/mem.h"

#define DEPTH_MOST 4 /* task.run.limits.memory */
#define PATH_MOST 256

static json_t *parsed(const struct buf *b)
{
	json_t *v = json_loadb(b->p, b->n, JSON_DECODE_ANY, NULL);

	MUST(v); /* we have written it */
	return v;
}

static void add_value(struct buf *b, const char *key, const json_t *v)
{
	jw_key(b, key);
	if (v)
		jw_value(b, v);
	else
		jw_null(b);
}

static void add_change(struct buf *b, const char *path, const json_t *from, const json_t *to)
{
	jw_open(b, '{');
	jw_mcstr(b, "member", path);
	add_value(b, "from", from);
	add_value(b, "to", to);
	jw_close(b, '}');
}

static void compare(struct buf *b, const char *path, json_t *from, json_t *to, int depth);

static void compare_member(
    struct buf *b, const char *path, const char *key, json_t *from, json_t *to, int depth)
{
	char place[PATH_MOST];

	snprintf(place, sizeof place, "%s%s%s", path, *path ? "." : "", key);
	compare(b, place, from, to, depth + 1);
}

static void compare_members(struct buf *b, const char *path, json_t *from, json_t *to, int depth)
{
	const char *key;
	json_t *v;

	json_object_foreach(from, key, v)
	{
		compare_member(b, path, key, v, json_object_get(to, key), depth);
	}
	json_object_foreach(to, key, v)
	{
		if (!json_object_get(from, key))
			compare_member(b, path, key, NULL, v, depth);
	}
}

static bool is_none(const json_t *v)
{
	return !v || json_is_null(v);
}

static void compare(struct buf *b, const char *path, json_t *from, json_t *to, int depth)
{
	if (json_is_object(from) && json_is_object(to) && depth < DEPTH_MOST)
		compare_members(b, path, from, to, depth);
	else if (!(is_none(from) && is_none(to)) && !(from && to && json_equal(from, to)))
		add_change(b, path, from, to);
}

void changes_write(struct buf *b, const struct buf *from, const struct buf *to)
{
	json_t *x = from->n ? parsed(from) : json_object(), *y = parsed(to);

	jw_key(b, "changes");
	jw_open(b, '[');
	compare(b, "", x, y, 0);
	jw_close(b, ']');
	json_decref(x);
	json_decref(y);
}

rid service_queue_of(const struct call *c, const struct service_row *row)
{
	return row->spec.queue ? row->spec.queue
	                       : core_find(c->host->core, KIND_QUEUE, STR(SERVICE_QUEUE));
}

bool service_is_same(
    const struct call *c, const struct service_row *old, const struct service_row *next)
{
	AUTO(buf_release) struct buf from = {0}, to = {0};

	if (!spec_is_same(&old->spec, &next->spec))
		return false;
	show_service_settings(&from, c->api, old);
	show_service_settings(&to, c->api, next);
	return str_eq(buf_str(&from), buf_str(&to));
}

void service_plan(struct call *c, const struct service_in *in, const struct service_row *old)
{
	AUTO(buf_release) struct buf from = {0}, to = {0};
	struct service_row next = in->row;
	struct buf *b = &c->out;

	next.spec.queue = service_queue_of(c, &next);
	if (old)
		show_service_settings(&from, c->api, old);
	show_service_settings(&to, c->api, &next);
	jw_open(b, '{');
	jw_mstr(b, "name", next.name);
	jw_mbool(b, "exists", old);
	jw_mbool(b, "revision", !old || !spec_is_same(&old->spec, &next.spec));
	changes_write(b, &from, &to);
	jw_key(b, "service");
	jw_raw(b, buf_str(&to));
	jw_close(b, '}');
	call_json(c, 200);
}
