/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of this folder share: the loaded values, and reporting where a mistake is. */
#ifndef CONFIG_INTERNAL_H
#define CONFIG_INTERNAL_H

#include <jansson.h>

#include "base/arena.h"
#include "config/config.h"
#include "config/text.h"

#define PROBLEMS_MAX 100

/* Rising precedence. */
enum layer { LAYER_NONE, LAYER_DEFAULT, LAYER_FILE, LAYER_CONF_D, LAYER_ENV, LAYER_FLAG };

struct value {
	enum layer layer;
	const char *origin;
	const char *text; /* scalars that are text; enums too */
	int64_t number;   /* numbers, sizes, durations (ms), modes, booleans, enum index */
	const char **list;
	size_t n_list;
	json_t *json; /* KEY_MAP, KEY_PLUGINS; owned */
};

struct config {
	struct arena arena;
	struct config_sources src;
	const char *file;
	struct value *values; /* one per row of the table */
	struct config_problem *problems;
	size_t n_problems, cap_problems;
	size_t n_errors; /* also those beyond PROBLEMS_MAX */
	int first_code;  /* enum err of the first error */
	struct config_plugin *plugins;
	size_t n_plugins;
};

/* Where a value stands that is being read. */
struct where {
	const char *name;          /* of the file, variable or flag */
	const struct paths *paths; /* NULL: it has no lines */
	uint64_t path;
	enum layer layer;
	unsigned users;  /* of the key */
	const char *dir; /* relative paths begin here; NULL: where we are */
};

/* Errors become warnings when none of those who load the configuration use the key. */
void report(struct config *c, const struct where *w, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
void report_warning(struct config *c, const struct where *w, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/* Adds what to do to the problem reported last. */
void report_hint(struct config *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Text from outside, fit for a message: bounded, control bytes as \xNN; in the config's arena. */
const char *report_quote(struct config *c, struct str s);
int where_line(const struct where *w);

/* A variable's value, NULL when it is not there or empty. */
const char *source_env(const struct config_sources *src, const char *name);
/* NULL: there is none, or it is relative, which was reported. */
const char *source_home(const struct config *c);

struct value *config_value(const struct config *c, const char *key);
/* The value of `<key>_file`. */
struct value *config_secret_file(const struct config *c, const char *key);

/* value_text.c, value_json.c: report and return false when the value does not fit the key. */
bool value_from_text(struct config *c, const struct where *w, const struct config_key *k,
    struct str text, struct value *v);
bool value_from_json(struct config *c, const struct where *w, const struct config_key *k,
    json_t *json, struct value *v);
bool value_check_number(
    struct config *c, const struct where *w, const struct config_key *k, int64_t n);
bool value_check_map(
    struct config *c, const struct where *w, const struct config_key *k, json_t *json);
void value_release(struct value *v);
/* "64MiB", "565s": the largest unit that says it exactly */
void value_write_number(const struct config_key *k, int64_t n, struct buf *b);

/* address.c */
bool address_check(struct str address, const char **ret_why);

/* plugins.c */
bool plugins_check(
    struct config *c, const struct where *w, const struct config_key *k, json_t *json);
void plugins_build(struct config *c);

/* file.c: reads one file (or text) into the values. False: it could not be read at all. */
bool file_load(struct config *c, const char *path, enum layer layer);
void file_load_text(struct config *c, struct str text, struct where *w);
/* find.c: which file to read; loads it and its conf.d. */
void files_load(struct config *c);

/* defaults.c */
void defaults_apply(struct config *c);

/* rules.c: what one key demands of another. */
void rules_check(struct config *c);

#endif
