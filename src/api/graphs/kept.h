/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A kept graph in memory, as src/graph sees it, with the place of each package's row in the store.
 * The rows are the truth: this is made from them when it is needed, and let go. It belongs to one
 * thread at a time: see room.h.
 */
#ifndef API_KEPT_H
#define API_KEPT_H

#include "graph/file/file.h"
#include "graph/package/change.h"
#include "model/objects/graph.h"
#include "store/store.h"

struct graph_in_memory {
	struct package_graph g;
	uint32_t *places; /* by number of the name: the row's number; NO_NAME: it has none */
	size_t n_places;
	uint32_t *free; /* numbers of rows that hold nothing */
	size_t n_free, cap_free;
	uint32_t n_rows;  /* the next number */
	uint32_t *sorted; /* known packages by name; NULL: not yet, or not any more */
	size_t n_names;   /* names and versions when it was read: what is more may be rubbish */
};

void kept_release(struct graph_in_memory *k);
size_t kept_bytes(const struct graph_in_memory *k); /* of memory, about */
/* So much of it is rubbish that it had better be read again. */
bool kept_is_stale(const struct graph_in_memory *k);
/* All rows of it; `n` of them hold packages, or something is damaged. */
int kept_read(struct graph_in_memory *k, struct store_reader *r, const struct graph_row *row,
    uint64_t seed, struct problem *p);
/* Known packages by name. */
const uint32_t *kept_sorted(struct graph_in_memory *k);

/* A file becomes a graph of its own, which it gives away. */
int kept_of_file(struct graph_in_memory *ret_kept, struct plan_file *f, struct problem *p);
/* All of a file into what is there. */
int kept_merge(struct package_change *x, const struct plan_file *f, struct problem *p);

/* Rows of what was changed, or of everything (`x` NULL), in the arena. */
struct graph_package_row *kept_rows(
    struct graph_in_memory *k, const struct package_change *x, struct arena *a, size_t *ret_n);
/* How much there is. */
void kept_count(const struct graph_in_memory *k, struct graph_row *ret_row);

#endif
