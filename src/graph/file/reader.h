/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A file of JSON or YAML, read from top to bottom, one entry at a time, with the line of every
 * value. One reader does for both, since JSON is YAML's flow form; it trusts nothing: size, depth
 * and the values of one entry are bounded, and anchors, tags and further documents are refused.
 */
#ifndef GRAPH_FILE_READER_H
#define GRAPH_FILE_READER_H

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"

enum node_kind { NODE_TEXT, NODE_LIST, NODE_MAP };

struct node {
	enum node_kind kind;
	bool is_plain;   /* a text without quotes: it may mean a number, true, false or null */
	uint32_t line;   /* from 1 */
	uint32_t n;      /* values of a list, members of a map */
	struct str key;  /* the member's name, in a map */
	struct str text; /* ends with a NUL that does not count */
	struct node *first, *last, *next;
};

struct reader;

/* The text must be one map; it has to outlive the reader. `wanted` says of what, `hint` how such a
   file begins. */
int reader_open_as(struct str text, const char *wanted, const char *hint,
    struct reader **ret_reader, struct problem *p);
int reader_open(struct str text, struct reader **ret_reader, struct problem *p); /* of a plan */
void reader_free(struct reader *r);
/* The name of the next member of the map: 1; 0: there is none, and the file ends; or an error. */
int reader_member(struct reader *r, struct str *ret_name, uint32_t *ret_line, struct problem *p);
/* After a member's name, either its whole value … */
int reader_value(struct reader *r, struct node **ret_node, struct problem *p);
/* … or, if it is a list, one value after the other: 1; 0: the list has ended. Nodes live until the
   next call. */
int reader_list(struct reader *r, struct problem *p);
int reader_item(struct reader *r, struct node **ret_node, struct problem *p);

/* What a text without quotes stands for. */
bool node_is_null(const struct node *v);
const char *node_type(const struct node *v); /* "a list", "a number" … */

/* "line 7: core/gcc: …": puts the place before what the problem says. An empty `who` is left out.
 */
int problem_at(struct problem *p, uint32_t line, struct str who);
/* Both at once: sets the problem and its place. */
int wrong_at(struct problem *p, uint32_t line, struct str who, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));

#endif
