/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How a revision of a service takes the place of another: which instances stop, which indexes
 * start at which revision, and when it is over. A pass looks at one service, before convergence
 * does; when its actions are carried out, a second pass at the same time does nothing.
 *
 * The deploy makes every record that is wanted and missing, so that it has the right revision;
 * convergence makes only those that replace a suspect, of the suspect's revision.
 */
#ifndef SERVICE_DEPLOY_DEPLOY_H
#define SERVICE_DEPLOY_DEPLOY_H

#include "service/converge/converge.h"

/*
 *   steady --a new revision--> rolling --all are healthy--> steady
 *   steady --a few first--> canary --they are healthy--> waiting --promoted--> rolling
 *   canary --too late--> stalled --promoted--> rolling      rolling --too late--> stalled
 *   rolling --too late, by choice--> rolling_back --all are healthy--> steady
 */
enum deploy_state {
	DEPLOY_STEADY,       /* nothing is under way */
	DEPLOY_CANARY,       /* a few are brought to the target */
	DEPLOY_WAITING,      /* these are healthy; a person says whether it goes on */
	DEPLOY_ROLLING,      /* all are brought to the target */
	DEPLOY_ROLLING_BACK, /* the same, and the target is an older revision */
	DEPLOY_STALLED, /* not healthy in time: nothing more is replaced until a person decides */
	N_DEPLOY_STATES
};
extern const struct moves deploy_moves;
extern const char *const deploy_state_names[N_DEPLOY_STATES]; /* "rolling-back" */

enum deploy_kind { DEPLOY_BY_ROLLING, DEPLOY_BY_RECREATE, DEPLOY_BY_CANARY, N_DEPLOY_KINDS };
extern const char *const deploy_kind_names[N_DEPLOY_KINDS];

struct deploy_strategy {
	enum deploy_kind kind;
	uint32_t max_surge;       /* so many more than are wanted */
	uint32_t max_unavailable; /* so many fewer than are wanted may be ready */
	uint32_t canary;          /* instances, before somebody has to promote it */
	int64_t min_healthy_ms;   /* ready for so long is healthy */
	int64_t deadline_ms;      /* without any progress; 0: none */
	bool auto_rollback;       /* goes back by itself when it is too late */
};
extern const struct deploy_strategy deploy_strategy_default;

/* All of it is kept, but for the last three: zeroed, they begin anew. */
struct deploy {
	enum deploy_state state;
	int64_t target;      /* the revision that is wanted */
	int64_t stable;      /* the last one of which all were healthy; 0: none yet */
	int64_t failed;      /* the last one that was not healthy in time; 0: none since */
	int64_t since_ms;    /* in this state */
	int64_t progress_ms; /* the last step forward; 0: begins with the next pass */
	uint64_t left;       /* steps, at the fewest so far */
	uint32_t wanted;     /* instances then */
};

/* A service's first revision, or another in place of what is under way. A deploy to the stable one
   is a rollback. */
void deploy_begin(
    struct deploy *d, int64_t target, const struct deploy_strategy *strategy, int64_t now_ms);
void deploy_rollback(struct deploy *d, int64_t to, int64_t now_ms);
/* The deploy goes on with all instances; false: it does not wait for that. */
bool deploy_promote(struct deploy *d, int64_t now_ms);

struct deploy_service {
	uint32_t service;
	uint32_t wanted; /* instances; 0 also of one that is being deleted */
	bool is_singleton;
	const struct deploy_strategy *strategy;
};

#define DEPLOY_ACTIONS(X)                                                                      \
	X(DEPLOY_CREATE, "create") /* a record, UNCLAIMED, and ask for a start */              \
	X(DEPLOY_RENEW, "renew")   /* nothing of it runs: UNCLAIMED, of this revision, anew */ \
	X(DEPLOY_STOP, "stop")     /* tell its worker to stop it; its record goes with it */   \
	X(DEPLOY_DELETE, "delete") /* the record, of which nothing runs */

enum deploy_action_kind {
#define X(kind, name) kind,
	DEPLOY_ACTIONS(X)
#undef X
	    N_DEPLOY_ACTIONS
};
extern const char *const deploy_action_names[N_DEPLOY_ACTIONS];

struct deploy_action {
	enum deploy_action_kind kind;
	uint32_t index;
	enum presence presence;
	bool is_surge;
	int64_t revision; /* create, renew: the new one; else that of the record */
	const char *reason;
};

/* What a deploy waits for. */
#define DEPLOY_WAITS(X)                                                                   \
	X(DEPLOY_WAITS_NOTHING, "nothing")                                                \
	X(DEPLOY_WAITS_HEALTHY, "healthy")   /* a new one is not ready for long enough */ \
	X(DEPLOY_WAITS_OVER, "over")         /* an older one is being stopped */          \
	X(DEPLOY_WAITS_READY, "ready")       /* too few are ready to stop one more */     \
	X(DEPLOY_WAITS_PROMOTE, "promote")   /* a person says that it may go on */        \
	X(DEPLOY_WAITS_DECISION, "decision") /* it stalled */

enum deploy_wait {
#define X(kind, name) kind,
	DEPLOY_WAITS(X)
#undef X
	    N_DEPLOY_WAITS
};
extern const char *const deploy_wait_names[N_DEPLOY_WAITS];

#define NO_INDEX UINT32_MAX
#define DEPLOY_NEVER INT64_MAX

struct deploy_pass {
	struct deploy_action *v;
	size_t n, cap;
	bool holds_starts;  /* nothing of this service may be started now */
	int64_t look_at_ms; /* the next pass, if nothing happens before; DEPLOY_NEVER */
	/* What was found: of the indexes that are wanted, and their ordinary records. */
	uint32_t wanted, goal; /* how many are to be of the target now */
	uint32_t n_new, n_healthy, n_old, n_surge;
	enum deploy_wait waits;
	uint32_t waits_index; /* of that one; NO_INDEX */
};
void deploy_pass_release(struct deploy_pass *p);

/* The records are of this service, by index and presence, each key once. Moves the deploy. */
void deploy_pass(const struct converge_env *env, const struct deploy_service *s, struct deploy *d,
    const struct instance *records, size_t n, struct deploy_pass *ret_pass);
/* Carries the actions out as if everybody obeyed at once, but for those who are told to stop. */
void deploy_apply(
    struct instances *records, uint32_t service, const struct deploy_pass *pass, int64_t now_ms);
/* Where the deploy is and what it waits for, as a sentence without a full stop. */
void deploy_words(const struct deploy *d, const struct deploy_pass *pass, struct buf *out);

#endif
