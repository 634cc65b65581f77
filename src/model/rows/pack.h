/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A row at rest in few bytes, for what is kept in memory by the million: most numbers are zero or
 * small, and strings are short. Numbers are zigzag varints, strings have their length plus one
 * before them (0: NULL). The columns of the set `without` are left out: whoever packs has them
 * elsewhere.
 */
#ifndef MODEL_PACK_H
#define MODEL_PACK_H

#include "model/rows/row.h"

/* Takes the place of *packed, which is NULL or a heap block of *n bytes. */
void row_pack(
    const struct row_table *t, uint64_t without, const void *row, void **packed, uint32_t *n);
/* Strings go into the arena; NULL: they stay where they are, without a NUL. What was left out
 * stays as the row has it. */
void row_unpack(
    const struct row_table *t, uint64_t without, const void *packed, struct arena *a, void *row);

#endif
