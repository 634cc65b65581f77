/* SPDX-License-Identifier: Apache-2.0 */
/* Groups in a simulated world: their clients, and their judge. */
#ifndef SIM_GROUP_H
#define SIM_GROUP_H

#include "model/objects/built.h"
#include "model/objects/group_graph.h"
#include "sim/judge/judge_internal.h"
#include "sim/kind.h"
#include "sim/load/load_internal.h"

#define PLAN_EDGES 40

struct truth_group;

/* What a client asked for; it stays, for the judge. */
struct group_wish {
	unsigned request;
	bool has_cycle;
	int32_t policy;
	int n;
	struct group_edge edges[PLAN_EDGES]; /* as given, twins and all */
	size_t n_edges;
	char name[16]; /* "": none */
	/* what is left of another group, from that job on (-1: all that is not built) */
	const struct truth_group *parent; /* NULL: it is not */
	int from, origin[SUBMIT_MOST];
	bool was_built[SUBMIT_MOST];        /* there, when it was asked for */
	struct task_row taken[SUBMIT_MOST]; /* id 0: it is built again */
	rid owed; /* the jobs of this group, which was triggered; 0: a new one */
};

struct truth_result {
	char *text;
	size_t n;
};

struct truth_group {
	rid id;
	unsigned number; /* for the story */
	struct group_row row;
	bool deleted, touched;
	bool is_cancelled; /* somebody has asked for it, */
	bool must_cancel;  /* and it was granted */
	bool has_reason, is_undrafted;
	bool has_tick, is_of_tick; /* a row of a tick names it; as fired */
	const struct group_wish *wish;
	struct truth_task *jobs[SUBMIT_MOST]; /* as the client counts them */
	bool is_skipped[SUBMIT_MOST];
	struct truth_result results[SUBMIT_MOST];
	int n_jobs;
};

/* What a world with groups has of them. */
struct sim_groups {
	struct rng rng;
	struct group_wish **wishes;
	size_t n_wishes, cap_wishes;
	struct truth_group **all;
	size_t n, cap;
	rid drafted;         /* the owed group whose turn came last */
	size_t n_tasks_seen; /* of the judge's */
};

extern const struct sim_kind sim_kind_group;

/* NULL: this world has none. */
static inline struct sim_groups *groups_of(const struct world *w)
{
	return w->of_kind[KIND_GROUP];
}

/* clients.c: hooks of the load */
void groups_load(struct world *w);
void groups_draw_request(struct world *w);
void groups_heal(struct world *w);
void group_submit(struct world *w, const struct request *r, struct event *ev, struct arena *a);
bool group_command(struct world *w, const struct request *r, rid queue, struct event *ev,
    struct command_parts *parts);
struct group_wish *group_draw_wish(struct world *w, int n_most);
void group_send_wish(struct world *w, struct group_wish *p, int64_t in_us);
void group_ask_cancel(struct world *w, const struct truth_group *t, int64_t in_us);
const struct group_wish *group_wish_of(const struct world *w, unsigned request); /* or NULL */
/* owed.c: groups that their owners trigger */
void groups_stepped(struct world *w);
/* One of the owner's that has not ended, but that; of its own ticks, or whatever made it. */
const struct truth_group *groups_live_of(
    const struct world *w, rid owner, rid but, bool ticks_only);
void groups_replaced(struct world *w, rid owner);
void judge_group_owed(struct world *w, const struct truth_group *g);
void judge_groups_kept(struct world *w);
void judge_group_done(struct world *w, const struct event *command, const struct reply *r);
/* truth.c: hooks of the judge */
void judge_group_job(struct world *w, struct truth_task *t);
void judge_group_job_moved(struct world *w, struct truth_task *t, const struct task_row *row);
void judge_group_job_started(struct world *w, struct truth_task *t);
struct truth_group *groups_truth(struct world *w, rid id);            /* made, if it is not there */
const struct truth_group *groups_find(const struct world *w, rid id); /* stored; else NULL */
int groups_place(const struct truth_group *g, const struct truth_task *t); /* -1: not known */
void judge_group_stored(struct world *w, const struct row_op *op);
void judge_groups_applied(struct world *w);
/* left.c: false: nothing is left */
bool group_wish_left(struct group_wish *p, const struct truth_group *g, struct rng *rng);
/* Of the jobs that are wanted (bits) those that may be taken from that group, as if their input
 * were the same. */
void group_wish_reuse(struct group_wish *p, const struct truth_group *g, uint64_t wanted);
void group_submit_left(const struct group_wish *p, struct submit_group *g, struct arena *a);
void judge_group_left(struct world *w, const struct truth_group *g);
void judge_group_taken(
    struct world *w, const struct truth_group *g, int job, const struct task_row *row);
/* series.c */
bool group_is_of_series(const struct group_wish *p);
void group_submit_series(const struct group_wish *p, struct submit_group *g, struct arena *a);
void judge_group_built(struct world *w, const struct built_row *row);
/* shown.c */
void judge_group_result(struct truth_group *g, int job, const struct task_row *row);
void judge_group_job_shown(struct world *w, struct truth_task *t, const struct link_run *run);
bool judge_groups_settled(struct world *w);
void judge_groups_unsettled(struct world *w);

#endif
