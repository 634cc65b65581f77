/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Services in memory, for the files of this room. A service has its revisions, packed, and its
 * units: the records of its instances. What they mean is src/service's to say; here its decisions
 * become rows, tasks and messages.
 *
 * A unit that changed is written once, at the end of the step, with the tag that it gets then.
 */
#ifndef CORE_SERVICE_SERVICE_H
#define CORE_SERVICE_SERVICE_H

#include <bsd/sys/queue.h>

#include "core/effects.h"
#include "core/object.h"
#include "core/timer.h"
#include "model/objects/domain.h"
#include "model/objects/service.h"
#include "service/deploy/deploy.h"

struct core;
struct site;
struct task;
struct unit;
struct worker;

TAILQ_HEAD(unit_list, unit);
TAILQ_HEAD(service_list, service);

/* Where an UNCLAIMED unit waits, or one of a worker that is given up. */
enum unit_line {
	LINE_UNIT_NONE,
	LINE_UNIT_DUE,   /* for the next auction */
	LINE_UNIT_SHORT, /* it found no place: until there is more room */
	LINE_UNIT_LIMBO, /* its worker is given up, and may still be ending it */
};

struct unit_texts { /* most units have none of some; each is owned */
	struct str address, ports, crash_reason, place_error;
};

struct unit {
	struct instance i; /* service: its number; worker: the site's number, or see unit_seen() */
	struct service *service;
	struct site *site; /* where a start of it is under way or runs; NULL: nowhere */
	rid worker;        /* the last one that had this start; 0: none */
	int64_t token;
	int64_t limbo_until_ms; /* monotonic */
	struct unit_texts *texts;
	TAILQ_ENTRY(unit) on_site, in_line, in_changed;
	uint8_t line; /* enum unit_line */
	bool is_changed, is_stored, is_up, begun;
	bool is_counted_ready; /* in its service's count */
};

struct revision { /* owned by its service */
	int64_t number;
	void *packed;
	uint32_t n_packed;
	uint32_t n_units;
	struct want *want; /* what its instances need of a worker; NULL: not worked out yet */
};

struct service {
	struct object object; /* the name is owned */
	void *packed;         /* the row without id, name, spec, deploy and tag */
	uint32_t n_packed;
	uint32_t number; /* a small one: the auction's; free again when the service is gone */
	uint32_t wanted; /* instances; 0 if it is being deleted */
	bool is_singleton, is_deleting, is_noted, is_in_pass, holds_starts, needs_others;
	bool was_full; /* noted by the full pass alone */
	struct deploy deploy;
	struct crash_policy crash;
	struct deploy_strategy strategy;
	int64_t last_revision;
	uint64_t tag;
	struct revision *revisions; /* by number, rising */
	size_t n_revisions, cap_revisions;
	struct unit **units; /* by index and presence */
	size_t n_units, cap_units;
	uint32_t n_ready; /* units that are ready, of any presence */
	int64_t n_crashes;
	enum deploy_wait waits; /* as the last pass found it */
	uint32_t waits_index, n_healthy, goal;
	struct timer timer; /* wall clock: to be looked at again */
	TAILQ_ENTRY(service) in_noted, in_changed;
};

struct domain {
	struct object object;
	struct domain_row row; /* strings owned, in `strings` */
	char *strings;
};

struct gone_service {
	uint64_t tag;
	struct str name; /* owned */
};
#define GONE_SERVICES 1024

struct auctions; /* auction.c */

/* What all services share: the core's of_kind. */
struct services {
	uint64_t tag;
	struct service **by_number;
	size_t n_numbers, cap_numbers, first_free; /* no free one lies before that */
	struct service_list noted;   /* for a pass in this step */
	struct service_list changed; /* all of them, the one that changed last at the end */
	struct unit_list written;    /* to be written at the end of the step */
	struct unit_list due[2];     /* index 0 of any service; the others */
	struct unit_list limbo;      /* by their time */
	size_t n_due, n_short;
	struct timer limbo_timer, full_timer, again_timer; /* monotonic */
	rid full_at; /* the full pass goes on behind this one */
	bool has_begun;
	struct auctions *auctions;
	struct gone_service gone[GONE_SERVICES];
	size_t n_gone;
	uint64_t gone_floor;
	rid queue; /* of services that name none; 0: not looked for yet */
	uint64_t starts, crashes, unplaced, passes, passes_full, missed;
	size_t in[INSTANCE_STATES], beside[INSTANCE_PRESENCES], n_ready, n_units, n_place_errors;
	/* room for a pass */
	struct instance *records;
	size_t cap_records;
	struct converge_actions actions;
	struct deploy_pass pass;
};

struct services *services_of(const struct core *c);

/* service.c */
struct service *service_find(const struct core *c, rid id);
void service_row(const struct service *s, struct arena *a, struct service_row *ret_row);
/* What people chose, from now on; not yet written. */
void service_adopt(struct service *s, const struct service_row *row);
struct service *service_enter(struct core *c, const struct service_row *row);
void service_save(
    struct core *c, struct service *s, const struct service_row *row, struct effects *out);
/* How far the deploy is, and nothing else. */
void service_save_deploy(struct core *c, struct service *s, struct effects *out);
void service_forget(struct core *c, struct service *s);
void service_touch(struct core *c, struct service *s); /* anything of it has changed: a new tag */

/* command.c */
object_fn service_set, service_remove, service_act;
int service_create(
    struct core *c, const struct event *ev, rid id, struct reply *r, struct effects *out);

/* queue.c */
/* The queue of services that name none; it is made if need be. */
rid services_queue(struct core *c, struct effects *out);

/* needs.c */
/* ERR_INVALID: it would wait for itself. */
int service_check_needs(const struct core *c, struct str name, struct str needs, struct problem *p);

/* pass.c */
void service_note(struct core *c, struct service *s);
/* Fewer are wanted, because somebody says so: the others go, fresh or not. */
void service_scale_down(struct core *c, struct service *s, struct effects *out);
int service_restart(struct core *c, struct service *s, const struct event *ev, struct reply *r,
    struct effects *out);
/* Nothing of it is left. */
void service_delete(struct core *c, struct service *s, struct effects *out);
void services_note_domain(struct core *c, struct str domain);

/* revision.c */
struct revision *revision_find(const struct service *s, int64_t number);
void revision_row(const struct service *s, const struct revision *r, struct arena *a,
    struct revision_row *ret_row);
struct revision *revision_add(
    struct core *c, struct service *s, const struct revision_row *row, struct effects *out);
void revision_load(struct core *c, const struct revision_row *row);
void revision_set_outcome(struct core *c, struct service *s, int64_t number,
    enum revision_outcome outcome, struct effects *out);
void revisions_prune(struct core *c, struct service *s, struct effects *out);
void revisions_release(struct core *c, struct service *s);

#endif
