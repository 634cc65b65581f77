/* SPDX-License-Identifier: Apache-2.0 */
/* Writing: what holds and where it came from, and the reference for the docs. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "config/internal.h"

/* The password inside scheme://user:password@host, if there is one. */
static bool url_password(const char *url, size_t *ret_from, size_t *ret_to)
{
	const char *start = strstr(url, "://"), *at, *colon;

	if (!start)
		return false;
	start += 3;
	/* the last @ before the path: a password may hold one */
	at = memrchr(start, '@', strcspn(start, "/?#"));
	colon = at ? memchr(start, ':', (size_t)(at - start)) : NULL;
	if (!colon)
		return false;
	*ret_from = (size_t)(colon + 1 - url);
	*ret_to = (size_t)(at - url);
	return true;
}

static json_t *shown_text(const struct config_key *k, const char *text)
{
	struct buf b = {0};
	size_t from, to;
	json_t *json;

	if (k->type == KEY_TOKEN)
		return json_string("(set)");
	if ((k->type != KEY_STORE && k->type != KEY_ENDPOINT) || !url_password(text, &from, &to))
		return json_string(text);
	buf_printf(&b, STR_FMT "***%s", (int)from, text, text + to);
	json = json_string(b.p);
	buf_release(&b);
	return json;
}

/* A plugin's environment often carries secrets: its names are shown, its values are not. */
static json_t *shown_object(const struct config_key *k, const struct value *v)
{
	json_t *copy = v->json ? json_deep_copy(v->json) : json_object();
	const char *name, *variable;
	json_t *plugin, *item;

	if (k->type != KEY_PLUGINS)
		return copy;
	json_object_foreach(copy, name, plugin)
	{
		json_t *env = json_object_get(plugin, "env"), *masked;

		if (!json_object_size(env))
			continue;
		masked = json_object();
		json_object_foreach(env, variable, item)
		    json_object_set_new(masked, variable, json_string("(set)"));
		json_object_set_new(plugin, "env", masked);
	}
	return copy;
}

static json_t *shown_number(const struct config_key *k, int64_t n)
{
	struct buf b = {0};
	json_t *json;

	if (k->type == KEY_BOOL)
		return json_boolean(n != 0);
	if (k->type == KEY_INT || n == 0)
		return json_integer(n);
	value_write_number(k, n, &b);
	json = json_string(b.p);
	buf_release(&b);
	return json;
}

/* As one could write it into the file. NULL: not set. */
static json_t *shown(const struct config *c, const struct config_key *k)
{
	const struct value *v = &c->values[config_key_index(k)];
	json_t *json = NULL;

	if (!v->layer)
		return NULL;
	switch (k->type) {
	case KEY_BOOL:
	case KEY_INT:
	case KEY_SIZE:
	case KEY_DURATION: json = shown_number(k, v->number); break;
	case KEY_LIST:
	case KEY_ADDRESSES:
		json = json_array();
		for (size_t i = 0; i < v->n_list; i++)
			json_array_append_new(json, json_string(v->list[i]));
		break;
	case KEY_MAP:
	case KEY_PLUGINS: json = shown_object(k, v); break;
	default: json = shown_text(k, v->text); break;
	}
	/* what came by a variable or flag need not be UTF-8 */
	return json ? json : json_string("(not printable)");
}

static void add_json(struct buf *b, const json_t *json, size_t flags)
{
	char *text = json_dumps(json, JSON_ENCODE_ANY | flags);

	buf_add_cstr(b, text ? text : "null");
	free(text);
}

void config_write_value(const struct config *c, const char *key, struct buf *b)
{
	const struct config_key *k = config_key_find(str_of(key));
	json_t *json;

	MUST(k != NULL);
	json = shown(c, k);
	if (!json)
		buf_add_cstr(b, "(not set)");
	else if (k->type == KEY_TOKEN)
		buf_add_cstr(b, "(set)");
	else
		add_json(b, json, 0);
	json_decref(json);
}

static int longer(int n, const char *text)
{
	return (int)strlen(text) > n ? (int)strlen(text) : n;
}

void config_show(const struct config *c, bool origin, struct buf *b)
{
	int names = 0, origins = 0;

	for (size_t i = 0; i < n_config_keys; i++) {
		const char *name = config_keys[i].name;

		names = longer(names, name);
		origins = longer(origins, config_origin(c, name));
	}
	for (size_t i = 0; i < n_config_keys; i++) {
		const char *name = config_keys[i].name, *from = config_origin(c, name);

		buf_printf(b, "%-*s ", names, name);
		if (origin)
			buf_printf(b, "%-*s ", origins, *from ? from : "-");
		config_write_value(c, name, b);
		buf_add_char(b, '\n');
	}
}

void config_show_json(const struct config *c, struct buf *b)
{
	json_t *all = json_object();

	for (size_t i = 0; i < n_config_keys; i++) {
		const struct config_key *k = &config_keys[i];
		json_t *value = shown(c, k), *row = json_object();
		json_t *origin = json_string(config_origin(c, k->name));

		json_object_set_new(row, "value", value ? value : json_null());
		json_object_set_new(row, "origin", origin ? origin : json_null());
		json_object_set_new(row, "reload", json_boolean(k->reload));
		json_object_set_new(all, k->name, row);
	}
	add_json(b, all, JSON_INDENT(2));
	buf_add_char(b, '\n');
	json_decref(all);
}

/* "|" would end the cell. */
static void add_cell(struct buf *b, const char *text)
{
	for (; *text; text++)
		buf_printf(b, *text == '|' ? "\\%c" : "%c", *text);
}

static void add_range(struct buf *b, const struct config_key *k)
{
	bool has_max = k->max && k->max != INT64_MAX;

	if (k->type == KEY_ENUM) {
		buf_add_cstr(b, ": ");
		add_cell(b, k->choices);
	}
	if (k->type != KEY_INT && k->type != KEY_SIZE && k->type != KEY_DURATION)
		return;
	buf_add_cstr(b, ", ");
	value_write_number(k, k->min, b);
	buf_add_cstr(b, has_max ? " to " : " or more");
	if (has_max)
		value_write_number(k, k->max, b);
}

static void add_row(struct buf *b, const struct config_key *k)
{
	buf_printf(b, "| `%s` | %s", k->name, config_type_name(k->type));
	add_range(b, k);
	buf_add_cstr(b, " | ");
	if (k->value)
		buf_printf(b, "`%s`", *k->value ? k->value : "\"\"");
	buf_printf(b, " | %s | `%s` |", k->reload ? "yes" : "", k->env);
	if (k->flag)
		buf_printf(b, " `--%s`", k->flag);
	buf_add_cstr(b, " | ");
	add_cell(b, k->help);
	buf_add_cstr(b, " |\n");
}

void config_write_reference(struct buf *b)
{
	const char *section = "";

	for (size_t i = 0; i < n_config_keys; i++) {
		const char *name = config_keys[i].name;
		size_t n = strcspn(name, ".");

		if (strncmp(section, name, n + 1)) {
			buf_printf(b, "%s### %.*s\n\n", i ? "\n" : "", (int)n, name);
			buf_add_cstr(b, "| key | type | default | reload | variable | flag | |\n"
			                "|---|---|---|---|---|---|---|\n");
		}
		section = name;
		add_row(b, &config_keys[i]);
	}
}
