/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A JSON object read into a struct by a table (model/rows/field.h). What is wrong is said with its
 * whole path. Where there are defaults a member that is null goes back to its own, so that a later
 * object can take back what an earlier one said.
 */
#ifndef WIRE_FIELDS_H
#define WIRE_FIELDS_H

#include "base/arena.h"
#include "model/rows/field.h"
#include "wire/json/json_in.h"

struct fields_in {
	struct arena *arena; /* strings are copied into it */
	void *into;
	/* The same struct as it was before anything was said; NULL: null stands only for what the
	 * table says that it may be. */
	const void *defaults;
	struct problem *problem;
	int64_t now_ms; /* durations in place of times count from here */
	/* Members that their object's own code reads; ends with NULL. */
	const struct json_member *own;
	void *arg; /* theirs */
	/* The kind of row that `into` is, and which of its columns were given; NULL: it is none. */
	const struct row_table *row;
	uint64_t *given;
};

/* 0, or ERR_INVALID with the problem set. Members that are not there leave what `into` holds. */
int fields_read(
    const struct fields_in *r, const struct field *table, json_t *object, const char *where);
/* One list of texts of 1 to max bytes. */
int fields_read_list(const struct fields_in *r, json_t *v, const char *place, size_t most,
    size_t max_bytes, struct field_list *ret_list);
/* `what` is expected to read on from the path: "must not be …" */
int fields_refuse(const struct fields_in *r, const char *place, const char *what);

#endif
