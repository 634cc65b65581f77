/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The members of a JSON object as a table: name, kind, place in a struct, bounds, and what people
 * should know of each. Requests are read by it (wire/json/fields.h), answers are written and the
 * interface's document is made from it (api/frame/fields_out.h), and the command line finds its
 * options in it. A kind of object has one such table beside its columns (row.h).
 */
#ifndef MODEL_FIELD_H
#define MODEL_FIELD_H

#include "base/str.h"

enum field_kind {
	FIELD_NAME,        /* struct str: text without control bytes, of at most `max` bytes */
	FIELD_OBJECT_NAME, /* struct str: what one of our own objects may be called */
	FIELD_TEXT,        /* struct str: anything of at most `max` bytes */
	FIELD_FILE,        /* struct str: a path */
	FIELD_PATH,        /* struct str: an absolute path */
	FIELD_BOOL,        /* bool, or int32_t */
	FIELD_NOT,         /* bool, the opposite of what is written */
	FIELD_I32,         /* int32_t in [min, max] */
	FIELD_I64,         /* int64_t in [min, max] */
	FIELD_SIZE,        /* int64_t: bytes, or "512M" */
	FIELD_DURATION,    /* int64_t: milliseconds, at least min; shown as NAME_ms */
	FIELD_SECONDS,     /* the same in whole seconds, at most max */
	FIELD_TIME,        /* int64_t: milliseconds since 1970; given also as a duration from now */
	FIELD_PAST,        /* the same; a duration counts back */
	FIELD_CHOICE,      /* int32_t: the index of one of `names` */
	FIELD_NAMES,       /* struct field_list: at most `max` names */
	FIELD_PATHS,       /* struct field_list: at most `max` absolute paths */
	FIELD_OBJECT,      /* `table`, whose members are of the same struct */
	FIELD_OBJECTS,     /* an array of such, which is only shown */
	FIELD_OTHER, /* `read`, or left to its object's own code; its schema says what it is */
	/* What the interface knows how to write, and each reader reads by itself: */
	FIELD_ID,      /* rid */
	FIELD_LINES,   /* struct str: "item\n" lines, an array of at most `max` */
	FIELD_LABELS,  /* struct str: "key=value\n" lines, an object with at most `max` members */
	FIELD_STRINGS, /* struct str: a JSON object of strings as text */
	FIELD_NEED,    /* struct str: canonical text (model/task/need.h); an object, or one text */
	FIELD_RUN, /* struct str: the settings of processes as JSON text (model/run/settings.h) */
};

enum field_flag {
	FIELD_GIVEN = 1,          /* requests may give it */
	FIELD_SHOWN = 2,          /* answers have it */
	FIELD_NEEDED = 4,         /* a new object cannot be without it */
	FIELD_NULL_GIVEN = 8,     /* null may be given: 0, or no text */
	FIELD_NULL_SHOWN = 16,    /* the same is shown as null */
	FIELD_NEGATIVE_NONE = 32, /* not 0 is null, but what is below: -1 */
	FIELD_SECRET = 64,        /* shown only to those who may see commands and output */
	FIELD_RARE = 128,         /* not all answers have it */
	FIELD_BOTH = FIELD_GIVEN | FIELD_SHOWN,
	FIELD_NULL = FIELD_NULL_GIVEN | FIELD_NULL_SHOWN,
};

struct field_list { /* how a list lies in its struct */
	const struct str *items;
	size_t n;
};

struct json_t;
struct fields_in;

struct field {
	const char *name; /* NULL ends a table */
	enum field_kind kind;
	size_t offset, size; /* 0 bytes: it has no place of its own */
	int64_t min, max;    /* both 0: no bounds */
	const char *const *names;
	size_t n_names;
	const char *first_too; /* another word for the first of these; NULL: none */
	const struct field *table;
	/* In place of its kind's reader; NULL: there is none. */
	int (*read)(const struct fields_in *r, struct json_t *v, const char *place);
	unsigned flags;
	const char *about;  /* for people; NULL: its name says it */
	const char *option; /* of the command line; NULL: its name, with - for _ */
	const char *usual;  /* a text that it has when it is not given; NULL: nothing to say */
	const char *schema; /* JSON; NULL: it follows from the rest */
};

#define FIELD(name, kind, type, member, ...)                                      \
	{                                                                         \
		name, kind, offsetof(struct type, member),                        \
		    sizeof(((struct type *)0)->member) __VA_OPT__(, ) __VA_ARGS__ \
	}
/* A member of requests that its object's own code reads. */
#define FIELD_TOLD(label, bits, text, json)                                                       \
	{                                                                                         \
		.name = label, .kind = FIELD_OTHER, .flags = FIELD_GIVEN | (bits), .about = text, \
		.schema = json                                                                    \
	}
/* A member of answers that is found elsewhere: its object's own code writes it. */
#define FIELD_FOUND(label, what, bits, text, ...)                           \
	{                                                                   \
		.name = label, .kind = what, .flags = FIELD_SHOWN | (bits), \
		.about = text __VA_OPT__(, ) __VA_ARGS__                    \
	}
#define FIELD_LIST(name, kind, type, member, most, ...)                                  \
	{                                                                                \
		name, kind, offsetof(struct type, member), sizeof(struct field_list), 0, \
		    most __VA_OPT__(, ) __VA_ARGS__                                      \
	}

#endif
