/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `reeve place FILE`: workers with what runs there, work, and settings; then who goes where.
 * docs/SERVICES.md has the format of the file and of the answer.
 */
#ifndef SERVICE_FILE_PLACE_FILE_H
#define SERVICE_FILE_PLACE_FILE_H

#include "base/arena.h"
#include "base/err.h"
#include "graph/package/names.h"
#include "service/place/auction.h"

struct place_run {                /* what is on a worker already */
	uint32_t worker, service; /* names.texts; NO_SERVICE: tasks */
	uint32_t count, starting;
	int64_t amount[N_PLACE_RESOURCES];
};

struct place_entry { /* of the list of work */
	uint32_t line;
	uint32_t service; /* names.texts; NO_SERVICE: a task */
	struct str task;
	uint32_t n, *indexes; /* NULL: 0 to n - 1 */
	int64_t amount[N_PLACE_RESOURCES];
	struct place_want want;
};

struct place_file {
	struct arena arena;
	struct place_config config;
	struct str *zones;
	struct place_worker *workers; /* by name */
	uint32_t *worker_lines;
	struct names worker_names, services, tasks;
	uint32_t n_workers;
	size_t worker_cap, line_cap;
	struct place_run *runs;
	size_t n_runs, run_cap;
	struct place_entry *entries;
	size_t n_entries, entry_cap;
	uint32_t n_work;
};

int place_file_read(struct str text, struct place_file *ret_file, struct problem *p);
void place_file_release(struct place_file *f);

/* What came of it. */
struct place_report {
	const struct place_file *file;
	struct auction *auction;
	struct str *services; /* by number, in the order of their names */
	struct place_work *work;
	uint32_t *entry_of; /* by work */
	struct place_result *results;
	uint32_t *order, n, n_placed;
};
void place_file_run(const struct place_file *f, struct place_report *ret_report);
void place_report_release(struct place_report *r);
void place_report_json(const struct place_report *r, struct buf *out);

#endif
