/* SPDX-License-Identifier: Apache-2.0 */
/* How results are shown: aligned tables for people, JSON, JSON lines and YAML for programs. */
#ifndef CLI_OUTPUT_H
#define CLI_OUTPUT_H

#include <jansson.h>

#include "base/str.h"
#include "base/timefmt.h"
#include "cli/frame/cli.h"

enum heading_flag {
	HEADING_WIDE = 1,    /* only with -o wide */
	HEADING_RIGHT = 2,   /* numbers */
	HEADING_STRETCH = 4, /* gives way when the terminal is too narrow */
	HEADING_STATE = 8,   /* a state: glyph and word, coloured */
	HEADING_NAME = 16,   /* people copy it: others go before it gets shorter than a name is */
	HEADING_SPARE = 32,  /* the first to go, from the right */
};

/* How a member of an object is written for people. */
enum shown {
	SHOWN_TEXT,
	SHOWN_NUMBER,
	SHOWN_COUNT,    /* 1,234,567 */
	SHOWN_SPAN,     /* of milliseconds: "1m30s" */
	SHOWN_SPAN_IF,  /* the same; 0 is none */
	SHOWN_SPAN_AGO, /* the same: "1m30s ago" */
	SHOWN_COARSE,   /* of milliseconds: "3m" */
	SHOWN_AGE,      /* of milliseconds: "3m ago", "now" */
	SHOWN_AGO,      /* of a time: "3m ago", "in 5m" */
	SHOWN_TIME,     /* the time itself, and how long ago it was */
	SHOWN_NAMES,    /* of an array: "a,b" */
	SHOWN_PAIRS,    /* of an object: "k=v k=v" */
	SHOWN_NEED,     /* of an object: "memory=8 GiB cpu=2 label.zone=a" */
	SHOWN_COMMAND,  /* of an array: as it would be typed */
	SHOWN_JSON,
	SHOWN_OBJECT, /* the same; one without members is none */
};

struct value {
	enum shown how;
	const char *member;    /* "name", or of an object inside: "counts.queued" */
	const char *otherwise; /* what is said when there is none; NULL: nothing */
	/* In place of all that: the words that an object is worth; NULL: nothing. */
	char *(*words)(const struct cli *c, const json_t *object);
};
/* NULL: there is nothing to say. The caller frees it. */
char *value_text(const struct cli *c, const struct value *v, const json_t *object);

struct heading {
	const char *title;
	unsigned flags;
	struct value value;
};

#define COLUMNS_MOST 32

/* How a table is laid out: which columns are there, and how wide. */
struct layout {
	bool shown[COLUMNS_MOST];
	size_t widths[COLUMNS_MOST];
	size_t natural[COLUMNS_MOST]; /* as wide as their widest cell so far */
};

struct table {
	const struct heading *columns;
	size_t n_columns;
	char **cells; /* row by row */
	size_t n_cells, cap;
};

void table_init(struct table *t, const struct heading *columns, size_t n);
void table_release(struct table *t);
/* The next cell; NULL and "" show as "-". */
void table_add(struct table *t, const char *text);
void table_addf(struct table *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* A row for each object of the array, by the columns' values. */
void table_fill(struct table *t, const struct cli *c, const json_t *objects);
/* The next page of a longer table: columns only get wider. A title where they are others. */
void table_print_page(const struct table *t, struct cli *c, struct layout *l);
/* `width` 0: as wide as need be. */
void table_render(
    const struct table *t, const struct term *term, int width, bool wide, struct buf *out);
void table_print(const struct table *t, struct cli *c);
/* A whole table of what an array holds. */
void table_show(
    struct cli *c, const struct heading *columns, size_t n_columns, const json_t *objects);

/* A line "name  value" of a detailed view; one without a value is left out. */
struct fact {
	const char *name;
	struct value value;
};
void facts_show(struct cli *c, const struct fact *facts, size_t n, const json_t *object);

#define N_OF(array) (sizeof(array) / sizeof(array)[0])

/* -o json, jsonl or yaml was asked for; then print_json shows it. */
bool wants_machine(const struct cli *c);
/* A line for people, made of whatever the server said: never drives the terminal. */
void say(FILE *f, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* One line of JSON; what a terminal could take for a command is escaped. */
void print_json_line(json_t *j);
/* jansson's flag for as many digits as keep every number what it is: 2.7, not 2.7000000000000002 */
size_t json_reals(const json_t *j);
/* An item of a list within an object, without a line break behind it. */
void print_json_item(json_t *j);
/* With jsonl a list prints its items, one a line. */
void print_json(const struct cli *c, json_t *j);
/* Runs `draw` once, or again and again with --watch. */
int watch_loop(struct cli *c, int (*draw)(struct cli *c));
/* "Retry 37 tasks?" on the terminal; true without one. */
bool confirm(const struct cli *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* The exit code then, after a word about it. */
int not_confirmed(const struct cli *c);
/* "✓ succeeded" in its colour, appended. */
void add_state(struct buf *b, const struct term *t, bool colour, const char *state);
void yaml_print(FILE *f, json_t *j);

/* JSON members. Absent and null are the same. */
const char *js(const json_t *j, const char *name); /* "" when there is none */
bool jhas(const json_t *j, const char *name);
int64_t ji(const json_t *j, const char *name, int64_t fallback);
bool jb(const json_t *j, const char *name);
/* A member that is a time, in ms since 1970; 0: none. */
int64_t jtime(const json_t *j, const char *name);
/* "3s ago", "in 5m", "-": of a member that is a time. */
const char *jago(const json_t *j, const char *name, char out[TIME_TEXT_MAX]);
/* "k=v k=v" of an object of strings. */
void add_pairs(struct buf *b, const json_t *object);
/* A command line as it would be typed, quoted where needed. */
void add_command(struct buf *b, const json_t *array);

/* Times and amounts for people. */
const char *human_ago(int64_t now_ms, int64_t then_ms, char out[TIME_TEXT_MAX]);
/* Coarse durations: "3s", "4m", "2h", "3d". */
const char *human_short(int64_t ms, char out[TIME_TEXT_MAX]);
const char *human_rate(double per_s, char out[TIME_TEXT_MAX]);
const char *human_bytes(int64_t n, char out[TIME_TEXT_MAX]);
/* 1234567 → "1,234,567" */
const char *human_count(int64_t n, char out[TIME_TEXT_MAX]);
/* Time left at this speed, -1 when it cannot be told. */
int64_t eta_ms(int64_t done, int64_t total, double per_s);

#endif
