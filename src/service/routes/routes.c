/* SPDX-License-Identifier: Apache-2.0 */
/* What is routed, and routes as JSON. */
#include "service/routes/routes.h"

#include "graph/write/json_text.h"
#include "service/write/write.h"

static bool has_ready_replacement(const struct route_service *s, const struct route_instance *i)
{
	for (const struct route_instance *o = s->instances; o < s->instances + s->n; o++)
		if (o->index == i->index && o->presence == PRESENCE_ORDINARY && o->is_ready &&
		    !o->is_stopping)
			return true;
	return false;
}

/* Routes of one index are side by side. */
static bool is_replaced(const struct route_service *s, size_t nth)
{
	const struct route_instance *i = &s->instances[nth];
	struct route_service near = *s;
	size_t from = nth, to = nth + 1;

	if (i->presence == PRESENCE_ORDINARY)
		return false;
	while (from > 0 && s->instances[from - 1].index == i->index)
		from--;
	while (to < s->n && s->instances[to].index == i->index)
		to++;
	near.instances += from;
	near.n = to - from;
	return has_ready_replacement(&near, i);
}

bool route_is_routed(const struct route_service *s, size_t nth)
{
	const struct route_instance *i = &s->instances[nth];

	return i->is_ready && !i->is_stopping && i->address.n && i->n_ports && !is_replaced(s, nth);
}

static void add_ports(const struct route_instance *i, struct buf *b)
{
	json_key(b, "ports");
	buf_add_char(b, '[');
	for (size_t k = 0; k < i->n_ports; k++) {
		json_next(b);
		buf_add_i64(b, i->ports[k]);
	}
	buf_add_char(b, ']');
}

static void add_text(struct buf *b, const char *name, struct str text)
{
	if (text.n)
		json_key_text(b, name, text);
}

static void add_instance(const struct route_service *s, size_t nth, struct buf *b)
{
	const struct route_instance *i = &s->instances[nth];

	json_key_i64(b, "index", i->index);
	add_text(b, "id", i->id);
	json_key_text(b, "presence", str_of(presence_names[i->presence]));
	add_text(b, "address", i->address);
	add_ports(i, b);
	json_key_bool(b, "ready", i->is_ready);
	json_key_bool(b, "stopping", i->is_stopping);
	json_key_bool(b, "routed", route_is_routed(s, nth));
	add_text(b, "worker", i->worker);
	add_text(b, "zone", i->zone);
	if (i->revision)
		json_key_i64(b, "revision", i->revision);
	json_key_i64(b, "tag", (int64_t)i->tag);
}

static void add_labels(const struct route_service *s, struct buf *b)
{
	struct str rest = s->labels, line, key;

	json_key(b, "labels");
	buf_add_char(b, '{');
	while (rest.n && str_next(&rest, '\n', &line)) {
		struct str value = line;

		if (!line.n || !str_next(&value, '=', &key))
			continue;
		json_next(b);
		json_text(b, key);
		buf_add_char(b, ':');
		json_text(b, value);
	}
	buf_add_char(b, '}');
}

void route_instances_json(const struct route_service *s, struct buf *b)
{
	for (size_t i = 0; i < s->n; i++) {
		json_next(b);
		buf_add_char(b, '{');
		add_instance(s, i, b);
		buf_add_char(b, '}');
	}
}

void route_service_head(const struct route_service *s, struct buf *b)
{
	buf_add_char(b, '{');
	json_key_text(b, "name", s->name);
	add_text(b, "domain", s->domain);
	json_key_i64(b, "tag", (int64_t)s->tag);
	add_labels(s, b);
	json_key(b, "routes");
	buf_add_str(b, s->routes.n ? s->routes : STR("null"));
	json_key(b, "instances");
	buf_add_char(b, '[');
}

void route_service_json(const struct route_service *s, struct buf *b)
{
	route_service_head(s, b);
	route_instances_json(s, b);
	buf_add_cstr(b, "]}");
}
