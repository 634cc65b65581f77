/* SPDX-License-Identifier: Apache-2.0 */
#include "model/objects/group_graph.h"

#include <string.h>

const char *const edge_condition_names[N_EDGE_CONDITIONS] = {"success", "end", "failure"};

#define VARINT_MAX 10
#define COUNT_BYTES 3 /* of edges in a record: a piece has fewer than 2^24 bytes */
#define RECORD_MAX (2 * VARINT_MAX + COUNT_BYTES + JOB_NAME_MAX_BYTES)

static void put_varint(uint8_t **at, uint64_t n)
{
	for (; n >= 0x80; n >>= 7)
		*(*at)++ = (uint8_t)(n | 0x80);
	*(*at)++ = (uint8_t)n;
}

static void close_record(struct group_graph_writer *w)
{
	for (int i = 0; w->n_out && i < COUNT_BYTES; i++)
		w->n_out[i] = (uint8_t)(w->in_record >> (8 * i));
	w->n_out = NULL;
	w->in_record = 0;
}

static void flush(struct group_graph_writer *w)
{
	struct group_graph_row *row;

	close_record(w);
	if (w->at == w->chunk)
		return;
	row = arena_zalloc(w->arena, sizeof *row);
	*row = (struct group_graph_row){w->group, w->n_chunks++,
	    arena_str(w->arena, (struct str){(char *)w->chunk, (size_t)(w->at - w->chunk)})};
	w->put(w->arg, row);
	w->at = w->chunk;
}

static void make_room(struct group_graph_writer *w, size_t n)
{
	if (!w->chunk)
		w->at = w->chunk = arena_alloc(w->arena, GRAPH_CHUNK_BYTES);
	if ((size_t)(w->chunk + GRAPH_CHUNK_BYTES - w->at) < n)
		flush(w);
}

static void open_record(struct group_graph_writer *w, uint32_t job, bool has_name, struct str name)
{
	close_record(w);
	make_room(w, RECORD_MAX);
	w->job = job;
	put_varint(&w->at, job);
	put_varint(&w->at, has_name ? name.n + 1 : 0);
	if (has_name && name.n)
		memcpy(w->at, name.p, name.n);
	w->at += has_name ? name.n : 0;
	w->n_out = w->at;
	w->at += COUNT_BYTES;
}

void group_graph_write_job(struct group_graph_writer *w, uint32_t job, struct str name)
{
	if (name.n > JOB_NAME_MAX_BYTES)
		name.n = JOB_NAME_MAX_BYTES;
	open_record(w, job, true, name);
}

void group_graph_write_edge(struct group_graph_writer *w, const struct group_edge *e)
{
	make_room(w, VARINT_MAX);
	if (!w->n_out)
		open_record(w, e->need, false, STR_NULL);
	put_varint(
	    &w->at, (uint64_t)(e->job - e->need) << 5 | (uint64_t)e->condition << 3 | e->reason);
	w->in_record++;
}

void group_graph_write_end(struct group_graph_writer *w)
{
	flush(w);
}

/* -- reading */

static bool bad(struct group_graph_reader *r)
{
	r->is_bad = true;
	return false;
}

static bool get_varint(struct group_graph_reader *r, uint64_t *ret)
{
	uint64_t n = 0;

	for (unsigned shift = 0; shift < 63 && r->at < r->end; shift += 7) {
		uint8_t byte = *r->at++;

		n |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80)) {
			*ret = n;
			return true;
		}
	}
	return bad(r);
}

void group_graph_read(struct group_graph_reader *r, struct str chunk, uint32_t n_jobs)
{
	const uint8_t *p = (const uint8_t *)chunk.p;

	*r = (struct group_graph_reader){.at = p, .end = p ? p + chunk.n : p, .n_jobs = n_jobs};
	r->is_bad = !p;
}

static bool get_name(struct group_graph_reader *r)
{
	uint64_t n;

	if (!get_varint(r, &n))
		return false;
	r->has_name = n > 0;
	r->name = (struct str){(const char *)r->at, n ? n - 1 : 0};
	if (r->name.n > JOB_NAME_MAX_BYTES || (size_t)(r->end - r->at) < r->name.n)
		return bad(r);
	r->at += r->name.n;
	return true;
}

bool group_graph_read_job(struct group_graph_reader *r)
{
	uint64_t job;

	if (r->is_bad || r->at == r->end)
		return false;
	if (r->n_left)
		return bad(r);
	if (!get_varint(r, &job) || !get_name(r))
		return false;
	if (job >= r->n_jobs || r->end - r->at < COUNT_BYTES)
		return bad(r);
	r->job = (uint32_t)job;
	for (int i = 0; i < COUNT_BYTES; i++)
		r->n_left |= (uint32_t)*r->at++ << (8 * i);
	return true;
}

bool group_graph_read_edge(struct group_graph_reader *r, struct group_edge *ret_edge)
{
	uint64_t n, condition;

	if (r->is_bad || !r->n_left)
		return false;
	if (!get_varint(r, &n))
		return false;
	condition = n >> 3 & 3;
	if (condition >= N_EDGE_CONDITIONS || !(n >> 5) || n >> 5 >= r->n_jobs - r->job)
		return bad(r);
	r->n_left--;
	*ret_edge = (struct group_edge){
	    r->job + (uint32_t)(n >> 5), r->job, (uint8_t)condition, (uint8_t)(n & 7)};
	return true;
}

bool input_digests_take(struct input_digest *all, uint32_t n_jobs, int64_t piece, struct str data)
{
	size_t first = (size_t)piece * INPUT_DIGESTS_PER_CHUNK, n;

	if (piece < 0 || first >= n_jobs)
		return false;
	n = n_jobs - first;
	if (n > INPUT_DIGESTS_PER_CHUNK)
		n = INPUT_DIGESTS_PER_CHUNK;
	if (data.n != n * sizeof *all)
		return false;
	memcpy(all + first, data.p, data.n);
	return true;
}
