/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `reeve service reconcile FILE`: what a worker has, and what the records say; then what it does
 * with each. docs/SERVICES.md has the format of the file and of the answer.
 */
#ifndef SERVICE_FILE_RECONCILE_FILE_H
#define SERVICE_FILE_RECONCILE_FILE_H

#include "base/arena.h"
#include "base/err.h"
#include "graph/package/names.h"
#include "service/worker/reconcile.h"

struct reconcile_item { /* a container, or a record */
	uint32_t service, index, line;
	uint64_t id;
	struct container container;
	struct instance record;
};

struct reconcile_items {
	struct reconcile_item *v;
	size_t n, cap;
};

struct reconcile_file {
	struct arena arena;
	struct str worker; /* the worker that reconciles */
	bool is_drained;
	struct names services;
	struct names workers; /* number 0 is this one */
	struct reconcile_items containers, records;
};

int reconcile_file_read(struct str text, struct reconcile_file *ret_file, struct problem *p);
void reconcile_file_release(struct reconcile_file *f);
/* Each container, and each record of this worker that has none, by name. */
void reconcile_file_json(const struct reconcile_file *f, struct buf *out);
void reconcile_table_json(struct buf *out);

#endif
