/* SPDX-License-Identifier: Apache-2.0 */
/* Many tasks from one: ranges, and patterns that an item is put into. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/world/clock.h"
#include "cli/output/output.h"
#include "cli/reach/client.h"
#include "cli/tasks/work.h"
#include "model/task/need.h"

static int bad_range(const char *text, struct problem *p)
{
	problem_set(p, ERR_INVALID, "\"%.64s\" is not a range", text);
	return problem_hint(
	    p, "write 1-100, 0-90:10 (from-to:step) or 1,3,7-9, or - for standard input");
}

int range_parse(const char *text, struct range *ret_range, struct problem *ret_problem)
{
	const int64_t most = INT64_MAX / 4;
	const char *colon = strchr(text, ':');
	struct str bounds = {text, colon ? (size_t)(colon - text) : strlen(text)};
	struct range r = {.step = 1};
	const char *dash;

	if (bounds.n == 0)
		return bad_range(text, ret_problem);
	if (colon && !str_to_i64(str_of(colon + 1), 1, most, &r.step))
		return bad_range(text, ret_problem);
	/* A dash at the very front is a sign. */
	dash = memchr(bounds.p + 1, '-', bounds.n - 1);
	if (!dash) {
		if (!str_to_i64(bounds, -most, most, &r.from))
			return bad_range(text, ret_problem);
		r.to = r.from;
	} else if (!str_to_i64(
	               (struct str){bounds.p, (size_t)(dash - bounds.p)}, -most, most, &r.from) ||
	           !str_to_i64((struct str){dash + 1, (size_t)(bounds.p + bounds.n - dash - 1)},
	               -most, most, &r.to)) {
		return bad_range(text, ret_problem);
	}
	if (range_count(&r) > RANGE_ITEMS_MAX)
		return problem_set(ret_problem, ERR_TOO_LARGE,
		    "the range %.64s has more than %d items", text, RANGE_ITEMS_MAX);
	*ret_range = r;
	return 0;
}

int64_t range_count(const struct range *r)
{
	int64_t span = r->to >= r->from ? r->to - r->from : r->from - r->to;

	return span / r->step + 1;
}

int64_t range_at(const struct range *r, int64_t i)
{
	return r->to >= r->from ? r->from + i * r->step : r->from - i * r->step;
}

void array_release(struct array_items *r)
{
	free(r->all);
	*r = (struct array_items){0};
}

bool array_is_stdin(const char *text)
{
	return text[0] == '-' && (!text[1] || text[1] == '%');
}

int array_limit(const char *text, int64_t *ret_limit, struct problem *ret_problem)
{
	const char *percent = strchr(text, '%');

	*ret_limit = 0;
	if (!percent || str_to_i64(str_of(percent + 1), 1, RANGE_ITEMS_MAX, ret_limit))
		return 0;
	problem_set(
	    ret_problem, ERR_INVALID, "\"%.64s\" is not how many may run at once", percent + 1);
	return problem_hint(
	    ret_problem, "write a whole number of at least 1 after all items: --array 1-9%%4");
}

int array_put_throttle(struct cli *c, json_t *task)
{
	const char *array = options_get(&c->options, "array"), *need = js(task, "need");
	AUTO(free_cstr) char *text = NULL;
	int64_t limit = 0;
	char key[33];

	if (!array || array_limit(array, &limit, &c->problem) < 0 || !limit)
		return c->problem.code;
	idempotency_key(key);
	text = xasprintf("%s%sthrottle." THROTTLE_ARRAY "%s=%lld", need, *need ? "," : "", key,
	    (long long)limit);
	json_object_set_new(task, "need", json_string(text));
	return 0;
}

int array_parse(const char *text, struct array_items *ret_items, struct problem *ret_problem)
{
	struct str rest = {text, strcspn(text, "%")}, part;
	bool ends_well = rest.n && text[rest.n - 1] != ',';
	int64_t total = 0, limit;
	int r = ends_well ? array_limit(text, &limit, ret_problem) : bad_range(text, ret_problem);

	*ret_items = (struct array_items){0};
	while (r == 0 && str_next(&rest, ',', &part)) {
		AUTO(free_cstr) char *one = xstrndup(part.p, part.n);

		GROW(ret_items->all, ret_items->cap, ret_items->n + 1);
		r = range_parse(one, &ret_items->all[ret_items->n], ret_problem);
		if (r == 0)
			total += range_count(&ret_items->all[ret_items->n++]);
		if (total > RANGE_ITEMS_MAX)
			r = problem_set(ret_problem, ERR_TOO_LARGE, "%.64s has more than %d items",
			    text, RANGE_ITEMS_MAX);
	}
	if (r < 0)
		array_release(ret_items);
	return r;
}

/* Replaces "{}" by the mark in one string. */
static json_t *marked_string(const char *text, const char *mark, size_t *n_marks)
{
	AUTO(buf_release) struct buf out = {0};
	const char *at;

	while ((at = strstr(text, "{}"))) {
		buf_add(&out, text, (size_t)(at - text));
		buf_add_cstr(&out, mark);
		text = at + 2;
		++*n_marks;
	}
	buf_add_cstr(&out, text);
	return json_string(out.p ? out.p : "");
}

static json_t *marked(const json_t *j, const char *mark, size_t *n_marks)
{
	const char *key;
	json_t *copy, *value;
	size_t i;

	if (json_is_string(j))
		return marked_string(json_string_value(j), mark, n_marks);
	if (json_is_array(j)) {
		copy = json_array();
		json_array_foreach(j, i, value)
		    json_array_append_new(copy, marked(value, mark, n_marks));
		return copy;
	}
	if (json_is_object(j)) {
		copy = json_object();
		json_object_foreach((json_t *)j, key, value)
		    json_object_set_new(copy, key, marked(value, mark, n_marks));
		return copy;
	}
	return json_deep_copy(j);
}

static void cut_at_marks(struct pattern *p, const char *text, const char *item, const char *index)
{
	for (;;) {
		const char *at = strstr(text, item), *other = strstr(text, index);
		bool is_index = other && (!at || other < at);

		if (is_index)
			at = other;
		if (!at)
			break;
		buf_add(&p->text, text, (size_t)(at - text));
		GROW(p->cuts, p->cap, p->n_cuts + 1);
		p->cuts[p->n_cuts++] = (struct cut){p->text.n, is_index};
		text = at + strlen(is_index ? index : item);
	}
	buf_add_cstr(&p->text, text);
}

/* Unless somebody has a use of his own for the name. */
static void put_index(json_t *task, const char *mark)
{
	json_t *env = json_object_get(task, "env");

	if (!env) {
		env = json_object();
		json_object_set_new(task, "env", env);
	}
	if (json_is_object(env) && !json_object_get(env, ARRAY_INDEX))
		json_object_set_new(env, ARRAY_INDEX, json_string(mark));
}

void pattern_init(struct pattern *p, json_t *task)
{
	AUTO(json_drop) json_t *copy = NULL;
	AUTO(free_cstr) char *text = NULL;
	size_t in_command = 0, others = 0;
	unsigned long long random = (unsigned long long)clock_random();
	json_t *command;
	char mark[40], index[40];

	*p = (struct pattern){0};
	/* Random, so that no text that somebody submits can hold them. */
	snprintf(mark, sizeof mark, "@reeve-item-%016llx@", random);
	snprintf(index, sizeof index, "@reeve-index-%016llx@", random);
	copy = marked(task, mark, &others);
	command = marked(json_object_get(task, "command"), mark, &in_command);
	if (json_is_array(command)) {
		if (in_command == 0)
			json_array_append_new(command, json_string(mark));
		json_object_set_new(copy, "command", command);
		put_index(copy, index);
	} else {
		json_decref(command);
	}
	text = json_dumps(copy, JSON_COMPACT);
	MUST(text != NULL);
	cut_at_marks(p, text, mark, index);
}

void pattern_release(struct pattern *p)
{
	buf_release(&p->text);
	free(p->cuts);
	*p = (struct pattern){0};
}

bool pattern_add(const struct pattern *p, struct str item, int64_t index, struct buf *out)
{
	AUTO(json_drop) json_t *text = json_stringn(item.p ? item.p : "", item.n);
	AUTO(free_cstr) char *quoted = text ? json_dumps(text, JSON_ENCODE_ANY) : NULL;
	size_t n, done = 0;

	if (!quoted)
		return false;
	n = strlen(quoted) - 2;
	for (size_t i = 0; i < p->n_cuts; i++) {
		buf_add(out, p->text.p + done, p->cuts[i].at - done);
		if (p->cuts[i].is_index)
			buf_printf(out, "%lld", (long long)index);
		else
			buf_add(out, quoted + 1, n);
		done = p->cuts[i].at;
	}
	buf_add(out, p->text.p + done, p->text.n - done);
	buf_add_char(out, '\n');
	return true;
}
