/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What active groups do, at the end of every step: what was noted becomes moves of tasks, and their
 * group goes on when nothing is left to be done. A step does only so much of it.
 *
 * A task that is not in memory is read first. Every move passes through task_move(), so a job that
 * somebody else has moved meanwhile is as it is.
 */
#include "core/group/group.h"
#include "core/state.h"

#include <stdlib.h>

#define BUDGET 16384       /* edges, jobs and moves of one step */
#define MOVE_COSTS 16      /* of it */
#define READ_AGAIN_MS 1000 /* after one has failed */
#define NEAR_AT_ONCE 64    /* rows that are read ahead */

static void wake(struct core *c, struct timer *t, struct effects *out)
{
	struct active *a = CONTAINER_OF(t, struct active, later);
	struct group *g;

	TAILQ_FOREACH (g, &groups_of(c)->active, in_line)
		if (g->active == a)
			group_dirty(c, g);
}

static void groups_later(struct core *c, struct group *g, int64_t in_ms)
{
	if (!timer_is_set(&g->active->later))
		timer_set(c, TIMER_MONO, &g->active->later, c->mono_ms + in_ms, g->row.id, wake);
}

static void spend(size_t *budget, size_t n)
{
	*budget -= n < *budget ? n : *budget;
}

/* -- rows of jobs */

static void ask_rows(struct core *c, struct group *g, struct effects *out)
{
	struct active *a = g->active;
	struct read_ask *r = effects_read(out, READ_TASKS);
	rid *ids = arena_alloc(&out->batch.arena, a->n_asked * sizeof *ids);

	for (uint32_t i = 0; i < a->n_asked; i++)
		ids[i] = group_job_id(&g->row, a->asked[i]);
	r->number = a->read = read_begin(c);
	r->ids = ids;
	r->n = a->n_asked;
}

/* -- one job */

/* The job's needs are met. */
static void release(
    struct core *c, struct group *g, uint32_t job, struct task *t, struct effects *out)
{
	struct task_state now = t->row.state;
	bool was_blocked = now.status == TASK_BLOCKED;

	if (was_blocked) {
		task_unghost(c, t);
		task_move(c, t, TASK_QUEUED, STR_NULL, out);
	}
	if (was_blocked || task_is_held(now.status))
		now.status = TASK_QUEUED; /* a held one some time: by an operator */
	active_note(g, job, &now, t->row.spec.name);
	stands_go_on(c, g);
	if (was_blocked)
		task_enqueue(c, t, out); /* the task may leave memory with that */
	graph_look_ahead(g, job);
}

static bool ends_what_runs(const struct group *g)
{
	return g->row.state == GROUP_CANCELING || g->row.policy == GROUP_FAIL_NOW;
}

/* False: nobody knows yet whether it runs. */
static bool end_job(struct core *c, struct group *g, struct task *t, struct effects *out)
{
	enum task_phase phase = task_phase(t->row.state.status);
	bool runs = phase == PHASE_CLAIMED || phase == PHASE_RUNNING;
	struct event by = {.kind = EV_CANCEL, .actor = STR("reeve")};

	if (phase == PHASE_ENDED || (runs && !ends_what_runs(g)))
		return true;
	if (runs && task_is_told(&t->row.state))
		return true;
	by.tasks.reason = g->row.state == GROUP_CANCELING ? STR("its group is cancelled")
	                                                  : STR("its group has failed");
	return task_call_off(c, t, &by, out).code == 0;
}

/* An ended task may be in memory for a command that looked at it: what it left is not. */
static void note_state(struct group *g, uint32_t job, const struct task *t)
{
	if (t->has_result && task_is_ended(t->row.state.status))
		needs_note_result(g, job);
	active_note(g, job, &t->row.state, t->row.spec.name);
}

static void act(struct core *c, struct group *g, uint32_t job, struct task *t,
    const struct task_row *need, struct effects *out)
{
	struct active *a = g->active;

	if (a->stage == STAGE_STATES || a->marks[job] == MARK_UNKNOWN)
		note_state(g, job, t);
	if (a->stage == STAGE_END) {
		if (end_job(c, g, t, out))
			return;
		job_list_push(&a->todo, job);
		groups_later(c, g, READ_AGAIN_MS);
	} else if (a->marks[job] == MARK_DUE) {
		release(c, g, job, t, out);
	} else if (a->marks[job] == MARK_DOOMED) {
		group_skip(c, g, job, t, need, out);
	}
}

static void ask_for(struct active *a, uint32_t job)
{
	if (!a->asked)
		a->asked = xmalloc(GROUP_READ_JOBS * sizeof *a->asked);
	a->asked[a->n_asked++] = job;
}

static void ask_for_once(struct active *a, uint32_t job)
{
	for (uint32_t i = 0; i < a->n_asked; i++)
		if (a->asked[i] == job)
			return;
	ask_for(a, job);
}

/* The need that a doomed job has broken on is to be named: then its row is asked for, too. */
static bool lacks_need(
    const struct core *c, const struct group *g, uint32_t job, uint32_t *ret_need)
{
	if (g->active->stage != STAGE_RUN || g->active->marks[job] != MARK_DOOMED)
		return false;
	*ret_need = graph_broken(g, job).need;
	return !task_find(c, group_job_id(&g->row, *ret_need));
}

/* A job whose task is in memory, or is asked for. False: so many are asked for already. */
static bool look_at(
    struct core *c, struct group *g, uint32_t job, size_t *budget, struct effects *out)
{
	struct active *a = g->active;
	struct task *t = task_find(c, group_job_id(&g->row, job));
	uint32_t need = 0;
	bool lacks = lacks_need(c, g, job, &need);

	if (t && !lacks) {
		act(c, g, job, t, NULL, out);
		spend(budget, MOVE_COSTS);
		return true;
	}
	if (a->read || a->n_asked + lacks >= GROUP_READ_JOBS)
		return false;
	if (lacks)
		ask_for_once(a, need);
	ask_for(a, job);
	return true;
}

static bool wants_look(const struct active *a, uint32_t job)
{
	if (a->stage == STAGE_STATES)
		return a->marks[job] == MARK_UNKNOWN;
	return a->marks[job] < MARK_BUILT || a->marks[job] == MARK_UNKNOWN;
}

/* All jobs in turn, from the first. True: all were looked at, or are being read. */
static bool sweep(struct core *c, struct group *g, size_t *budget, struct effects *out)
{
	struct active *a = g->active;

	if (a->read)
		return false;
	for (; a->next < g->row.n_jobs && *budget; a->next++, spend(budget, 1))
		if (MUTANT(GROUP_CANCEL_MISSES_ONE) && a->stage == STAGE_END && a->next == 1)
			continue;
		else if (wants_look(a, a->next) && !look_at(c, g, a->next, budget, out))
			break;
	return a->next == g->row.n_jobs;
}

static void do_todo(struct core *c, struct group *g, size_t *budget, struct effects *out)
{
	struct active *a = g->active;
	size_t n = a->todo.n; /* what is put back waits for its time */
	uint32_t job;

	while (n-- && *budget && job_list_pop(&a->todo, &job))
		if (a->marks[job] < MARK_BUILT && !look_at(c, g, job, budget, out)) {
			job_list_push(&a->todo, job);
			break;
		}
}

/* What may be due next is read ahead: then its release is in one batch with the end before it. */
static void ask_near(struct core *c, struct group *g)
{
	struct active *a = g->active;
	uint32_t job;

	while (!a->read && a->n_asked < NEAR_AT_ONCE && job_list_pop(&a->near, &job))
		if (a->marks[job] == MARK_WAITS && !task_find(c, group_job_id(&g->row, job)))
			ask_for(a, job);
}

/* -- the group */

static struct str first_failed(const struct core *c, const struct group *g, struct arena *a)
{
	const struct active *k = g->active;
	const char *name = k->first_failed_name;
	struct str id;

	if (k->first_failed == UINT32_MAX)
		return STR("jobs failed");
	id = group_job_text(c, g, k->first_failed, a);
	return arena_strf(a, "%lld of %lld jobs failed, the first was %s%stask " STR_FMT "%s",
	    (long long)(group_count_failed(&k->counts) + k->n_gone), (long long)g->row.n_jobs,
	    name ? name : "", name ? " (" : "", STR_ARG(id), name ? ")" : "");
}

static void end_all(struct core *c, struct group *g, struct str reason, struct effects *out)
{
	group_move(c, g, GROUP_FAILURE_CLEANUP, reason, STR("reeve"), out);
	active_end_rest(c, g);
	group_dirty(c, g);
}

/* Nothing is eligible, runs, is held or waits for its time, and nothing is left to be done. */
static struct str why_stuck(const struct core *c, const struct group *g, struct arena *a)
{
	const struct active *k = g->active;
	uint32_t job = 0, need, last;
	struct str id, other;

	while (job < g->row.n_jobs && k->marks[job] != MARK_WAITS)
		job++;
	if (job == g->row.n_jobs)
		return STR("stuck: no job can start, and nobody knows why");
	id = group_job_text(c, g, job, a);
	if (!graph_blockers(g, job, &need, &last))
		return arena_strf(a,
		    "stuck: all that task " STR_FMT " needs has ended, and it was not started",
		    STR_ARG(id));
	other = group_job_text(c, g, need, a);
	return arena_strf(a,
	    "stuck: task " STR_FMT " waits for task " STR_FMT ", which does not run", STR_ARG(id),
	    STR_ARG(other));
}

static void finish(struct core *c, struct group *g, struct effects *out)
{
	struct active *a = g->active;
	struct str reason = STR_NULL;
	enum group_state to = GROUP_COMPLETE;

	g->row.counts = a->counts;
	if (g->row.state == GROUP_CANCELING) {
		to = GROUP_CANCELED;
		reason = arena_str(&out->batch.arena, g->row.reason);
	} else if (g->row.state == GROUP_FAILURE_CLEANUP) {
		to = GROUP_FAILED;
		reason = arena_str(&out->batch.arena, g->row.reason);
	} else if (group_count_failed(&a->counts) || a->n_gone) {
		to = GROUP_FAILED;
		reason = first_failed(c, g, &out->batch.arena);
	}
	series_save(c, g, out); /* while it is known what its jobs were built from */
	active_end(c, g);
	group_move(c, g, to, reason, STR("reeve"), out);
}

static bool fails_now(const struct group *g)
{
	return g->row.policy != GROUP_BEST_EFFORT &&
	       (group_count_failed(&g->active->counts) || g->active->n_gone);
}

static void run(struct core *c, struct group *g, size_t *budget, struct effects *out)
{
	struct active *a = g->active;

	if (active_has_ended(g)) {
		finish(c, g, out);
		return;
	}
	if (fails_now(g)) {
		end_all(c, g, first_failed(c, g, &out->batch.arena), out);
		return;
	}
	if (graph_follow(g, budget)) {
		needs_followed(c, g);
		do_todo(c, g, budget, out);
	}
	if (!a->n_asked)
		ask_near(c, g);
	if (a->n_asked && !a->read)
		ask_rows(c, g, out);
	if (a->ended.n || (a->todo.n && !a->read))
		group_dirty(c, g);
	else if (!a->n_live && !a->todo.n && !a->read && !active_has_ended(g))
		end_all(c, g, why_stuck(c, g, &out->batch.arena), out);
	else if (active_has_ended(g))
		group_dirty(c, g);
	else if (!a->read)
		stands_rests(c, g);
}

/* Of a group that has just come in every job waits, and no row has to say so. */
static void read_states(struct core *c, struct group *g, size_t *budget, struct effects *out)
{
	struct active *a = g->active;
	bool all;

	if (g->is_untouched)
		active_note_held(g);
	all = sweep(c, g, budget, out);
	if (a->n_asked && !a->read)
		ask_rows(c, g, out);
	if (a->read)
		return;
	if (all) {
		g->row.counts = a->counts;
		g->is_changed = true;
		stage_move(a, STAGE_RUN);
		graph_count(g);
	}
	group_dirty(c, g);
}

static void end_rest(struct core *c, struct group *g, size_t *budget, struct effects *out)
{
	struct active *a = g->active;
	bool all = sweep(c, g, budget, out);

	if (all && !timer_is_set(&a->later))
		do_todo(c, g, budget, out);
	if (a->n_asked && !a->read)
		ask_rows(c, g, out);
	if (active_has_ended(g))
		finish(c, g, out);
	else if (!a->read && !all)
		group_dirty(c, g);
}

static void work(struct core *c, struct group *g, size_t *budget, struct effects *out)
{
	if (g->active)
		switch (g->active->stage) {
		case STAGE_GRAPH:
			if (!g->active->read && !timer_is_set(&g->active->later))
				graph_ask(c, g, out);
			break;
		case STAGE_STATES: read_states(c, g, budget, out); break;
		case STAGE_RUN: run(c, g, budget, out); break;
		default: end_rest(c, g, budget, out); break;
		}
	if (g->is_changed)
		group_save(c, g, out);
}

static void nothing(struct core *c, struct timer *t, struct effects *out)
{
}

void groups_go_on(struct core *c)
{
	if (!timer_is_set(&groups_of(c)->more))
		timer_set(c, TIMER_MONO, &groups_of(c)->more, c->mono_ms, 0, nothing);
}

void groups_work(struct core *c, struct effects *out)
{
	size_t budget = BUDGET;
	struct group *g;

	for (;; spend(&budget, 1)) {
		groups_pull(c, out);
		g = TAILQ_FIRST(&groups_of(c)->dirty);
		if (!g || !budget)
			break;
		TAILQ_REMOVE(&groups_of(c)->dirty, g, in_dirty);
		g->is_dirty = false;
		work(c, g, &budget, out);
	}
	needs_work(c, false, out);
	/* counts are written with what they count, however much is left to be done */
	TAILQ_FOREACH (g, &groups_of(c)->dirty, in_dirty)
		if (g->is_changed)
			group_save(c, g, out);
	if (!TAILQ_EMPTY(&groups_of(c)->dirty))
		groups_go_on(c);
}

/* -- answers */

/* Among the rows that came with its own. */
static const struct task_row *need_of(
    const struct group *g, uint32_t job, uint32_t n, const struct event *ev)
{
	const struct active *a = g->active;

	if (a->stage != STAGE_RUN || a->marks[job] != MARK_DOOMED)
		return NULL;
	for (uint32_t i = 0; i < n; i++)
		if (a->asked[i] == graph_broken(g, job).need)
			return &ev->rows.rows[i];
	return NULL;
}

static void take_row(struct core *c, struct group *g, uint32_t job, const struct task_row *row,
    const struct task_row *need, struct effects *out)
{
	rid id = group_job_id(&g->row, job);
	struct task *t = task_find(c, id);
	bool is_new = !t;

	if (!t && row->id && g->active->stage == STAGE_STATES) {
		active_note(g, job, &row->state, row->spec.name);
		return;
	}
	if (!t && row->id && queue_find(c, row->spec.queue))
		t = task_new(c, row);
	if (!t) {
		active_note_gone(g, job);
		return;
	}
	act(c, g, job, t, need, out);
	if (is_new && g->active->stage == STAGE_RUN && g->active->marks[job] == MARK_WAITS)
		active_keep(c, g, job);
	else if (is_new)
		task_put_back(c, id, out);
}

static void take_rows(struct core *c, struct group *g, const struct event *ev, struct effects *out)
{
	struct active *a = g->active;
	uint32_t n = a->n_asked;

	a->n_asked = 0;
	for (uint32_t i = 0; i < n; i++)
		if (a->stage == STAGE_STATES || a->marks[a->asked[i]] < MARK_BUILT ||
		    a->marks[a->asked[i]] == MARK_UNKNOWN)
			take_row(c, g, a->asked[i], &ev->rows.rows[i],
			    need_of(g, a->asked[i], n, ev), out);
}

static void take_graph(struct core *c, struct group *g, const struct event *ev, struct effects *out)
{
	if (g->active->stage != STAGE_GRAPH)
		return; /* the group was cancelled meanwhile */
	if (!graph_take(g, ev)) {
		end_all(c, g, STR("its graph in the store is damaged"), out);
	} else if (graph_is_whole(g)) {
		stage_move(g->active, STAGE_STATES);
		series_graph_is_read(g);
	}
}

/* What was asked is asked again: by the sweep, from where it was, or by what is to be done. */
static void ask_again(struct core *c, struct group *g)
{
	struct active *a = g->active;

	for (uint32_t i = 0; i < a->n_asked; i++)
		if (a->stage == STAGE_RUN)
			job_list_push(&a->todo, a->asked[i]);
	if (a->n_asked && a->stage != STAGE_RUN)
		a->next = 0;
	a->n_asked = 0;
	groups_later(c, g, READ_AGAIN_MS);
}

bool groups_read(struct core *c, const struct event *ev, struct effects *out)
{
	uint64_t number = ev->kind == EV_PARTS_READ ? ev->parts.read : ev->rows.read;
	bool failed = ev->kind == EV_PARTS_READ ? ev->parts.failed : ev->rows.failed;
	struct group *g;
	bool is_need = ev->kind == EV_TASKS_READ && needs_read(c, ev, out);

	TAILQ_FOREACH (g, &groups_of(c)->active, in_line)
		if (g->active && g->active->read == number)
			break;
	if (g && !is_need) {
		g->active->read = 0;
		if (failed)
			ask_again(c, g);
		else if (ev->kind == EV_PARTS_READ)
			take_graph(c, g, ev, out);
		else
			take_rows(c, g, ev, out);
		if (!failed)
			group_dirty(c, g);
	}
	return g || is_need;
}
