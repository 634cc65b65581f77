/* SPDX-License-Identifier: Apache-2.0 */
/* One value from the file's JSON, and the checks that both forms share. */
#include <inttypes.h>
#include <string.h>

#include "config/internal.h"
#include "model/limits.h"

static const char *kind(const json_t *json)
{
	switch (json_typeof(json)) {
	case JSON_OBJECT: return "an object";
	case JSON_ARRAY: return "a list";
	case JSON_STRING: return "a string";
	case JSON_INTEGER: return "a number";
	case JSON_REAL: return "a fraction";
	case JSON_TRUE:
	case JSON_FALSE: return "true or false";
	default: return "null";
	}
}

static bool wrong_type(
    struct config *c, const struct where *w, const struct config_key *k, const json_t *json)
{
	report(c, w, "%s must be %s, not %s", k->name, config_type_text(k->type), kind(json));
	if (json_is_null(json))
		report_hint(c, "leave the key out to have its default");
	return false;
}

static struct str string_of(const json_t *json)
{
	return (struct str){json_string_value(json), json_string_length(json)};
}

void value_write_number(const struct config_key *k, int64_t n, struct buf *b)
{
	static const struct {
		int64_t n;
		const char *unit;
	} sizes[] = {{1LL << 30, "GiB"}, {1 << 20, "MiB"}, {1 << 10, "KiB"}, {1, "B"}},
	  times[] = {{86400000, "d"}, {3600000, "h"}, {60000, "m"}, {1000, "s"}, {1, "ms"}};
	size_t i = 0;

	if (k->type == KEY_SIZE && n) {
		while (n % sizes[i].n)
			i++;
		buf_printf(b, "%" PRId64 "%s", n / sizes[i].n, sizes[i].unit);
	} else if (k->type == KEY_DURATION && n) {
		while (n % times[i].n)
			i++;
		buf_printf(b, "%" PRId64 "%s", n / times[i].n, times[i].unit);
	} else {
		buf_add_i64(b, n);
	}
}

bool value_check_number(
    struct config *c, const struct where *w, const struct config_key *k, int64_t n)
{
	struct buf b = {0};

	if (n >= k->min && n <= k->max)
		return true;
	buf_printf(&b, "%s is ", k->name);
	value_write_number(k, n, &b);
	buf_add_cstr(&b, "; it must be at ");
	buf_add_cstr(&b, n < k->min ? "least " : "most ");
	value_write_number(k, n < k->min ? k->min : k->max, &b);
	report(c, w, "%s", b.p);
	buf_release(&b);
	return false;
}

static bool number_from_json(struct config *c, const struct where *w, const struct config_key *k,
    json_t *json, struct value *v)
{
	int64_t n, ms;

	if (json_is_string(json) && k->type != KEY_INT)
		return value_from_text(c, w, k, string_of(json), v);
	if (!json_is_integer(json))
		return wrong_type(c, w, k, json);
	n = json_integer_value(json);
	if (k->type == KEY_DURATION) {
		if (__builtin_mul_overflow(n, (int64_t)1000, &ms))
			ms = n < 0 ? INT64_MIN : INT64_MAX;
		n = ms;
	}
	v->number = n;
	return value_check_number(c, w, k, n);
}

static bool list_from_json(struct config *c, const struct where *w, const struct config_key *k,
    json_t *json, struct value *v)
{
	size_t n = json_array_size(json);
	bool good = true;

	if (json_is_string(json)) /* a list of one */
		return value_from_text(c, w, k, string_of(json), v);
	if (!json_is_array(json))
		return wrong_type(c, w, k, json);
	v->list = arena_alloc(&c->arena, (n + 1) * sizeof *v->list);
	for (size_t i = 0; i < n; i++) {
		json_t *item = json_array_get(json, i);
		struct value one = {0};
		struct where at = *w;

		at.path = path_index(w->path, i);
		if (!json_is_string(item)) {
			report(c, &at, "%s must be %s, but item %zu is %s", k->name,
			    config_type_text(k->type), i + 1, kind(item));
			good = false;
		} else if (!value_from_text(c, &at, k, string_of(item), &one)) {
			good = false;
		} else if (one.n_list != 1) {
			report(c, &at, "%s: item %zu is not one value: \"%s\"", k->name, i + 1,
			    report_quote(c, string_of(item)));
			good = false;
		} else {
			v->list[v->n_list++] = one.list[0];
		}
	}
	return good;
}

bool value_check_map(
    struct config *c, const struct where *w, const struct config_key *k, json_t *json)
{
	const char *key;
	bool good = true;
	json_t *item;

	if (!json_is_object(json))
		return wrong_type(c, w, k, json);
	if (json_object_size(json) > LABELS_MAX) {
		report(c, w, "%s has %zu members; at most %d are kept", k->name,
		    json_object_size(json), LABELS_MAX);
		return false;
	}
	json_object_foreach(json, key, item)
	{
		struct where at = *w;
		struct str text = string_of(item);

		at.path = path_key(w->path, str_of(key));
		if (!json_is_string(item)) {
			report(c, &at, "%s: \"%s\" must be a string, not %s", k->name,
			    report_quote(c, str_of(key)), kind(item));
			report_hint(c, "put it in quotes");
			good = false;
		} else if (!*key || strpbrk(key, "=\n\t ,") || memchr(text.p, '\n', text.n) ||
		           strlen(key) + 1 + text.n > LABEL_MAX_BYTES) {
			report(c, &at, "%s: \"%s\" does not fit", k->name,
			    report_quote(c, str_of(key)));
			report_hint(c, "no spaces, commas or = in a key; together at most %d bytes",
			    LABEL_MAX_BYTES);
			good = false;
		}
	}
	return good;
}

static bool object_from_json(struct config *c, const struct where *w, const struct config_key *k,
    json_t *json, struct value *v)
{
	if (!json_is_object(json))
		return wrong_type(c, w, k, json);
	if (!(k->type == KEY_MAP ? value_check_map : plugins_check)(c, w, k, json))
		return false;
	v->json = json_deep_copy(json);
	return true;
}

bool value_from_json(struct config *c, const struct where *w, const struct config_key *k,
    json_t *json, struct value *v)
{
	switch (k->type) {
	case KEY_BOOL:
		v->number = json_is_true(json);
		return json_is_boolean(json) || wrong_type(c, w, k, json);
	case KEY_INT:
	case KEY_SIZE:
	case KEY_DURATION: return number_from_json(c, w, k, json, v);
	case KEY_LIST:
	case KEY_ADDRESSES: return list_from_json(c, w, k, json, v);
	case KEY_MAP:
	case KEY_PLUGINS: return object_from_json(c, w, k, json, v);
	default:
		if (!json_is_string(json))
			return wrong_type(c, w, k, json);
		return value_from_text(c, w, k, string_of(json), v);
	}
}

void value_release(struct value *v)
{
	json_decref(v->json);
	*v = (struct value){0};
}
