/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What one run of the simulator is made of. Everything that the caller leaves open is drawn from
 * the seed, so each seed has its own mix of sizes, timeouts and faults.
 */
#ifndef SIM_OPTIONS_H
#define SIM_OPTIONS_H

#include "base/err.h"
#include "base/str.h"
#include "model/link/health.h"
#include "model/objects/kind.h"

enum sim_class {       /* of faults; a seed draws which of them it has, and how often */
	CLASS_NET,     /* cuts, partitions, half-open links, slow lines */
	CLASS_CALL,    /* single messages lost, doubled, late, reordered */
	CLASS_CRASH,   /* the server, workers, whole machines */
	CLASS_PAUSE,   /* nodes that stop for a while and go on */
	CLASS_CLOCK,   /* drift and jumps */
	CLASS_PROCESS, /* forks fail, TERM is ignored, exits race kills */
	CLASS_STORE,   /* slow and failing commits and reads */
	CLASS_TWIN,    /* two machines that claim one name */
	CLASS_SPLIT,   /* some workers are away while others join, then the server dies: see split.c
	                */
	CLASS_CHANGE,  /* the server comes back with another dispatch, or other timeouts */
	CLASS_TIME, /* the server's clocks and a zone are changed, where some work looks at them */
	CLASS_REMOVE,  /* an operator removes idle workers that are cut off as lost: see remove.c */
	CLASS_SLOW,    /* healthchecks that take long, heartbeats that are short */
	CLASS_HOSTILE, /* somebody who was let in lies: see hostile.h */
	CLASS_COMA,    /* machines with processes sleep past every limit: see coma.c */
	N_CLASSES,
};
#define ALL_CLASSES ((1u << N_CLASSES) - 1)

extern const char *const sim_class_names[N_CLASSES]; /* "net", "call", … */

#define SIM_WORKERS_MAX 64

struct sim_options {
	uint64_t seed;
	/* given by the caller; negative or 0: drawn */
	int workers;     /* 1..SIM_WORKERS_MAX */
	int minutes;     /* of the phase with faults */
	int tasks;       /* commands of the load, at most */
	int dispatch;    /* -1: drawn, 0: durable, 1: volatile */
	unsigned faults; /* classes that may be drawn */
	bool is_listed;  /* somebody has named them: of those that few seeds have, all get them */
	bool has_only;   /* of the drawn faults only those numbered in `only` happen */
	const unsigned *only;
	size_t n_only;
	bool no_load;  /* no random commands: a script drives the world */
	bool no_judge; /* a script may break what the judge assumes */
	bool exact;    /* nothing is drawn: fixed delays, no faults, defaults as set below */
	/* drawn, unless exact */
	unsigned classes; /* 1u << enum sim_class */
	bool is_volatile, allow_bump_unhealthy;
	uint32_t consensus_patience; /* 0: the default */
	struct timeouts timeouts;
	int64_t lost_hold_ms, run_wait_ms;
	int64_t drift_max_ppm; /* of any clock: the declared bound */
	int64_t pause_max_ms;  /* the longest pause that is drawn */
	int64_t delay_max_us;  /* usual delay of a message */
	int64_t commit_max_us; /* usual time of a commit */
	uint32_t window_tasks;
	uint32_t submit_slice;  /* submits of more tasks are taken in in slices of that; 0: none */
	int n_commands;         /* as many as the load is drawn for; `tasks` of them happen */
	int n_faults;           /* how many are planned */
	int n_times;            /* and so many of CLASS_TIME, */
	int n_removes;          /* of CLASS_REMOVE, */
	int n_attacks;          /* of CLASS_HOSTILE, */
	int n_comas;            /* and of CLASS_COMA */
	int64_t check_max_ms;   /* CLASS_SLOW: a healthcheck takes about so long; 0: as usual */
	unsigned kinds;         /* 1u << enum kind: what not every world has */
	bool has_needs;         /* tasks need something, and workers offer it: see needs.h */
	bool has_drains;        /* operators drain workers */
	int64_t guard_ms;       /* the keeper's: a killed worker's processes end within this */
	uint32_t groups_active; /* groups that dispatch at once; 0: the default */
	bool restart_when_lost;
	/* CLASS_CHANGE: what a server in the phase with faults may be started with instead */
	bool changes_dispatch, changes_timeouts;
	struct timeouts other_timeouts;
};

/* Nothing given: everything is drawn. */
void sim_options_init(struct sim_options *o);
/* Draws what is open. */
void sim_options_draw(struct sim_options *o);
/* The longest of each that any server of this run may go by. */
struct timeouts sim_options_longest(const struct sim_options *o);
/* "net,crash", "all" alone, "none" alone -> bits; false: a name is not a class (*ret_bad). */
bool sim_classes_parse(struct str list, unsigned *ret_classes, struct str *ret_bad);
/* The drawn options, for people. */
void sim_options_format(const struct sim_options *o, struct buf *out);
/* The command that runs exactly this again. */
void sim_options_command(const struct sim_options *o, bool trace, struct buf *out);

#endif
