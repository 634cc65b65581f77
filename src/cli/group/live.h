/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A group as it runs: its jobs and what each needs, as GET /v1/groups/{group}/graph tells them,
 * kept up to date by the stream of changes (live.c); what can be said of its end (forecast.c); how
 * it is drawn on a terminal (tree.c) and for Graphviz (live_dot.c). Pure: the caller says what time
 * it is.
 */
#ifndef CLI_GROUP_LIVE_H
#define CLI_GROUP_LIVE_H

#include <jansson.h>

#include "cli/output/term.h"
#include "graph/dag/measure.h"
#include "model/objects/group.h"

#define NO_JOB UINT32_MAX
/* Beside the states that the model has: its task is not kept any more. */
#define JOB_GONE N_JOB_STATES

struct live {
	json_t *group; /* the object */
	json_t *names; /* by job */
	uint32_t n;
	struct id_space ids;
	rid first_task;           /* of the first job; those of the others follow. 0: nobody said */
	uint8_t *states;          /* enum job_state, or JOB_GONE */
	int64_t *started, *ended; /* ms since 1970; 0: not yet */
	int64_t *took;            /* ms, in an earlier group of its series; 0: not known */
	struct dag dag;           /* why: enum after */
	uint8_t *reasons;         /* beside dag.needs: the planner's */
	bool is_planned;          /* from packages: needs without a reason are for the order */
	uint32_t *parent;         /* the need behind the longest chain; NO_JOB: it has none */
	uint32_t counts[N_JOB_STATES + 1];
};

/* From the reply. What a server must not say is refused. */
int live_load(const json_t *reply, struct live *ret_live, struct problem *p);
void live_release(struct live *l);
const char *live_name(const struct live *l, uint32_t job);
/* The id of its task. False: it is not known. */
bool live_task(const struct live *l, uint32_t job, char ret_id[ID_TEXT]);
/* False: nothing has changed. What has ended stays as it is. */
bool live_move(struct live *l, uint32_t job, enum job_state state, int64_t ms);
/* A list of changes as the stream has it; the callback (or NULL) hears of each that is one. */
typedef void live_fn(struct live *l, uint32_t job, void *arg);
int live_apply(struct live *l, const json_t *changes, live_fn *fn, void *arg, struct problem *p);
/* The group's object anew. */
void live_set_group(struct live *l, json_t *group);

bool job_is_ended(int s);
bool job_is_bad(int s); /* failed, lost or cancelled */
bool job_is_on(int s);  /* a worker has it */
const char *job_state_word(int state);
/* By a name of group_state_names; N_GROUP_STATES: there is none. */
enum group_state group_state_of(const char *name);
uint32_t live_ended(const struct live *l);
uint32_t live_waiting(const struct live *l); /* pending or schedulable */

enum confidence { CONFIDENCE_NONE, CONFIDENCE_LOW, CONFIDENCE_MEDIUM, CONFIDENCE_HIGH };

struct forecast {
	enum confidence confidence; /* NONE: nothing can be said, and left_ms is 0 */
	int64_t left_ms;
	uint32_t workers;  /* as many as were busy */
	uint8_t *critical; /* by job: it is on the longest path of what is left */
	uint32_t n_path;   /* how many */
};
/*
 * What is left, by what the job itself took in an earlier group of the series; else by what jobs
 * took so far: those of the same name with other values or in another round, else all of the group;
 * else by the average of what is known of earlier ones. With as many workers as it has had.
 */
void forecast_make(const struct live *l, int64_t now_ms, struct forecast *ret_forecast);
void forecast_release(struct forecast *f);
/* "4m, medium confidence"; "not known yet" when nothing can be said. */
void forecast_words(const struct forecast *f, struct buf *out);

/* What is looked at: those jobs that matter now, or the whole tree from some job on. */
struct live_look {
	bool is_whole;
	size_t first;
	size_t page; /* so many fit, by the last drawing */
};
/* Just so many lines: the group, how far it is, and its jobs. Looking too far is set right. */
void live_render(const struct live *l, const struct forecast *f, const struct term *t,
    int64_t now_ms, int width, size_t height, struct live_look *look, struct buf *out);
/* Graphviz's text, without what is implied. */
int live_dot(const struct live *l, const struct forecast *f, struct buf *out, struct problem *p);

#endif
