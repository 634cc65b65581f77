/* SPDX-License-Identifier: Apache-2.0 */
/* A job as JSON. */
#include "api/groups/group_jobs.h"

#define AGAIN_MS 5
#define AGAIN_TRIES 400

static void reading_over(struct call *c)
{
	struct group_of_call *g = c->state;

	if (g->timer)
		c->host->cancel_timer(c->host->arg, g->timer);
	g->timer = NULL;
}

void group_of_row(struct call *c, struct group_of_call *g, const struct group_row *row)
{
	MUST(c->state == g);
	*g = (struct group_of_call){.c = c,
	    .id = row->id,
	    .state = row->state,
	    .n_jobs = (uint32_t)row->n_jobs,
	    .n_chunks = row->n_chunks};
	c->on_over = reading_over;
}

bool group_is_ahead(const struct group_of_call *g, const struct task_row *t)
{
	return group_is_ended(g->state) && t->id && !task_is_ended(t->state.status);
}

static void on_again(void *arg)
{
	struct group_of_call *g = arg;

	g->timer = NULL;
	g->again(g->c);
}

bool group_read_again(struct group_of_call *g, call_fn *fn)
{
	const struct api_host *h = g->c->host;

	if (g->tries++ == AGAIN_TRIES)
		return false;
	g->again = fn;
	g->timer = h->timer(h->arg, AGAIN_MS, on_again, g);
	return true;
}

struct graph_scan group_scan(const struct group_of_call *g, struct arena *scratch)
{
	return (struct graph_scan){
	    .group = g->id, .n_jobs = g->n_jobs, .n_chunks = g->n_chunks, .scratch = scratch};
}

bool group_read_failed(struct call *c)
{
	if (!c->code)
		return false;
	problem_set(&c->problem, c->code, "the group could not be read");
	problem_hint(&c->problem, "it may be damaged in the store: `reeve store check` names what "
	                          "is; or it was deleted just now");
	call_problem(c);
	return true;
}

/* The planner's reasons; none: somebody has written the need down. */
static void show_reasons(struct buf *b, uint8_t reason)
{
	static const char *const names[] = {"runtime", "build", "strong"};

	jw_key(b, "why");
	jw_open(b, '[');
	for (int i = 0; i < 3; i++)
		if (reason >> i & 1)
			jw_str(b, str_of(names[i]));
	jw_close(b, ']');
}

void show_needs(struct buf *b, const char *key, const struct shown_edge *edges, size_t n)
{
	jw_key(b, key);
	jw_open(b, '[');
	for (size_t i = 0; i < n; i++) {
		jw_open(b, '{');
		jw_mstr(b, "job", edges[i].name);
		jw_mcstr(b, "after", edge_condition_names[edges[i].edge.condition]);
		show_reasons(b, edges[i].edge.reason);
		jw_close(b, '}');
	}
	jw_close(b, ']');
}

static void show_place(struct call *c, const struct task_row *t)
{
	const struct queue_row *q = core_queue(c->host->core, t->spec.queue);
	struct buf *b = &c->out;
	struct worker_view v;
	bool known = t->state.worker && core_worker(c->host->core, t->state.worker, 0, &v);

	jw_mstr_null(b, "queue", q ? q->name : STR_NULL);
	jw_mstr_null(b, "worker", known ? v.row->facts.shard : STR_NULL);
}

static void show_state(struct call *c, const struct group_of_call *g, const struct task_row *t)
{
	const struct task_state *s = &t->state;
	struct buf *b = &c->out;

	jw_mcstr(
	    b, "state", t->id ? job_state_names[job_state((enum group_state)g->state, s)] : "gone");
	jw_mid_null(b, "task", c->host->ids, t->id);
	show_place(c, t);
	jw_mtime_null(b, "started", s->started_ms);
	jw_mtime_null(b, "ended", s->ended_ms);
	jw_mi64(b, "attempts", s->attempt);
	jw_mstr_null(b, "reason", s->reason);
	jw_mi64_null(b, "exit_code", s->exit_code, t->id && s->exit_code >= 0);
	jw_mi64_null(b, "signal", s->signal, s->signal != 0);
}

void show_job(struct call *c, const struct group_of_call *g, struct shown_job *j)
{
	if (j->row.id)
		task_overlay(c->api, &j->row);
	jw_open(&c->out, '{');
	jw_mi64(&c->out, "number", j->number);
	jw_mstr(&c->out, "name", j->name);
	show_state(c, g, &j->row);
	jw_mi64(&c->out, "n_needs", (int64_t)j->n_all);
	show_needs(&c->out, "needs", j->needs, j->n_needs);
}
