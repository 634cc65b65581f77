/* SPDX-License-Identifier: Apache-2.0 */
/*
 * GET /v1/groups/{group}/jobs: a page of them, in order of importance. Their rows come from the
 * store's tasks; what they need from the group's graph, which is gone through once for a page.
 */
#include <stdlib.h>
#include <string.h>

#include "api/groups/group_jobs.h"
#include "api/objects/show.h"
#include "model/limits.h"

#define NEEDS_SHOWN 100 /* of one job in a list */
#define STEP 1000       /* rows read at a time */

struct listing {
	struct group_of_call g;
	struct call *c;
	unsigned states; /* bits; 0: any */
	struct str prefix;
	rid begin, at; /* the place asked for, and the last task that was looked at */
	uint32_t limit;
	struct shown_job *found;
	size_t n, cap;
	uint32_t *place; /* of each job in `found`, from 1; while the graph is gone through */
	rid next;
	int64_t looked;
};

static call_fn list_done;

static bool fits(const struct listing *l, const struct task_row *t)
{
	enum job_state s = job_state((enum group_state)l->g.state, &t->state);

	return (!l->states || l->states >> s & 1) &&
	       (!l->prefix.n || (t->spec.name.n >= l->prefix.n &&
	                            memcmp(t->spec.name.p, l->prefix.p, l->prefix.n) == 0));
}

static void add(struct listing *l, const struct task_row *t)
{
	l->found = arena_room(&l->c->arena, l->found, l->n, &l->cap, sizeof *l->found);
	l->found[l->n++] =
	    (struct shown_job){.row = *t, .number = job_number(&l->g, t->id), .name = t->spec.name};
}

/* One step of the store's list; its rows stay, for few of them are not shown. */
static int read_step(struct store_reader *r, struct listing *l, bool *ret_more)
{
	const struct task_filter f = {.since = l->g.id + 1, .until = l->g.id + 1 + l->g.n_jobs};
	uint32_t want = l->states || l->prefix.n ? STEP : l->limit - (uint32_t)l->n;
	struct task_page page = {0};
	int rc = store_task_list(r, &f, true, true, l->at, want, &l->c->arena, &page);

	for (size_t i = 0; i < page.n && !rc && l->n < l->limit; i++) {
		l->at = page.rows[i].id;
		l->looked++;
		if (fits(l, &page.rows[i]))
			add(l, &page.rows[i]);
	}
	*ret_more = page.next || (page.n && l->at != page.rows[page.n - 1].id);
	if (l->n < l->limit && page.next)
		l->at = page.next;
	return rc;
}

static void see_edge(void *arg, const struct group_edge *e, struct str need_name)
{
	struct listing *l = arg;
	uint32_t place = l->place[e->job];
	struct shown_job *j;

	if (!place)
		return;
	j = &l->found[place - 1];
	if (j->n_all++ >= NEEDS_SHOWN)
		return;
	j->needs = arena_room(&l->c->arena, j->needs, j->n_needs, &j->cap_needs, sizeof *j->needs);
	j->needs[j->n_needs++] = (struct shown_edge){*e, arena_str(&l->c->arena, need_name)};
}

static int read_needs(struct store_reader *r, struct listing *l)
{
	struct graph_scan s = group_scan(&l->g, &l->c->row_arena);
	int rc;

	l->place = xcalloc((size_t)l->g.n_jobs + 1, sizeof *l->place);
	for (size_t i = 0; i < l->n; i++)
		l->place[l->found[i].number] = (uint32_t)i + 1;
	s.edge = see_edge;
	s.arg = l;
	rc = graph_scan_all(&s, r);
	free(l->place);
	return rc;
}

/* Damaged: how the jobs stand can be told nevertheless. */
static void forget_needs(struct listing *l)
{
	for (size_t i = 0; i < l->n; i++)
		l->found[i].n_needs = l->found[i].n_all = 0;
}

static void read_list(struct store_reader *r, void *arg)
{
	struct call *c = arg;
	struct listing *l = c->state;
	bool more = true;

	c->code = 0;
	while (!c->code && more && l->n < l->limit && l->looked < LOOKED_AT_MAX)
		c->code = read_step(r, l, &more);
	l->next = more ? l->at : 0;
	if (!c->code && l->n && read_needs(r, l))
		forget_needs(l);
}

static void read_from_begin(struct call *c)
{
	struct listing *l = c->state;

	l->at = l->begin;
	l->n = 0;
	l->looked = 0;
	call_read_long(c, read_list, list_done);
}

static bool is_ahead(const struct listing *l)
{
	for (size_t i = 0; i < l->n; i++)
		if (group_is_ahead(&l->g, &l->found[i].row))
			return true;
	return false;
}

static void list_done(struct call *c)
{
	struct listing *l = c->state;

	if (group_read_failed(c) || (is_ahead(l) && group_read_again(&l->g, read_from_begin)))
		return;
	show_page_begin(c);
	for (size_t i = 0; i < l->n; i++) {
		if (c->out.n > PAGE_BYTES) {
			l->next = l->found[i - 1].row.id;
			break;
		}
		show_job(c, &l->g, &l->found[i]);
		jw_close(&c->out, '}');
	}
	show_page_end(c, l->next);
}

static const struct state_words words = {job_state_names, N_JOB_STATES, "job"};

void group_jobs(struct call *c)
{
	struct listing *l = call_state(c, sizeof *l);
	const struct group_row *g = path_group(c);

	if (!g || !call_page(c, &l->begin, &l->limit) || !call_states(c, &words, &l->states))
		return;
	l->c = c;
	group_of_row(c, &l->g, g);
	l->prefix = arena_str(&c->arena, c->query[Q_NAME]);
	read_from_begin(c);
}
