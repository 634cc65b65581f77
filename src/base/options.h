/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Command-line options as tables: one declaration gives the parser, the help, the man page and the
 * completions. Understands --name value, --name=value, --no-name for switches, -x, -xy, -xVALUE,
 * --.
 */
#ifndef BASE_OPTIONS_H
#define BASE_OPTIONS_H

#include "base/err.h"
#include "base/str.h"

enum option_flag {
	OPTION_MAYBE = 1,  /* the argument may be left out: --watch or --watch=5, never --watch 5 */
	OPTION_REPEAT = 2, /* may be given more than once; all values count */
	OPTION_HIDDEN = 4, /* understood, but left out of the help */
};

struct option_def {
	const char *name;     /* without dashes; NULL ends a table */
	char letter;          /* 0: there is no short form */
	const char *arg;      /* what its argument is called; NULL: a switch */
	const char *help;     /* one sentence without a full stop; NULL: others know it */
	const char *env;      /* the variable that stands in when it is not given; NULL: none */
	unsigned flags;       /* enum option_flag */
	const char *complete; /* kind of its values, for completions: "queue", "state", "file" … */
};

enum options_mode {
	OPTIONS_ANYWHERE, /* options and arguments may be mixed, up to "--" */
	OPTIONS_FIRST,    /* the first argument ends the options: what follows is somebody else's */
};

#define OPTION_TABLES_MAX 8

struct option_value {
	const struct option_def *def;
	const char *value; /* borrowed from argv; "true" or "false" for a switch */
};

struct options {
	const struct option_def *tables[OPTION_TABLES_MAX];
	size_t n_tables;
	struct option_value *values;
	size_t n_values, values_cap;
	const char **args; /* what is not an option */
	size_t n_args, args_cap;
	bool has_dashes;     /* "--" was seen */
	size_t dashes_at;    /* index of the first argument after it */
	const char *program; /* for hints: "reeve server"; may be NULL */
	/* What an option of this name is called here, for hints; NULL: nobody knows. */
	const char *(*meant)(const char *program, const char *name);
};

void options_release(struct options *o);
void options_add_table(struct options *o, const struct option_def *table);
/* argv[0] is the first word to look at. May be called again: values add up. */
int options_parse(
    struct options *o, enum options_mode mode, int argc, char **argv, struct problem *ret_problem);
/*
 * Looks at leading options only and says in *ret_used how many words they took; the next word is
 * the first argument (or the end).
 */
int options_parse_leading(
    struct options *o, int argc, char **argv, int *ret_used, struct problem *ret_problem);

/* The last value given, else the environment's, else NULL. The name must be in a table. */
const char *options_get(const struct options *o, const char *name);
const char *options_or(const struct options *o, const char *name, const char *fallback);
/* Given on the command line itself. */
bool options_given(const struct options *o, const char *name);
/* A switch: on, off, or `fallback` when nothing is said. */
bool options_switch(const struct options *o, const char *name, bool fallback);
/* Walks the values of a repeatable option; *at starts at 0. */
const char *options_next(const struct options *o, const char *name, size_t *at);
/* Where the value came from, for `config show --origin`: "flag", "environment" or NULL. */
const char *options_origin(const struct options *o, const char *name);
/* Numbers and durations, checked. When nothing is given *ret keeps what it holds. */
int options_i64(const struct options *o, const char *name, int64_t min, int64_t max, int64_t *ret,
    struct problem *ret_problem);
int options_duration(
    const struct options *o, const char *name, int64_t *ret_ms, struct problem *ret_problem);
/* The definition by long name (with or without "no-"), or NULL. */
const struct option_def *options_find(const struct options *o, struct str name, bool *ret_negated);
/* "-q, --queue NAME", as shown in help and man pages. */
void option_format(const struct option_def *def, struct buf *out);

#endif
