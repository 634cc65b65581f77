/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Standard input that comes while its task waits or runs: how much of it there is, and its bytes in
 * parts of at most INPUT_PART_BYTES. Both stay until the task has ended, so that every attempt
 * reads the same from the beginning.
 */
#ifndef MODEL_INPUT_H
#define MODEL_INPUT_H

#include "model/id.h"

/* GONE: its task has ended, and what there is of it goes slice by slice. */
enum input_end { INPUT_OPEN, INPUT_ENDED, INPUT_DAMAGED, INPUT_GONE };

struct input_row {
	rid task;
	rid queue; /* of the task */
	int64_t size;
	int32_t end; /* enum input_end */
};

struct input_part_row {
	rid task;
	int64_t offset;
	struct str data; /* not empty */
};

extern const struct row_table input_table, input_part_table; /* model/rows/row.h */

#endif
