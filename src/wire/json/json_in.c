/* SPDX-License-Identifier: Apache-2.0 */
/* What jansson parsed, checked; and what it refused, said in words. */
#include "wire/json/json_in.h"

#include <stdio.h>
#include <string.h>

#include "base/timefmt.h"
#include "model/id.h"
#include "model/limits.h"

#define WHERE_MAX 48

const char *json_in_type(const json_t *v)
{
	static const char *const names[] = {"an object", "an array", "a string", "an integer",
	    "a number with a fraction", "true", "false", "null"};

	return names[json_typeof(v)];
}

/* Of one line, as in NDJSON, only the column is worth saying: its number is said beside it. */
static const char *where_is(const json_error_t *e, struct str text, char out[WHERE_MAX])
{
	if (text.n && memchr(text.p, '\n', text.n))
		snprintf(out, WHERE_MAX, "line %d, column %d", e->line, e->column);
	else
		snprintf(out, WHERE_MAX, "column %d", e->column);
	return out;
}

static int too_deep_problem(struct problem *p)
{
	problem_set(p, ERR_INVALID, "the JSON is nested deeper than %d levels", JSON_DEPTH_MAX);
	return problem_hint(p, "flatten it, or pass the inner part as a string");
}

static int parse_problem(const json_error_t *e, struct str text, struct problem *p)
{
	char where[WHERE_MAX];

	where_is(e, text, where);
	switch (json_error_code(e)) {
	case json_error_null_character:
	case json_error_null_byte_in_key:
		problem_set(
		    p, ERR_INVALID, "a string holds a NUL character (\\u0000) at %s", where);
		return problem_hint(p,
		    "names, commands and environments cannot carry NUL; encode binary data, "
		    "for example as base64");
	case json_error_stack_overflow: return too_deep_problem(p);
	case json_error_numeric_overflow:
		problem_set(p, ERR_INVALID, "a number at %s is too large", where);
		return problem_hint(p, "integers have 64 bits; pass larger ones as strings");
	case json_error_invalid_utf8:
		problem_set(p, ERR_INVALID, "the text is not UTF-8 at %s", where);
		return problem_hint(p, "JSON is UTF-8; encode other bytes, for example as base64");
	case json_error_duplicate_key:
		return problem_set(p, ERR_INVALID, "a member is given twice: %s", e->text);
	default:
		problem_set(p, ERR_INVALID, "this is not JSON: %s (%s)", e->text, where);
		return p ? p->code : ERR_INVALID;
	}
}

/* Each is memory, and a place in a table that has to grow: so many are not even parsed. */
static int check_nodes(struct str text, struct problem *p)
{
	size_t nodes = 0, depth = 0;

	for (size_t i = 0; i < text.n; i++) {
		char c = text.p[i];
		bool opens = c == '{' || c == '[';

		nodes += c == ':' || opens;
		depth += opens;
		depth -= depth && (c == '}' || c == ']');
		if (depth > JSON_PARSER_MAX_DEPTH)
			return too_deep_problem(p); /* as the parser would say */
		if (c == '"')
			while (++i < text.n && text.p[i] != '"')
				i += text.p[i] == '\\';
	}
	if (nodes <= JSON_NODES_MAX)
		return 0;
	problem_set(p, ERR_TOO_LARGE, "the JSON holds more than %d members, objects and arrays",
	    JSON_NODES_MAX);
	return problem_hint(p, "put large data into a file or an object store, and pass its name");
}

int json_in_parse(struct str text, json_t **ret_value, struct problem *p)
{
	json_error_t e;
	int rc = text.n > JSON_NODES_MAX ? check_nodes(text, p) : 0;

	if (rc)
		return rc;
	*ret_value =
	    json_loadb(text.p ? text.p : "", text.n, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, &e);
	return *ret_value ? 0 : parse_problem(&e, text, p);
}

/* Words of other systems for members of ours. */
static const char *synonym(const char *key, const char *const *names, size_t n)
{
	static const char *const meant[][2] = {{"sort", "order"}, {"node", "worker"},
	    {"partition", "queue"}, {"args", "command"}, {"argv", "command"}, {"cmd", "command"},
	    {"script", "command"}, {"directory", "cwd"}, {"workdir", "cwd"}, {"tags", "labels"},
	    {"retries", "max_attempts"}, {"attempts", "max_attempts"}, {"delay", "run_after"},
	    {"at", "run_after"}, {"unique", "key"}, {"concurrency", "threads"}, {"gfs", "output"},
	    {"time_limit", "timeout"}};

	for (size_t k = 0; k < n && !strncmp(key, "label.", 6); k++)
		if (!strcmp(names[k], "labels")) /* as an option has it: {"labels": {"zone": …}} */
			return "labels";
	for (size_t i = 0; i < sizeof meant / sizeof meant[0]; i++)
		for (size_t k = 0; k < n && !strcmp(meant[i][0], key); k++)
			if (!strcmp(names[k], meant[i][1]))
				return meant[i][1];
	return NULL;
}

int json_in_unknown(
    const char *key, const char *where, const char *const *names, size_t n, struct problem *p)
{
	const char *near = synonym(key, names, n);
	char field[64];

	if (!near)
		near = str_nearest(str_of(key), names, n);

	snprintf(field, sizeof field, "%s%s%s", where, *where ? "." : "", key);
	problem_set(p, ERR_INVALID, "there is no member \"%.64s\" here", key);
	if (near)
		problem_hint(p, "did you mean \"%s\"?", near);
	else
		problem_hint(p, "GET /openapi.json lists the members that are understood");
	return problem_field(p, field);
}

static int unknown(const char *key, const char *where, const struct json_member *table, size_t n,
    struct problem *p)
{
	const char *names[32];

	for (size_t i = 0; i < n && i < 32; i++)
		names[i] = table[i].name;
	return json_in_unknown(key, where, names, n < 32 ? n : 32, p);
}

int json_in_members(json_t *object, const char *where, const struct json_member *table, size_t n,
    void *arg, struct problem *p)
{
	const char *key;
	json_t *v;
	char field[64];
	int rc = 0;

	json_object_foreach(object, key, v)
	{
		const struct json_member *m = table;

		while (m < table + n && (m->name[0] != key[0] || strcmp(m->name, key) != 0))
			m++;
		if (m == table + n)
			return unknown(key, where, table, n, p);
		if (*where) {
			snprintf(field, sizeof field, "%s.%s", where, m->name);
			rc = m->set(v, field, arg, p);
		} else {
			rc = m->set(v, m->name, arg, p);
		}
		if (rc)
			return rc;
	}
	return 0;
}

int json_in_wrong(const json_t *v, const char *field, const char *expected, struct problem *p)
{
	problem_set(
	    p, ERR_INVALID, "\"%s\" is %s; %s is expected", field, json_in_type(v), expected);
	return problem_field(p, field);
}

int json_in_str(const json_t *v, const char *field, size_t max, struct str *ret, struct problem *p)
{
	if (!json_is_string(v))
		return json_in_wrong(v, field, "a string", p);
	if (json_string_length(v) > max) {
		problem_set(p, ERR_INVALID, "\"%s\" has %zu bytes; at most %zu are allowed", field,
		    json_string_length(v), max);
		return problem_field(p, field);
	}
	*ret = (struct str){json_string_value(v), json_string_length(v)};
	return 0;
}

int json_in_int(
    const json_t *v, const char *field, int64_t min, int64_t max, int64_t *ret, struct problem *p)
{
	if (!json_is_integer(v))
		return json_in_wrong(v, field, "an integer", p);
	if (json_integer_value(v) < min || json_integer_value(v) > max) {
		problem_set(p, ERR_INVALID, "\"%s\" is %lld; it must lie between %lld and %lld",
		    field, (long long)json_integer_value(v), (long long)min, (long long)max);
		return problem_field(p, field);
	}
	*ret = json_integer_value(v);
	return 0;
}

int json_in_bool(const json_t *v, const char *field, bool *ret, struct problem *p)
{
	if (!json_is_boolean(v))
		return json_in_wrong(v, field, "true or false", p);
	*ret = json_is_true(v);
	return 0;
}

static int duration_range(int64_t ms, const char *field, int64_t *ret_ms, struct problem *p)
{
	if (ms < 0 || ms > DURATION_MAX_MS) {
		problem_set(
		    p, ERR_INVALID, "\"%s\" must be a duration between 0 and ten years", field);
		return problem_field(p, field);
	}
	*ret_ms = ms;
	return 0;
}

static int not_a_duration(const char *field, const char *also, struct problem *p)
{
	problem_set(p, ERR_INVALID, "\"%s\" is not a duration%s", field, also);
	problem_hint(p, "write 90s, 5m, 2h, 1d, PT1H30M, or a number of seconds");
	return problem_field(p, field);
}

int json_in_duration(const json_t *v, const char *field, int64_t *ret_ms, struct problem *p)
{
	double seconds = json_is_number(v) ? json_number_value(v) : 0;
	int64_t ms;

	if (json_is_number(v)) {
		if (!(seconds >= 0 && seconds <= DURATION_MAX_MS / 1000.0))
			return duration_range(-1, field, ret_ms, p);
		return duration_range((int64_t)(seconds * 1000 + 0.5), field, ret_ms, p);
	}
	if (!json_is_string(v))
		return json_in_wrong(v, field, "a duration", p);
	if (!str_to_duration_ms((struct str){json_string_value(v), json_string_length(v)}, &ms))
		return not_a_duration(field, "", p);
	return duration_range(ms, field, ret_ms, p);
}

int text_in_time(
    struct str s, const char *field, int64_t now_ms, int sign, int64_t *ret_ms, struct problem *p)
{
	int64_t ms;

	if (time_parse(s, ret_ms))
		return 0;
	if (!str_to_duration_ms(s, &ms)) {
		problem_set(p, ERR_INVALID, "%s: \"%.*s\" is neither a time nor a duration", field,
		    s.n > 64 ? 64 : (int)s.n, s.p ? s.p : "");
		problem_hint(p, "write 2026-01-31T12:00:00Z, or a duration %s such as 90s, 5m, 2h",
		    sign < 0 ? "ago" : "from now");
		return problem_field(p, field);
	}
	if (duration_range(ms, field, &ms, p))
		return ERR_INVALID;
	*ret_ms = now_ms + sign * ms;
	return 0;
}

int json_in_time(const json_t *v, const char *field, int64_t now_ms, int sign, int64_t *ret_ms,
    struct problem *p)
{
	int64_t ms;

	if (json_is_string(v))
		return text_in_time((struct str){json_string_value(v), json_string_length(v)},
		    field, now_ms, sign, ret_ms, p);
	if (!json_is_number(v))
		return json_in_wrong(v, field, "a time or a duration", p);
	if (json_in_duration(v, field, &ms, p))
		return ERR_INVALID;
	*ret_ms = now_ms + sign * ms;
	return 0;
}

int json_in_object(const json_t *v, const char *field, struct problem *p)
{
	return json_is_object(v) ? 0 : json_in_wrong(v, field, "an object", p);
}

static bool too_deep(json_t *v, int left)
{
	const char *key;
	json_t *inner;
	size_t i;

	if (left == 0)
		return json_is_object(v) || json_is_array(v);
	if (json_is_object(v))
		json_object_foreach(v, key, inner)
		{
			if (too_deep(inner, left - 1))
				return true;
		}
	if (json_is_array(v))
		json_array_foreach(v, i, inner)
		{
			if (too_deep(inner, left - 1))
				return true;
		}
	return false;
}

int json_in_depth(json_t *v, const char *field, struct problem *p)
{
	if (!too_deep(v, JSON_DEPTH_MAX))
		return 0;
	problem_set(
	    p, ERR_INVALID, "\"%s\" is nested deeper than %d levels", field, JSON_DEPTH_MAX);
	problem_hint(p, "flatten it, or pass the inner part as a string");
	return problem_field(p, field);
}

static bool looks_like_id(struct str s)
{
	static const struct id_space any;
	rid id;

	return id_parse(&any, s, &id);
}

int name_check(struct str s, const char *field, struct problem *p)
{
	const char *why = NULL;

	if (s.n == 0)
		why = "it is empty";
	else if (s.n > NAME_MAX_BYTES)
		why = "it is longer than 128 bytes";
	else if (s.p[0] == ' ' || s.p[s.n - 1] == ' ' || s.p[0] == '-')
		why = "it begins or ends with a blank, or begins with a dash";
	else if (s.p[0] == '@')
		why = "what begins with @ stands for something, as @last for the last one";
	else if (looks_like_id(s))
		why = "it has the shape of an id (24 hex digits)";
	else if (str_is(s, ".") || str_is(s, ".."))
		why = "it stands for a directory";
	for (size_t i = 0; !why && i < s.n; i++)
		if ((unsigned char)s.p[i] < 0x20 || s.p[i] == 0x7f || strchr("/,=\"\\", s.p[i]))
			why = "it holds a control character or one of / , = \" \\";
	if (!why)
		return 0;
	problem_set(p, ERR_INVALID, "\"%.*s\" is not a usable name: %s", s.n > 64 ? 64 : (int)s.n,
	    s.p ? s.p : "", why);
	problem_hint(p, "letters, digits, '.', '_' and '-' always work");
	return problem_field(p, field);
}
