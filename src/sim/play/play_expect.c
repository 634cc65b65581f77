/* SPDX-License-Identifier: Apache-2.0 */
/* Patterns for the view: what is expected, what was seen instead; and printing parts of it. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "sim/play/play_internal.h"

const char *play_time(int64_t us, char out[32])
{
	snprintf(out, 32, "%lld.%03llds", (long long)(us / SECOND_US),
	    (long long)(us % SECOND_US / 1000));
	return out;
}

static const char *const operators[] = {
    "<", "<=", ">", ">=", "not", "any", "has", "lacks", "length", "contains"};
#define N_OPERATORS (sizeof operators / sizeof operators[0])

static int operator_of(const char *key)
{
	for (size_t i = 0; i < N_OPERATORS; i++)
		if (!strcmp(key, operators[i]))
			return (int)i;
	return -1;
}

/* The first difference, for people. */
struct differ {
	char path[200];
	json_t *wanted, *seen; /* borrowed */
};

static bool matches(json_t *want, json_t *seen, const char *path, struct differ *d);

static bool differs(struct differ *d, const char *path, json_t *want, json_t *seen)
{
	if (d && !*d->path) {
		snprintf(d->path, sizeof d->path, "%s", path);
		d->wanted = want;
		d->seen = seen;
	}
	return false;
}

static bool text_contains(json_t *want, json_t *seen)
{
	const char *s = json_string_value(seen), *part = json_string_value(want);

	return s && part && strstr(s, part);
}

static bool any_item(json_t *want, json_t *seen, bool by_text)
{
	size_t i;
	json_t *item;

	json_array_foreach(seen, i, item) if (by_text ? text_contains(want, item)
	                                              : matches(want, item, "", NULL)) return true;
	return false;
}

static bool compare(int op, json_t *want, json_t *seen)
{
	double w = json_number_value(want), s = json_number_value(seen);
	int64_t ms;

	if (json_is_string(want) && json_ms(want, &ms))
		w = (double)ms;
	if (!json_is_number(seen))
		return false;
	return op == 0 ? s < w : op == 1 ? s <= w : op == 2 ? s > w : s >= w;
}

static bool all_of(json_t *want, json_t *seen)
{
	size_t i;
	json_t *item;

	if (!json_is_array(want))
		return any_item(want, seen, json_is_string(want) && !any_item(want, seen, false));
	json_array_foreach(
	    want, i, item) if (!any_item(item, seen, false) &&
	                       !(json_is_string(item) && any_item(item, seen, true))) return false;
	return true;
}

static bool none_of(json_t *want, json_t *seen)
{
	size_t i;
	json_t *item;

	if (!json_is_array(want))
		return !all_of(want, seen);
	json_array_foreach(want, i, item) if (all_of(item, seen)) return false;
	return true;
}

static bool operate(int op, json_t *want, json_t *seen)
{
	size_t i;
	json_t *item;

	switch (op) {
	case 0:
	case 1:
	case 2:
	case 3: return compare(op, want, seen);
	case 4: return !matches(want, seen, "", NULL);
	case 5:
		json_array_foreach(want, i, item) if (matches(item, seen, "", NULL)) return true;
		return false;
	case 6: return all_of(want, seen);
	case 7: return none_of(want, seen);
	case 8: {
		json_t *length =
		    json_integer((json_int_t)(json_is_object(seen) ? json_object_size(seen)
		                                                   : json_array_size(seen)));
		bool ok = matches(want, length, "", NULL);

		json_decref(length);
		return ok;
	}
	default: return text_contains(want, seen) || any_item(want, seen, true);
	}
}

static bool matches_object(json_t *want, json_t *seen, const char *path, struct differ *d)
{
	const char *key;
	json_t *part;
	char below[200];

	json_object_foreach(want, key, part)
	{
		int op = operator_of(key);

		snprintf(below, sizeof below, "%s%s%s", path, *path ? "." : "", key);
		if (op >= 0 && !operate(op, part, seen))
			return differs(d, path, want, seen);
		if (op >= 0)
			continue;
		if (!matches(part, json_object_get(seen, key), below, d))
			return differs(d, below, part, json_object_get(seen, key));
	}
	return true;
}

static bool matches(json_t *want, json_t *seen, const char *path, struct differ *d)
{
	size_t i;
	json_t *part;
	char below[200];

	if (json_is_object(want))
		return matches_object(want, seen, path, d);
	if (json_is_array(want)) {
		if (!json_is_array(seen) || json_array_size(seen) != json_array_size(want))
			return differs(d, path, want, seen);
		json_array_foreach(want, i, part)
		{
			snprintf(below, sizeof below, "%s.%zu", path, i);
			if (!matches(part, json_array_get(seen, i), below, d))
				return false;
		}
		return true;
	}
	if (json_is_null(want) ? !seen || json_is_null(seen) : seen && json_equal(want, seen))
		return true;
	return differs(d, path, want, seen);
}

static void names_of(json_t *object, struct buf *out)
{
	for (void *at = json_object_iter(object); at; at = json_object_iter_next(object, at))
		buf_printf(out, "%s%s", out->n ? ", " : "", json_object_iter_key(at));
}

static bool is_amount(json_t *j)
{
	int64_t ms;

	return json_is_number(j) || (json_is_string(j) && json_ms(j, &ms));
}

static bool operators_check(struct play *p, json_t *want, const char *path);

/* What the operator is given must be of its kind, or it would never hold, whatever is seen. */
static bool operand_check(struct play *p, int op, json_t *want, const char *path)
{
	if (op < 4 && !is_amount(want))
		play_wrong(p, path, NULL, "it can't be compared with that",
		    "a number, or a time such as \"5s\"");
	else if (op == 5 && !json_is_array(want))
		play_wrong(
		    p, path, NULL, "it is not a list", "any of [\"healthy\", \"unhealthy\"]");
	else if (op == 8 && !json_is_integer(want) && !json_is_object(want))
		play_wrong(p, path, NULL, "it is not a length", "a number, or e.g. {\">\": 2}");
	else if (op == 9 && !json_is_string(want))
		play_wrong(p, path, NULL, "it is not a text", "a part of what is to be seen");
	return !is_wrong(p) && operators_check(p, want, path);
}

static bool operators_check(struct play *p, json_t *want, const char *path)
{
	char below[200];
	const char *key;
	json_t *part;
	size_t i;

	json_object_foreach(want, key, part)
	{
		int op = operator_of(key);

		snprintf(below, sizeof below, "%s.%s", path, key);
		if (!(op >= 0 ? operand_check(p, op, part, below)
		              : operators_check(p, part, below)))
			return false;
	}
	json_array_foreach(want, i, part) if (!operators_check(p, part, path)) return false;
	return true;
}

/* Names that the view does not have are mistakes, not differences. */
static bool shape(struct play *p, json_t *want, json_t *seen, const char *path)
{
	const char *key;
	json_t *part;
	char below[200];
	struct buf all = {0};

	if (!json_is_object(want) || !json_is_object(seen))
		return true;
	json_object_foreach(want, key, part)
	{
		json_t *there = json_object_get(seen, key);

		snprintf(below, sizeof below, "%s.%s", path, key);
		if (operator_of(key) >= 0)
			continue;
		if (there) {
			if (strcmp(key, "replies") && !shape(p, part, there, below))
				return false;
			continue;
		}
		names_of(seen, &all);
		play_wrong(p, below, NULL, "there is no such thing to look at", "there are: %s",
		    all.p ? all.p : "none");
		buf_release(&all);
		return false;
	}
	return true;
}

bool expect_check(struct play *p, json_t *pattern, const char *path)
{
	json_t *view = view_new(p);
	bool ok = json_is_object(pattern);

	if (!ok)
		play_wrong(p, path, NULL, "it is not an object",
		    "e.g. {\"workers\": {\"w1\": {\"state\": \"healthy\"}}}");
	ok = ok && shape(p, pattern, view, path) && operators_check(p, pattern, path) &&
	     values_check(p, pattern, path);
	json_decref(view);
	return ok;
}

/* Where something is null or a list now, anything may be later; and any reply may come. */
static bool may_be_there(json_t *view, const char *path)
{
	struct str rest = str_of(path), part;
	char key[64];

	while (str_next(&rest, '.', &part)) {
		if (part.n >= sizeof key)
			return false;
		snprintf(key, sizeof key, STR_FMT, STR_ARG(part));
		view = json_object_get(view, key);
		if (!view)
			return false;
		if (!json_is_object(view) || !strcmp(key, "replies"))
			return json_is_object(view) || json_is_array(view) || json_is_null(view) ||
			       !rest.n;
	}
	return true;
}

bool print_check(struct play *p, json_t *paths, const char *path)
{
	json_t *view = view_new(p), *j;
	size_t i;

	if (!json_is_array(paths))
		play_wrong(p, path, NULL, "it is not a list", "e.g. [\"workers.w1.state\"]");
	json_array_foreach(paths, i, j)
	{
		const char *s = json_string_value(j);

		if (!s || !may_be_there(view, s)) {
			play_wrong(p, path, NULL, "there is no such thing to look at",
			    "%s%spaths are like \"workers.w1.state\", \"set\", \"tasks.t1\"",
			    s ? s : "", s ? ": " : "");
			break;
		}
	}
	json_decref(view);
	return !is_wrong(p);
}

bool expect_holds(struct play *p, json_t *pattern)
{
	json_t *view = view_new(p);
	bool ok = matches(pattern, view, "", NULL);

	json_decref(view);
	return ok;
}

static char *dump(json_t *j)
{
	return j ? json_dumps(j, JSON_ENCODE_ANY | JSON_COMPACT) : xstrdup("nothing");
}

void say_story(struct play *p)
{
	size_t from = p->n_story > STORY_KEPT ? p->n_story - STORY_KEPT : 0;

	if (p->trace || p->is_json)
		return;
	printf("  the story's last lines:\n");
	for (size_t i = from; i < p->n_story; i++)
		printf("  | %s\n", p->story[i % STORY_KEPT]);
}

static void say_result(struct play *p, const char *text, const struct differ *d)
{
	char when[32];
	AUTO(free_cstr) char *want = dump(d ? d->wanted : NULL);
	AUTO(free_cstr) char *seen = dump(d ? d->seen : NULL);
	json_t *j;

	if (p->quiet && !d)
		return;
	play_time(p->w->now_us, when);
	if (p->is_json) {
		j = json_pack(
		    "{s:s, s:s, s:b, s:s}", "time", when, "type", "expect", "ok", !d, "text", text);
		if (d)
			json_object_update_new(j, json_pack("{s:s, s:O?, s:O?}", "path", d->path,
			                              "expected", d->wanted, "seen", d->seen));
		json_dumpf(j, stdout, JSON_COMPACT);
		putchar('\n');
		json_decref(j);
	} else if (d) {
		printf("%14s  NOT SO  %s\n  at       %s\n  expected %s\n  seen     %s\n", when,
		    text, d->path, want, seen);
	} else {
		printf("%14s  ok      %s\n", when, text);
	}
}

bool expect(struct play *p, json_t *pattern, const char *text)
{
	json_t *view = view_new(p);
	struct differ d = {""};
	bool ok = matches(pattern, view, "", &d);

	p->n_expects++;
	if (!ok && !*d.path)
		snprintf(d.path, sizeof d.path, "(the whole view)");
	say_result(p, text, ok ? NULL : &d);
	if (!ok)
		say_story(p);
	json_decref(view);
	return ok;
}

void print(struct play *p, json_t *paths, const char *text)
{
	json_t *view, *j, *found, *all;
	char when[32];
	size_t i;

	if (p->quiet)
		return;
	view = view_new(p);
	all = json_object();
	play_time(p->w->now_us, when);
	if (*text && !p->is_json)
		printf("%14s  %s\n", when, text);
	json_array_foreach(paths, i, j)
	{
		AUTO(free_cstr) char *s = NULL;

		found = view_at(view, json_string_value(j));
		s = dump(found);
		json_object_set(all, json_string_value(j), found ? found : json_null());
		if (!p->is_json)
			printf("%14s  %s = %s\n", when, json_string_value(j), s);
	}
	if (p->is_json) {
		json_t *line = json_pack("{s:s, s:s, s:s, s:O}", "time", when, "type", "print",
		    "text", text, "values", all);

		json_dumpf(line, stdout, JSON_COMPACT);
		putchar('\n');
		json_decref(line);
	}
	json_decref(all);
	json_decref(view);
}
