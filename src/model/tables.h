/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table of tables: every kind of row that a store keeps. Each is described beside its struct;
 * a further one gets a number here and its place in tables.c.
 */
#ifndef MODEL_TABLES_H
#define MODEL_TABLES_H

enum table_number {
	TABLE_META,
	TABLE_QUEUE,
	TABLE_WORKER,
	TABLE_SCHEDULE,
	TABLE_TOKEN,
	TABLE_IDEM,
	TABLE_TASK,
	TABLE_TICK,
	TABLE_EVENT,
	TABLE_OUTPUT,
	N_TABLES,
};

struct row_table;

/* By number, which is also the order in which they are loaded, and in which a check of all that
 * there is looks at them: what matters most first, should its time run out. */
extern const struct row_table *const row_tables[N_TABLES];

#endif
