/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A world in virtual time around the unchanged brains: one server, some workers on their own
 * machines, the network between them, and a store that survives the server. Everything that
 * happens is an event in one queue, ordered by (true time, serial), so a seed replays exactly.
 *
 * True time is in microseconds from 0. Nodes see it only through their own clocks.
 * A script (`reeve sim play`) makes a world with options.exact and no_load, and then uses
 * world_at(), the sim_server_*, sim_worker_* and sim_net_* functions, and looks at the brains.
 */
#ifndef SIM_WORLD_H
#define SIM_WORLD_H

#include "base/data/heap.h"
#include "base/data/idmap.h"
#include "base/rng.h"
#include "core/core.h"
#include "sim/world/clock_node.h"
#include "sim/world/options.h"

struct world;
struct judge;
struct load;
struct sim_net;
struct sim_server;
struct sim_worker;
struct sim_plan;
struct sim_trace;
struct sim_hostile;

#define SECOND_US INT64_C(1000000)
#define MINUTE_US (60 * SECOND_US)
#define SIM_SERVER (-1) /* as a node; workers are 0.. */
#define SIM_RAW (-2)    /* a script, a client: nobody's node */

enum sim_event_kind {
	/* network */
	SE_PACKET,    /* arrives */
	SE_LINK_DOWN, /* one side notices that its link is gone */
	SE_DIAL,
	SE_DIALLED,
	/* server */
	SE_SERVER_START,
	SE_SERVER_WAKE,
	SE_FLUSH,
	SE_GO_ON,
	SE_COMMIT_APPLY,
	SE_COMMIT_DONE,
	SE_COMMIT_AGAIN,
	SE_READ,
	SE_READ_DONE,
	SE_COMMAND, /* reaches the server */
	/* worker */
	SE_WORKER_START,
	SE_WORKER_WAKE,
	SE_HAND, /* a hand's word to its agent: started, output, exited, checked */
	SE_PROCESS_START,
	SE_PROCESS_OUTPUT,
	SE_PROCESS_END,
	SE_GUARD,
	/* nodes */
	SE_RESUME,
	/* the rest */
	SE_LOAD,  /* a request is drawn: of kind n, or if n is N_KINDS of those that all have */
	SE_REPLY, /* reaches the client, or it gives up waiting */
	SE_FAULT,
	SE_HEAL,
	SE_CALL, /* a script's */
	N_SIM_EVENTS,
};

typedef void world_fn(struct world *w, void *arg);

struct sim_link;
struct packet;
struct net_rule;
struct sim_process;

/* A script's eyes and hands in the middle of things; each may be NULL. */
struct sim_hooks {
	/* every message as it is sent; true: *ret_rule says what becomes of it */
	bool (*sent)(struct world *w, const struct sim_link *l, const struct packet *p,
	    struct net_rule *ret_rule, void *arg);
	/* in the server's place: hears what the workers say */
	void (*said)(struct world *w, const struct event *ev, void *arg);
	/* a process is about to start: how long it runs and how it ends may be changed */
	void (*process)(struct world *w, struct sim_process *p, void *arg);
	/* what the script calls that node; NULL: the usual name */
	const char *(*name)(struct world *w, int slot, void *arg);
	void *arg;
};

struct sim_event {
	struct heap_node node; /* at: true time in us; tie: serial */
	enum sim_event_kind kind;
	int slot;   /* the node it happens to; SIM_SERVER */
	uint64_t n; /* which incarnation, link, …: by kind */
	void *p;    /* by kind; freed by whoever handles it */
	union {
		world_fn *fn; /* SE_CALL */
		int64_t value;
	};
	struct sim_event *next; /* in a paused node's backlog, or free */
};

/* What can stop and go on; events of a stopped node wait in its backlog. */
struct sim_node {
	int slot;
	struct node_clock clock;
	bool paused;
	bool asleep; /* … with everything on its machine */
	int64_t resume_us;
	struct sim_event *backlog, **backlog_end;
};

/* What went wrong: the first invariant that did not hold. */
struct verdict {
	int invariant; /* 0: none */
	const char *name, *text;
	int64_t at_us;
	char detail[240];
};

struct world {
	struct sim_options o;
	int64_t now_us;
	uint64_t serial, events;
	struct heap heap;
	struct sim_event *free_events;
	struct rng rng_net, rng_hand, rng_load, rng_store, rng_id, rng_change, rng_need,
	    rng_throttle;
	struct sim_server *server;
	struct sim_worker *workers; /* o.workers of them */
	struct sim_net *net;
	struct load *load;
	struct sim_plan *plan;
	struct judge *judge;
	void *of_kind[N_KINDS];      /* what each kind has of its own; NULL: nothing */
	struct sim_hostile *hostile; /* NULL: nobody has attacked yet */
	struct sim_trace *trace;     /* for ShiViz; NULL: none is wanted */
	bool healed;
	int64_t heal_us;          /* when the faults end */
	int64_t same_time_events; /* a world that makes no progress in time is broken */
	struct verdict verdict;
	uint64_t hash;
	/* the story: called with a line (without a newline) for everything that happens */
	void (*tell)(void *arg, const char *line);
	void *tell_arg;
	struct sim_hooks hooks;
};

/*
 * A world at time 0: the server starts at once, the workers soon after, unless options say that
 * a script does that (no_load with exact: nothing starts by itself).
 */
struct world *world_new(const struct sim_options *drawn);
void world_free(struct world *w);
/* The next event. False: there is none, or an invariant does not hold any more. */
bool world_step(struct world *w);
/* All events up to and including that time; the clock is at until_us then. False as above. */
bool world_run(struct world *w, int64_t until_us);
/* The whole life of a drawn world: faults, healing, and the demand that everything ends. */
bool world_live(struct world *w);
/* Ends all faults now: links heal, nodes go on, whoever is down is started again. */
void world_heal(struct world *w);

/* Makes an event; it happens at at_us, or now if that has passed. */
struct sim_event *world_event(struct world *w, int64_t at_us, enum sim_event_kind kind, int slot);
/* Calls fn(w, arg) at that time: how a script acts. */
void world_at(struct world *w, int64_t at_us, world_fn *fn, void *arg);
/* An event that will not be needed is taken out and freed (not its p). */
void world_cancel(struct world *w, struct sim_event *e);

/* One step of the rolling hash over everything that happens: numbers only, never addresses. */
static inline void world_mix(struct world *w, uint64_t n)
{
	uint64_t h = (w->hash ^ n) * 0x9e3779b97f4a7c15ull;

	w->hash = h ^ (h >> 29);
}
/* A line of the story; only when somebody listens (check w->tell first where it costs). */
void world_tell(struct world *w, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* "server", "w3", or as the hooks call it */
const char *world_node_name(struct world *w, int slot);
/* Says that an invariant does not hold; the first one counts. */
void world_fail(struct world *w, int invariant, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* Uniform in [lo, hi]. */
int64_t sim_between(struct rng *r, int64_t lo, int64_t hi);
/* True in so many of a thousand cases. */
bool sim_chance(struct rng *r, int per_mille);

/* Nodes. */
struct sim_node *world_node(struct world *w, int slot);
/* The node stops for a while: what happens to it waits. Its clocks and its processes go on. */
void world_pause(struct world *w, int slot, int64_t for_us);
/* The same of a whole machine: its processes and its keeper stand still, too. Clocks go on. */
void world_sleep(struct world *w, int slot, int64_t for_us);
/* A node that stands still goes on now. */
void world_resume(struct world *w, int slot);
/* The node's wall clock jumps. */
void world_clock_jump(struct world *w, int slot, int64_t by_ms);
/* The node's wall clock stands still, or goes on from there. */
void world_clock_stop(struct world *w, int slot, bool stop);
/* The node's clocks run that much too fast from now on. */
void world_clock_drift(struct world *w, int slot, int64_t ppm);

#endif
