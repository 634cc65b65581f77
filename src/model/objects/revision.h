/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A revision of a service: what it runs, and how. It never changes; another one takes its place.
 * The last few are kept, and those that are in use.
 */
#ifndef MODEL_REVISION_H
#define MODEL_REVISION_H

#include "model/rows/field.h"
#include "model/task/task.h"

#define REVISIONS_KEPT 20

/* What makes a revision. All else of a service changes without one. */
struct service_spec {
	rid queue;        /* whose settings hold; 0: the queue of all services that name none */
	int32_t n_ports;  /* numbers given by the worker */
	struct str need;  /* of its worker: model/task/need.h; NULL: what the queue says */
	struct str needs; /* services that must be ready before it starts: names as lines */
	struct str body;  /* JSON object, as a task's: command or action, env, run */
};

/* How it went with it. */
enum revision_outcome {
	REVISION_NEW,      /* it is the target, or was, and not all instances were healthy yet */
	REVISION_STABLE,   /* all instances were healthy */
	REVISION_FAILED,   /* they were not in time */
	REVISION_REPLACED, /* another took its place before */
	N_REVISION_OUTCOMES
};
extern const char *const revision_outcome_names[N_REVISION_OUTCOMES];

struct revision_row {
	rid service;
	int64_t number;  /* from 1 */
	int64_t time_ms; /* when it was asked for */
	int32_t outcome; /* enum revision_outcome */
	int64_t outcome_ms;
	struct str actor;  /* who asked for it */
	struct str reason; /* and why; NULL: nobody said */
	struct service_spec spec;
};

extern const struct row_table revision_table; /* model/rows/row.h */
extern const struct field revision_fields[];

bool spec_is_same(const struct service_spec *x, const struct service_spec *y);

#endif
