/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What all files of services have in common: a map of lists and settings, JSON or YAML, read by the
 * reader of plans, and values that become amounts, times, names and sorted lines. Every error has
 * its line.
 */
#ifndef SERVICE_FILE_INPUT_H
#define SERVICE_FILE_INPUT_H

#include "graph/file/node.h"
#include "graph/package/names.h"

/* A member of the file: a whole value, or a list whose entries come one after the other. */
struct file_member {
	const char *name;
	bool is_list;
	int (*read)(const struct node *v, void *arg, struct problem *p);
};
#define FILE_MEMBERS_MAX 16

int input_parse(struct str text, const struct file_member *table, size_t n, const char *hint,
    void *arg, struct problem *p);

/* A map of members; `who` is put before what is wrong. */
int map_read(const struct node *v, const char *what, const struct member *table, size_t n,
    void *arg, struct str who, struct problem *p);
const struct node *map_find(const struct node *map, const char *name);

/* A name: no control characters, no spaces at its ends, not empty, at most SERVICE_NAME_MAX. */
int node_name(const struct node *v, const char *name, struct str *ret_name, struct problem *p);
/* The member of that name, which must be there; kept in the arena. */
int map_name(const struct node *map, const char *name, struct arena *arena, struct str *ret_name,
    struct problem *p);
/* "512M", or a number of bytes */
int node_bytes(const struct node *v, const char *name, int64_t *ret_bytes, struct problem *p);
/* "0.25" as a whole number of 1/scale; scale is a power of ten */
int node_decimal(const struct node *v, const char *name, int64_t scale, int64_t max, int64_t *ret_n,
    struct problem *p);
int node_count(const struct node *v, const char *name, int64_t min, int64_t max, uint32_t *ret_n,
    struct problem *p);
int node_flag(const struct node *v, const char *name, bool *ret_flag, struct problem *p);
/* Which of the names; in any case. */
int node_choice(const struct node *v, const char *name, const char *const *names, size_t n,
    unsigned *ret_choice, struct problem *p);
/* RFC 3339, or how long after 1970 began: 90, "90s", "2h" */
int node_time(const struct node *v, const char *name, int64_t *ret_ms, struct problem *p);
/* A time of 0 or more. */
int node_span(const struct node *v, const char *name, int64_t *ret_ms, struct problem *p);
/* A list of texts, or a map (then "key=value"), as sorted lines, each once. */
int node_lines(const struct node *v, const char *name, struct arena *arena, struct str *ret_lines,
    struct problem *p);
/* "web/3" */
int node_instance(const struct node *v, const char *name, struct str *ret_service,
    uint32_t *ret_index, struct problem *p);

#endif
