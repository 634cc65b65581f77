/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading JSON from strangers: every wrong type, unknown member, size and depth becomes a
 * problem that names the field and says what was expected.
 */
#ifndef WIRE_JSON_IN_H
#define WIRE_JSON_IN_H

#include <jansson.h>

#include "base/err.h"
#include "base/str.h"

/* Parses; on success the caller owns *ret_value. */
int json_in_parse(struct str text, json_t **ret_value, struct problem *p);

/* "an object", "a string", "null" … */
const char *json_in_type(const json_t *v);

struct json_member {
	const char *name;
	/* Returns 0 or an enum err with *p set. `field` is the full path for messages. */
	int (*set)(json_t *v, const char *field, void *arg, struct problem *p);
};

/* Hands each member of an object to its setter; unknown ones are refused with the nearest name. */
int json_in_members(json_t *object, const char *where, const struct json_member *table, size_t n,
    void *arg, struct problem *p);

/* Refuses a member that nobody knows, with the nearest name. */
int json_in_unknown(
    const char *key, const char *where, const char *const *names, size_t n, struct problem *p);

/* Typed getters. Strings belong to the value. */
int json_in_str(const json_t *v, const char *field, size_t max, struct str *ret, struct problem *p);
int json_in_int(
    const json_t *v, const char *field, int64_t min, int64_t max, int64_t *ret, struct problem *p);
int json_in_bool(const json_t *v, const char *field, bool *ret, struct problem *p);
/* "90s", "PT1M", 90 (seconds, fractions too) */
int json_in_duration(const json_t *v, const char *field, int64_t *ret_ms, struct problem *p);
/* RFC 3339, or a duration counted from `now` (sign +1: later, -1: ago) */
int json_in_time(const json_t *v, const char *field, int64_t now_ms, int sign, int64_t *ret_ms,
    struct problem *p);
int json_in_object(const json_t *v, const char *field, struct problem *p);
/* Not nested deeper than JSON_DEPTH_MAX. */
int json_in_depth(json_t *v, const char *field, struct problem *p);
int json_in_wrong(const json_t *v, const char *field, const char *expected, struct problem *p);

/* The same readings for text that came in a URL. */
int text_in_time(
    struct str s, const char *field, int64_t now_ms, int sign, int64_t *ret_ms, struct problem *p);

/* A name of a queue: printable, no slash or comma, not the shape of an id. */
int name_check(struct str name, const char *field, struct problem *p);

#endif
