/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Groups: jobs that need each other. A job is a task; what it needs is in the group's graph, which
 * is in memory only while the group dispatches.
 *
 * Whatever happens to a job is noted by the hooks of the kind, and acted upon before the step ends
 * (groups_work()), so both are in one batch. Nothing is trusted to have been done: a start reads
 * the graph and the rows of the jobs again, and what is due follows from them.
 */
#ifndef CORE_GROUP_H
#define CORE_GROUP_H

#include <bsd/sys/queue.h>

#include "core/effects.h"
#include "core/event.h"
#include "core/group/order.h"
#include "core/object.h"
#include "core/timer.h"
#include "model/objects/group.h"
#include "model/objects/group_graph.h"

struct core;
struct pending;
struct task;

/* What is known of a job while its group is active: a byte. */
enum job_mark {
	MARK_WAITS,  /* for what it needs */
	MARK_DUE,    /* the job may start: its task is to be released */
	MARK_DOOMED, /* the job can never start: its task is to be ended */
	MARK_LIVE,   /* the job waits for a worker, runs, or is held */
	MARK_BUILT,
	MARK_FAILED,
	MARK_SKIPPED,
	MARK_UNKNOWN, /* not read yet */
};

struct job_list { /* first in, first out */
	uint32_t *jobs;
	size_t first, n, cap;
};

/*
 * What an active group is busy with: each needs what is before it.
 *
 *   graph --read--> states --known--> run --failed fast, stuck or cancelled--> end
 *     |               |                                                         ^
 *     '--cancelled----+--cancelled----------------------------------------------'
 *
 * The table is in active.c; stage_move() makes every move.
 */
enum group_stage {
	STAGE_GRAPH,  /* the group's graph is being read */
	STAGE_STATES, /* the rows of its jobs are being read */
	STAGE_RUN,
	STAGE_END, /* what has not ended is being ended */
	N_GROUP_STAGES
};
extern const struct moves stage_moves;

#define GROUP_NEAR 256      /* jobs whose tasks are read before they are due */
#define GROUP_READ_JOBS 512 /* rows in one read, and moves in one step */

struct active {
	enum group_stage stage;
	uint64_t read;   /* number of the read under way; 0: none */
	int64_t n_read;  /* of its graph: pieces so far */
	uint32_t next;   /* the job that is looked at next: STAGE_STATES, STAGE_END */
	uint32_t *asked; /* whose rows are being read; NULL: there was none since it stood still */
	uint32_t n_asked;
	struct timer later; /* monotonic: there is more to do */
	/* the graph: the jobs that need job i are needed_by[first[i] .. first[i + 1]) */
	uint32_t *first, *needed_by; /* job << 2 | condition */
	uint32_t n_begun;            /* of `first` */
	size_t n_edges, cap_edges;
	/* of each job: so many of its needs are not met; if it is doomed, by which need << 2 |
	 * condition */
	uint32_t *open;
	uint8_t *marks; /* enum job_mark of each job */
	uint32_t n_unknown;
	uint32_t first_failed;        /* the job, if one has, */
	char *first_failed_name;      /* and how people call it; NULL: by its task's id */
	struct group_counts counts;   /* of what is known */
	int64_t n_live, n_gone;       /* gone: without a row */
	struct job_list todo;         /* due or doomed, or to be ended */
	struct job_list ended;        /* whose dependents are to be looked at, */
	size_t edge;                  /* the first one's from this edge on */
	struct job_list near;         /* with one need left: their tasks are to be read */
	uint32_t kept[GROUP_NEAR];    /* whose tasks were, so that their release needs no read; */
	size_t n_kept;                /* so many were ever: the oldest go first */
	struct input_digest *digests; /* of each job; NULL: nobody knows any */
	/* what jobs are shown of those that they need: see needs.c */
	uint8_t *left;            /* a bit of each job: it left a result; NULL: none has */
	uint32_t *shown;          /* of each job: its last one in `links`, + 1; NULL: nothing */
	struct shown_need *links; /* lists */
	size_t n_links, cap_links;
	bool is_followed; /* whatever had ended when it began is among them */
	/* see stands.c */
	bool stands, is_to_judge;
	uint32_t look_at; /* the job that could go on when that was looked at last */
};

struct shown_need {
	uint32_t need;
	uint32_t next; /* + 1; 0: it is the last */
};
TAILQ_HEAD(late_orders, late_order);

struct queue_use {
	rid queue;
	int64_t n; /* jobs that have not ended */
};

struct group {
	struct object object;
	struct group_row row; /* the row's strings are owned, in `strings` */
	char *strings;
	uint64_t batch_seq; /* the batch that holds a row of it, */
	size_t batch_row;   /* and which one */
	uint64_t jobs_seq;  /* the batch with which it came, then its jobs; 0: long ago */
	struct queue_use *queues;
	uint32_t n_queues;
	struct active *active;      /* NULL: it is not */
	TAILQ_ENTRY(group) in_line; /* of those that are owed, that wait, or that are active */
	TAILQ_ENTRY(group) in_dirty;
	bool is_dirty;            /* something is to be done, or written */
	bool is_changed;          /* the group's counts are to be written */
	bool is_drafted;          /* the group was owed: its jobs are being taken in, */
	bool is_unwanted;         /* and somebody cancelled it meanwhile */
	bool is_untouched;        /* since the group came in no job has ended: all are held */
	struct built_note *built; /* of a series: jobs that are to be written down */
	size_t n_built, cap_built;
};

struct built_note {
	rid task;
	uint32_t job;
	int64_t duration_ms;
	char *name;
	size_t name_n;
};
TAILQ_HEAD(group_list, group);

/* What they share. */
struct groups {
	struct group_list owed, waiting, active; /* by id */
	struct group_list dirty;
	size_t n_active, n_stand;          /* that dispatch; that stand still, of these */
	int64_t active_jobs, active_edges; /* of what is in memory */
	struct timer pull;                 /* monotonic: whether workers idle is to be looked at */
	struct timer more;                 /* monotonic: a step had no time left */
	bool has_idled;                    /* workers idled when that was looked at last */
	bool look_at_stands;               /* one has something to be judged by */
	bool look_at_waiting;              /* one stands still since: another may take its place */
	rid looked_to;                     /* of those that wait; 0: to the end */
	struct late_orders late;           /* of jobs that are to be shown what they need */
	bool look_at_late;
	struct timer read_again; /* monotonic: a read for one of them has failed */
};

/* group.c */
struct groups *groups_of(const struct core *c);
struct group *group_find(const struct core *c, rid id);
/* The group that the task is a job of, if there is one; and the job's number. */
struct group *group_of(const struct core *c, const struct task_row *t, uint32_t *ret_job);
struct group *group_add(struct core *c, const struct group_row *row);
void group_forget(struct core *c, struct group *g);
/* What has not ended is ended. */
void group_begin_cancel(
    struct core *c, struct group *g, struct str reason, struct str actor, struct effects *out);
/* The one door. */
void group_move(struct core *c, struct group *g, enum group_state to, struct str reason,
    struct str actor, struct effects *out);
void group_enter(struct core *c, struct group *g); /* a new one, into the line of its state */
void group_dirty(struct core *c, struct group *g);
void group_save(struct core *c, struct group *g, struct effects *out);

/* owed.c: groups that their owners trigger */
/* One that is to be drafted; 0: there are too many groups, which group_room() says. */
rid group_trigger(struct core *c, const struct owner *of, struct str actor, struct effects *out);
size_t group_room(const struct core *c);
/* The ids of its jobs are set aside: nobody else gets one of them. */
void group_keep_ids(struct core *c, const struct group_row *g);
/* An owed group cannot be drafted: this is the reason. */
int group_undrafted(
    struct core *c, struct group *g, const struct event *ev, struct reply *r, struct effects *out);
/* The owner, if there is one, is told that one of its groups has begun, or has ended. */
void group_tell_owner(struct core *c, const struct group *g);

/* submit.c: a group comes in */
struct group_plan;
/* Checks it and writes its rows, but those of its jobs. The plan is in the batch's arena. */
int group_submit_begin(struct core *c, const struct event *ev, struct problem *p,
    struct effects *out, struct group_plan **ret_plan);
/* Then, if it is long in a step of its own: its graph. On an error nothing of it is left. */
int group_submit_make(struct core *c, const struct event *ev, struct group_plan *plan,
    struct problem *p, struct effects *out);
bool group_plan_is_made(const struct group_plan *p);
rid group_plan_id(const struct group_plan *p);
/* The i-th job's task, as the caller gave it; its id, owner and status are the group's. */
const struct submit_task *group_plan_job(
    const struct group_plan *p, const struct event *ev, size_t i, struct task_spec *ret_spec);
/* How the i-th job stands if it was built elsewhere, which is counted; NULL: it was not. */
const struct task_state *group_plan_taken(
    const struct group_plan *p, const struct event *ev, size_t i);
void group_submit_end(struct core *c, struct group_plan *p, struct effects *out);

/* jobs.c: hooks of the kind, and what an operator may do to a job */
void group_task_live(struct core *c, struct object *o, rid task, rid queue);
void group_task_ended(struct core *c, struct object *o, rid task);
void group_task_waits(struct core *c, struct object *o, rid task);
const struct object *group_user_of(const struct core *c, rid queue);
const char *group_refuses(
    const struct core *c, const struct object *o, const struct task *t, const struct event *ev);
/* Somebody fails a job: that is written down beside the groups' own events. */
void group_failed(struct core *c, const struct object *o, const struct task *t, struct str reason,
    struct str actor, struct effects *out);
/* The group may have it wait on. */
int group_released(const struct core *c, const struct object *o, const struct task *t);

/* active.c: what is in memory of an active group */
void active_begin(struct core *c, struct group *g);
void active_end(struct core *c, struct group *g);
/* What has not ended is to be ended, active or not. */
void active_end_rest(struct core *c, struct group *g);
void stage_move(struct active *a, enum group_stage to);
void job_list_push(struct job_list *l, uint32_t job);
bool job_list_pop(struct job_list *l, uint32_t *ret_job);
/* Keeps a blocked task in memory for as long as there is room; and lets all of them go. */
void active_keep(struct core *c, struct group *g, uint32_t job);
/* How a job of that name stands, by its task. What has ended stays as it is: a report that comes
 * again changes nothing. */
void active_note(struct group *g, uint32_t job, const struct task_state *s, struct str name);
void active_note_gone(struct group *g, uint32_t job);
void active_note_held(struct group *g);       /* all of them */
bool active_has_ended(const struct group *g); /* all of its jobs have */

/* graph.c: reads it, and counts what is open */
void graph_ask(struct core *c, struct group *g, struct effects *out);
/* False: it is damaged. */
bool graph_take(struct group *g, const struct event *ev);
bool graph_is_whole(const struct group *g);
void graph_count(struct group *g);
/* Looks at the dependents of what has ended; false: the budget is used up. */
bool graph_follow(struct group *g, size_t *budget);
/* A job has been released: those that wait for nothing else may be due next. */
void graph_look_ahead(struct group *g, uint32_t job);
/* The need that a doomed job has broken on. */
struct group_edge graph_broken(const struct group *g, uint32_t job);
/* The row of jobs that this one waits for: the last one that it needs and that has not ended, then
 * the last one that that needs, up to one that needs none. Returns how many there are. */
uint32_t graph_blockers(
    const struct group *g, uint32_t job, uint32_t *ret_need, uint32_t *ret_last);

/* env.c: a queue's environment, and beside it what tells a job which one it is. */
struct str group_env(const struct core *c, const struct object *o, const struct task_row *t,
    struct str env, struct arena *a);

/* series.c */
void series_note(struct group *g, uint32_t job, const struct task_row *t); /* the task has ended */
void series_graph_is_read(struct group *g);
void series_save(struct core *c, struct group *g, struct effects *out);
void series_drop(struct group *g);

/* needs.c: what a job is shown of those that it needs */
void needs_note_result(struct group *g, uint32_t job);
bool needs_speaks(const struct group *g, uint32_t job); /* an ended job: it is to be shown */
void needs_note(struct group *g, uint32_t job, uint32_t need);
void needs_followed(struct core *c, struct group *g); /* all that had ended were noted */
void needs_drop(struct active *a);
/* The owner's job is shown what it needs, as far as is known. */
bool needs_are_shown(const struct core *c, const struct object *o, int64_t job);
/* The order of a job that is shown something is sent later, with that. */
bool needs_delay(struct core *c, struct object *o, const struct task *t);
/* just_placed: the step is over but for that. */
void needs_work(struct core *c, bool just_placed, struct effects *out);
bool needs_read(struct core *c, const struct event *ev, struct effects *out);
void needs_release(struct core *c);

/* skip.c: a doomed job ends; the row of the need that has broken: id 0 if it is gone, NULL if it
 * was not asked for */
void group_skip(struct core *c, struct group *g, uint32_t job, struct task *t,
    const struct task_row *need, struct effects *out);

/* why.c: a job's id, as people write it */
struct str group_job_text(
    const struct core *c, const struct group *g, uint32_t job, struct arena *a);
/* What a job that is blocked waits for; false: it is no such. */
struct why_answer;
bool group_why_job(struct why_answer *an, const struct core *c, const struct object *o,
    const struct task_row *row, int32_t status);

/* work.c */
void groups_work(struct core *c, struct effects *out);
bool groups_read(struct core *c, const struct event *ev, struct effects *out);
void groups_go_on(struct core *c); /* another step is to follow at once */

/* pull.c: which ones become active */
#define GROUPS_STAND_MOST 10000        /* dispatch at once, however many of them stand still; */
#define GROUPS_STAND_BYTES (64L << 20) /* and of memory for their jobs */
void groups_pull(struct core *c, struct effects *out);
/* No more is pulled in, but for the few that dispatch anyway. */
bool groups_fill_memory(const struct core *c);
/* If a worker idles from now on: when one more comes in. */
int64_t groups_pull_in_ms(const struct core *c, int64_t mono_ms);

/* stands.c: which of them stand still */
/* A job was released, or given to a worker, or all of the group is being ended. */
void stands_go_on(struct core *c, struct group *g);
/* Of the group nothing is to be done until something happens. */
void stands_rests(struct core *c, struct group *g);
/* After placement: those that rest since, or all. */
void stands_look(struct core *c, bool at_all);

#endif
