/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is remembered of a job that was built in a group of a series: how long that took, which
 * task it was, and what it was built from. One row for each job of a series, by its name: the
 * newest counts. A row is found by numbers that are made of the names, and has the names too: two
 * may have the same number.
 */
#ifndef MODEL_BUILT_H
#define MODEL_BUILT_H

#include "model/id.h"

struct built_row {
	int64_t series, job; /* built_number() of their names */
	struct str series_name, job_name;
	int64_t duration_ms;
	rid group, task;
	int64_t time_ms;   /* when it was built: old ones go with old events */
	struct str digest; /* of what it was built from, as hex; NULL: nobody knows */
};

extern const struct row_table built_table; /* model/rows/row.h */

/* Not negative, and never another one for the same name. */
int64_t built_number(struct str name);

#endif
