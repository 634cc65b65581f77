/* SPDX-License-Identifier: Apache-2.0 */
#include "cron/pattern/tree.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "cron/pattern/names.h"

#define SHOWN_MAX 50 /* bytes of a wrong text that are shown */

const struct selector weekday_selector = {
    .min = 1, .max = 7, .names = weekday_names, .n_names = 7, .first_name = 1, .turns = true};

static size_t path_add(struct tree *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static size_t path_add(struct tree *t, const char *fmt, ...)
{
	size_t mark = t->n;
	va_list args;

	va_start(args, fmt);
	vsnprintf(t->path + mark, sizeof t->path - mark, fmt, args);
	va_end(args);
	t->n = strlen(t->path);
	return mark;
}

size_t tree_key(struct tree *t, const char *key)
{
	return path_add(t, "%s%.*s", t->n ? "." : "", SHOWN_MAX, key);
}

size_t tree_index(struct tree *t, size_t index)
{
	return path_add(t, "[%zu]", index);
}

void tree_up(struct tree *t, size_t mark)
{
	t->n = mark;
	t->path[mark] = 0;
}

int tree_bad(struct tree *t, int code, const char *fmt, ...)
{
	char text[256];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof text, fmt, args);
	va_end(args);
	problem_set(t->p, code, "%s%s%s", t->path, t->n ? ": " : "", text);
	problem_field(t->p, t->path);
	return code;
}

struct str tree_str(const json_t *v)
{
	return (struct str){json_string_value(v), json_string_length(v)};
}

const char *tree_kind(const json_t *v)
{
	switch (json_typeof(v)) {
	case JSON_OBJECT: return "an object";
	case JSON_ARRAY: return "a list";
	case JSON_STRING: return "a text";
	case JSON_INTEGER: return "a number";
	case JSON_REAL: return "a number with a fraction";
	case JSON_TRUE:
	case JSON_FALSE: return "true or false";
	default: return "null";
	}
}

int tree_check_keys(struct tree *t, const json_t *object, const char *const *keys, size_t n)
{
	const char *key, *near;
	json_t *value;
	size_t mark, i;

	json_object_foreach((json_t *)object, key, value)
	{
		for (i = 0; i < n && strcmp(key, keys[i]) != 0; i++)
			;
		if (i < n)
			continue;
		near = str_nearest(str_of(key), keys, n);
		mark = tree_key(t, key);
		tree_bad(t, ERR_INVALID, "there is no such key");
		tree_up(t, mark);
		if (near)
			problem_hint(t->p, "did you mean \"%s\"?", near);
		else
			problem_hint(t->p,
			    "the keys here begin with \"%s\" and \"%s\"; all of "
			    "them are in docs/TIME.md",
			    keys[0], keys[1]);
		return ERR_INVALID;
	}
	return ERR_OK;
}

int tree_need(struct tree *t, const json_t *object, const char *key, const char *hint,
    const json_t **ret_value)
{
	size_t mark;

	if ((*ret_value = json_object_get(object, key)))
		return ERR_OK;
	mark = tree_key(t, key);
	tree_bad(t, ERR_INVALID, "is missing");
	problem_hint(t->p, "%s", hint);
	tree_up(t, mark);
	return ERR_INVALID;
}

static int bad_name(struct tree *t, struct str name, const struct selector *s)
{
	const char *near = str_nearest(name, s->names, s->n_names);

	tree_bad(t, ERR_INVALID, "\"" STR_FMT "\" is no name that is known here",
	    (int)(name.n > SHOWN_MAX ? SHOWN_MAX : name.n), name.p);
	if (near)
		problem_hint(t->p, "did you mean \"%s\"?", near);
	else
		problem_hint(t->p,
		    "write a number from %lld to %lld, or the first three letters "
		    "or more of an English name such as \"%s\"",
		    (long long)s->min, (long long)s->max, s->names[0]);
	return ERR_INVALID;
}

int tree_value(struct tree *t, const json_t *v, const struct selector *s, int64_t *ret_n)
{
	int64_t n;
	int32_t named;

	if (json_is_string(v) && s->names) {
		named = name_find(tree_str(v), s->names, s->n_names);
		if (named < 0)
			return bad_name(t, tree_str(v), s);
		*ret_n = named + s->first_name;
		return ERR_OK;
	}
	if (!json_is_integer(v)) {
		tree_bad(t, ERR_INVALID, "a whole number%s is wanted, not %s",
		    s->names ? " or a name" : "", tree_kind(v));
		problem_hint(
		    t->p, "write a number from %lld to %lld", (long long)s->min, (long long)s->max);
		return ERR_INVALID;
	}
	n = json_integer_value(v);
	if (n < s->min || n > s->max) {
		tree_bad(t, ERR_INVALID, "%lld is %s", (long long)n,
		    n < s->min ? "too small" : "too great");
		problem_hint(t->p, "it must lie between %lld and %lld", (long long)s->min,
		    (long long)s->max);
		return ERR_INVALID;
	}
	*ret_n = n;
	return ERR_OK;
}

/* A member of a range; what is not there keeps its default. */
static int range_member(
    struct tree *t, const json_t *range, const char *key, const struct selector *s, int64_t *n)
{
	const json_t *v = json_object_get(range, key);
	size_t mark;
	int rc;

	if (!v)
		return ERR_OK;
	mark = tree_key(t, key);
	rc = tree_value(t, v, s, n);
	tree_up(t, mark);
	return rc;
}

static int bad_order(struct tree *t, const struct selector *s, int64_t start, int64_t end)
{
	if (!s->turns) {
		tree_bad(t, ERR_NOT_FOUND, "nothing lies between start %lld and end %lld",
		    (long long)start, (long long)end);
		problem_hint(t->p, "a range's end is not before its start");
		return ERR_NOT_FOUND;
	}
	tree_bad(t, ERR_INVALID, "the range ends (%lld) before it starts (%lld)", (long long)end,
	    (long long)start);
	problem_hint(t->p,
	    "ranges do not wrap around: write a list of two, "
	    "[{\"start\": %lld}, {\"end\": %lld}]",
	    (long long)start, (long long)end);
	return ERR_INVALID;
}

static int add_range(
    struct tree *t, int64_t start, int64_t end, int64_t period, struct ranges *ranges)
{
	if (ranges_add(ranges, start, end, period))
		return ERR_OK;
	tree_bad(t, ERR_INVALID, "more than %d values", CRON_LIST_MAX);
	problem_hint(t->p, "use a range: {\"start\": …, \"end\": …, \"period\": …}");
	return ERR_INVALID;
}

static int read_range(
    struct tree *t, const json_t *v, const struct selector *s, struct ranges *ranges)
{
	static const char *const keys[] = {"start", "end", "period"};
	const struct selector periods = {.min = 1, .max = s->max - s->min + 1};
	int64_t start = s->min, end = s->max, period = 1;
	int rc;

	if ((rc = tree_check_keys(t, v, keys, 3)) ||
	    (rc = range_member(t, v, "start", s, &start)) ||
	    (rc = range_member(t, v, "end", s, &end)) ||
	    (rc = range_member(t, v, "period", &periods, &period)))
		return rc;
	if (start > end)
		return bad_order(t, s, start, end);
	return add_range(t, start, end, period, ranges);
}

/* "last", "last-2": so many days before the month's last one. */
static bool read_last(const json_t *v, uint32_t *last)
{
	struct str text = tree_str(v), number;
	int64_t n = 0;

	if (!str_starts(text, "last"))
		return false;
	number = (struct str){text.p + 5, text.n - 5};
	if (text.n > 4 && (text.p[4] != '-' || !str_to_i64(number, 1, 30, &n)))
		return false;
	*last |= 1u << n;
	return true;
}

static int read_one(
    struct tree *t, const json_t *v, const struct selector *s, struct ranges *ranges)
{
	int64_t n;
	int rc;

	if (json_is_object(v))
		return read_range(t, v, s, ranges);
	if (json_is_string(v) && s->last) {
		if (read_last(v, s->last))
			return ERR_OK;
		tree_bad(t, ERR_INVALID, "this text is no day of a month");
		problem_hint(
		    t->p, "\"last\", \"last-1\" (the day before it) to \"last-30\", or a number");
		return ERR_INVALID;
	}
	if ((rc = tree_value(t, v, s, &n)))
		return rc;
	return add_range(t, n, n, 1, ranges);
}

int tree_selector(
    struct tree *t, const json_t *v, const struct selector *s, struct ranges *ret_ranges)
{
	size_t mark;
	int rc;

	if (!json_is_array(v))
		return read_one(t, v, s, ret_ranges);
	if (json_array_size(v) == 0) {
		tree_bad(t, ERR_INVALID, "the list is empty");
		problem_hint(t->p, "write at least one value; every one is {\"period\": 1}");
		return ERR_INVALID;
	}
	for (size_t i = 0; i < json_array_size(v); i++) {
		mark = tree_index(t, i);
		if ((rc = read_one(t, json_array_get(v, i), s, ret_ranges)))
			return rc;
		tree_up(t, mark);
	}
	return ERR_OK;
}
