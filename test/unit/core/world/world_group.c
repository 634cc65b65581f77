/* SPDX-License-Identifier: Apache-2.0 */
/* Groups in the stories' store. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/mem.h"
#include "world.h"

struct group_row *world_group(struct world *w, rid id)
{
	for (size_t i = 0; i < w->n_groups; i++)
		if (w->groups[i].id == id)
			return &w->groups[i];
	return NULL;
}

void world_put_group(struct world *w, const struct group_row *row)
{
	struct group_row *at = world_group(w, row->id);

	if (!at)
		at = &w->groups[w->n_groups++];
	assert_true(w->n_groups <= WORLD_GROUPS);
	row_copy(&group_table, &w->rows_arena, row, 0, at);
}

void world_put_group_state(struct world *w, const struct group_row *row)
{
	struct group_row *at = world_group(w, row->id);

	assert_non_null(at);
	row_take_state(&group_table, at, row);
	row_copy(&group_table, &w->rows_arena, at, 0, at);
}

void world_put_chunk(struct world *w, const struct group_graph_row *row)
{
	assert_true(w->n_chunks < 4096);
	assert_true(row->data.n <= GRAPH_CHUNK_BYTES);
	row_copy(&group_graph_table, &w->rows_arena, row, 0, &w->chunks[w->n_chunks++]);
}

void world_put_built(struct world *w, const struct built_row *row)
{
	assert_true(w->n_built < 16);
	row_copy(&built_table, &w->rows_arena, row, 0, &w->built[w->n_built++]);
}

void world_drop_group(struct world *w, rid id)
{
	size_t n = 0;

	*world_group(w, id) = w->groups[w->n_groups - 1];
	w->n_groups--;
	for (size_t i = 0; i < w->n_chunks; i++)
		if (w->chunks[i].group != id)
			w->chunks[n++] = w->chunks[i];
	w->n_chunks = n;
}

void world_answer_chunks(struct world *w, const struct read_ask *a)
{
	struct group_graph_row *rows = xcalloc(w->n_chunks + 1, sizeof *rows);
	struct event ev = {.kind = EV_PARTS_READ};

	for (size_t i = 0; i < w->n_chunks; i++)
		if (w->chunks[i].group == a->parts.object && w->chunks[i].number >= a->parts.from &&
		    w->chunks[i].number < a->parts.to && ev.parts.n < a->parts.limit)
			rows[ev.parts.n++] = w->chunks[i];
	ev.parts.read = a->number;
	ev.parts.rows = rows;
	ev.parts.failed = w->reads_fail;
	world_step(w, &ev);
	free(rows);
}

rid world_last_group(const struct world *w, rid last)
{
	for (size_t i = 0; i < w->n_groups; i++)
		if (w->groups[i].id > last)
			last = w->groups[i].id;
	return last;
}

void world_load_groups(struct world *w)
{
	for (size_t i = 0; i < w->n_groups; i++)
		world_step(
		    w, &(struct event){.kind = EV_LOAD_ROW, .load = {&group_table, &w->groups[i]}});
}

void world_keep_needs(struct world *w, struct message *m)
{
	struct arena *a = &w->rows_arena;
	struct link_need *needs;

	if (m->kind == MSG_KILL)
		m->kill.reason = arena_str(a, m->kill.reason);
	if (m->kind != MSG_RUN)
		return;
	m->run.instance.service = arena_str(a, m->run.instance.service);
	m->run.instance.domain = arena_str(a, m->run.instance.domain);
	m->run.instance.need = arena_str(a, m->run.instance.need);
	if (!m->run.n_needs)
		return;
	m->run.needs = needs = arena_memdup(a, m->run.needs, m->run.n_needs * sizeof *needs);
	for (size_t i = 0; i < m->run.n_needs; i++) {
		needs[i].job = arena_str(a, needs[i].job);
		needs[i].worker = arena_str(a, needs[i].worker);
		needs[i].reason = arena_str(a, needs[i].reason);
		needs[i].result = arena_str(a, needs[i].result);
	}
}

void world_left(
    struct world *w, uint64_t link, rid task, int64_t token, int status, struct str result)
{
	struct event ev = {.kind = EV_ENDED, .ended.result = result};

	ev.link = link;
	ev.ended.task = task;
	ev.ended.token = token;
	ev.ended.status = status;
	ev.ended.exit_code = status == TASK_SUCCEEDED ? 0 : 1;
	ev.ended.started_ms = ev.ended.ended_ms = w->now_ms;
	world_step(w, &ev);
}
