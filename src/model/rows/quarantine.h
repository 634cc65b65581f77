/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows that do not fit their checksums. Nobody knows what they said, so each kind has a way to be
 * there and do no harm: its table's `quarantine`. What can be paused is there by its name, but
 * paused, with the reason, and without what it would have run; a token admits nobody; a worker is
 * one that nobody has heard of; a task says which of its parts are damaged.
 */
#ifndef MODEL_QUARANTINE_H
#define MODEL_QUARANTINE_H

#include "base/str.h"

/* In place of a text that is not known. */
#define ROW_DAMAGED "damaged"

struct quarantine_facts {
	unsigned damage; /* sets of columns that do not fit, 1u << set */
	struct str name; /* the row's name, if its kind has names */
	int64_t now_ms;  /* wall clock */
};

/* What was asked for is not known: not only how it stands. */
bool quarantine_is_whole(const struct quarantine_facts *f);
/* For people: what to do about something that is paused because of it. */
struct str quarantine_reason(const struct quarantine_facts *f);
/* A stored time, if it can be one. */
int64_t quarantine_time_ms(const struct quarantine_facts *f, int64_t stored_ms);

#endif
