/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a job is shown of those that it needs: how they ended, and what they left in their result
 * files. Only what has something to say is shown: a result, or an end other than built.
 *
 * Memory has of each job which of its needs speak, and nothing of what they say. That is in their
 * rows, which are read when the job was given to a worker: its order waits for them, and for the
 * group to know after a start which they are. Who has nothing to be shown is ordered at once.
 *
 * Until its order is sent a task is certainly not started. So whatever comes in between (a cancel,
 * the end of its group, the loss of the link) gives it back.
 */
#include <stdlib.h>

#include "core/group/group.h"
#include "core/group/view.h"
#include "core/state.h"
#include "model/limits.h"

#define READ_AGAIN_MS 1000

struct late_order {
	rid task;
	int64_t token;
	uint64_t read; /* of its needs' rows, under way; 0: none */
	size_t n_left_out;
	TAILQ_ENTRY(late_order) in_late;
};

/* -- who has something to say, and to whom */

void needs_note_result(struct group *g, uint32_t job)
{
	struct active *a = g->active;

	if (!a->left)
		a->left = xcalloc((size_t)g->row.n_jobs / 8 + 1, 1);
	a->left[job / 8] |= (uint8_t)(1u << job % 8);
}

bool needs_speaks(const struct group *g, uint32_t job)
{
	const struct active *a = g->active;

	return a->marks[job] == MARK_FAILED || a->marks[job] == MARK_SKIPPED ||
	       (a->left && (a->left[job / 8] >> job % 8 & 1));
}

void needs_note(struct group *g, uint32_t job, uint32_t need)
{
	struct active *a = g->active;

	if (!a->shown)
		a->shown = xcalloc((size_t)g->row.n_jobs + 1, sizeof *a->shown);
	GROW(a->links, a->cap_links, a->n_links + 1);
	a->links[a->n_links++] = (struct shown_need){need, a->shown[job]};
	a->shown[job] = (uint32_t)a->n_links;
}

void needs_drop(struct active *a)
{
	free(a->shown);
	free(a->links);
	a->shown = NULL;
	a->links = NULL;
	a->n_links = a->cap_links = 0;
	a->is_followed = false;
}

void needs_followed(struct core *c, struct group *g)
{
	if (g->active->is_followed)
		return;
	g->active->is_followed = true;
	groups_of(c)->look_at_late = true;
}

bool needs_are_shown(const struct core *c, const struct object *o, int64_t job)
{
	const struct group *g = (const struct group *)o;
	const struct active *a = g->active;

	return a && a->is_followed && a->shown && job >= 0 && job < g->row.n_jobs && a->shown[job];
}

static int by_number(const void *x, const void *y)
{
	const uint32_t *a = x, *b = y;

	return *a < *b ? -1 : *a > *b;
}

/* The most important first, and only so many. */
static uint32_t *list(
    const struct active *k, uint32_t job, struct arena *a, size_t *ret_n, size_t *ret_left_out)
{
	uint32_t *needs;
	size_t n = 0;

	for (uint32_t at = k->shown ? k->shown[job] : 0; at; at = k->links[at - 1].next)
		n++;
	needs = arena_alloc(a, (n + 1) * sizeof *needs);
	n = 0;
	for (uint32_t at = k->shown ? k->shown[job] : 0; at; at = k->links[at - 1].next)
		needs[n++] = k->links[at - 1].need;
	qsort(needs, n, sizeof *needs, by_number);
	if (MUTANT(NEEDS_LAST_NOT_SHOWN) && n > 1)
		n--;
	*ret_n = n < NEEDS_SHOWN_MAX ? n : NEEDS_SHOWN_MAX;
	*ret_left_out = n - *ret_n;
	return needs;
}

/* -- orders that wait */

/* Nobody knows yet; or it is known that there are some. */
static bool may_be_shown(const struct core *c, const struct group *g, const struct task *t)
{
	if (!g->active || !g->row.n_edges)
		return false;
	if (!g->active->is_followed)
		return !MUTANT(NEEDS_UNKNOWN_ARE_NONE);
	return needs_are_shown(c, &g->object, t->row.spec.owner.part);
}

bool needs_delay(struct core *c, struct object *o, const struct task *t)
{
	struct late_order *l;

	if (!may_be_shown(c, (struct group *)o, t))
		return false;
	l = xcalloc(1, sizeof *l);
	l->task = t->row.id;
	l->token = t->row.state.token;
	TAILQ_INSERT_TAIL(&groups_of(c)->late, l, in_late);
	groups_of(c)->look_at_late = true;
	return true;
}

static void forget(struct core *c, struct late_order *l)
{
	TAILQ_REMOVE(&groups_of(c)->late, l, in_late);
	free(l);
}

void needs_release(struct core *c)
{
	struct late_order *l;

	while ((l = TAILQ_FIRST(&groups_of(c)->late)))
		forget(c, l);
}

/* NULL: somebody else has seen to it. */
static struct task *task_of(const struct core *c, const struct late_order *l)
{
	struct task *t = task_find(c, l->task);

	return t && t->worker && t->row.state.token == l->token &&
	               t->row.state.status == TASK_CLAIMED
	           ? t
	           : NULL;
}

static void ask(
    struct core *c, struct group *g, struct late_order *l, uint32_t job, struct effects *out)
{
	struct arena *a = &out->batch.arena;
	size_t n;
	uint32_t *needs = list(g->active, job, a, &n, &l->n_left_out);
	rid *ids = arena_alloc(a, (n + 1) * sizeof *ids);
	struct read_ask *r = effects_read(out, READ_TASKS);

	for (size_t i = 0; i < n; i++)
		ids[i] = group_job_id(&g->row, needs[i]);
	r->number = l->read = read_begin(c);
	r->ids = ids;
	r->n = n;
}

/* Nothing of its group is started any more. */
static bool is_over(const struct core *c, const struct task *t)
{
	uint32_t job;
	const struct group *g = group_of(c, &t->row, &job);

	return !g || !g->active || g->active->stage == STAGE_END;
}

/* The task must not be started on that worker, or at all, any more. */
static bool is_called_off(const struct core *c, const struct task *t)
{
	return !worker_may_start(c, t->worker) || task_is_told(&t->row.state) || is_over(c, t);
}

static void give_back(
    struct core *c, struct task *t, struct str reason, int64_t delay_ms, struct effects *out)
{
	task_give_back(c, t, reason, delay_ms, out);
	groups_go_on(c); /* another one may have its place */
}

/* True: nothing is left to be done about it. */
static bool look(struct core *c, struct late_order *l, bool just_placed, struct effects *out)
{
	struct task *t = task_of(c, l);
	uint32_t job = 0;
	struct group *g = t ? group_of(c, &t->row, &job) : NULL;

	if (!t)
		return true;
	if (is_called_off(c, t) && just_placed) {
		/* The group's counts would have to be written with the task's end. This step has
		 * written its groups already, so the next one does it. */
		groups_of(c)->look_at_late = true;
		groups_go_on(c);
		return false;
	}
	if (is_called_off(c, t)) {
		if (is_over(c, t) && !task_is_told(&t->row.state))
			task_wish(t, WISH_CANCEL);
		give_back(c, t, STR("its order was not sent"), 0, out);
		return true;
	}
	if (l->read || !g->active->is_followed)
		return false;
	if (!needs_are_shown(c, &g->object, t->row.spec.owner.part)) {
		place_order(c, t, NULL, out);
		return true;
	}
	if (!t->worker->takes_needs) {
		give_back(c, t, STR("its worker is too old to show it what it needs"),
		    READ_AGAIN_MS, out);
		return true;
	}
	ask(c, g, l, job, out);
	return false;
}

bool core_order_is_late(const struct core *c, rid task, int64_t token)
{
	const struct late_order *l;

	TAILQ_FOREACH (l, &groups_of(c)->late, in_late)
		if (l->task == task && l->token == token)
			return true;
	return false;
}

void needs_work(struct core *c, bool just_placed, struct effects *out)
{
	struct late_order *l, *next;

	if (!groups_of(c)->look_at_late)
		return;
	groups_of(c)->look_at_late = false;
	TAILQ_FOREACH_SAFE (l, &groups_of(c)->late, in_late, next)
		if (look(c, l, just_placed, out))
			forget(c, l);
}

/* -- what they say */

/* What is known of it by now: nothing of a worker that was forgotten. */
static const struct worker_facts *facts_of(const struct core *c, rid worker)
{
	static const struct worker_facts none;
	const struct worker *w = worker ? object_find(c, KIND_WORKER, worker) : NULL;

	return w ? &w->row.facts : &none;
}

static struct link_need need_of(
    const struct core *c, const struct task_row *row, bool is_cut, struct arena *a)
{
	const struct task_state *s = &row->state;
	const struct worker_facts *f = facts_of(c, s->worker);

	return (struct link_need){.task = row->id,
	    .job = arena_str(a, row->spec.name),
	    .state = str_of(job_state_names[job_state(GROUP_DISPATCHING, s)]),
	    .worker = arena_str(a, f->shard),
	    .host = arena_str(a, f->host),
	    .target = arena_str(a, f->target),
	    .attempt = s->attempt,
	    .exit_code = s->exit_code,
	    .signal = s->signal,
	    .started_ms = s->started_ms,
	    .ended_ms = s->ended_ms,
	    .reason = arena_str(a, s->reason),
	    .result = is_cut ? STR_NULL : arena_str(a, s->result),
	    .is_cut = is_cut && s->result.n};
}

static void order(struct core *c, struct task *t, const struct late_order *l,
    const struct event *ev, struct effects *out)
{
	struct arena *a = &out->batch.arena;
	struct link_need *needs = arena_alloc(a, (ev->rows.n + 1) * sizeof *needs);
	struct shown_needs all = {needs, 0, l->n_left_out};
	size_t bytes = 0;

	for (size_t i = 0; i < ev->rows.n; i++)
		bytes += ev->rows.rows[i].id ? ev->rows.rows[i].state.result.n : 0;
	for (size_t i = 0; i < ev->rows.n; i++)
		if (ev->rows.rows[i].id)
			needs[all.n++] =
			    need_of(c, &ev->rows.rows[i], bytes > NEEDS_RESULTS_MAX, a);
		else
			all.n_left_out++;
	place_order(c, t, &all, out);
}

static void read_again(struct core *c, struct timer *t, struct effects *out)
{
	groups_of(c)->look_at_late = true;
}

bool needs_read(struct core *c, const struct event *ev, struct effects *out)
{
	struct late_order *l;
	struct task *t;

	TAILQ_FOREACH (l, &groups_of(c)->late, in_late)
		if (l->read == ev->rows.read)
			break;
	if (!l)
		return false;
	l->read = 0;
	t = task_of(c, l);
	if (t && ev->rows.failed) {
		if (!timer_is_set(&groups_of(c)->read_again))
			timer_set(c, TIMER_MONO, &groups_of(c)->read_again,
			    c->mono_ms + READ_AGAIN_MS, 0, read_again);
		return true;
	}
	if (t && is_called_off(c, t)) {
		groups_of(c)->look_at_late = true;
		return true;
	}
	if (t)
		order(c, t, l, ev, out);
	forget(c, l);
	return true;
}
