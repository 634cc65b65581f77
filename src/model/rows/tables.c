/* SPDX-License-Identifier: Apache-2.0 */
#include "model/rows/tables.h"

#include "model/rows/row.h"

#define X(id, name) extern const struct row_table name##_table;
ROW_TABLES(X)
#undef X

const struct row_table *const row_tables[N_TABLES] = {
#define X(id, name) [TABLE_##id] = &name##_table,
    ROW_TABLES(X)
#undef X
};
