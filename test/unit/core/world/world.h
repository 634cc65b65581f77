/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A tiny world around the server's brain for stories: a store made of two arrays, a clock that
 * moves when told, workers that do what the story says. Effects are committed at once, or held
 * back until world_commit() when a story is about what happens in between.
 */
#ifndef TEST_CORE_WORLD_H
#define TEST_CORE_WORLD_H

#include "core/core.h"
#include "core/schedule/view.h"
#include "model/objects/built.h"
#include "model/objects/domain.h"
#include "model/objects/group.h"
#include "model/objects/service.h"
#include "model/rows/row.h"

/* What somebody asks for: these columns of the row. */
struct queue_change {
	uint64_t fields;
	struct queue_row row;
};
struct schedule_change {
	uint64_t fields;
	struct schedule_row row;
};
#define QUEUE_BIT(member) ROW_BIT(queue_table, queue_row, member)
#define SCHEDULE_BIT(member) ROW_BIT(schedule_table, schedule_row, member)

#define WORLD_GROUPS 128
#define WORLD_TASKS 20000

struct world_rows { /* by key */
	void **v;
	size_t n, cap;
};

struct world {
	struct core *core;
	struct core_options options;
	struct effects fx;
	uint64_t seq;
	int64_t now_ms, mono_ms;
	uint64_t seed;
	bool hold; /* effects wait for world_commit() */
	/* the store */
	struct arena rows_arena;
	struct task_row tasks[WORLD_TASKS];
	size_t n_tasks;
	struct queue_row queues[64];
	size_t n_queues;
	struct worker_row workers[64];
	size_t n_workers;
	struct schedule_row schedules[64];
	size_t n_schedules;
	struct tick_row ticks[WORLD_TASKS];
	size_t n_ticks;
	struct task_batch_row task_batches[64];
	size_t n_task_batches;
	struct group_row groups[WORLD_GROUPS];
	size_t n_groups;
	struct group_graph_row chunks[4096];
	size_t n_chunks;
	struct built_row built[16]; /* as they came */
	size_t n_built;
	struct world_rows domains, services, revisions, instances;
	bool reads_fail;       /* of groups */
	const char *zone_name; /* told of before every load; NULL: none */
	const struct cron_zone *zone;
	struct idem_row idem[64];
	size_t n_idem;
	uint64_t last_event;
	size_t n_outputs;
	struct input_row inputs[64];
	size_t n_inputs;
	struct input_part_row input_parts[256];
	size_t n_input_parts;
	/* what left the brain, newest commit last */
	struct message sent[WORLD_TASKS];
	size_t n_sent;
	struct reply replies[256];
	size_t n_replies;
	uint64_t last_ticket;
	struct read_ask reads[256]; /* not answered yet */
	size_t n_reads;
	size_t n_rows_asked; /* of tasks, by their ids */
	struct meta_row meta[8];
	size_t n_meta;
	bool sick;           /* workers do not answer healthchecks */
	bool drops_receipts; /* workers' hellos say so */
	bool takes_no_input; /* they say so, too */
	bool takes_no_needs;
	bool key_is_new; /* of receipts: at the next start */
	bool hold_reads; /* answered only by world_answer_reads() */
	size_t n_notices;
	const char *last_notice;
	const char *told[256]; /* kinds of the first ones */
	size_t n_told;
};

struct world *world_new(const struct core_options *o);
void world_free(struct world *w);
/* NULL: it has no row */
const struct task_batch_row *world_task_batch(const struct world *w, rid id);
void world_step(struct world *w, struct event *ev);
void world_commit(struct world *w);
void world_answer_reads(struct world *w);
void world_advance(struct world *w, int64_t ms); /* and ticks whenever the brain asked for it */
/* The server dies and starts again on what was committed. */
void world_restart(struct world *w);

/* Shorthands; they return the reply to the command. */
const struct reply *world_reply(struct world *w);
rid world_queue(struct world *w, const char *name, int threads, enum queue_order order);
const struct reply *world_submit(struct world *w, const struct submit_task *tasks, size_t n);
rid world_submit_one(struct world *w, rid queue);
rid world_submit_key(struct world *w, rid queue, const char *key);
const struct reply *world_tasks(struct world *w, enum event_kind kind, const rid *ids, size_t n);
void world_hello(struct world *w, uint64_t link, const char *shard, uint64_t instance,
    int maxthreads, const struct link_held *held, size_t n);
void world_link_lost(struct world *w, uint64_t link);
/* The same with everything that matters to the worker set; repeats what the server told it. */
void world_beat(struct world *w, uint64_t link, uint64_t number);
void world_beat_with(struct world *w, uint64_t link, uint64_t number, const struct set_id *set);
void world_started(struct world *w, uint64_t link, rid task, int64_t token);
void world_ended(struct world *w, uint64_t link, rid task, int64_t token, int status);
/* The same with what it left in its result file. */
void world_left(
    struct world *w, uint64_t link, rid task, int64_t token, int status, struct str result);

struct task_row *world_task(struct world *w, rid id); /* as stored */
/* The i-th message of a kind since world_forget_sent(); NULL: there is none. */
const struct message *world_sent(struct world *w, enum message_kind kind, size_t i);
size_t world_count_sent(struct world *w, enum message_kind kind);
void world_forget_sent(struct world *w);
struct schedule_row *world_schedule(struct world *w, rid id); /* as stored */
struct group_row *world_group(struct world *w, rid id);       /* as stored */
struct queue_counts world_counts(struct world *w, rid queue);

/* world_rows.c, for world.c */
void world_apply(struct world *w, const struct row_op *op);
/* world_group.c: rows of groups, for the others */
void world_put_group(struct world *w, const struct group_row *row);
void world_put_group_state(struct world *w, const struct group_row *row);
void world_put_chunk(struct world *w, const struct group_graph_row *row);
void world_put_built(struct world *w, const struct built_row *row);
void world_drop_group(struct world *w, rid id);
rid world_last_group(const struct world *w, rid last);
void world_load_groups(struct world *w);
/* world_service.c: rows of services, for the others */
bool world_put_part(struct world *w, const struct row_table *t, const void *row);
void world_put_service_state(struct world *w, const void *row);
void world_drop_part(struct world *w, const struct row_table *t, const void *row);
void world_drop_service(struct world *w, const struct row_table *t, rid id);
void world_load_services(struct world *w);
rid world_last_service(const struct world *w, rid last);
void world_free_services(struct world *w);
void world_keep_needs(struct world *w, struct message *m); /* what a job is shown stays */
void world_answer_chunks(struct world *w, const struct read_ask *a);

#endif
