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
#include <bsd/sys/tree.h>

#include "base/data/idmap.h"
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

struct unit_texts { /* by enum unit_text, each owned; many units have none */
	struct str of[4];
};

struct unit {
	struct instance i; /* service: its number; worker: the site's number, or see unit_seen() */
	struct service *service;
	struct site *site; /* where a start of it is under way or runs; NULL: nowhere */
	rid worker;        /* the last one that had this start; 0: none */
	rid last_task;     /* the start before, which has ended; 0: none */
	int64_t token;
	int64_t limbo_until_ms; /* monotonic */
	struct unit_texts *texts;
	TAILQ_ENTRY(unit) on_site, in_line, in_changed;
	uint8_t line; /* enum unit_line */
	bool is_changed, is_stored, is_up;
	bool is_starting; /* counted as that, of its site */
	bool is_over;     /* it has stopped, and goes with the next look at its service */
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
	bool is_by_full_pass; /* noted by that alone */
	bool lost_a_row;      /* the service's own tag is to be written */
	bool has_surplus;     /* more is there than is wanted */
	bool gave_up;         /* an instance that has crashed too often: to be told */
	bool is_needy;        /* it waits for others */
	bool has_blocked;     /* something on a drained worker has nowhere to go */
	struct deploy deploy;
	struct crash_policy crash;
	struct deploy_strategy strategy;
	struct domain_count *domain; /* NULL: it names none */
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
	TAILQ_ENTRY(service) in_noted, in_changed, in_needy, in_blocked;
};

struct domain {
	struct object object;
	struct domain_row row; /* strings owned, in `strings` */
	char *strings;
};

/* So many services name that domain, be it there or not. */
struct domain_count {
	RB_ENTRY(domain_count) by_name;
	struct str name; /* owned */
	size_t n;
};
RB_HEAD(domain_counts, domain_count);

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
	struct service_list noted;                 /* for a pass in this step */
	struct service_list changed; /* all of them, the one that changed last at the end */
	struct service_list needy, blocked;
	struct domain_counts domains;
	struct unit_list written; /* to be written at the end of the step */
	struct unit_list due[2];  /* index 0 of any service; the others */
	struct unit_list limbo;   /* by their time */
	size_t n_due, n_short;
	struct timer limbo_timer, full_timer, again_timer; /* monotonic */
	rid full_at; /* the full pass goes on behind this one */
	bool has_begun;
	struct auctions *auctions;
	struct site **sites; /* by number */
	size_t n_sites, cap_sites;
	struct site_list *noted_sites;
	uint64_t labels_build; /* rises with the queues that services have */
	struct idmap kept;     /* the last ended starts of instances: retention leaves them */
	uint8_t *seen;         /* enum seen_worker, by SEEN_OF() */
	size_t cap_seen;
	struct gone_service gone[GONE_SERVICES];
	size_t n_gone;
	uint64_t gone_floor;
	rid queue; /* of services that name none; 0: not looked for yet */
	uint64_t starts, crashes, unplaced, passes, passes_full, missed, n_auctions;
	size_t in[INSTANCE_STATES];
	size_t beside[INSTANCE_PRESENCES + 1]; /* the last: on its way from one to another */
	size_t n_ready, n_units, n_place_errors;
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
void service_adopt(struct core *c, struct service *s, const struct service_row *row);
struct service *service_enter(struct core *c, const struct service_row *row);
void service_save(
    struct core *c, struct service *s, const struct service_row *row, struct effects *out);
/* How far the deploy is, and nothing else. */
void service_save_deploy(struct core *c, struct service *s, struct effects *out);
void service_forget(struct core *c, struct service *s);
void service_touch(struct core *c, struct service *s); /* anything of it has changed: a new tag */

/* domain.c: it names that one from now on; NULL: none. */
void service_name_domain(struct core *c, struct service *s, struct str name);

/* command.c */
object_fn service_set, service_remove, service_act;
int service_create(
    struct core *c, const struct event *ev, rid id, struct reply *r, struct effects *out);

/* A further revision that is the same: all instances are replaced. */
void service_renew(struct core *c, struct service *s, const struct event *ev, struct effects *out);

/* gone.c */
void gone_services_release(struct services *all);
void services_load_meta(struct core *c, const struct meta_row *m);

/* start.c, report.c: what the owner of a task has to say */
struct link_fares;
void service_order(const struct core *c, const struct object *o, const struct task *t,
    struct link_run *run, struct arena *a);
void service_fares(
    struct core *c, struct object *o, const struct task *t, const struct link_fares *f);
void service_task_ended(struct core *c, struct object *o, rid task);
void service_task_lost(struct core *c, struct object *o, const struct task *t, int64_t hold_ms);
void service_given_back(
    struct core *c, struct object *o, const struct task *t, struct str reason, bool refused);
const char *service_refuses(
    const struct core *c, const struct object *o, const struct task *t, const struct event *ev);

/* queue.c */
/* The queue of services that name none; it is made if need be. */
rid services_queue(struct core *c, struct effects *out);

/* needs.c */
/* ERR_INVALID: it would wait for itself. */
int service_check_needs(const struct core *c, struct str name, struct str needs, struct problem *p);

/* The first of what that revision needs that is not ready; NULL: it may start. */
struct str service_waits_for(struct core *c, struct service *s, int64_t revision);
/* The same, only looked at. */
struct str service_lacks(const struct core *c, const struct service *s, int64_t revision);
/* What needs others and waited for that is looked at again. */
void services_note_needy(struct core *c);

/* evacuate.c */
/* What is on workers that are drained moves, as far as it can. */
void service_evacuate(struct core *c, struct service *s, struct effects *out);
void services_note_blocked(struct core *c);

/* work.c */
void services_arm(struct core *c); /* a look at all of them, some time later */
void services_clock_changed(struct core *c, const struct zone *z);
void services_work(struct core *c, struct effects *out);
void services_placed(struct core *c, struct effects *out);

/* pass.c */
/* All that is to be done about a service now. It may be gone then. */
void service_pass(struct core *c, struct service *s, struct effects *out);
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
