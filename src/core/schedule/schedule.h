/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Schedules in memory. There may be a hundred thousand of them that do nothing: what is only
 * needed when one fires lies packed, and is unpacked into a row for the length of a step.
 */
#ifndef CORE_SCHEDULE_H
#define CORE_SCHEDULE_H

#include "base/arena.h"
#include "core/object.h"
#include "core/timer.h"
#include "core/zone.h"
#include "cron/engine.h"
#include "model/objects/schedule.h"

struct core;
struct queue;
struct effects;
struct event;
struct reply;

struct schedule {
	struct object object; /* the name is owned */
	void *packed;         /* everything else: see pack.c */
	uint32_t n_packed;
	uint32_t n_live;
	rid *live; /* its tasks, or groups, that have not ended, in no order */
	struct cron_items items;
	struct zone *zone;  /* NULL: it needs none */
	uint8_t state;      /* enum schedule_state_kind: as counted */
	bool waits;         /* a tick waits for the end of its tasks */
	int64_t mono_ms;    /* of the last visit in this process; CRON_NO_MONOTONIC: none yet */
	struct timer timer; /* wall clock */
};

/* pack.c */
void schedule_pack(struct schedule *s, const struct schedule_row *row);
/* Without an arena the row's strings are good until the next schedule_pack(). */
void schedule_unpack(const struct schedule *s, struct arena *a, struct schedule_row *ret_row);

/* schedule.c */
void schedule_move(struct schedule_row *row, enum schedule_state_kind to); /* every move */
void schedule_resume(struct core *c, struct schedule *s, struct str actor, struct effects *out);
/* The whole row, or only how far it has got. */
void schedule_save(struct core *c, struct schedule *s, const struct schedule_row *row, bool whole,
    struct effects *out);

/* tasks.c */
/* Unless it is in a queue that the schedule has left. */
void schedule_task_live(struct core *c, struct object *o, rid task, rid queue);
void schedule_task_ended(struct core *c, struct object *o, rid task);
struct str schedule_triggers(const struct object *o, struct arena *a);
const struct object *schedule_user_of(const struct core *c, rid queue);

/* tick.c */
void schedule_set_timer(struct core *c, struct schedule *s, const struct schedule_row *row);
void schedule_look(struct core *c, struct schedule *s, struct effects *out);
void schedule_wake(struct core *c, struct schedule *s, int64_t at_ms);
/* Every one of them, or those of a zone: a clock or a zone was changed. */
void schedules_look_all(struct core *c, const struct zone *z);
/* The first tick at or after from_s that its dates allow; 0: none. */
int64_t schedule_next_s(const struct schedule *s, const struct schedule_row *row, int64_t from_s);
/* The next one that was not dealt with: after a clock was set back, others lie before it. */
int64_t schedule_due_s(const struct schedule *s, const struct schedule_row *row);
/* The first one from there on that was not dealt with; 0: none. */
int64_t schedule_undealt_s(
    const struct schedule *s, const struct schedule_row *row, int64_t from_s);
/* Nothing is left to do, now or later. */
bool schedule_is_over(const struct schedule *s, const struct schedule_row *row);
int64_t schedule_offset_s(const struct schedule *s, int64_t at_s);
const char *schedule_failed(const struct schedule *s);

/* fire.c: what becomes of one tick */
struct visit { /* at one schedule, in one step */
	struct core *c;
	struct schedule *s;
	struct schedule_row *row;
	struct effects *out;
	struct str cause;                 /* why what is late is late */
	struct cron_event missed, newest; /* a stretch of missed ticks, being gathered */
	size_t n_missed;
	bool is_gathering;
	bool of_waiting; /* the firing is about the tick that waited */
	bool changed;
};
void visit_fire(struct visit *v, const struct cron_event *e);
void visit_skip(struct visit *v, const struct cron_event *e, struct str reason);
void visit_miss(struct visit *v, const struct cron_event *e);
void visit_flush(struct visit *v);
/* The visit ends, more of the missed ones are to come: the first tick that the next one begins at.
 */
int64_t visit_hand_on(struct visit *v);
/* dealt_break(), dealt_keep(), dealt_add(), and a row for what had to be given up. */
void visit_break(struct visit *v, int64_t from_s);
void visit_keep(struct visit *v, int64_t from_s);
void visit_fill(struct visit *v, int64_t from_s, int64_t to_s);
/* From after that second on, wherever it was before. */
void visit_begin(struct visit *v, int64_t after_s);
/* The tick that waited for its predecessor's task gets its own. */
void visit_fire_waiting(struct visit *v);
/* Ticks that were due up to there and will not be looked at: one stretch. Then as above. */
void visit_skip_past(struct visit *v, int64_t until_s, struct str reason);
/* actor: who asked for it by hand; NULL: nobody, its time has come. 0: there is no room for its
 * group. */
rid schedule_submit(struct core *c, const struct schedule_row *row, int64_t tick_s,
    int64_t run_after_ms, struct str actor, struct effects *out);
void tick_save(const struct tick_row *row, struct effects *out);

/* dealt.c */
bool dealt_has(const struct schedule_progress *p, int64_t tick_s);
int64_t dealt_end(const struct schedule_progress *p, int64_t tick_s);
void dealt_init(struct schedule_progress *p, int64_t from_s); /* nothing yet */
void dealt_grow(struct schedule_progress *p, int64_t to_s);
/* A gap between two spans that had to be given up for it, if it is used. */
struct dealt_span dealt_break(struct schedule_progress *p, int64_t from_s);
struct dealt_span dealt_keep(struct schedule_progress *p, int64_t from_s);
struct dealt_span dealt_add(struct schedule_progress *p, int64_t from_s, int64_t to_s);

/* backfill.c */
int schedule_run_now(struct core *c, const struct event *ev, struct schedule *s, struct reply *r,
    struct effects *out);
extern const struct object_past schedule_past;
int schedule_backfill(struct core *c, const struct event *ev, struct schedule *s, struct reply *r,
    struct effects *out);

#endif
