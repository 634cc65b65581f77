/* SPDX-License-Identifier: Apache-2.0 */
/*
 * GET /v1/groups/{group}/graph: all of it in one compact answer, fit for drawing. It is read and
 * written a piece at a time, and the next piece is read only when the client has taken the last
 * one: a hundred thousand jobs cost two megabytes here, however slowly they are taken.
 *
 *   states (rows of the tasks) -> head, states, times -> names -> needs -> end
 *                                                           '--> what they took before --^
 */
#include <stdlib.h>
#include <string.h>

#include "api/groups/group_jobs.h"
#include "api/groups/weigh.h"
#include "model/objects/built.h"

#define STEP 2000      /* rows read at a time */
#define ENDED "bfxlc?" /* letters of jobs that have ended */

enum answer_stage { ANSWER_ROWS, ANSWER_NAMES, ANSWER_TOOK, ANSWER_NEEDS, ANSWER_END };

struct compact {
	struct group_of_call g;
	struct call *c;
	enum answer_stage stage;
	rid at;
	struct task_page page;
	char *states;
	int64_t *started, *ended;
	struct graph_scan scan;
	struct series_walk walk; /* of a series, while the group has not ended; else jobs is NULL */
	int64_t *took;           /* ms; 0: not known */
	uint32_t n_names;        /* that were put */
	struct buf text;         /* the piece at hand; in it the first of its list has no comma */
	bool is_ahead;           /* a job's row is older than its group */
	bool is_first, started_stream, draining;
};

static call_fn step_done;

static void compact_free(struct call *c)
{
	struct compact *k = c->state;

	free(k->states);
	free(k->started);
	free(k->ended);
	free(k->took);
	free(k->walk.jobs);
	buf_release(&k->text);
}

static void comma(struct compact *k)
{
	if (!k->is_first)
		buf_add_char(&k->text, ',');
	k->is_first = false;
}

static void put_name(void *arg, uint32_t job, struct str name)
{
	struct compact *k = arg;
	struct buf one = {0};

	if (job != k->n_names)
		return; /* of a damaged piece */
	k->n_names++;
	comma(k);
	jw_str(&one, name);
	buf_add_str(&k->text, buf_str(&one));
	buf_release(&one);
	if (k->walk.jobs && k->walk.n < k->g.n_jobs)
		series_walk_name(&k->walk, job, name);
}

static void note_took(void *arg, uint32_t job, const struct built_row *row)
{
	struct compact *k = arg;

	k->took[job] = row->duration_ms > 0 ? row->duration_ms : 1;
}

static void put_edge(void *arg, const struct group_edge *e, struct str need_name)
{
	struct compact *k = arg;

	comma(k);
	buf_printf(&k->text, "[%u,%u,%u,%u]", e->job, e->need, e->condition, e->reason);
}

static int read_rows(struct store_reader *r, struct compact *k)
{
	const struct task_filter f = {.since = k->g.id + 1, .until = k->g.id + 1 + k->g.n_jobs};

	arena_reset(&k->c->row_arena);
	return store_task_list(r, &f, true, true, k->at, STEP, &k->c->row_arena, &k->page);
}

static void read_step(struct store_reader *r, void *arg)
{
	struct call *c = arg;
	struct compact *k = c->state;

	if (k->stage == ANSWER_ROWS)
		c->code = read_rows(r, k);
	else if (k->stage == ANSWER_TOOK)
		c->code = series_walk_step(&k->walk, r, &c->row_arena);
	else
		c->code = graph_scan_step(&k->scan, r);
}

static void go_on(struct call *c)
{
	call_read_long(c, read_step, step_done);
}

static void drained(void *arg)
{
	struct call *c = arg;
	struct compact *k = c->state;

	if (!k->draining)
		return;
	k->draining = false;
	go_on(c);
}

/* What was gathered goes out; the rest waits until it has been taken. */
static void send(struct call *c)
{
	const struct api_io *io = c->host->io;
	struct compact *k = c->state;

	if (!k->started_stream)
		call_stream_start(c, "application/json");
	k->started_stream = true;
	if (k->text.n)
		io->stream_write(c->req.io, buf_str(&k->text));
	buf_reset(&k->text);
	if (k->stage == ANSWER_END) {
		call_stream_end(c);
	} else if (io->stream_pending(c->req.io) > 0) {
		k->draining = true;
		buf_release(&k->text);
		io->stream_on_drain(c->req.io, drained, c);
	} else {
		go_on(c);
	}
}

static void begin_scan(struct compact *k, enum answer_stage stage)
{
	k->stage = stage;
	k->is_first = true;
	k->scan = group_scan(&k->g, &k->c->row_arena);
	k->scan.job = stage == ANSWER_NAMES ? put_name : NULL;
	k->scan.edge = stage == ANSWER_NEEDS ? put_edge : NULL;
	k->scan.arg = k;
}

static void put_times(struct buf *b, const char *key, const int64_t *times, uint32_t n)
{
	jw_key(b, key);
	jw_open(b, '[');
	for (uint32_t i = 0; i < n; i++)
		jw_i64(b, times[i]);
	jw_close(b, ']');
}

static void put_head(struct compact *k, const struct group_row *g)
{
	struct buf *b = &k->text;

	jw_open(b, '{');
	jw_key(b, "group");
	show_group(b, k->c->api, g);
	jw_mid_null(b, "first_task", k->c->host->ids, g->n_jobs ? g->id + 1 : 0);
	jw_mstr(b, "states", (struct str){k->states, k->g.n_jobs});
	put_times(b, "started", k->started, k->g.n_jobs);
	put_times(b, "ended", k->ended, k->g.n_jobs);
	jw_key(b, "names");
	jw_open(b, '[');
}

/* The group may have moved on while its rows were read: they must not be older than it. */
static void rows_done(struct call *c)
{
	struct compact *k = c->state;
	struct group_view v;

	if (!core_group(c->host->core, k->g.id, &v)) {
		call_fail(c, ERR_NOT_FOUND, "the group was deleted in the meantime");
		return;
	}
	k->g.state = v.row->state;
	k->states[k->g.n_jobs] = 0;
	if (group_is_ended(k->g.state) && strspn(k->states, ENDED) < k->g.n_jobs &&
	    group_read_again(&k->g, go_on))
		return;
	put_head(k, v.row);
	begin_scan(k, ANSWER_NAMES);
	send(c);
}

static void take_rows(struct compact *k)
{
	for (size_t i = 0; i < k->page.n; i++) {
		struct task_row *t = &k->page.rows[i];
		uint32_t job = job_number(&k->g, t->id);

		task_overlay(k->c->api, t);
		k->states[job] = job_letters[job_state((enum group_state)k->g.state, &t->state)];
		k->started[job] = t->state.started_ms;
		k->ended[job] = task_is_ended(t->state.status) ? t->state.ended_ms : 0;
	}
	k->at = k->page.next;
}

/* The piece before it may have gone out, so nothing tells here that a comma is due. */
static void put_took(struct compact *k)
{
	buf_add_cstr(&k->text, ",\"took\":[");
	for (uint32_t i = 0; i < k->g.n_jobs; i++)
		jw_i64(&k->text, k->took[i]);
	jw_close(&k->text, ']');
}

static void begin_needs(struct compact *k)
{
	buf_add_cstr(&k->text, ",\"needs\":[");
	begin_scan(k, ANSWER_NEEDS);
}

/* What they took in an earlier group of the series is all that is known before they have ended. */
static void took_done(struct call *c)
{
	struct compact *k = c->state;

	if (k->walk.is_over) {
		put_took(k);
		begin_needs(k);
	}
	send(c);
}

static void scan_done(struct call *c)
{
	struct compact *k = c->state;

	if (k->scan.at < k->g.n_chunks) {
		send(c);
		return;
	}
	if (k->stage == ANSWER_NAMES) {
		buf_add_char(&k->text, ']');
		if (k->walk.jobs)
			k->stage = ANSWER_TOOK;
		else
			begin_needs(k);
	} else {
		buf_add_cstr(&k->text, "]}\n");
		k->stage = ANSWER_END;
	}
	send(c);
}

/* Every job has a name in the answer: where its own cannot be read, that of its task. */
static void name_the_rest(struct compact *k)
{
	char id[ID_TEXT];

	for (uint32_t job = k->n_names; job < k->g.n_jobs; job++) {
		comma(k);
		buf_printf(&k->text, "\"%s\"", id_format(k->c->host->ids, k->g.id + 1 + job, id));
	}
	buf_add_char(&k->text, ']');
}

/* Some of it has gone out: it stays JSON, has all that could be read, and says what is wrong. */
static void end_damaged(struct call *c)
{
	struct compact *k = c->state;

	if (k->stage == ANSWER_NAMES)
		name_the_rest(k);
	if (k->stage != ANSWER_NEEDS)
		buf_add_cstr(&k->text, ",\"needs\":[");
	buf_add_cstr(&k->text, "],\"problem\":\"" GROUP_GRAPH_DAMAGED "\"}\n");
	k->stage = ANSWER_END;
	c->code = 0;
	send(c);
}

static void step_done(struct call *c)
{
	struct compact *k = c->state;

	if (c->code && k->started_stream) {
		end_damaged(c);
		return;
	}
	if (group_read_failed(c))
		return;
	if (k->stage == ANSWER_TOOK) {
		took_done(c);
		return;
	}
	if (k->stage != ANSWER_ROWS) {
		scan_done(c);
		return;
	}
	take_rows(k);
	if (k->at)
		go_on(c);
	else
		rows_done(c);
}

static void begin_walk(struct call *c, struct compact *k, const struct group_row *g)
{
	if (!g->series.n || group_is_ended(g->state))
		return;
	k->took = xcalloc((size_t)g->n_jobs + 1, sizeof *k->took);
	k->walk = (struct series_walk){.series = arena_str(&c->arena, g->series),
	    .jobs = xcalloc((size_t)g->n_jobs + 1, sizeof *k->walk.jobs),
	    .found = note_took,
	    .arg = k};
}

void group_compact(struct call *c)
{
	struct compact *k = call_state(c, sizeof *k);
	const struct group_row *g = path_group(c);

	if (!g)
		return;
	k->c = c;
	group_of_row(c, &k->g, g);
	c->on_free = compact_free;
	k->states = xmalloc((size_t)g->n_jobs + 1);
	memset(k->states, '?', (size_t)g->n_jobs);
	k->started = xcalloc((size_t)g->n_jobs + 1, sizeof *k->started);
	k->ended = xcalloc((size_t)g->n_jobs + 1, sizeof *k->ended);
	begin_walk(c, k, g);
	go_on(c);
}
