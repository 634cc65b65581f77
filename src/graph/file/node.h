/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Values of a file as what they should be. Every error names the line, who it is about (`who`: a
 * package or a job, or empty) and the member, and says what is wanted.
 */
#ifndef GRAPH_FILE_NODE_H
#define GRAPH_FILE_NODE_H

#include "graph/file/reader.h"

bool node_is_bool(const struct node *v);
bool node_is_number(const struct node *v);

int node_text(const struct node *v, const char *name, size_t max, struct str who,
    struct str *ret_text, struct problem *p);
int node_number(const struct node *v, const char *name, int64_t min, int64_t max, struct str who,
    int64_t *ret_n, struct problem *p);
/* "90s", 90, "PT1M": above zero */
int node_duration(const struct node *v, const char *name, int64_t max_ms, struct str who,
    int64_t *ret_ms, struct problem *p);
int node_list(
    const struct node *v, const char *name, size_t max, struct str who, struct problem *p);

/* A member of a map, and who reads it; at most 32 of them. */
struct member {
	const char *name;
	int (*read)(const struct node *v, void *arg, struct problem *p);
};
/* Each member to its reader; refuses those that nobody knows, and those that are there twice. */
int members_read(const struct node *map, const struct member *table, size_t n, void *arg,
    struct str who, struct problem *p);
int member_unknown(uint32_t line, struct str name, const char *const *names, size_t n,
    struct str who, struct problem *p);

/* The value as JSON: texts without quotes as the numbers and words that they stand for. */
void node_json(const struct node *v, struct buf *out);

#endif
