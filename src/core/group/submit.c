/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A group comes in, as a submit of its jobs. It is checked whole before anything of it is written;
 * then its row, its graph and its jobs go into one batch, in slices if it is long. Its jobs' ids
 * are set aside at the beginning, so that they follow each other whatever comes in between.
 */
#include "core/group/group.h"
#include "core/state.h"

#include <stdlib.h>
#include <string.h>

#include "model/objects/group_graph.h"

#define GROUP_QUEUES_MAX 64

/* Edges in places, by need. */
struct sorted_edges {
	struct group_edge *edges;
	uint32_t *first;
};

struct group_plan {
	struct group *group;
	bool is_made;         /* all that there is to be written before its jobs */
	bool was_owed;        /* its owner has triggered it: it was there before */
	struct str why_empty; /* what was left out of it; NULL: nothing */
	uint32_t *order;      /* the jobs, most important first, as the caller counts them */
	uint32_t *place;      /* of each of the caller's jobs in that order */
};

static int refuse_edge(const struct group_edge *e, const struct event *ev, struct problem *p)
{
	if (e->job >= ev->submit.n || e->need >= ev->submit.n)
		return problem_set(p, ERR_INVALID, "job %u needs job %u, and there are only %zu",
		    e->job, e->need, ev->submit.n);
	if (e->job == e->need)
		return problem_set(p, ERR_INVALID, "job %u needs itself", e->job);
	return problem_set(
	    p, ERR_INVALID, "job %u needs job %u on a condition that is none", e->job, e->need);
}

/* What is left of a group is known when it has ended. */
static int check_retried(const struct core *c, rid retried_of, struct problem *p)
{
	const struct group *g = retried_of ? group_find(c, retried_of) : NULL;

	if (!g || group_is_ended(g->row.state))
		return 0;
	problem_set(
	    p, ERR_CONFLICT, "the group has not ended: it is %s", group_state_names[g->row.state]);
	return problem_hint(p, "wait for its end, or cancel it");
}

static int check_edges(const struct event *ev, struct problem *p)
{
	const struct submit_group *s = ev->submit.group;

	for (size_t i = 0; i < s->n_edges; i++) {
		const struct group_edge *e = &s->edges[i];

		if (e->job >= ev->submit.n || e->need >= ev->submit.n || e->job == e->need ||
		    e->condition >= N_EDGE_CONDITIONS || e->reason >= EDGE_REASONS_MAX)
			return refuse_edge(e, ev, p);
	}
	return 0;
}

static int check_size(const struct event *ev, struct problem *p)
{
	const struct submit_group *s = ev->submit.group;

	if (ev->submit.n > GROUP_JOBS_MAX)
		return problem_set(p, ERR_TOO_LARGE, "a group has at most %d jobs, this one %zu",
		    GROUP_JOBS_MAX, ev->submit.n);
	if (s->n_edges > GROUP_EDGES_MAX)
		return problem_set(p, ERR_TOO_LARGE,
		    "a group's jobs have at most %d needs in all, these %zu", GROUP_EDGES_MAX,
		    s->n_edges);
	if (s->policy < 0 || s->policy >= N_GROUP_POLICIES)
		return problem_set(p, ERR_INVALID, "there is no such policy");
	if (s->name.n > NAME_MAX_BYTES || s->series.n > NAME_MAX_BYTES)
		return problem_set(p, ERR_INVALID,
		    "a group's name, or its series', has at most %d bytes", NAME_MAX_BYTES);
	return 0;
}

/* A group that was triggered takes its jobs once: later ones are another draft of the same. */
static int check_owed(const struct core *c, rid owed, struct problem *p)
{
	const struct group *g = group_find(c, owed);

	if (g && ((group_is_owed(&g->row) && !g->is_drafted) || MUTANT(DRAFT_TAKEN_TWICE)))
		return 0;
	return problem_set(p, ERR_CONFLICT, "the group has its jobs, or has ended without them");
}

static int check_name(const struct core *c, struct str name, struct problem *p)
{
	rid id;

	if (id_parse(&c->ids, name, &id))
		return problem_set(p, ERR_INVALID, "a group's name must not look like an id");
	if (name.n && object_find_name(c, KIND_GROUP, name)) {
		problem_set(
		    p, ERR_CONFLICT, "there is a group \"" STR_FMT "\" already", STR_ARG(name));
		return problem_hint(p, "choose another name, or give none");
	}
	if (c->objects[KIND_GROUP].n >= GROUPS_MAX) {
		problem_set(
		    p, ERR_CONFLICT, "there are %d groups already, which is the limit", GROUPS_MAX);
		return problem_hint(p, "remove some that have ended");
	}
	return 0;
}

/* A group's queues stay for as long as its jobs live: see group_user_of(). */
static int use_queue(const struct core *c, struct group *g, rid queue, struct problem *p)
{
	for (uint32_t i = 0; i < g->n_queues; i++)
		if (g->queues[i].queue == queue)
			return 0;
	if (!queue_find(c, queue))
		return problem_set(p, ERR_NOT_FOUND, "the queue was deleted meanwhile");
	if (g->n_queues == GROUP_QUEUES_MAX)
		return problem_set(
		    p, ERR_INVALID, "a group's jobs are in more than %d queues", GROUP_QUEUES_MAX);
	g->queues = xrealloc(g->queues, (g->n_queues + 1) * sizeof *g->queues);
	g->queues[g->n_queues++] = (struct queue_use){queue, 0};
	return 0;
}

static int check_jobs(
    const struct core *c, const struct event *ev, struct group *g, struct problem *p)
{
	const struct submit_group *s = ev->submit.group;
	int e = 0;

	for (size_t i = 0; i < ev->submit.n && !e; i++) {
		e = use_queue(c, g, ev->submit.tasks[i].spec.queue, p);
		if (!e && ev->submit.tasks[i].spec.key.p)
			e = problem_set(p, ERR_INVALID,
			    "job %zu has a unique key: a job is part of its group, and never "
			    "another task",
			    i);
		if (!e && ev->submit.tasks[i].spec.is_streamed)
			e = problem_set(p, ERR_INVALID,
			    "job %zu has a streamed input, and nobody knows when it starts", i);
		if (!e && s->names && s->names[i].n > JOB_NAME_MAX_BYTES)
			e = problem_set(p, ERR_INVALID, "a job's name has at most %d bytes",
			    JOB_NAME_MAX_BYTES);
	}
	return e;
}

static struct str job_name(const struct event *ev, uint32_t job)
{
	return ev->submit.group->names ? ev->submit.group->names[job] : STR_NULL;
}

/* What it takes to find the order goes at once: the batch is in memory until it is durable. */
static int order(
    const struct event *ev, struct arena *a, struct group_plan *plan, struct problem *p)
{
	const struct submit_group *s = ev->submit.group;
	struct order o = {s->edges, s->n_edges, s->weights, (uint32_t)ev->submit.n};
	AUTO(arena_release) struct arena scratch = {0};
	uint32_t *found, job;

	if (!order_jobs(&o, &scratch, &found, &job)) {
		problem_set(p, ERR_INVALID,
		    "jobs need each other in a circle, job %u among them%s" STR_FMT, job,
		    job_name(ev, job).n ? ": " : "", STR_ARG(job_name(ev, job)));
		return problem_hint(p, "take one of their needs away");
	}
	plan->order = arena_memdup(a, found, ev->submit.n * sizeof *found);
	plan->place = arena_alloc(a, (ev->submit.n + 1) * sizeof *plan->place);
	for (uint32_t i = 0; i < ev->submit.n; i++)
		plan->place[plan->order[i]] = i;
	return 0;
}

static struct sorted_edges sort_edges(
    const struct event *ev, const struct group_plan *plan, struct arena *a)
{
	const struct submit_group *s = ev->submit.group;
	struct sorted_edges to = {arena_alloc(a, (s->n_edges + 1) * sizeof *to.edges),
	    arena_zalloc(a, (ev->submit.n + 2) * sizeof *to.first)};
	uint32_t *at = to.first + 1;

	for (size_t i = 0; i < s->n_edges; i++)
		at[plan->place[s->edges[i].need] + 1]++;
	for (size_t i = 0; i < ev->submit.n; i++)
		at[i + 1] += at[i];
	for (size_t i = 0; i < s->n_edges; i++) {
		const struct group_edge *e = &s->edges[i];

		to.edges[at[plan->place[e->need]]++] = (struct group_edge){
		    plan->place[e->job], plan->place[e->need], e->condition, e->reason};
	}
	return to;
}

/* A need that is given twice counts once; with two conditions nobody knows what is meant. */
static int drop_twins(const struct event *ev, struct sorted_edges *s, const struct group_plan *plan,
    struct arena *a, struct problem *p)
{
	uint32_t n_jobs = (uint32_t)ev->submit.n, n = 0, begin = 0;
	uint32_t *seen = arena_zalloc(a, (n_jobs + 1) * sizeof *seen); /* edge + 1 */

	for (uint32_t job = 0; job < n_jobs; job++) {
		uint32_t end = s->first[job + 1], kept = n;

		for (uint32_t i = begin; i < end; i++) {
			const struct group_edge *e = &s->edges[i];
			uint32_t twin = seen[e->job];

			if (twin > kept && s->edges[twin - 1].condition != e->condition)
				return problem_set(p, ERR_INVALID,
				    "job %u needs job %u on two conditions", plan->order[e->job],
				    plan->order[job]);
			if (twin > kept && !MUTANT(GROUP_TWIN_NEEDS))
				continue;
			s->edges[n++] = *e;
			seen[e->job] = n;
		}
		begin = end;
		s->first[job + 1] = n;
	}
	return 0;
}

static void put_chunk(void *arg, struct group_graph_row *row)
{
	batch_put(arg, &group_graph_table, row);
}

static void write_graph(const struct event *ev, const struct group_plan *plan,
    const struct sorted_edges *s, struct group *g, struct effects *out)
{
	struct group_graph_writer w = {
	    .arena = &out->batch.arena, .put = put_chunk, .arg = &out->batch, .group = g->row.id};

	for (uint32_t job = 0; job < ev->submit.n; job++) {
		group_graph_write_job(&w, job, job_name(ev, plan->order[job]));
		for (uint32_t i = s->first[job]; i < s->first[job + 1]; i++)
			group_graph_write_edge(&w, &s->edges[i]);
	}
	group_graph_write_end(&w);
	g->row.n_edges = s->first[ev->submit.n];
	g->row.n_chunks = w.n_chunks;
}

/* The jobs' ids were set aside when the group was triggered. */
static struct group *fill(struct core *c, const struct event *ev)
{
	const struct submit_group *s = ev->submit.group;
	struct group *g = group_find(c, s->owed);

	g->row.policy = s->policy;
	g->row.n_jobs = (int64_t)ev->submit.n;
	g->row.series = s->series.n ? s->series : STR_NULL;
	row_own(&group_table, &g->row, &g->strings);
	g->object.name = g->row.name;
	g->is_drafted = true;
	return g;
}

/* The jobs cannot be taken in: the group is as it was, or never was. */
static void take_back(struct core *c, struct group_plan *plan)
{
	struct group *g = plan->group;

	if (!plan->was_owed) {
		group_forget(c, g);
		return;
	}
	free(g->queues);
	g->queues = NULL;
	g->n_queues = 0;
	g->row.n_jobs = 0;
	g->jobs_seq = 0;
	g->is_drafted = false;
}

/* In the order of the jobs' numbers. */
static void write_digests(
    const struct event *ev, const struct group_plan *plan, struct group *g, struct effects *out)
{
	const struct input_digest *from = ev->submit.group->digests;
	struct arena *a = &out->batch.arena;
	int64_t n_pieces = from ? input_digest_chunks(&g->row) : 0;

	for (int64_t k = 0; k < n_pieces; k++) {
		size_t first = (size_t)k * INPUT_DIGESTS_PER_CHUNK, n = ev->submit.n - first;
		struct group_graph_row *row = arena_zalloc(a, sizeof *row);
		struct input_digest *to;

		n = n < INPUT_DIGESTS_PER_CHUNK ? n : INPUT_DIGESTS_PER_CHUNK;
		to = arena_alloc(a, n * sizeof *to);
		for (size_t i = 0; i < n; i++)
			to[i] = from[MUTANT(BUILT_DIGEST_OF_ANOTHER) ? first + i
			                                             : plan->order[first + i]];
		*row = (struct group_graph_row){.group = g->row.id,
		    .number = INPUT_DIGESTS_FROM + k,
		    .data = {(const char *)to, n * sizeof *to}};
		batch_put(&out->batch, &group_graph_table, row);
	}
}

static void write_left_out(const struct event *ev, const struct group *g, struct effects *out)
{
	struct str rest = ev->submit.group->left_out;

	for (int64_t k = 0; rest.n && k < LEFT_OUT_CHUNKS; k++) {
		size_t n = rest.n < GRAPH_CHUNK_BYTES ? rest.n : GRAPH_CHUNK_BYTES;
		struct group_graph_row *row = arena_zalloc(&out->batch.arena, sizeof *row);

		*row = (struct group_graph_row){.group = g->row.id,
		    .number = LEFT_OUT_FROM + k,
		    .data = arena_str(&out->batch.arena, (struct str){rest.p, n})};
		batch_put(&out->batch, &group_graph_table, row);
		rest = (struct str){rest.p + n, rest.n - n};
	}
}

/* The ids behind the group's are its jobs': nobody else gets one of them. */
static struct group *make(struct core *c, const struct event *ev)
{
	const struct submit_group *s = ev->submit.group;
	struct group_row row = {.id = id_next(c->last_id, c->now_ms),
	    .name = s->name,
	    .policy = s->policy,
	    .n_jobs = (int64_t)ev->submit.n,
	    .ctime_ms = c->now_ms,
	    .mtime_ms = c->now_ms,
	    .actor = ev->actor,
	    .retried_of = s->retried_of,
	    .series = s->series.n ? s->series : STR_NULL};
	struct group *g;
	char text[ID_TEXT];

	if (!row.name.n)
		row.name = str_of(id_format(&c->ids, row.id, text));
	g = group_add(c, &row);
	g->is_untouched = true;
	return g;
}

/* The group's ids are set aside at once: others may get theirs before it is made. */
static int take_order(struct core *c, const struct event *ev, struct group_plan *plan,
    struct problem *p, struct effects *out)
{
	int e = order(ev, &out->batch.arena, plan, p);

	if (!e && !plan->was_owed)
		c->last_id = plan->group->row.id + ev->submit.n;
	return e;
}

/* What triggered the group, and from which graph it is. */
static struct str reason_of(const struct event *ev, const struct group_plan *plan, struct arena *a)
{
	struct str was = plan->group->row.reason, said = ev->submit.group->reason;

	if (!plan->was_owed)
		return said;
	return said.n ? arena_strf(a, STR_FMT "; " STR_FMT, STR_ARG(was), STR_ARG(said)) : was;
}

int group_submit_make(struct core *c, const struct event *ev, struct group_plan *plan,
    struct problem *p, struct effects *out)
{
	AUTO(arena_release) struct arena scratch = {0};
	struct sorted_edges sorted = sort_edges(ev, plan, &scratch);
	int e = drop_twins(ev, &sorted, plan, &scratch, p);

	if (e) {
		take_back(c, plan);
		return e;
	}
	write_graph(ev, plan, &sorted, plan->group, out);
	write_digests(ev, plan, plan->group, out);
	write_left_out(ev, plan->group, out);
	plan->why_empty = arena_str(&out->batch.arena, ev->submit.group->left_out_why);
	group_move(c, plan->group, GROUP_CREATED, reason_of(ev, plan, &scratch), ev->actor, out);
	plan->is_made = true;
	return 0;
}

bool group_plan_is_made(const struct group_plan *p)
{
	return p->is_made;
}

int group_submit_begin(struct core *c, const struct event *ev, struct problem *p,
    struct effects *out, struct group_plan **ret_plan)
{
	struct group_plan *plan;
	int e = check_size(ev, p);

	if (!e)
		e = ev->submit.group->owed ? check_owed(c, ev->submit.group->owed, p)
		                           : check_name(c, ev->submit.group->name, p);
	if (!e)
		e = check_edges(ev, p);
	if (!e)
		e = check_retried(c, ev->submit.group->retried_of, p);
	if (e)
		return e;
	plan = arena_zalloc(&out->batch.arena, sizeof *plan);
	plan->was_owed = ev->submit.group->owed != 0;
	plan->group = plan->was_owed ? fill(c, ev) : make(c, ev);
	plan->group->jobs_seq = out->batch.seq;
	e = check_jobs(c, ev, plan->group, p);
	if (!e)
		e = take_order(c, ev, plan, p, out);
	if (e) {
		take_back(c, plan);
		return e;
	}
	*ret_plan = plan;
	return 0;
}

rid group_plan_id(const struct group_plan *p)
{
	return p->group->row.id;
}

const struct submit_task *group_plan_job(
    const struct group_plan *p, const struct event *ev, size_t i, struct task_spec *ret_spec)
{
	const struct submit_task *t = &ev->submit.tasks[p->order[i]];

	*ret_spec = t->spec;
	if (job_name(ev, p->order[i]).n)
		ret_spec->name = job_name(ev, p->order[i]);
	ret_spec->owner = (struct owner){KIND_GROUP, p->group->row.id, (int64_t)i};
	return t;
}

const struct task_state *group_plan_taken(
    const struct group_plan *p, const struct event *ev, size_t i)
{
	const struct submit_group *s = ev->submit.group;
	const struct task_state *taken = s->taken ? s->taken[p->order[i]] : NULL;

	if (!taken)
		return NULL;
	p->group->row.counts.built++;
	p->group->is_untouched = false;
	return taken;
}

/* Where it comes from, until something else is to be said of it. */
static struct str origin(const struct core *c, const struct group *g, struct arena *a)
{
	char id[ID_TEXT];

	if (!g->row.retried_of && g->row.counts.built)
		return arena_strf(a,
		    "%.*s%s%lld of %lld jobs are taken from earlier groups: same input",
		    (int)g->row.reason.n, g->row.reason.n ? g->row.reason.p : "",
		    g->row.reason.n ? "; " : "", (long long)g->row.counts.built,
		    (long long)g->row.n_jobs);
	if (!g->row.retried_of)
		return g->row.reason;
	return arena_strf(a, "what is left of group %s; %lld job%s taken from there",
	    id_format(&c->ids, g->row.retried_of, id), (long long)g->row.counts.built,
	    g->row.counts.built == 1 ? " is" : "s are");
}

void group_submit_end(struct core *c, struct group_plan *p, struct effects *out)
{
	struct group *g = p->group;

	g->is_drafted = false;
	group_move(c, g, GROUP_QUEUED, origin(c, g, &out->batch.arena), g->row.actor, out);
	if (g->is_unwanted && g->row.n_jobs && !MUTANT(DRAFT_CANCEL_FORGOTTEN))
		group_begin_cancel(
		    c, g, STR("cancelled before its jobs were known"), STR("reeve"), out);
	if (g->row.n_jobs)
		return;
	group_move(c, g, GROUP_DISPATCHING, STR_NULL, STR("reeve"), out);
	group_move(c, g, GROUP_COMPLETE,
	    p->why_empty.n
	        ? arena_strf(&out->batch.arena, "it has no jobs: " STR_FMT, STR_ARG(p->why_empty))
	        : STR("it has no jobs"),
	    STR("reeve"), out);
}
