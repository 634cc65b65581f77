/* SPDX-License-Identifier: Apache-2.0 */
/* Objects as JSON, and the shape of that JSON, by the tables of their members (model/rows/field.h).
 */
#ifndef API_FIELDS_OUT_H
#define API_FIELDS_OUT_H

#include "api/frame/json_out.h"
#include "model/rows/field.h"

/* A member that is not in the row: writes the value. */
struct field_out {
	const char *name; /* NULL ends a table */
	void (*write)(struct buf *b, const void *arg);
};

struct showing {
	const struct id_space *ids;
	const void *row;
	const struct field_out *own; /* NULL: there are none */
	const void *arg;             /* theirs */
	bool full;                   /* secrets, too */
};
/* The members that are shown, into an object that is open. */
void fields_write(struct buf *b, const struct showing *s, const struct field *fields);

/* Durations are shown in milliseconds, and their members say so: "timeout_ms". */
#define FIELD_KEY_MAX 64
const char *field_key(const struct field *f, bool shown, char scratch[FIELD_KEY_MAX]);

/* What a table gives: an answer, a request that makes an object or changes it, or settings of
 * which each may be null. */
enum shape { SHAPE_SHOWN, SHAPE_CREATE, SHAPE_CHANGE, SHAPE_SETTINGS };
/* As JSON Schema 2020-12; `about` may be NULL. */
void fields_schema(struct buf *b, const struct field *fields, enum shape shape, const char *about);

#endif
