/* SPDX-License-Identifier: Apache-2.0 */
/* Services in a simulated world: their clients, how their processes fare, and their judge. */
#ifndef SIM_SERVICE_H
#define SIM_SERVICE_H

#include "model/objects/domain.h"
#include "model/objects/service.h"
#include "sim/judge/judge_internal.h"
#include "sim/kind.h"
#include "sim/load/load_internal.h"

#define SERVICE_NAMES 4
#define SERVICE_INDEXES 5 /* so many are wanted at most */

/* As rows have it: the judge does not ask the brain what they mean. */
enum record_state { RECORD_UNCLAIMED, RECORD_CLAIMED, RECORD_RUNNING, RECORD_CRASHED };
enum record_presence { RECORD_ORDINARY, RECORD_EVACUATING, RECORD_SUSPECT };
#define DEPLOY_IS_OVER 0

/* How an instance fares, by the revision that it is of. */
enum temper {
	TEMPER_NONE, /* no instance */
	TEMPER_GOOD,
	TEMPER_CRASHES,     /* soon after each start */
	TEMPER_NEVER_READY, /* it is up */
	TEMPER_NEVER_UP,
	N_TEMPERS
};

struct truth_revision {
	int64_t number;
	int temper;
	char needs[16]; /* "": none */
};

/* A record, as the store has it. */
struct truth_record {
	struct instance_row row; /* without strings */
	bool gone;
	int64_t stored_us;
};

struct truth_service {
	rid id;
	unsigned number; /* for the story */
	bool deleted, touched;
	bool is_forgotten; /* by the store */
	bool was_ready;    /* some record was, in this batch or before it */
	bool was_changed;  /* its row is in this batch */
	bool was_lowered;  /* fewer are wanted by this batch */
	unsigned stops;    /* bits: indexes that somebody has asked to stop, ever */
	char name[16], domain[16];
	struct service_row row; /* without strings */
	struct truth_revision *revisions;
	size_t n_revisions, cap_revisions;
	struct truth_record *records;
	size_t n_records, cap_records;
	struct truth_task **starts; /* tasks that are starts of it, the last ones */
	size_t n_starts, cap_starts;
};

/* Somebody has drained that worker: so it was until then. */
struct truth_drain {
	rid worker;
	int64_t seen_us;
};

enum services_phase {
	SERVICES_FAULTS, /* anything may happen */
	SERVICES_HEALED, /* all that is wanted has to run, */
	SERVICES_MOVED,  /* and to leave a worker that is drained */
	SERVICES_REMOVED /* nothing may be left */
};

/* What a world with services has of them. */
struct sim_services {
	struct rng rng, hand;
	int n_names;
	unsigned versions; /* of what clients ask for */
	enum services_phase phase;
	struct truth_service **all;
	size_t n, cap;
	uint64_t last_tag;
	uint64_t is_emptied_at; /* after so many starts of the server; 0: never */
	bool was_emptied;
	rid drained;                  /* all has to leave that worker; 0: none */
	struct domain_row domains[2]; /* as stored */
	struct truth_drain *drains;
	size_t n_drains, cap_drains;
};

extern const struct sim_kind sim_kind_service, sim_kind_domain;

/* NULL: this world has none. */
static inline struct sim_services *sim_services_of(const struct world *w)
{
	return w->of_kind[KIND_SERVICE];
}

/* What a client asks for: request.own. */
struct service_plan {
	char name[16], domain[16], body[48], needs[16];
	struct service_row row; /* its strings are constants, and those above */
	struct domain_row of_domain;
	int64_t number;
};
#define SERVICE_BIT(member) ROW_BIT(service_table, service_row, member)

/* draw.c */
void service_draw(struct world *w, struct service_plan *p); /* all of the row */
void service_draw_body(struct world *w, struct service_plan *p, enum temper temper);
uint64_t service_spec_fields(void);
uint64_t service_strategy_fields(void);
uint64_t service_crash_fields(void);
/* clients.c: hooks of the load */
void services_load(struct world *w);
void services_draw_request(struct world *w);
void services_heal(struct world *w);
void services_remove_all(struct world *w);
void services_drain(struct world *w, int slot, bool on);
bool service_command(struct world *w, const struct request *r, rid queue, struct event *ev,
    struct command_parts *parts);
bool domain_command(struct world *w, const struct request *r, rid queue, struct event *ev,
    struct command_parts *parts);
/* emptied.c */
void services_starting(struct world *w, struct loading *l);
/* process.c */
void services_offer(struct world *w, struct sim_worker *k);
void service_process_new(struct world *w, struct sim_process *p, const struct link_run *run);
void service_process_started(struct world *w, struct sim_process *p);
/* truth.c: what is stored */
struct truth_service *truth_service_of(struct world *w, rid id);
struct truth_service *truth_service_named(const struct world *w, const char *name); /* or NULL */
const struct truth_revision *truth_revision_of(const struct truth_service *s, int64_t number);
struct truth_record *truth_record_of(
    const struct truth_service *s, int64_t index, int64_t presence); /* or NULL */
/* A worker that was drained lately, or leaves: who says so wants nothing to stay there. */
bool truth_worker_goes(const struct world *w, rid worker);
bool truth_domain_is_fresh(const struct world *w, const struct truth_service *s);
void judge_service_stored(struct world *w, const struct row_op *op);
void judge_service_task(struct world *w, struct truth_task *t);
/* A process of it runs, and nobody has taken the risk of two. */
bool truth_runs(const struct truth_task *t);
/* judge.c */
void judge_record(struct world *w, struct truth_service *s, const struct truth_record *was,
    const struct instance_row *row);
void judge_outcome(struct world *w, const struct truth_service *s, const struct truth_revision *r);
void judge_service_started(struct world *w, struct truth_task *t);
void judge_services_applied(struct world *w);
/* settle.c */
bool judge_services_settled(struct world *w);
void judge_services_unsettled(struct world *w);

#endif
