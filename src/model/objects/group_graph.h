/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A group's graph as it is kept: pieces of at most 64 KiB, each of which can be read by itself.
 *
 * The jobs are numbered in order of importance, so a job's number is higher than those of all that
 * it needs. A record is a job, its name, and the jobs that need it, each with the condition and the
 * reason; a job that is needed by very many has several records, of which the first has the name.
 */
#ifndef MODEL_GROUP_GRAPH_H
#define MODEL_GROUP_GRAPH_H

#include <string.h>

#include "base/arena.h"
#include "model/objects/group.h"

#define GRAPH_CHUNK_BYTES 65536
#define EDGE_REASONS_MAX 8

/* When a job may start, as to one that it needs; every edge says one of them. */
enum edge_condition { EDGE_SUCCESS, EDGE_END, EDGE_FAILURE, N_EDGE_CONDITIONS };
extern const char *const edge_condition_names[N_EDGE_CONDITIONS];

struct group_edge {
	uint32_t job, need;
	uint8_t condition; /* enum edge_condition */
	uint8_t reason;    /* the planner's; below EDGE_REASONS_MAX */
};

/*
 * What each job of a group of a series is built from, as a digest: pieces of so many, numbered on
 * from those of the graph. There may be none.
 */
#define INPUT_DIGEST_BYTES 16
#define INPUT_DIGESTS_PER_CHUNK (GRAPH_CHUNK_BYTES / INPUT_DIGEST_BYTES)

struct input_digest {
	uint8_t bytes[INPUT_DIGEST_BYTES]; /* all 0: nobody knows */
};

static inline bool input_digest_is_known(const struct input_digest *d)
{
	static const struct input_digest none;

	return memcmp(d, &none, sizeof none) != 0;
}

/* Of jobs that are numbered from the piece's first on; false: it is no such piece. */
bool input_digests_take(struct input_digest *all, uint32_t n_jobs, int64_t piece, struct str data);
/* So many pieces a group may have. */
static inline int64_t input_digest_chunks(const struct group_row *g)
{
	return g->series.n ? (g->n_jobs + INPUT_DIGESTS_PER_CHUNK - 1) / INPUT_DIGESTS_PER_CHUNK
	                   : 0;
}

/* Writing: records in order of their jobs, edges as they come. */
struct group_graph_writer {
	struct arena *arena; /* owns the rows */
	void (*put)(void *arg, struct group_graph_row *row);
	void *arg;
	rid group;
	int64_t n_chunks;
	uint8_t *chunk, *at;
	uint8_t *n_out; /* where the open record says how many edges it has; NULL: none is open */
	uint32_t job, in_record;
};
void group_graph_write_job(struct group_graph_writer *w, uint32_t job, struct str name);
void group_graph_write_edge(struct group_graph_writer *w, const struct group_edge *e);
void group_graph_write_end(struct group_graph_writer *w);

/* Reading: what is not such a piece is said to be none. */
struct group_graph_reader {
	const uint8_t *at, *end;
	uint32_t n_jobs;
	uint32_t job; /* of the present record */
	bool has_name;
	struct str name;
	uint32_t n_left; /* edges of the present record */
	bool is_bad;
};
void group_graph_read(struct group_graph_reader *r, struct str chunk, uint32_t n_jobs);
bool group_graph_read_job(struct group_graph_reader *r); /* false: no more, or is_bad */
bool group_graph_read_edge(struct group_graph_reader *r, struct group_edge *ret_edge);

/*
 * The digests of a group's jobs, and what was not taken in, lie beside the pieces of its graph,
 * with numbers so far behind them that whoever reads the graph, also an older program, never sees
 * them.
 */
#define INPUT_DIGESTS_FROM (INT64_C(1) << 20)
/* What a plan of packages left out, as the answer to who asks for it: pieces of one text. */
#define LEFT_OUT_FROM (INT64_C(1) << 21)
#define LEFT_OUT_CHUNKS 8
#define LEFT_OUT_MAX_BYTES (LEFT_OUT_CHUNKS * GRAPH_CHUNK_BYTES)

#endif
