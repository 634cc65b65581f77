/* SPDX-License-Identifier: Apache-2.0 */
/* A request from the command line: which option is which member, and what it may be. */
#ifndef CLI_BODY_H
#define CLI_BODY_H

#include "cli/frame/cli.h"
#include "model/rows/field.h"

enum setting_kind {
	SETTING_TEXT,
	SETTING_MOMENT, /* a text; bare numbers are seconds since 1970 */
	SETTING_NUMBER,
	SETTING_SWITCH,
	SETTING_NAMES, /* an array of all that were given */
	SETTING_PAIRS, /* KEY=VALUE, put over those that there are; KEY= removes one */
	SETTING_RUN,   /* how processes are run: all of process_options, put over what there is */
};

struct setting {
	const char *option; /* NULL ends a table */
	enum setting_kind kind;
	bool none;           /* "none" takes it back: null */
	const char *member;  /* NULL: as the option, with _ for - */
	int64_t min, max;    /* of a number */
	const char *instead; /* a word that may stand in place of the number */
	const char *hint;    /* when it is no such number */
	bool is_size;        /* of bytes: "32M" is a number, too */
};

/* Settings by a table of members: an option for each that requests may give. */
#define SETTINGS_MOST 32
struct made_settings {
	struct setting rows[SETTINGS_MOST];
	char options[SETTINGS_MOST][32];
};
const struct setting *settings_make(const struct field *fields, struct made_settings *made);

/*
 * Adds what was given on the line; `old` is what is changed, NULL: nothing is there yet. It may be
 * `body` itself, a whole object which is changed in place: then "none" takes any member away.
 * Settings whose option the command does not have are left out.
 */
int body_add(struct cli *c, const struct setting *settings, const json_t *old, json_t *body);
int body_add_text(struct cli *c, json_t *body, const char *member, const char *value);
/* Options as parameters of a request, by their names; --yes is none. */
void query_add(const struct cli *c, const struct option_def *table, struct buf *url);
/* Some of what was given is put over what there is: that has to be read first. */
bool body_needs_old(const struct cli *c, const struct setting *settings);

/* Bare numbers are seconds since 1970, as everywhere in `reeve cron`; the rest is as given. */
void moment_text(const char *given, struct buf *out);

#endif
