/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Services as others see them: the interface, metrics, why. Rows are made for the asker in the
 * arena; what is not copied lives until the next step.
 */
#ifndef CORE_SERVICE_VIEW_H
#define CORE_SERVICE_VIEW_H

#include "core/core.h"
#include "model/objects/domain.h"
#include "model/objects/service.h"

const struct domain_row *core_domain(const struct core *c, rid id);
bool core_domain_is_fresh(const struct core *c, struct str name, int64_t now_ms);
size_t core_domain_services(const struct core *c, struct str name); /* how many name it */

struct service_counts {
	uint32_t in[INSTANCE_STATES];        /* ordinary records, by their states */
	uint32_t beside[INSTANCE_PRESENCES]; /* records by presence */
	uint32_t ready;                      /* indexes with one that is ready for traffic */
	uint32_t routed;                     /* instances that traffic goes to */
	uint32_t unplaced;                   /* have a place error */
	uint32_t stopping;
	int64_t crashes; /* of all, since this process began to count */
};

struct service_view {
	struct service_row row; /* with the target's spec */
	struct str queue;       /* name of the queue whose settings hold */
	struct service_counts counts;
	size_t n_revisions;
	struct str place_error;  /* of the first that has one; NULL: none */
	struct str crash_reason; /* of the last crash; NULL: none */
	struct str deploy_why;   /* where the deploy is, and what it waits for, as a sentence */
	bool is_adopted;         /* nobody asked for it: its record came back from a worker */
};
/* False: there is none. */
bool core_service(const struct core *c, rid id, struct arena *a, struct service_view *ret_view);
/* Without texts that must be made: for lists, metrics and routes. */
bool core_service_counts(const struct core *c, rid id, struct service_counts *ret_counts);

struct instance_view {
	struct instance_row row;
	struct str worker, zone; /* names; NULL: it has none */
	bool is_routed;
	bool restarts;        /* CRASHED: it will, by itself, */
	int64_t restarts_ms;  /* at this time */
	struct str waits_for; /* a service that must be ready before it starts; NULL: none */
	bool is_unheard;      /* its worker does not answer, or is given up and may still run it */
	int32_t exit_code;    /* of the present start's task, if that is in memory; -1: none */
};
/*
 * Records by index and presence, from a place on: at most `max`. Returns how many. A page goes on
 * behind its last row: from_index is that index, and from_presence that presence + 1.
 */
size_t core_service_instances(const struct core *c, rid id, int64_t from_index,
    int64_t from_presence, size_t max, struct arena *a, struct instance_view **ret_views);
/* The ordinary one of an index, or the one that is left; false: there is none. */
bool core_instance(
    const struct core *c, rid id, int64_t index, struct arena *a, struct instance_view *ret_view);

struct revision_view {
	struct revision_row row;
	struct str queue; /* its name; NULL: gone */
	bool is_target, is_stable;
	uint32_t instances; /* so many are of it */
};
/* Newest first, all that are kept. */
size_t core_service_revisions(
    const struct core *c, rid id, struct arena *a, struct revision_view **ret_views);

/*
 * Changes, by tag: who has seen everything up to `tag` asks for the next service that has changed
 * since. A service that went away is told by its name, as long as that is remembered: if `tag` is
 * below core_services_tag_floor(), everything must be read anew.
 */
uint64_t core_services_tag(const struct core *c); /* of the last change of all */
uint64_t core_services_tag_floor(const struct core *c);
struct service_change {
	uint64_t tag;
	rid id;          /* 0: it is gone, */
	struct str name; /* which was called so */
};
/* False: nothing has changed since. Changes come by rising tags. */
bool core_service_changed(const struct core *c, uint64_t tag, struct service_change *ret_change);

/* For metrics. */
struct services_view {
	size_t services, instances; /* records */
	size_t in[INSTANCE_STATES];
	size_t beside[INSTANCE_PRESENCES];
	size_t ready, unplaced;
	uint64_t starts, crashes, placements_failed; /* since the process began */
	uint64_t auctions;
	uint64_t passes, passes_full;
	uint64_t missed; /* what a full pass found that events had missed */
	size_t waiting;  /* for the auction, or for room */
};
void core_services(const struct core *c, struct services_view *ret_view);

/* What a worker has of services, and who keeps a drain of it from its end. */
struct worker_services {
	uint32_t instances, running, evacuating;
	uint32_t blocked;      /* evacuating ones whose replacement has no place */
	struct str blocked_by; /* why, of the first: "web/3: insufficient resources: memory …" */
};
void core_worker_services(
    const struct core *c, rid worker, struct arena *a, struct worker_services *ret_view);

/*
 * Why an instance is as it is: every reason, as core_why() of a task. Codes and facts in say.h.
 * 0: there is no such instance, and none is wanted.
 */
size_t core_instance_why(const struct core *c, rid id, int64_t index, int64_t now_ms,
    int64_t mono_ms, struct arena *a, struct why **ret_whys);

#endif
