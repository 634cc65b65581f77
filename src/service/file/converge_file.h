/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `reeve service converge FILE`: what is desired, who is there and what is recorded; then the
 * actions of one pass. docs/SERVICES.md has the format of the file and of the answer.
 */
#ifndef SERVICE_FILE_CONVERGE_FILE_H
#define SERVICE_FILE_CONVERGE_FILE_H

#include "base/arena.h"
#include "base/err.h"
#include "graph/package/names.h"
#include "service/converge/converge.h"
#include "service/file/life_values.h"

struct converge_entry { /* a service, desired or only recorded */
	struct str name, domain;
	uint32_t wanted, line; /* line 0: nobody desires it */
	bool is_singleton, has_domain;
	struct crash_policy policy;
};

struct converge_domain {
	struct str name;
	int64_t expires_ms; /* 0: never */
	bool is_fresh;
};

struct converge_file {
	struct arena arena;
	int64_t now_ms, ask_again_ms;
	bool has_now;
	struct crash_policy policy;
	struct names service_names, domain_names, worker_names;
	struct converge_entry *services; /* by number of the name */
	size_t service_cap;
	uint64_t n_wanted;
	struct converge_domain *domains;
	size_t domain_cap;
	uint8_t *workers; /* enum seen_worker */
	size_t worker_cap;
	struct record_values *records;
	uint32_t *lines;
	size_t n_records, record_cap, line_cap;
};

int converge_file_read(struct str text, struct converge_file *ret_file, struct problem *p);
void converge_file_release(struct converge_file *f);
/* One pass, and the records after it. */
struct converge_report {
	const struct converge_file *file;
	uint32_t *order; /* services by name */
	struct instances records;
	struct converge_actions actions;
};
void converge_file_run(const struct converge_file *f, struct converge_report *ret_report);
/* The actions that one more pass at the same time would take. */
size_t converge_report_again(const struct converge_report *r);
void converge_report_release(struct converge_report *r);
void converge_report_json(const struct converge_report *r, struct buf *out);

#endif
