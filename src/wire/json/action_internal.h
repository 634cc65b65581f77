/* SPDX-License-Identifier: Apache-2.0 */
/* Between action.c, which walks the tree, and action_members.c, which reads its values. */
#ifndef WIRE_ACTION_INTERNAL_H
#define WIRE_ACTION_INTERNAL_H

#include "wire/json/action.h"

#define ACTION_WHERE_MAX 1024 /* the longest path there can be: 32 levels of the longest name */

struct action_parser {
	struct arena *arena;
	struct problem *p;
	char where[ACTION_WHERE_MAX]; /* the value that is being looked at */
	size_t n;
	int depth;
	size_t n_nodes;
};

typedef int action_set_fn(struct action_parser *s, const json_t *v, struct action *a);

struct action_member {
	const char *name;
	action_set_fn *set;
};

struct action_form {
	const struct action_member *members; /* the last one's name is NULL */
	int (*check)(struct action_parser *s, const json_t *body, struct action *a); /* or NULL */
};

extern const struct action_form action_forms[N_ACTION_KINDS];

/* One step down the path, and back: `s->n` as it was before. */
void action_down(struct action_parser *s, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
void action_back(struct action_parser *s, size_t n);
/* What is wrong with the value at s->where; a hint may follow. Returns ERR_INVALID. */
int action_wrong(struct action_parser *s, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
int action_wrong_type(struct action_parser *s, const json_t *v, const char *expected);

/* The setters of members that hold actions. */
action_set_fn action_set_one, action_set_list;

#endif
