/* SPDX-License-Identifier: Apache-2.0 */
/* Instances as targets for Prometheus, which reads them over HTTP. */
#include <string.h>

#include "base/mem.h"
#include "graph/write/json_text.h"
#include "service/routes/routes.h"

static void add_target(const struct route_instance *i, int32_t port, struct buf *b)
{
	AUTO(buf_release) struct buf text = {0};
	bool is_six = memchr(i->address.p, ':', i->address.n) != NULL;

	buf_printf(&text, is_six ? "[" STR_FMT "]:%d" : STR_FMT ":%d", STR_ARG(i->address), port);
	json_key(b, "targets");
	buf_add_char(b, '[');
	json_text(b, buf_str(&text));
	buf_add_char(b, ']');
}

static void add_label(struct buf *b, const char *name, struct str value)
{
	if (value.n)
		json_key_text(b, name, value);
}

/* A name of Prometheus has letters, digits and _. */
static void add_own_label(struct buf *b, struct str key, struct str value)
{
	AUTO(buf_release) struct buf name = {0};

	buf_add_cstr(&name, "__meta_reeve_label_");
	for (size_t i = 0; i < key.n; i++) {
		char c = key.p[i];
		bool fits =
		    (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');

		buf_add_char(&name, fits ? c : '_');
	}
	json_key_text(b, name.p, value);
}

static void add_own_labels(const struct route_service *s, struct buf *b)
{
	struct str rest = s->labels, line, key;

	while (rest.n && str_next(&rest, '\n', &line)) {
		struct str value = line;

		if (line.n && str_next(&value, '=', &key))
			add_own_label(b, key, value);
	}
}

static void add_number(struct buf *b, const char *name, int64_t n)
{
	AUTO(buf_release) struct buf text = {0};

	buf_add_i64(&text, n);
	json_key_text(b, name, buf_str(&text));
}

static void add_item(
    const struct route_service *s, const struct route_instance *i, size_t port, struct buf *b)
{
	json_next(b);
	buf_add_char(b, '{');
	add_target(i, i->ports[port], b);
	json_key(b, "labels");
	buf_add_char(b, '{');
	json_key_text(b, "__meta_reeve_service", s->name);
	add_label(b, "__meta_reeve_domain", s->domain);
	add_number(b, "__meta_reeve_index", i->index);
	add_number(b, "__meta_reeve_port", (int64_t)port);
	add_label(b, "__meta_reeve_id", i->id);
	add_label(b, "__meta_reeve_presence", str_of(presence_names[i->presence]));
	json_key_text(b, "__meta_reeve_ready", i->is_ready ? STR("true") : STR("false"));
	if (i->revision)
		add_number(b, "__meta_reeve_revision", i->revision);
	add_label(b, "__meta_reeve_worker", i->worker);
	add_label(b, "__meta_reeve_zone", i->zone);
	add_own_labels(s, b);
	buf_add_cstr(b, "}}");
}

void route_prometheus_json(const struct route_service *s, struct buf *b)
{
	for (size_t i = 0; i < s->n; i++)
		for (size_t port = 0; s->instances[i].address.n && port < s->instances[i].n_ports;
		     port++)
			add_item(s, &s->instances[i], port, b);
}
