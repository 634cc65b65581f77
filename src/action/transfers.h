/* SPDX-License-Identifier: Apache-2.0 */
/* Downloads and uploads: at most five at once, the others wait their turn. */
#ifndef ACTION_TRANSFERS_H
#define ACTION_TRANSFERS_H

#include "action/tree.h"

#define TRANSFERS_AT_ONCE 5

struct transfer;

struct transfers {
	struct tree *tree;
	struct transfer *first, **last; /* in the order they were asked for */
	int n_waiting, n_active;
	int n_local; /* of the active ones: copies from file to file, which never wait */
	void *multi; /* libcurl's; made at the first need */
};

void transfers_init(struct transfers *x, struct tree *t);
void transfers_release(struct transfers *x);
void transfers_start(struct transfers *x, struct node *leaf);
void transfers_end(struct transfers *x, struct node *leaf);
/* Waits until `fd` can be read, a transfer can go on, or the time has passed (-1: for ever). */
void transfers_wait(struct transfers *x, int fd, int64_t timeout_ms);
void transfers_step(struct transfers *x);

#endif
