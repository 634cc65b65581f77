/* SPDX-License-Identifier: Apache-2.0 */
/* Inside the auction: who is where, which workers fit a want, and trees of them by their load. */
#ifndef SERVICE_PLACE_INTERNAL_H
#define SERVICE_PLACE_INTERNAL_H

#include "graph/package/names.h"
#include "service/place/auction.h"

#define NODES_MAX 500000 /* of all trees together: about 50 MB */
#define FORESTS_MAX 1024 /* wants that have trees at a time */
#define NO_LEAF UINT32_MAX

/* A service's instances on one worker. */
struct host {
	uint32_t worker, n;
};

struct hosts {
	struct host *v;
	size_t n, cap;
	struct spread *own; /* of a service that is on many workers; NULL: it has none */
};

struct work_shape {
	int64_t amount[N_PLACE_RESOURCES];
	uint32_t want;
	uint32_t failed_in; /* the batch in which it found no place; 0: none */
};

/* What a subtree has at best. */
struct node_of_tree {
	int64_t free[N_PLACE_RESOURCES];
	int64_t load, task_load; /* the least; see worker_load() */
};

/* What never changes of it. */
struct node_fixed {
	int64_t largest[N_PLACE_RESOURCES]; /* total of any of its workers */
	uint32_t first;                     /* the lowest of its workers */
};

/* The workers of one zone that fit one want. Those of like size are side by side, so that what is
   best of a part of the tree is nearly true of one of its workers. */
struct tree {
	struct node_of_tree *nodes; /* [1] is the root, [cap + i] the leaf i */
	struct node_fixed *fixed;   /* of the same places */
	uint32_t *workers;          /* by leaf */
	size_t workers_cap;
	uint32_t n, cap, depth; /* cap is 1 << depth */
};

struct forest {
	uint32_t want;
	bool is_built;
	uint64_t build;     /* which; never the same again */
	struct tree *trees; /* by zone */
	uint32_t *leaves;   /* by worker; NO_LEAF: it does not fit */
	uint32_t n_nodes;
	size_t synced; /* so much of the log is in the trees */
	uint64_t last_use;
};

struct mark {
	uint32_t n;    /* instances */
	uint32_t host; /* place in its hosts + 1; 0: none */
};

/* A service spread out over all workers and zones, so that a look costs nothing. */
struct spread {
	uint32_t service;            /* NO_SERVICE: none */
	const struct forest *forest; /* for which the floors are; NULL: none */
	uint64_t build;              /* of it */
	struct mark *marks;          /* by worker */
	struct zone_count {
		uint32_t has;     /* instances in the zone */
		uint32_t floor;   /* so many on every worker of the forest's tree */
		uint32_t n_above; /* more than that on so many */
	} * zones;
};

struct auction {
	struct place_config config;
	struct place_worker *workers;
	uint32_t n_workers, n_zones, n_services;
	struct str *zones;   /* by number, in the order of their names */
	uint32_t *preferred; /* hashed: zones in the order of the configuration;*/
	uint32_t n_preferred;
	const struct str *service_names;
	struct hosts *hosts;     /* by service */
	struct names want_names; /* wants as texts, each once */
	struct place_want *wants;
	size_t want_cap;
	struct work_shape *shapes;
	uint32_t n_shapes;
	size_t shape_cap;
	uint32_t *free_shapes;
	size_t n_free, free_cap;
	struct forest forests[FORESTS_MAX];
	uint32_t *forest_of; /* by want: its place in forests + 1 */
	size_t forest_cap;
	uint64_t uses;
	uint32_t *log; /* workers whose room has changed */
	size_t n_log, log_cap;
	struct spread common; /* of one service at a time that has none of its own */
	struct spread *now;   /* of the service that is placed */
	uint64_t builds;
	uint64_t n_nodes; /* of all forests */
	uint32_t batch;
	uint32_t starting;
};

/* want.c: a number for each different want; whether a worker's facts are as wanted */
uint32_t want_intern(struct auction *a, const struct place_want *want);
bool want_fits(const struct place_want *want, const struct place_worker *w);
bool want_has_labels(const struct place_want *want, const struct place_worker *w);
bool want_has_tags(const struct place_want *want, const struct place_worker *w);
bool lines_have(struct str lines, struct str line);

/* load.c: what one more piece of work is weighed by */
int64_t worker_load(const struct auction *a, const struct place_worker *w);
int64_t worker_task_load(const struct auction *a, const struct place_worker *w);
int64_t amounts_parts(const int64_t *amount, const int64_t *total);
#define TASK_SHIFT 42 /* a task's load has the number of tasks above the rest */

/* Of a worker that holds more than it offers, nothing is free. */
int64_t worker_room(const struct place_worker *w, enum place_resource r);

/* forest.c: trees of a want, as they are now */
struct forest *forest_get(struct auction *a, uint32_t want);
void forest_release(struct auction *a, struct forest *f);
void forest_evict(struct auction *a, struct forest *f); /* and nobody finds it any more */
void auction_log(struct auction *a, uint32_t worker);

/* seek.c: the best worker of a tree, if it is better than the best so far */
struct seek {
	const struct auction *a;
	const int64_t *amount;
	bool is_task;
	uint32_t floor;  /* colocated, at the least, in the present tree */
	uint32_t worker; /* NO_WORKER: none so far */
	uint32_t colocated;
	int64_t score; /* see worker_load(), with the work */
};
void tree_seek(struct seek *q, const struct forest *f, uint32_t zone);

/* spread.c: where the instances of a service are */
void spread_init(struct spread *s, const struct auction *a);
void spread_release(struct spread *s);
/* The service is the one that is placed now: a->now, with floors for this forest. */
void service_spread(struct auction *a, uint32_t service, const struct forest *f);
void service_add(struct auction *a, uint32_t service, uint32_t worker, uint32_t n);
void service_take(struct auction *a, uint32_t service, uint32_t worker);

/* Reserves and counts, without the service's own count. */
void worker_charge(struct auction *a, uint32_t worker, const struct work_shape *s, bool is_task,
    uint32_t count, uint32_t starting);

#endif
