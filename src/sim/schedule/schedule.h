/* SPDX-License-Identifier: Apache-2.0 */
/* Schedules in a simulated world: their clients, their zones, their faults, and their judge. */
#ifndef SIM_SCHEDULE_H
#define SIM_SCHEDULE_H

#include "cron/pattern/item.h"
#include "model/objects/schedule.h"
#include "sim/judge/judge_internal.h"
#include "sim/kind.h"

/* One row of ticks, as it is stored. */
struct truth_tick {
	int64_t tick_s, offset_s;
	rid task; /* or group */
	int32_t outcome;
	int steps_back; /* of the clock, before it got its task */
};

/* truth_task.marks */
enum {
	MARK_HAS_TICK = 1, /* a row of ticks names the task, */
	MARK_OF_TICK = 2,  /* as fired, not by hand */
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
	bool of_groups;          /* its ticks have groups, not tasks */
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
	struct truth_look *looks; /* looks that wait for their rows */
	size_t n_looks, cap_looks;
	struct truth_tick *waiting;
	struct truth_task **tasks;
	size_t n_tasks, cap_tasks;
	size_t first_task; /* of this queue: earlier ones overlap with nothing */
	int64_t n_fired, n_skipped;
};

/* What a world with schedules has of them. */
struct sim_schedules {
	struct rng rng;
	struct sim_zones *zones;
	int n_names;        /* under so many of them clients make schedules, */
	unsigned of_groups; /* these (1 << its number) of groups */
	/* for the judge */
	struct truth_schedule **all;
	size_t n, cap;
	bool is_unsettled; /* the core has more to do at once */
};

extern const struct sim_kind sim_kind_schedule;

/* NULL: this world has none. */
static inline struct sim_schedules *schedules_of(const struct world *w)
{
	return w->of_kind[KIND_SCHEDULE];
}

/* clients.c: hooks of the load */
void schedules_load(struct world *w);
void schedules_draw_request(struct world *w);
void schedules_heal(struct world *w);
bool schedule_command(struct world *w, const struct request *r, rid queue, struct event *ev,
    struct command_parts *parts);
/* faults.c */
void schedules_time_fault(struct world *w, struct fault *f);
/* truth.c */
struct truth_schedule *truth_schedule_of(struct world *w, rid id);
int64_t truth_place(const struct truth_schedule *s, int64_t tick_s, int64_t offset_s);
void truth_pass(struct world *w, struct truth_schedule *s, int64_t to_s);
void truth_follow_zone(struct truth_schedule *s, int64_t offset_s);
void truth_schedules_free(struct sim_schedules *all);
void judge_schedule_stored(struct world *w, const struct row_op *op);
void judge_schedules_applied(struct world *w);
/* looks.c */
void truth_take_looks(struct world *w, struct truth_schedule *s); /* whose rows are there */
void judge_schedules_before(struct world *w);
void judge_schedules_after(struct world *w, const struct event *ev);
void judge_schedules_loaded(struct world *w);
/* ticks.c */
void judge_schedule_done(struct world *w, const struct event *command, const struct reply *r);
void judge_schedule_task(struct world *w, struct truth_task *t);
void judge_tick_row(struct world *w, const struct tick_row *row);
/* A task, or group, of it has not ended: whatever has made it. */
bool truth_is_live(struct world *w, const struct truth_schedule *s);
/* Some task of some schedule; 0: there is none. */
rid truth_some_task(const struct world *w, uint64_t random);

#endif
