/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table of tables: every kind of row that a store keeps. Each is described beside its struct,
 * as NAME_table.
 */
#ifndef MODEL_TABLES_H
#define MODEL_TABLES_H

#define ROW_TABLES(X)                   \
	X(META, meta)                   \
	X(QUEUE, queue)                 \
	X(WORKER, worker)               \
	X(SCHEDULE, schedule)           \
	X(TOKEN, token)                 \
	X(GROUP, group)                 \
	X(GRAPH, graph)                 \
	X(DOMAIN, domain)               \
	X(SERVICE, service)             \
	X(REVISION, revision)           \
	X(INSTANCE, instance)           \
	X(IDEM, idem)                   \
	X(TASK, task)                   \
	X(TASK_BATCH, task_batch)       \
	X(TICK, tick)                   \
	X(GROUP_GRAPH, group_graph)     \
	X(GRAPH_PACKAGE, graph_package) \
	X(BUILT, built)                 \
	X(EVENT, event)                 \
	X(OUTPUT, output)               \
	X(INPUT, input)                 \
	X(INPUT_PART, input_part)

enum table_number {
#define X(id, name) TABLE_##id,
	ROW_TABLES(X)
#undef X
	    N_TABLES
};

struct row_table;

/* By number, which is also the order in which they are loaded, and in which a check of all that
 * there is looks at them: what matters most first, should its time run out. */
extern const struct row_table *const row_tables[N_TABLES];

#endif
