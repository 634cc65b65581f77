/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The auction: where instances and tasks go, a batch at a time, in memory. docs/SERVICES.md has
 * the rules. Workers, services and work are numbers; every tie is settled by the lower one, so
 * that who numbers by name has an order by name.
 *
 * What is short for one piece of work stays short within a batch, since nothing is given back in
 * it: a need that found no place is not looked for again until the next batch.
 */
#ifndef SERVICE_PLACE_AUCTION_H
#define SERVICE_PLACE_AUCTION_H

#include "base/str.h"

#define NO_WORKER UINT32_MAX
#define NO_SERVICE UINT32_MAX /* the work is a task */
#define NO_ZONE UINT32_MAX
#define SCORE_ONE INT64_C(1000000) /* a score of 1 */

enum place_resource { PLACE_MEMORY, PLACE_DISK, PLACE_CPU, PLACE_INSTANCES, N_PLACE_RESOURCES };
extern const char *const place_resource_names[N_PLACE_RESOURCES];

enum place_worker_state { PLACE_READY, PLACE_DRAINING, PLACE_SILENT, N_PLACE_WORKER_STATES };
extern const char *const place_worker_state_names[N_PLACE_WORKER_STATES];

/* Lists are lines ("gpu=a100\n"), sorted, each once. Texts are the caller's, and stay. */
struct place_worker {
	struct str name, zone, target;
	struct str labels; /* "key=value\n" */
	struct str tags,
	    optional_tags; /* a worker with tags takes only work that has all of them */
	enum place_worker_state state;
	int64_t total[N_PLACE_RESOURCES]; /* what it offers */
	int64_t used[N_PLACE_RESOURCES];  /* what its work really uses; -1: not known */
	/* The auction's: */
	int64_t reserved[N_PLACE_RESOURCES];
	uint32_t zone_number, rank; /* in its zone */
	uint32_t starting, tasks;
};

struct place_want {
	struct str target; /* empty: any */
	struct str labels, tags;
	struct str without; /* labels that the worker must not have */
};

struct place_config {
	int64_t starting_weight; /* of an instance that is starting, in SCORE_ONE */
	int64_t bin_pack_weight; /* of a worker's rank in its zone, in SCORE_ONE; 0: spread */
	uint32_t starts_max;     /* starts under way, all workers together; 0: any number */
	bool zones_are_hashed;   /* each index has its own zone; above index 1 it must be there */
	const struct str *zones; /* hashed: the zones; none: those of the workers, by name */
	uint32_t n_zones;
};
extern const struct place_config place_config_default;

/* Why something has no place. */
#define PLACE_CODES(X)                             \
	X(PLACE_OK, "placed")                      \
	X(PLACE_NO_WORKER, "no-worker")            \
	X(PLACE_NO_TARGET, "no-target")            \
	X(PLACE_NO_LABEL, "no-label")              \
	X(PLACE_NO_TAG, "no-tag")                  \
	X(PLACE_KEPT, "kept-for-tag")              \
	X(PLACE_DRAINED, "draining")               \
	X(PLACE_UNREACHABLE, "unreachable")        \
	X(PLACE_NOT_IN_ZONE, "no-worker-in-zone")  \
	X(PLACE_TOO_LARGE, "too-large")            \
	X(PLACE_NO_ROOM, "insufficient-resources") \
	X(PLACE_STARTS, "in-flight-start-limit")

enum place_code {
#define X(code, name) code,
	PLACE_CODES(X)
#undef X
	    N_PLACE_CODES
};
extern const char *const place_code_names[N_PLACE_CODES];

struct place_work {
	uint32_t service; /* NO_SERVICE: a task */
	uint32_t index;   /* of the instance, or which task */
	uint32_t shape;   /* auction_shape() */
};

struct place_result {
	uint32_t worker;      /* NO_WORKER: none */
	uint32_t zone_had;    /* instances of the service in that zone before */
	uint32_t colocated;   /* on that worker before; of a task: tasks there */
	uint32_t zone_must;   /* the zone that it had to be in; NO_ZONE: none */
	int64_t score;        /* in SCORE_ONE; the lower won */
	enum place_code code; /* PLACE_NO_ROOM stands for all that auction_explain() tells apart */
};

struct auction;

/* `names` of the services are needed for hashed zones only. The workers are copied. */
struct auction *auction_new(const struct place_config *config, const struct place_worker *workers,
    uint32_t n_workers, const struct str *names, uint32_t n_services);
void auction_free(struct auction *a);

/* What some work needs: amounts of each (of instances always 1), and of the worker's facts. */
uint32_t auction_shape(
    struct auction *a, const int64_t amount[N_PLACE_RESOURCES], const struct place_want *want);
/* `count` pieces of work are there already, `starting` of them under way. */
void auction_hold(struct auction *a, uint32_t worker, uint32_t service, uint32_t shape,
    uint32_t count, uint32_t starting);
/* One is there no more. */
void auction_drop(
    struct auction *a, uint32_t worker, uint32_t service, uint32_t shape, bool was_starting);
/* One has started: it weighs no more than what it holds. */
void auction_started(struct auction *a, uint32_t worker);

/*
 * Places all of it. `ret_results` has one for each piece of work, in its order; `ret_order` says
 * in which order they were decided. Both are the caller's, of `n`.
 */
void auction_run(struct auction *a, const struct place_work *work, uint32_t n,
    struct place_result *ret_results, uint32_t *ret_order);

/*
 * An auction that is kept from one batch to the next: the worker is as said from now on, with what
 * is reserved there, the starts under way and the tasks. Its zone stays. Texts are the caller's,
 * and stay until the next update of that worker.
 */
void auction_update(struct auction *a, uint32_t worker, const struct place_worker *now);
/* So many more (or fewer) of the service are there; what they reserve is said by an update. */
void auction_count(struct auction *a, uint32_t worker, uint32_t service, int by);
void auction_grow(struct auction *a, uint32_t n_services);
/* Nobody needs that any more: the number may be another's. */
void auction_shape_gone(struct auction *a, uint32_t shape);

const struct place_worker *auction_worker(const struct auction *a, uint32_t worker);
uint32_t auction_workers(const struct auction *a);
struct str auction_zone_name(const struct auction *a, uint32_t zone);
uint32_t auction_starting(const struct auction *a); /* of all workers */

/* Why work of a shape has no place now, and the numbers behind it. */
struct place_error {
	enum place_code code;
	unsigned short_of;  /* a bit for each resource that every worker lacks */
	uint32_t n_workers; /* workers that would do but for the room */
	struct place_figures {
		int64_t wanted, largest, freest; /* of one worker */
		int64_t total, reserved, used;   /* of all those workers; used -1: not known */
	} figures[N_PLACE_RESOURCES];
};
/* Appends the sentence. `zone`: where it must be, or NO_ZONE. */
void auction_explain(const struct auction *a, uint32_t shape, uint32_t zone,
    struct place_error *ret_error, struct buf *text);

#endif
