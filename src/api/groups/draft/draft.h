/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A group on its way from the body of a request to the brain: read, planned and checked on a
 * reader's thread, so that a hundred thousand jobs hold up nobody. Only which queues there are is
 * looked up on the loop, between the two halves.
 */
#ifndef API_DRAFT_H
#define API_DRAFT_H

#include "api/tasks/task_in.h"
#include "core/event.h"
#include "graph/file/file.h"
#include "model/objects/token.h"

#define DRAFT_QUEUES_MAX 64
#define DRAFT_SALT 17 /* bytes of text: what makes the keys of its throttles its own */

struct draft_job {     /* what is needed of a job until it is known whether it fits its queue */
	uint8_t queue; /* of the draft's */
	bool has_command, has_action, has_params;
	struct str run;
};

struct draft {
	struct str text; /* the body; NULL when it was read, with its length */
	int64_t now_ms;
	char salt[DRAFT_SALT];
	uint64_t seed; /* of names, which strangers choose */

	struct plan_file file; /* of one that is planned from a kept graph, until that is done */

	struct arena arena; /* of all that goes to the brain */
	struct submit_group group;
	struct submit_task *tasks;
	size_t n;
	struct draft_job *jobs;
	uint32_t *lines;     /* of each job in the text; NULL: they have none */
	json_t *job;         /* packages: what is said of every job's task; NULL: nothing */
	struct buf left_out; /* packages: what is not built, as JSON objects; empty: nothing */
	size_t n_left_out, n_touched_out; /* of these: that somebody has named */
	const struct str *outside; /* packages: what else each job is built with; NULL: nothing */
	bool reuse;                /* what was built from the same before is taken as it is */
	struct id_space ids;
	struct str queue;                               /* of jobs that name none */
	struct str queues[DRAFT_QUEUES_MAX];            /* the queues that jobs name, */
	const struct queue_row *rows[DRAFT_QUEUES_MAX]; /* and what those are */
	size_t named_by[DRAFT_QUEUES_MAX];              /* the first job that does so; from 1 */
	size_t n_queues;

	const struct token_row *limit; /* of who asks; NULL: none */
	struct str denied;             /* the queue that it does not cover; NULL: none */
	struct problem problem;        /* code 0: all is well */
};

/* The first half: everything but the queues. If it names a kept graph (file.from), its jobs come
 * with draft_graph(). */
void draft_read(struct draft *d);
void draft_graph(struct draft *d, const struct package_graph *g, int64_t version);
/* The second: whether each job fits its queue, and whoever asks may use it. */
void draft_fit(struct draft *d);
void draft_release(struct draft *d);
void draft_empty(struct draft *d); /* all but what was left out */

/* draft_jobs.c, draft_packages.c, draft_task.c: for the first half */
struct draft_value { /* {name} in the command, and a variable of the environment */
	struct str name, value;
	struct str variable; /* empty: there is none */
};
struct draft_element {
	struct str name; /* in the draft's arena */
	uint32_t line;
	const struct draft_value *values;
	size_t n_values;
	struct str need; /* beside what is said of its task; NULL: nothing */
};
int draft_jobs(struct draft *d, struct plan_file *f);
/* What a plan says is to be built, each as the draft's `job` says. */
int draft_manifest(struct draft *d, const struct manifest *m);
/* Room for so many jobs and needs. */
int draft_begin(struct draft *d, size_t n_jobs, size_t n_edges);
/* The next one: its task, from what was said of it, which belongs to the caller. */
int draft_task(struct draft *d, struct task_in *in, json_t *said, const struct draft_element *e);
/* Puts the place before what the problem says. */
int draft_problem(struct draft *d, uint32_t line, struct str name);

#endif
