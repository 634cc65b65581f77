/* SPDX-License-Identifier: Apache-2.0 */
/* Reading values out of a JSON tree, with the path to the place that is wrong. */
#ifndef CRON_TREE_H
#define CRON_TREE_H

#include <jansson.h>

#include "cron/pattern/parse.h"

struct tree {
	struct problem *p;
	char path[64]; /* "[1].hour[2]" */
	size_t n;
};

/* Each appends to the path; tree_up() cuts it to what the call returned. */
size_t tree_key(struct tree *t, const char *key);
size_t tree_index(struct tree *t, size_t index);
void tree_up(struct tree *t, size_t mark);
/* "hour[2]: …"; returns its code. */
int tree_bad(struct tree *t, int code, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
/* Every member's name must be among these. */
int tree_check_keys(struct tree *t, const json_t *object, const char *const *keys, size_t n);
/* A member that must be there. */
int tree_need(struct tree *t, const json_t *object, const char *key, const char *hint,
    const json_t **ret_value);
struct str tree_str(const json_t *v);
const char *tree_kind(const json_t *v); /* "a list" */

/* What a selector's values may be. */
struct selector {
	int64_t min, max;
	const char *const *names; /* NULL: numbers only */
	size_t n_names;
	int64_t first_name; /* the number that the first name stands for */
	bool turns;         /* 23 is followed by 0: a range that ends before it starts means that */
	uint32_t *last;     /* not NULL: takes "last-N", as bit N */
};
/* A value, a list of values and ranges, or a range {start, end, period}. */
int tree_selector(
    struct tree *t, const json_t *v, const struct selector *s, struct ranges *ret_ranges);
int tree_value(struct tree *t, const json_t *v, const struct selector *s, int64_t *ret_n);

extern const struct selector weekday_selector; /* 1 to 7 */

/* The members that need more than a selector. */
int tree_weekday_of_month(struct tree *t, const json_t *v, struct cron_item *it);
int tree_iter_day(struct tree *t, const json_t *v, struct cron_item *it);
int tree_iter_week(struct tree *t, const json_t *v, struct cron_item *it);
int tree_iter_month(struct tree *t, const json_t *v, struct cron_item *it);

#endif
