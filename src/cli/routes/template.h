/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Templates: a text with {{values}}, loops and conditions over JSON, for configurations of proxies.
 * What comes from the data is written as the target of the text allows, or not at all: a name can
 * never become a line of configuration. docs/SERVICES.md describes the language.
 */
#ifndef CLI_ROUTES_TEMPLATE_H
#define CLI_ROUTES_TEMPLATE_H

#include <jansson.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"

#define TEMPLATE_MAX (1u << 20)         /* bytes of a template */
#define TEMPLATE_OUTPUT_MAX (64u << 20) /* of what it makes */
#define TEMPLATE_STEPS_MAX 20000000     /* parts of it that are gone through */
#define TEMPLATE_NESTED_MAX 16
#define TEMPLATE_PATH_MAX 8 /* names of a path */
#define TEMPLATE_TERMS_MAX 8

/* Into what the values are written. */
enum template_target {
	TARGET_WORD,    /* only what means nothing special anywhere */
	TARGET_HAPROXY, /* the same, or quoted as HAProxy has it */
	TARGET_NGINX,   /* the same, or quoted as nginx has it */
	TARGET_JSON,    /* as a value of JSON */
	TARGET_TEXT,    /* anything but control characters */
	N_TEMPLATE_TARGETS
};
extern const char *const template_target_names[N_TEMPLATE_TARGETS];

enum template_filter { FILTER_NONE, FILTER_ID, FILTER_QUOTE, FILTER_HOST, N_TEMPLATE_FILTERS };
extern const char *const template_filter_names[N_TEMPLATE_FILTERS];

enum template_test {
	TEST_NONE,
	TEST_HOST,
	TEST_NAME,
	TEST_PATH,
	TEST_PORT,
	TEST_NUMBER,
	TEST_TEXT,
	TEST_LIST,
	TEST_MAP,
	N_TEMPLATE_TESTS
};
extern const char *const template_test_names[N_TEMPLATE_TESTS];

/* A path into the data, or a literal. */
struct template_operand {
	json_t *literal; /* NULL: a path */
	const char *names[TEMPLATE_PATH_MAX];
	size_t n_names;
	const char *text; /* as it is written */
};

struct template_term {
	bool is_negated, is_compared, is_unequal;
	enum template_test test;
	struct template_operand left, right;
};

struct template_cond {
	struct template_term terms[TEMPLATE_TERMS_MAX];
	size_t n;
	bool is_or;
};

enum template_kind { PART_TEXT, PART_VALUE, PART_FOR, PART_IF, PART_TARGET };

struct template_part {
	enum template_kind kind;
	uint32_t line;
	struct template_part *next;
	struct str text;                   /* text */
	struct template_operand value;     /* value, for */
	struct template_operand otherwise; /* value: what is written if it is not there */
	bool has_otherwise;
	enum template_filter filter;
	enum template_target target;
	const char *key_name, *name;       /* for; no key: NULL */
	struct template_cond *cond;        /* if */
	struct template_part *body, *not ; /* for, if; what is done otherwise */
};

struct template
{
	struct arena arena;
	struct template_part *first;
	json_t *literals; /* they own what operands have */
};

int template_parse(struct str text, struct template *ret_template, struct problem *p);
void template_release(struct template *t);
/* Writes it with the members of the data as its first names. Nothing is added on an error. */
int template_run(const struct template *t, json_t *data, struct buf *out, struct problem *p);

/* --- inside of the room --- */

/* Writes a value; `what` is its path, for errors. */
int value_write(json_t *v, enum template_target target, enum template_filter filter,
    const char *what, struct buf *out, struct problem *p);
bool value_passes(json_t *v, enum template_test test);
bool is_host(struct str s);

#endif
