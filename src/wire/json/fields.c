/* SPDX-License-Identifier: Apache-2.0 */
#include "wire/json/fields.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/timefmt.h"
#include "model/limits.h"
#include "model/rows/row.h"
#include "wire/json/need.h"
#include "wire/text.h"

#define FIELDS_MOST 32
#define PATH_MOST 4096

int fields_refuse(const struct fields_in *r, const char *place, const char *what)
{
	problem_set(r->problem, ERR_INVALID, "\"%s\" %s", place, what);
	return problem_field(r->problem, place);
}

static int keep(const struct fields_in *r, struct str s, void *at)
{
	*(struct str *)at = arena_str(r->arena, s);
	return 0;
}

static int read_text(const struct fields_in *r, const struct field *f, json_t *v, const char *place)
{
	void *at = (char *)r->into + f->offset;
	size_t max = f->max                         ? (size_t)f->max
	             : f->kind == FIELD_OBJECT_NAME ? NAME_MAX_BYTES
	                                            : PATH_MOST;
	struct str s;

	if (json_in_str(v, place, max, &s, r->problem))
		return ERR_INVALID;
	if (f->kind == FIELD_OBJECT_NAME && name_check(s, place, r->problem))
		return ERR_INVALID;
	if (f->kind == FIELD_TEXT || f->kind == FIELD_OBJECT_NAME)
		return keep(r, s, at);
	if (!text_is_name(s, max))
		return fields_refuse(r, place, "must not be empty or hold control characters");
	if (f->kind == FIELD_PATH && s.p[0] != '/') {
		fields_refuse(r, place, "is not an absolute path");
		return problem_hint(r->problem, "begin it with /");
	}
	return keep(r, s, at);
}

static int read_bool(const struct fields_in *r, const struct field *f, json_t *v, const char *place)
{
	void *at = (char *)r->into + f->offset;
	bool on;

	if (json_in_bool(v, place, &on, r->problem))
		return ERR_INVALID;
	on ^= f->kind == FIELD_NOT;
	if (f->size == sizeof(int32_t))
		*(int32_t *)at = on;
	else
		*(bool *)at = on;
	return 0;
}

static int read_size(const struct fields_in *r, json_t *v, const char *place, int64_t *ret)
{
	struct str s;

	if (json_is_integer(v))
		return json_in_int(v, place, 0, INT64_MAX, ret, r->problem);
	if (!json_is_string(v))
		return json_in_wrong(v, place, "a size", r->problem);
	s = (struct str){json_string_value(v), json_string_length(v)};
	if (str_to_bytes(s, ret))
		return 0;
	fields_refuse(r, place, "is not a size");
	return problem_hint(r->problem, "write 512M, 2G, 64K, or a number of bytes");
}

static int check_least(
    const struct fields_in *r, const struct field *f, const char *place, int64_t n)
{
	char least[TIME_TEXT_MAX];

	if (f->kind != FIELD_DURATION || n >= f->min)
		return 0;
	problem_set(r->problem, ERR_INVALID, "\"%s\" must be at least %s", place,
	    time_human_ms(f->min, least));
	return problem_field(r->problem, place);
}

static int read_seconds(
    const struct fields_in *r, const struct field *f, json_t *v, const char *place, int64_t *ret)
{
	int64_t ms;

	if (json_in_duration(v, place, &ms, r->problem))
		return ERR_INVALID;
	*ret = ms / 1000;
	if (ms % 1000 == 0 && *ret <= f->max)
		return 0;
	problem_set(r->problem, ERR_INVALID, "\"%s\" must be whole seconds, and at most %lld days",
	    place, (long long)f->max / 86400);
	problem_hint(r->problem, "for example 10m");
	return problem_field(r->problem, place);
}

static void put_number(const struct fields_in *r, const struct field *f, int64_t n)
{
	void *at = (char *)r->into + f->offset;

	if (f->size == sizeof(int32_t))
		*(int32_t *)at = (int32_t)n;
	else
		*(int64_t *)at = n;
}

static int read_number(
    const struct fields_in *r, const struct field *f, json_t *v, const char *place)
{
	int64_t n = 0;
	int rc;

	switch (f->kind) {
	case FIELD_SIZE: rc = read_size(r, v, place, &n); break;
	case FIELD_DURATION: rc = json_in_duration(v, place, &n, r->problem); break;
	case FIELD_SECONDS: rc = read_seconds(r, f, v, place, &n); break;
	case FIELD_TIME: rc = json_in_time(v, place, r->now_ms, 1, &n, r->problem); break;
	case FIELD_PAST: rc = json_in_time(v, place, r->now_ms, -1, &n, r->problem); break;
	default: rc = json_in_int(v, place, f->min, f->max, &n, r->problem); break;
	}
	if (rc || (rc = check_least(r, f, place, n)))
		return rc;
	if (n == 0 && f->flags & FIELD_NULL_GIVEN &&
	    (f->kind == FIELD_TIME || f->kind == FIELD_PAST))
		n = -1; /* 0 stands for none, and nobody means 1970 */
	put_number(r, f, n);
	return 0;
}

static int read_choice(
    const struct fields_in *r, const struct field *f, json_t *v, const char *place)
{
	AUTO(buf_release) struct buf all = {0};
	const char *near;
	struct str s;

	if (json_in_str(v, place, NAME_MAX_BYTES, &s, r->problem))
		return ERR_INVALID;
	for (size_t i = 0; i < f->n_names; i++) {
		if (str_is(s, f->names[i]) || (i == 0 && f->first_too && str_is(s, f->first_too))) {
			*(int32_t *)((char *)r->into + f->offset) = (int32_t)i;
			return 0;
		}
		buf_printf(&all, "%s%s",
		    i == 0               ? ""
		    : i + 1 < f->n_names ? ", "
		                         : " or ",
		    f->names[i]);
	}
	near = str_nearest(s, f->names, f->n_names);
	problem_set(r->problem, ERR_INVALID, "\"%s\" is \"%.*s\"; %s is expected", place,
	    s.n > 64 ? 64 : (int)s.n, s.p, all.p);
	if (near)
		problem_hint(r->problem, "did you mean \"%s\"?", near);
	return problem_field(r->problem, place);
}

int fields_read_list(const struct fields_in *r, json_t *v, const char *place, size_t most,
    size_t max_bytes, struct field_list *ret_list)
{
	size_t n = json_array_size(v), i;
	struct str *items;
	json_t *one;
	char at[64];

	if (!json_is_array(v))
		return json_in_wrong(v, place, "an array of strings", r->problem);
	if (n > most) {
		problem_set(r->problem, ERR_INVALID,
		    "\"%s\" has %zu entries; at most %zu are allowed", place, n, most);
		return problem_field(r->problem, place);
	}
	items = arena_alloc(r->arena, (n + 1) * sizeof *items);
	json_array_foreach(v, i, one)
	{
		snprintf(at, sizeof at, "%s[%zu]", place, i);
		if (json_in_str(one, at, max_bytes, &items[i], r->problem))
			return ERR_INVALID;
		items[i] = arena_str(r->arena, items[i]);
	}
	*ret_list = (struct field_list){items, n};
	return 0;
}

static int read_list(const struct fields_in *r, const struct field *f, json_t *v, const char *place)
{
	bool paths = f->kind == FIELD_PATHS;
	size_t max = paths ? PATH_MOST : NAME_MAX_BYTES;
	struct field_list list;
	char at[128];

	if (fields_read_list(r, v, place, (size_t)f->max, max, &list))
		return ERR_INVALID;
	for (size_t i = 0; i < list.n; i++) {
		snprintf(at, sizeof at, "%s[%zu]", place, i);
		if (!text_is_name(list.items[i], max))
			return fields_refuse(r, at, "must not be empty or hold control characters");
		if (paths && list.items[i].p[0] != '/')
			return fields_refuse(r, at, "is not an absolute path");
	}
	*(struct field_list *)((char *)r->into + f->offset) = list;
	return 0;
}

/* False: null does not stand for anything here. */
static bool put_null(const struct fields_in *r, const struct field *f)
{
	if (!(f->flags & FIELD_NULL_GIVEN))
		return false;
	if (f->flags & FIELD_NEGATIVE_NONE)
		put_number(r, f, -1);
	else
		memset((char *)r->into + f->offset, 0, f->size);
	return true;
}

static void put_back(const struct fields_in *r, const struct field *f)
{
	if (f->kind == FIELD_OBJECT)
		for (const struct field *inner = f->table; inner->name; inner++)
			put_back(r, inner);
	else
		memcpy((char *)r->into + f->offset, (const char *)r->defaults + f->offset, f->size);
}

static int read_one(const struct fields_in *r, const struct field *f, json_t *v, const char *place)
{
	if (f->read)
		return f->read(r, v, place);
	switch (f->kind) {
	case FIELD_NAME:
	case FIELD_OBJECT_NAME:
	case FIELD_TEXT:
	case FIELD_FILE:
	case FIELD_PATH: return read_text(r, f, v, place);
	case FIELD_BOOL:
	case FIELD_NOT: return read_bool(r, f, v, place);
	case FIELD_I32:
	case FIELD_I64:
	case FIELD_SIZE:
	case FIELD_DURATION:
	case FIELD_SECONDS:
	case FIELD_TIME:
	case FIELD_PAST: return read_number(r, f, v, place);
	case FIELD_CHOICE: return read_choice(r, f, v, place);
	case FIELD_NAMES:
	case FIELD_PATHS: return read_list(r, f, v, place);
	case FIELD_NEED:
		return need_in(
		    v, place, r->arena, (struct str *)((char *)r->into + f->offset), r->problem);
	case FIELD_OBJECT: return fields_read(r, f->table, v, place);
	default: return 0;
	}
}

/* A table that says nothing of requests is all for them. */
static bool is_given(const struct field *f)
{
	return !f->flags || f->flags & FIELD_GIVEN;
}

static int unknown(
    const struct fields_in *r, const struct field *table, const char *key, const char *where)
{
	const char *names[FIELDS_MOST];
	size_t n = 0;

	for (const struct field *f = table; f->name && n < FIELDS_MOST; f++)
		if (is_given(f))
			names[n++] = f->name;
	return json_in_unknown(key, where, names, n, r->problem);
}

static const struct json_member *own_of(const struct fields_in *r, const char *name)
{
	const struct json_member *own = r->own;

	while (own && own->name && strcmp(own->name, name) != 0)
		own++;
	return own && own->name ? own : NULL;
}

static int read_member(
    const struct fields_in *r, const struct field *f, json_t *v, const char *place)
{
	const struct json_member *own = own_of(r, f->name);

	if (r->row && f->size && f->kind != FIELD_OBJECT) /* whose members count by themselves */
		*r->given |= row_bit(r->row, f->offset);
	if (own)
		return own->set(v, place, r->arg, r->problem);
	if (!json_is_null(v) || (!r->defaults && !put_null(r, f)))
		return read_one(r, f, v, place);
	if (r->defaults)
		put_back(r, f);
	return 0;
}

/* Looked for once for every member of every task of a request: most differ in the first letter. */
static const struct field *find(const struct field *table, const char *key)
{
	while (table->name &&
	       (table->name[0] != key[0] || strcmp(table->name, key) != 0 || !is_given(table)))
		table++;
	return table->name ? table : NULL;
}

int fields_read(
    const struct fields_in *r, const struct field *table, json_t *object, const char *where)
{
	const char *key;
	char place[64];
	json_t *v;
	int rc = json_in_object(object, where, r->problem);

	json_object_foreach(object, key, v)
	{
		const struct field *f = rc ? NULL : find(table, key);

		if (rc)
			break;
		if (!f)
			return unknown(r, table, key, where);
		if (*where)
			snprintf(place, sizeof place, "%s.%s", where, key);
		rc = read_member(r, f, v, *where ? place : f->name);
	}
	return rc;
}
