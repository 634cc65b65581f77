/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A JSON object read into a struct by a table: name, kind, place, bounds. What is wrong is said
 * with its whole path. A member that is null goes back to its default, so that a later object can
 * take back what an earlier one said.
 */
#ifndef WIRE_FIELDS_H
#define WIRE_FIELDS_H

#include "base/arena.h"
#include "wire/json_in.h"

enum field_kind {
	FIELD_NAME,     /* struct str: text without control bytes, of at most `max` bytes */
	FIELD_TEXT,     /* struct str: anything of at most `max` bytes */
	FIELD_FILE,     /* struct str: a path */
	FIELD_PATH,     /* struct str: an absolute path */
	FIELD_BOOL,     /* bool */
	FIELD_NOT,      /* bool, the opposite of what is written */
	FIELD_I32,      /* int32_t in [min, max] */
	FIELD_I64,      /* int64_t in [min, max] */
	FIELD_SIZE,     /* int64_t: bytes, or "512M" */
	FIELD_DURATION, /* int64_t: milliseconds, at least min */
	FIELD_CHOICE,   /* int32_t: the index of one of `names` */
	FIELD_NAMES,    /* struct field_list: at most `max` names */
	FIELD_PATHS,    /* struct field_list: at most `max` absolute paths */
	FIELD_OBJECT,   /* `table`, read into the same struct */
	FIELD_OTHER,    /* `read` */
};

struct field_list { /* how a list lies in its struct */
	const struct str *items;
	size_t n;
};

struct reading {
	struct arena *arena; /* strings are copied into it */
	void *into;
	const void *defaults; /* the same struct as it was before anything was said */
	struct problem *problem;
};

struct field {
	const char *name; /* NULL ends a table */
	enum field_kind kind;
	size_t offset, size; /* size: what null puts back */
	int64_t min, max;
	const char *const *names;
	size_t n_names;
	const struct field *table;
	int (*read)(const struct reading *r, json_t *v, const char *place);
};

#define FIELD(name, kind, type, member, ...)                                      \
	{                                                                         \
		name, kind, offsetof(struct type, member),                        \
		    sizeof(((struct type *)0)->member) __VA_OPT__(, ) __VA_ARGS__ \
	}
#define FIELD_LIST(name, kind, type, member, most)                                            \
	{                                                                                     \
		name, kind, offsetof(struct type, member), sizeof(struct field_list), 0, most \
	}

/* 0, or ERR_INVALID with the problem set. Members that are not there leave what `into` holds. */
int fields_read(
    const struct reading *r, const struct field *table, json_t *object, const char *where);
/* One list of texts of 1 to max bytes. */
int fields_read_list(const struct reading *r, json_t *v, const char *place, size_t most,
    size_t max_bytes, struct field_list *ret_list);
/* `what` is expected to read on from the path: "must not be …" */
int fields_refuse(const struct reading *r, const char *place, const char *what);

#endif
