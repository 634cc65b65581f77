/* SPDX-License-Identifier: Apache-2.0 */
/* What the judge knows: per task and per queue. */
#ifndef SIM_JUDGE_INTERNAL_H
#define SIM_JUDGE_INTERNAL_H

#include "cron/pattern/item.h"
#include "model/schedule.h"
#include "sim/judge/judge.h"

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
	int32_t max_attempts;               /* its own; 0: the queue's */
	int64_t backoff_ms, backoff_max_ms; /* its own; negative: the queue's */
	int key;                            /* its unique key's number; 0: none */
	/* as the core sees it */
	bool is_live, is_known; /* known: status is meaningful */
	int32_t status, attempt;
	int64_t token, due_ms;
	int64_t lost_us; /* it waits because its worker was lost then; 0: not so */
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
	/* of a schedule */
	struct truth_schedule *schedule; /* NULL: of none */
	int64_t tick_s, run_after_ms;
	bool has_tick;    /* a row of ticks names it */
	bool is_of_tick;  /* … as fired, not by hand */
	bool was_retried; /* what had ended may be live beside its successor */
};

/* One row of ticks, as it is stored. */
struct truth_tick {
	int64_t tick_s, offset_s;
	rid task;
	int32_t outcome;
	int steps_back; /* of the clock, before it got its task */
};

/* Nothing was fired in there, and a row says why. */
struct truth_stretch {
	int64_t from_s, to_s;
};

/* The server has looked at a schedule; its rows may not be durable yet. */
struct truth_look {
	int64_t time_s, offset_s; /* what its clock and the moving zone said */
	uint64_t batch;           /* the batch that gathered then, */
	size_t rows;              /* and how many rows it had after that step */
	bool is_whole;            /* nothing was left for the next step */
};

/*
 * A schedule as the store has it, and how far its clock has come. Places where something was
 * decided are instants; in a zone that moves they are local times, for that is what it goes by.
 */
struct truth_schedule {
	rid id;
	unsigned number; /* for the story */
	bool deleted, touched;
	struct schedule_row row; /* without strings */
	struct cron_items items;
	int zone; /* enum sim_zone_kind; -1: none */
	bool was_set;
	int64_t begun_s;       /* made, changed or resumed then */
	int64_t held_s;        /* nothing was due up to here, when the clock was set back last */
	int64_t zone_offset_s; /* of the moving zone, as of checked_s */
	int64_t shown_s;       /* local times up to here may come again, and need not fire */
	int64_t looked_ms; /* the wall clock at the last step; INT64_MIN: none since the start */
	int64_t checked_s; /* up to here everything that was due is accounted for */
	int64_t seen_s;    /* up to here it was looked at, since the zone moved; INT64_MIN: not */
	int64_t next_s;    /* nothing is due between checked_s and this; INT64_MIN: look */
	struct idmap ticks, decided;
	struct truth_tick **all;
	size_t n, cap;
	struct truth_stretch *stretches;
	size_t n_stretches, cap_stretches;
	struct truth_look *looks; /* that wait for their rows */
	size_t n_looks, cap_looks;
	struct truth_tick *waiting;
	struct truth_task **tasks;
	size_t n_tasks, cap_tasks;
	size_t first_task; /* of this queue: earlier ones overlap with nothing */
	int64_t n_fired, n_skipped;
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
	int64_t n_ends; /* of tasks, as stored */
	struct truth_queue **queues;
	size_t n_queues, cap_queues;
	struct truth_schedule **schedules;
	size_t n_schedules, cap_schedules;
	int steps_back;    /* of the server's wall clock */
	bool is_unsettled; /* the core has more to do at once */
	uint64_t batch;    /* the one that is being applied, */
	size_t row;        /* and which of its rows */
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
/* judge_sets.c */
void judge_new_messages(struct world *w);
void judge_credit(struct world *w, int slot,
    const struct worker_view *v); /* which sets the server believes it to know */
void judge_worker_row(struct world *w, const struct worker_row *row);
/* judge_schedule.c */
struct truth_schedule *truth_schedule_of(struct world *w, rid id);
int64_t truth_place(const struct truth_schedule *s, int64_t tick_s, int64_t offset_s);
void judge_schedules_free(struct judge *j);
void judge_schedule_row(struct world *w, const struct schedule_row *row, bool whole);
void judge_schedule_gone(struct world *w, rid id);
void judge_schedules_applied(struct world *w);
void truth_pass(struct world *w, struct truth_schedule *s, int64_t to_s);
void truth_follow_zone(struct truth_schedule *s, int64_t offset_s);
/* judge_look.c */
void truth_take_looks(struct world *w, struct truth_schedule *s); /* whose rows are there */
void judge_schedules_before(struct world *w);
void judge_schedules_after(struct world *w, const struct event *ev);
void judge_schedules_loaded(struct world *w);
/* judge_tick.c */
void judge_scheduled(struct world *w, struct truth_task *t, const struct task_row *row);
void judge_tick_row(struct world *w, const struct tick_row *row);
/* Whether a task of it has not ended; of its own ticks, or of any. */
struct truth_task *truth_live_task(
    const struct truth_schedule *s, const struct truth_task *but, bool ticks_only);
/* judge_core.c */
void judge_new_notices(struct world *w, const struct event *ev);

#endif
