/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The ports of this machine that are given to attempts: a range, and who has which. Each is held by
 * one attempt at most, from its start until nothing is left of it.
 */
#ifndef WORKER_PORTS_H
#define WORKER_PORTS_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/str.h"

struct ports {
	uint16_t first, last; /* 0: none are given */
	uint16_t next;        /* where to look on: a port that was given back rests */
	uint64_t held[65536 / 64];
};

/* "20000-29999"; NULL: none. */
int ports_open(struct ports *p, const char *range, struct problem *ret_problem);
size_t ports_total(const struct ports *p);
/* All n of them, or none: they are free on this machine, as far as a bind can tell. */
bool ports_take(struct ports *p, size_t n, uint16_t *ret_ports);
void ports_keep(struct ports *p, uint16_t port); /* it is held since an earlier worker */
void ports_give_back(struct ports *p, const uint16_t *ports, size_t n);

#endif
