/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A schedule: at these times, submit this task or this group. What was asked for, where it has got
 * to, and what became of each due tick.
 *
 *               pause                    the last tick is past, or the end date
 *   active(0) ---------> paused(1)   active ------------------------------------> finished(2)
 *      ^---------------------'  resume, or its time            a change begins it anew
 *
 * The table of allowed moves is in schedule.c; schedule_move() in core makes them all.
 */
#ifndef MODEL_SCHEDULE_H
#define MODEL_SCHEDULE_H

#include "model/rows/field.h"
#include "model/task/task.h"

#define SCHEDULES_MAX 1000000
#define BACKFILL_MAX 10000            /* ticks of one request */
#define SCHEDULE_GROUP_MAX (64 << 10) /* bytes of a group that is written down in a schedule */
#define BACKFILL_ROWS 50000           /* of history that a backfill may have to look at */
#define MAX_SHIFT_MAX_S (366LL * 86400)

enum schedule_state_kind { SCHEDULE_ACTIVE, SCHEDULE_PAUSED, SCHEDULE_FINISHED, N_SCHEDULE_STATES };
/* A tick is due, and a task of an earlier one has not ended. */
enum overlap { OVERLAP_ALLOW, OVERLAP_SKIP, OVERLAP_QUEUE, OVERLAP_REPLACE, N_OVERLAPS };
/* A tick was due while nobody looked: the server was down, the clock was stepped. */
enum missed { MISSED_SKIP, MISSED_ONCE, MISSED_ALL, N_MISSED };

extern const char *const schedule_state_names[N_SCHEDULE_STATES];
extern const struct moves schedule_moves;
extern const char *const overlap_names[N_OVERLAPS];
extern const char *const missed_names[N_MISSED];

#define DEALT_SPANS 4
#define DEALT_ANYWHERE INT64_MIN /* moved_s: it counts wherever the zone is */
/* Ticks in [from_s, to_s] were dealt with, while the zone was there. from_s > to_s: unused. */
struct dealt_span {
	int64_t from_s, to_s, moved_s;
};

/* Written with the batch that changed it. */
struct schedule_progress {
	int32_t begun;
	int64_t done_until_s, seen_until_s, system_s; /* struct cron_state */
	int64_t zone_offset_s;
	int64_t moved_s; /* how far its zone was moved since it was made, in all */
	struct dealt_span dealt[DEALT_SPANS]; /* the first one is growing */
	int64_t waiting_s;          /* overlap queue, replace: the tick that waits; 0: none */
	int64_t waiting_offset_s;   /* the waiting tick's zone offset */
	int64_t last_tick_s;        /* the last tick that got a task or group; 0: none yet */
	rid last_task;              /* or last group */
	int64_t n_fired, n_skipped; /* ticks, over its life; a skipped stretch counts as one */
};

struct schedule_row {
	rid id;
	struct str name;
	struct str items;  /* canonical JSON of what fires: cron/pattern/item.h */
	struct str source; /* as it was written: "crontab 30 2 * * *"; for people */
	struct str zone;   /* NULL: no wall clock in it */
	/* the task */
	rid queue;
	int32_t priority;
	int32_t max_attempts;
	int64_t timeout_ms, backoff_ms, backoff_max_ms;
	struct str labels, body, need;
	/* or, in place of a task, a group as it is submitted: JSON or YAML; NULL: a task it is */
	struct str group;
	/* how */
	int32_t overlap, missed;
	int64_t max_shift_s; /* max_shift_seconds_for_unskip_and_do_not_repeat */
	int64_t jitter_ms;
	int64_t start_ms, end_ms; /* 0: open */
	int32_t state;            /* enum schedule_state_kind */
	int64_t paused_ms;        /* since; 0: not paused */
	struct pause pause;
	int64_t ctime_ms, mtime_ms;
	int64_t version;
	struct schedule_progress progress;
};

enum tick_outcome {
	TICK_FIRED,   /* the tick has a task, or a group */
	TICK_SKIPPED, /* the tick has none, and the reason */
	TICK_WAITING, /* overlap queue: it gets one when the task before it has ended */
	TICK_MANUAL,  /* somebody ran it now: no tick at all */
	TICK_BACKFILL,
	N_TICK_OUTCOMES,
};
extern const char *const tick_outcome_names[N_TICK_OUTCOMES];

/*
 * What became of a due tick, or of a stretch of them. One row per (schedule, tick_s, offset_s); of
 * manual and backfill rows the offset is only part of that key: see core/schedule/backfill.c.
 */
struct tick_row {
	rid schedule;
	int64_t tick_s;    /* the instant; a skipped stretch: its first one */
	int64_t offset_s;  /* of the zone then: with tick_s it names the wall clock's label */
	int64_t until_s;   /* a stretch: nothing fired in (tick_s, until_s]; else tick_s */
	int32_t outcome;   /* enum tick_outcome */
	rid task;          /* or group: a schedule keeps to one of them; 0: none */
	int64_t time_ms;   /* when that was decided */
	int64_t shift_s;   /* how late that was */
	struct str reason; /* for people; NULL: on time */
};

extern const struct row_table schedule_table, tick_table; /* model/rows/row.h */
/* model/rows/field.h; of the settings those that its maker chose, as they are shown. */
extern const struct field schedule_fields[], schedule_settings[];
/* Requests give a pattern of times in one of three spellings. */
#define PATTERN_FIELDS                                                                           \
	FIELD_TOLD("crontab", 0, "30 2 * * *", "{\"type\":\"string\"}"),                         \
	    FIELD_TOLD("calendar", 0, "Mon *-*-* 02:30", "{\"type\":\"string\"}"),               \
	    FIELD_TOLD("items", 0,                                                               \
	        "an item or a list of them: epoch, or minute, hour, day_of_month … with "      \
	        "dst_fixes",                                                                     \
	        "{\"type\":[\"object\",\"array\"],\"items\":{\"type\":\"object\"}}"),            \
	    FIELD_TOLD("time_zone", 0, "of the wall clock", "{\"type\":[\"string\",\"null\"]}"), \
	    FIELD_TOLD("dst", 0,                                                                 \
	        "vixie, or one of skip, unskip and one of repeat_use_both, "                     \
	        "repeat_use_only_early, repeat_use_only_late",                                   \
	        "{\"type\":[\"string\",\"array\"],\"items\":{\"type\":\"string\"}}")

#endif
