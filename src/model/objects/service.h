/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A service: so many instances of a program, always, wherever there is room. What was asked for,
 * the target revision's spec, and how far a deploy has got. Its revisions and instances are parts
 * of it, in tables of their own.
 */
#ifndef MODEL_SERVICE_H
#define MODEL_SERVICE_H

#include "model/objects/instance.h"
#include "model/objects/revision.h"

#define SERVICES_MAX 1000000
#define SERVICE_INSTANCES_OF_ONE 100000
#define SERVICE_ROUTES_MAX (128 << 10)    /* bytes of JSON */
#define SERVICE_ANNOTATION_MAX (10 << 10) /* bytes */
#define SERVICE_NEEDS_MAX 64              /* services that one needs */
#define SERVICE_PORTS_MAX 64
#define SERVICE_CRASHES_AT_MOST 1000000
#define SERVICE_QUEUE "services" /* of services that name no queue: made with the first of them */

enum service_strategy_kind {
	STRATEGY_ROLLING,
	STRATEGY_RECREATE,
	STRATEGY_CANARY,
	N_STRATEGY_KINDS
};
extern const char *const service_strategy_names[N_STRATEGY_KINDS];
#define SERVICE_DEPLOY_STATES 6
extern const char *const service_deploy_names[SERVICE_DEPLOY_STATES]; /* enum deploy_state */

/* As struct crash_policy and struct deploy_strategy have it (src/service). */
struct service_crash {
	int32_t at_once, stop_at;
	int64_t wait_ms, wait_max_ms, reset_after_ms;
	int64_t factor; /* in thousandths */
};

struct service_strategy {
	int32_t kind; /* enum service_strategy_kind */
	int32_t max_surge, max_unavailable, canary;
	int32_t auto_rollback;
	int64_t min_healthy_ms, deadline_ms;
};

struct service_deploy { /* as struct deploy: what of it is kept */
	int32_t state;
	int64_t target, stable, failed; /* revisions; 0: none */
	int64_t since_ms;
};

struct service_row {
	rid id;
	struct str name;
	struct str domain; /* NULL: none */
	int32_t instances;
	int32_t singleton;
	struct str routes;     /* JSON; NULL: none */
	struct str labels;     /* "key=value\n" lines, sorted; NULL: none */
	struct str annotation; /* whatever its owner wants to remember; NULL: nothing */
	struct service_crash crash;
	struct service_strategy strategy;
	struct service_spec spec; /* the target's */
	struct service_deploy deploy;
	int64_t last_revision; /* the highest number that was given */
	int64_t tag;           /* of the last change of anything of it */
	int32_t deleting; /* nothing of it is wanted any more: it goes with its last instance */
	int64_t ctime_ms, mtime_ms;
	int64_t version;  /* rises with every change that somebody asked for: the ETag */
	struct str actor; /* who changed it last */
};

extern const struct row_table service_table; /* model/rows/row.h */
extern const struct field service_fields[];

/* What a service is that only has a name and a body. */
void service_defaults(struct service_row *ret_row);
/* The columns that make another revision. */
uint64_t service_spec_columns(void);

#endif
