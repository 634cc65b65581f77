/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a task needs of the worker that runs it, and what a worker offers, as text: one thing a
 * line, sorted, without repeats. So a need can be compared, stored and sent without a parser.
 *
 *   +zone=a        it wants this label
 *   -zone=b        it does not want that one
 *   @x86_64-linux  it wants this target
 *   cpu=2000       so much of what is counted: cpu in thousandths of a core, memory and disk in
 *   gpu=1          bytes, everything else in pieces
 *   %db=4          a throttle: it starts while fewer than 4 tasks with this key are dispatched
 *
 * An offer has only lines of the kind that is counted: a worker's labels and its target are facts
 * of their own.
 */
#ifndef MODEL_NEED_H
#define MODEL_NEED_H

#include "base/arena.h"
#include "base/str.h"

#define AMOUNT_MAX (INT64_C(1) << 53) /* JSON numbers are exact up to here */
#define AMOUNT_NAME_MAX 64
#define RESOURCES_MAX 16   /* counted by name, of one need, one offer, or of the server */
#define NEED_LABELS_MAX 16 /* wanted, and as many not wanted */
#define THROTTLES_MAX 16
#define OFFER_LINES_MAX (RESOURCES_MAX + 5)

#define AMOUNT_CPU "cpu"
#define AMOUNT_MEMORY "memory"
#define AMOUNT_DISK "disk"
#define AMOUNT_INSTANCES "instances" /* of services, and what they are given */
#define AMOUNT_PORTS "ports"
#define THROTTLE_ARRAY "array." /* begins the keys of those that are one array's */

enum amount_unit { AMOUNT_PIECES, AMOUNT_MILLI, AMOUNT_BYTES };

struct amount {
	struct str name;
	int64_t n; /* at least 1 in a need, at least 0 in an offer */
};

struct holding { /* something counted, of a worker or of the whole cluster */
	char *name;
	int64_t total, used; /* more is used than there is when somebody offers less than before */
};

enum amount_unit amount_unit(struct str name);
/* May a resource be called so? Letters, digits and _ - . / after the first. */
bool amount_name_ok(struct str name);
/* "2", "0.5", "8 GiB", for people. */
void amount_add(struct buf *b, struct str name, int64_t n);

/* Walks the counted lines of a need or an offer, in order; false at the end. */
bool amount_next(struct str *rest, struct amount *ret_amount);
/* -1: there is no such line. */
int64_t amount_of(struct str lines, struct str name);
void amount_line(struct buf *lines, struct str name, int64_t n);

/* The same for throttles: the name is the key, the number the limit. */
bool throttle_next(struct str *rest, struct amount *ret_throttle);
int64_t throttle_of(struct str lines, struct str key);
void throttle_line(struct buf *lines, struct str key, int64_t limit);
/* Whether it is about the worker: a throttle is not. */
bool need_asks_worker(struct str need);

/* A task's need over its queue's: what the queue wants of the place holds too, and of what is
 * counted the task's own amount stands for the queue's; so does its limit of a throttle that both
 * name. Both may be NULL, and so may the result. */
struct str need_merge(struct arena *a, struct str queue, struct str task);
/* The first line that a worker with this target and these labels can never fulfil; NULL: none. Its
 * zone is a label, too. */
struct str need_unmet(struct str need, struct str target, struct str zone, struct str labels);

/* What came over the wire: sorted lines within all bounds. */
bool offer_is_valid(struct str offer);

#endif
