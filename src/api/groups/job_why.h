/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Jobs that something waits for: their rows come from the store, then each says what it waits for
 * itself. So an answer goes up to what blocks, and nobody has to ask again.
 */
#ifndef API_JOB_WHY_H
#define API_JOB_WHY_H

#include "api/frame/call.h"
#include "core/group/view.h"

extern const struct field why_shape_reasons[], why_shape_jobs[];

struct job_why { /* the call's state */
	call_fn *then;
	rid group;     /* that is asked about: only jobs of others are told with their group */
	bool is_ahead; /* they are those of the groups that this one waits for */
	size_t n;
	rid tasks[GROUP_LIVE_MAX];
	struct task_row rows[GROUP_LIVE_MAX]; /* id 0: it cannot be read, or is hidden */
};

/* The jobs that the reasons name. */
void job_why_named(struct job_why *j, const struct why *whys, size_t n);
/* The jobs in the way of a group that waits for its turn. False: it does not. */
bool job_why_ahead(struct job_why *j, const struct call *c, rid group);
/* Reads their rows, then goes on; at once if there are none. */
void job_why_read(struct call *c, struct job_why *j, call_fn *then);
/* Names the jobs in the reasons. */
void job_why_fill(const struct job_why *j, struct why *whys, size_t n);
/* The job that blocks: the last one that the reasons name. NULL: there is none, or no row of it. */
const struct task_row *job_why_last(const struct job_why *j, const struct why *whys, size_t n);

/* The member `jobs`, and around each of them. */
void job_why_open(struct call *c);
/* One of them; returns its name and what it waits for. */
struct str job_why_show(struct call *c, const struct task_row *row);
void job_why_close(struct call *c);
/* All of `jobs`. The first one's reasons go into the summary, too: that is all that a list has room
 * for. */
void job_why_show_all(struct call *c, struct str *summary);

#endif
