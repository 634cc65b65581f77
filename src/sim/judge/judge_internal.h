/* SPDX-License-Identifier: Apache-2.0 */
/* What the judge knows: per task and per queue. */
#ifndef SIM_JUDGE_INTERNAL_H
#define SIM_JUDGE_INTERNAL_H

#include "sim/judge/judge.h"
#include "sim/load/needs.h"
#include "sim/world/worker.h"

struct truth_queue {
	rid id;
	bool deleted, changed;
	bool deleted_durably; /* else a crash brings it back */
	int64_t n[N_PHASES];  /* as the core sees it, told by its notices */
	int32_t most_threads; /* ever allowed; -1: no limit */
	int64_t processes;
};

struct truth_task {
	rid id;
	unsigned number;
	struct truth_queue *queue;
	int32_t max_attempts;               /* the task's own; 0: the queue's */
	int64_t backoff_ms, backoff_max_ms; /* the task's own; negative: the queue's */
	int key;                            /* the unique key's number; 0: none */
	/* as the core sees it */
	bool is_live, is_known; /* known: status is meaningful */
	int32_t status, attempt;
	int64_t token, due_ms;
	struct str need, queue_need; /* the task's own; its queue's when it was claimed, */
	int64_t claim_token;         /* with that token */
	int64_t held[N_HELD];        /* by its process */
	int64_t late_token;          /* of an attempt whose order was not sent yet; 0: none */
	int64_t lost_us; /* the task waits because its worker was lost then; 0: not so */
	bool is_held;    /* … or something like that: what its row says of the end is wall time */
	int64_t due_since_us; /* when it was told to wait until then */
	/* as the store has it */
	bool stored;
	int32_t stored_status, stored_attempt;
	int64_t stored_token, stored_due_ms;
	/* processes */
	int running;
	int64_t started_token; /* the last that was started */
	int64_t good_token;    /* the last whose process ended well */
	int starts;            /* since the operator's last retry */
	bool given_up;         /* the running one: its queue's limit does not count it any more */
	bool is_risked; /* the running one: its worker was displaced while it was only unhealthy */
	int64_t over_by_us;          /* a process that was given up is over by then; 0: none was */
	int64_t produced[N_STREAMS]; /* by started_token */
	/* what was promised */
	bool cancelled;
	int retries; /* commands under way that ask for another run */
	int64_t cancel_token;
	uint64_t absent_instance;
	int64_t absent_token;
	/* stored output */
	int64_t out_token, out_end[N_STREAMS];
	bool was_retried; /* what had ended may be live beside its successor */
	/* of an object that submits tasks */
	struct owner owner;
	int64_t run_after_ms;
	unsigned marks; /* what the judge of the owner's kind notes of it */
};

#define PEAKS_MOST 64

struct judge {
	/* what the server's wall clock said before each of its jumps */
	struct {
		int64_t at_us, wall_ms;
	} peaks[PEAKS_MOST];
	size_t n_peaks;
	struct idmap by_id, queues_by_id, by_request, by_key;
	struct truth_task **tasks;
	size_t n_tasks, cap_tasks;
	int64_t n_ends;               /* of tasks, as stored */
	struct truth_batch **batches; /* of tasks: judge_batches.c */
	size_t n_batches, cap_batches;
	struct idmap batches_by_id;
	struct truth_queue **queues;
	size_t n_queues, cap_queues;
	int steps_back; /* of the server's wall clock */
	uint64_t batch; /* the one that is being applied, */
	size_t row;     /* and which of its rows */
	uint64_t last_notice, notice_incarnation;
	/* messages of the gathering set that were looked at */
	uint64_t message_seq;
	size_t seen_messages;
	/* before a step */
	bool watches;
	rid watched;
	int64_t watched_token;
	bool found;
	struct task_state before;
};

struct truth_task *truth_of(struct world *w, rid id);
struct truth_queue *truth_queue_of(struct world *w, rid id);
/* True when the judge has nothing to say about it any more. */
bool truth_is_gone(const struct truth_task *t);
/* After healing: it waits for a time that nobody waits for. */
bool truth_is_far(const struct world *w, const struct truth_task *t);
/* judge_sets.c */
void judge_new_messages(struct world *w);
void judge_credit(struct world *w, int slot,
    const struct worker_view *v); /* which sets the server believes it to know */
void judge_worker_stored(struct world *w, const struct row_op *op);
/* judge.c: tasks that a submit, or the like, was answered with */
void judge_submitted(struct world *w, const struct reply *r);
/* judge_needs.c */
void judge_need_claimed(
    struct world *w, struct truth_task *t, const struct queue_row *q, int64_t token);
void judge_need_started(struct world *w, struct truth_task *t, const struct sim_process *p);
void judge_needs_end(struct world *w);
/* judge_batches.c */
void judge_batches_applied(struct world *w, const struct batch *b);
void judge_batches_free(struct judge *j);
/* judge_store.c */
void judge_queue_stored(struct world *w, const struct row_op *op);
/* judge_core.c */
void judge_new_notices(struct world *w, const struct event *ev);

#endif
