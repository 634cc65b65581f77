/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What becomes of a due tick: a task, a place in line behind the task before it, or a skip with
 * its reason. Each leaves a row in the same batch as the schedule's progress, so that no crash can
 * make it happen twice or not at all.
 */
#include "core/group/group.h"
#include "core/state.h"

#include "base/rng.h"
#include "core/schedule/schedule.h"

void tick_save(const struct tick_row *row, struct effects *out)
{
	batch_put(&out->batch, &tick_table, row_new(&out->batch.arena, &tick_table, row));
}

/* The one that waits keeps its row, also when its zone was moved since. */
static int64_t offset_of(const struct look *l, int64_t tick_s)
{
	return l->of_waiting && !MUTANT(WAITING_FOLLOWS_ZONE) ? l->row->progress.waiting_offset_s
	                                                      : schedule_offset_s(l->s, tick_s);
}

static struct tick_row row_of(const struct look *l, const struct cron_event *e, int outcome)
{
	return (struct tick_row){.schedule = l->s->object.id,
	    .tick_s = e->time,
	    .offset_s = offset_of(l, e->time),
	    .until_s = e->until,
	    .outcome = outcome,
	    .time_ms = l->c->now_ms,
	    .shift_s = e->shift};
}

/* Ticks have rows of their own: the notice is only for whoever watches. */
static void notice_tick(const struct look *l, const char *kind, const struct tick_row *tick)
{
	const struct object *s = &l->s->object;
	struct arena *a = &l->out->batch.arena;
	struct notice *n = effects_notice(l->out, kind);

	n->seq = ++l->c->last_event;
	n->time_ms = l->c->now_ms;
	n->owner = (struct owner){s->kind, s->id, tick->tick_s};
	n->task = tick->task;
	n->exit_code = -1;
	n->subject = arena_str(a, s->name);
	n->detail = detail_of(a, "reason", tick->reason);
}

void look_skip(struct look *l, const struct cron_event *e, struct str reason)
{
	struct tick_row row = row_of(l, e, TICK_SKIPPED);

	row.reason = reason;
	tick_save(&row, l->out);
	l->row->progress.n_skipped++;
	l->changed = true;
	notice_tick(l, "schedule.skipped", &row);
}

/* Spread over the jitter, the same for the same tick wherever it is computed. */
static int64_t jittered_ms(const struct schedule_row *row, int64_t tick_s)
{
	struct rng r = {.state = row->id ^ (uint64_t)tick_s * 0x9e3779b97f4a7c15u};

	if (!row->jitter_ms)
		return 0;
	if (MUTANT(JITTER_BEFORE_TICK))
		return tick_s * 1000 - row->jitter_ms;
	return tick_s * 1000 + (int64_t)(rng_next(&r) % ((uint64_t)row->jitter_ms + 1));
}

rid schedule_submit(struct core *c, const struct schedule_row *row, int64_t tick_s,
    int64_t run_after_ms, struct str actor, struct effects *out)
{
	struct submit_task t = {.status = TASK_QUEUED,
	    .spec = {.queue = row->queue,
	        .priority = row->priority,
	        .max_attempts = row->max_attempts,
	        .run_after_ms = run_after_ms,
	        .timeout_ms = row->timeout_ms,
	        .backoff_ms = row->backoff_ms,
	        .backoff_max_ms = row->backoff_max_ms,
	        .owner = {KIND_SCHEDULE, row->id, tick_s},
	        .actor = actor,
	        .labels = row->labels,
	        .need = row->need,
	        .body = row->body}};

	if (row->group.p)
		return group_trigger(c, &t.spec.owner, actor, out);
	return submit_alone(c, &t, out);
}

static void fire(struct look *l, const struct cron_event *e, struct str reason)
{
	struct schedule_progress *p = &l->row->progress;
	struct tick_row row = row_of(l, e, TICK_FIRED);

	if (l->row->group.p && !group_room(l->c)) {
		look_skip(l, e, STR("there are too many groups: remove some that have ended"));
		return;
	}
	row.task =
	    schedule_submit(l->c, l->row, e->time, jittered_ms(l->row, e->time), STR_NULL, l->out);
	row.reason = reason;
	tick_save(&row, l->out);
	lane_past_grows(l->c, l->s->object.id, e->time);
	p->last_tick_s = e->time;
	p->last_task = row.task;
	p->n_fired++;
	l->changed = true;
	notice_tick(l, "schedule.fired", &row);
}

static struct str id_text(const struct look *l, rid id)
{
	char text[ID_TEXT];

	return arena_strf(&l->out->batch.arena, "%s", id_format(&l->c->ids, id, text));
}

static const char *what_it_makes(const struct schedule_row *row)
{
	return row->group.p ? "group" : "task";
}

static void wait_in_line(struct look *l, const struct cron_event *e)
{
	struct schedule_progress *p = &l->row->progress;
	struct tick_row row = row_of(l, e, TICK_WAITING);

	row.reason = arena_strf(&l->out->batch.arena, "waits for the end of %s " STR_FMT,
	    what_it_makes(l->row), STR_ARG(id_text(l, l->s->live[0])));
	tick_save(&row, l->out);
	lane_past_grows(l->c, l->s->object.id, e->time); /* or it will be: nobody may fill it in */
	p->waiting_s = e->time;
	p->waiting_offset_s = row.offset_s;
	l->changed = true;
}

/* The one that waited gives way to a later one. */
static void give_way(struct look *l)
{
	struct schedule_progress *p = &l->row->progress;
	struct cron_event e = {.time = p->waiting_s,
	    .until = p->waiting_s,
	    .shift = l->c->now_ms / 1000 - p->waiting_s};

	l->of_waiting = true;
	look_skip(l, &e, STR("a later tick took its place while it waited"));
	l->of_waiting = false;
	p->waiting_s = 0;
}

/* Groups leave the schedule's list as they end, which may be at once. */
static void cancel_groups(struct look *l)
{
	uint32_t n = l->s->n_live;
	rid *ids = arena_memdup(&l->out->batch.arena, l->s->live, n * sizeof *ids);

	for (uint32_t i = 0; i < n; i++) {
		struct event cancel = {.kind = EV_DO,
		    .now_ms = l->c->now_ms,
		    .mono_ms = l->c->mono_ms,
		    .seed = l->c->seed,
		    .actor = STR("reeve"),
		    .object = {.kind = KIND_GROUP,
		        .id = ids[i],
		        .verb = GROUP_CANCEL,
		        .reason = STR("replaced by the schedule's next tick")}};

		core_command(l->c, &cancel, l->out);
	}
}

static void cancel_tasks(struct look *l)
{
	struct event cancel = {.kind = EV_CANCEL,
	    .now_ms = l->c->now_ms,
	    .mono_ms = l->c->mono_ms,
	    .seed = l->c->seed,
	    .actor = STR("reeve"),
	    .tasks = {.ids = arena_memdup(
	                  &l->out->batch.arena, l->s->live, l->s->n_live * sizeof *l->s->live),
	        .n = l->s->n_live,
	        .reason = STR("replaced by the schedule's next tick")}};

	core_command(l->c, &cancel, l->out);
}

static void overlaps(struct look *l, const struct cron_event *e)
{
	struct schedule_progress *p = &l->row->progress;

	switch (l->row->overlap) {
	case OVERLAP_SKIP:
		look_skip(l, e,
		    arena_strf(&l->out->batch.arena,
		        "%s " STR_FMT " of an earlier tick has not ended", what_it_makes(l->row),
		        STR_ARG(id_text(l, l->s->live[0]))));
		break;
	case OVERLAP_QUEUE:
		if (p->waiting_s)
			look_skip(
			    l, e, STR("another tick waits already for the one before to end"));
		else
			wait_in_line(l, e);
		break;
	default:
		if (p->waiting_s)
			give_way(l);
		wait_in_line(l, e);
		if (l->row->group.p)
			cancel_groups(l);
		else
			cancel_tasks(l);
		break;
	}
}

void look_fire(struct look *l, const struct cron_event *e)
{
	struct str reason = STR_NULL;

	if (l->s->n_live && l->row->overlap != OVERLAP_ALLOW && !MUTANT(OVERLAP_IGNORED)) {
		overlaps(l, e);
		return;
	}
	if (l->row->progress.waiting_s)
		give_way(l); /* the one it waited for is over since a moment ago */
	if (e->label == CRON_LATE)
		reason = arena_strf(&l->out->batch.arena, "%lld s late: " STR_FMT,
		    (long long)e->shift, STR_ARG(l->cause));
	fire(l, e, reason);
}

void look_fire_waiting(struct look *l)
{
	struct schedule_progress *p = &l->row->progress;
	struct cron_event e = {.time = p->waiting_s,
	    .until = p->waiting_s,
	    .shift = l->c->now_ms / 1000 - p->waiting_s};

	l->of_waiting = true;
	fire(l, &e,
	    arena_strf(&l->out->batch.arena, "it waited for the %s before it to end",
	        what_it_makes(l->row)));
	l->of_waiting = false;
	p->waiting_s = 0;
}

/* A tick that nobody looked at in time. With "once" the newest of them gets a task after all. */
void look_miss(struct look *l, const struct cron_event *e)
{
	if (MUTANT(LATE_TICKS_DROPPED))
		return;
	if (!l->is_gathering) {
		l->missed = *e;
		l->newest = *e;
		l->is_gathering = true;
		l->n_missed = 1;
		return;
	}
	l->missed.until = l->newest.time;
	l->newest = *e;
	l->n_missed++;
}

/* What becomes of the newest is not known yet: it may be skipped, too, and says so itself. */
static void skip_missed(struct look *l)
{
	bool once = l->row->missed == MISSED_ONCE;

	if (!once)
		l->missed.until = l->newest.time;
	if (!once || l->n_missed > 1)
		look_skip(l, &l->missed,
		    arena_strf(&l->out->batch.arena, "missed%s: " STR_FMT,
		        once ? ", and only the newest counts" : "", STR_ARG(l->cause)));
}

void look_flush(struct look *l)
{
	if (!l->is_gathering)
		return;
	l->is_gathering = false;
	skip_missed(l);
	if (l->row->missed == MISSED_ONCE)
		look_fire(l, &l->newest);
}

/* Whether the newest so far is the one that counts is not known yet: it comes again. */
int64_t look_hand_on(struct look *l)
{
	l->is_gathering = false;
	skip_missed(l);
	return l->row->missed == MISSED_ONCE ? l->newest.time : l->newest.time + 1;
}

static bool is_waiting(const struct look *l, int64_t tick_s)
{
	const struct schedule_progress *p = &l->row->progress;

	return tick_s == p->waiting_s && p->waiting_offset_s == schedule_offset_s(l->s, tick_s);
}

/* Nothing will be fired any more in a gap that cannot be remembered. */
static void give_up(struct look *l, const struct schedule_progress *before, struct dealt_span gap)
{
	struct schedule_row was = *l->row;
	int64_t first;
	struct cron_event e;

	was.progress = *before;
	was.progress.moved_s = l->row->progress.moved_s;
	if (gap.from_s > gap.to_s ||
	    (gap.moved_s != was.progress.moved_s && gap.moved_s != DEALT_ANYWHERE))
		return;
	first = schedule_undealt_s(l->s, &was, gap.from_s);
	if (first && is_waiting(l, first)) /* a tick that waits has a row, and will have a task */
		first = schedule_undealt_s(l->s, &was, first + 1);
	if (!first || first > gap.to_s)
		return;
	e = (struct cron_event){CRON_SKIPPED, first, gap.to_s, l->c->now_ms / 1000 - first};
	look_skip(l, &e, STR("the clock was set too often to tell what ran then and what did not"));
}

void look_break(struct look *l, int64_t from_s)
{
	struct schedule_progress before = l->row->progress;

	give_up(l, &before, dealt_break(&l->row->progress, from_s));
}

void look_keep(struct look *l, int64_t from_s)
{
	struct schedule_progress before = l->row->progress;

	give_up(l, &before, dealt_keep(&l->row->progress, from_s));
}

/* What a look would find out about its zone, where none is taken. */
static void follow_zone(struct look *l)
{
	struct schedule_progress *p = &l->row->progress;
	int64_t shift = schedule_offset_s(l->s, p->system_s) - p->zone_offset_s;

	if (!p->begun || !shift)
		return;
	p->moved_s += shift;
	p->zone_offset_s += shift;
	look_break(l, l->c->now_ms / 1000 + 1);
}

/* Nobody looks at a paused schedule: its zone may have moved since. */
void look_fill(struct look *l, int64_t from_s, int64_t to_s)
{
	struct schedule_progress before;

	follow_zone(l);
	before = l->row->progress;
	give_up(l, &before, dealt_add(&l->row->progress, from_s, to_s));
}

void look_begin(struct look *l, int64_t after_s)
{
	struct schedule_progress *p = &l->row->progress;

	if (MUTANT(SET_FORGETS_DEALT))
		dealt_init(p, after_s + 1);
	follow_zone(l);
	p->begun = true;
	p->done_until_s = p->seen_until_s = p->system_s = after_s;
	p->zone_offset_s = schedule_offset_s(l->s, after_s);
	l->s->mono_ms = after_s == l->c->now_ms / 1000 ? l->c->mono_ms : CRON_NO_MONOTONIC;
	if (after_s < p->dealt[0].to_s)
		look_break(l, after_s + 1);
	else
		dealt_grow(p, after_s);
}

void look_skip_past(struct look *l, int64_t until_s, struct str reason)
{
	struct schedule_progress *p = &l->row->progress;
	int64_t first;
	struct cron_event e;

	follow_zone(l);
	first = schedule_undealt_s(l->s, l->row, p->done_until_s + 1);
	e = (struct cron_event){CRON_SKIPPED, first, until_s, l->c->now_ms / 1000 - first};
	if (first && first <= until_s)
		look_skip(l, &e, reason);
	look_begin(l, until_s);
}
