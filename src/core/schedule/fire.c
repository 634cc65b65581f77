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
static int64_t offset_of(const struct visit *v, int64_t tick_s)
{
	return v->of_waiting && !MUTANT(WAITING_FOLLOWS_ZONE) ? v->row->progress.waiting_offset_s
	                                                      : schedule_offset_s(v->s, tick_s);
}

static struct tick_row row_of(const struct visit *v, const struct cron_event *e, int outcome)
{
	return (struct tick_row){.schedule = v->s->object.id,
	    .tick_s = e->time,
	    .offset_s = offset_of(v, e->time),
	    .until_s = e->until,
	    .outcome = outcome,
	    .time_ms = v->c->now_ms,
	    .shift_s = e->shift};
}

/* Ticks have rows of their own: the notice is only for whoever watches. */
static void notice_tick(const struct visit *v, const char *kind, const struct tick_row *tick)
{
	const struct object *s = &v->s->object;
	struct arena *a = &v->out->batch.arena;
	struct notice *n = effects_notice(v->out, kind);

	n->seq = ++v->c->last_event;
	n->time_ms = v->c->now_ms;
	n->owner = (struct owner){s->kind, s->id, tick->tick_s};
	n->task = tick->task;
	n->exit_code = -1;
	n->subject = arena_str(a, s->name);
	n->detail = detail_of(a, "reason", tick->reason);
}

void visit_skip(struct visit *v, const struct cron_event *e, struct str reason)
{
	struct tick_row row = row_of(v, e, TICK_SKIPPED);

	row.reason = reason;
	tick_save(&row, v->out);
	v->row->progress.n_skipped++;
	v->changed = true;
	notice_tick(v, "schedule.skipped", &row);
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

static void fire(struct visit *v, const struct cron_event *e, struct str reason)
{
	struct schedule_progress *p = &v->row->progress;
	struct tick_row row = row_of(v, e, TICK_FIRED);

	if (v->row->group.p && !group_room(v->c)) {
		visit_skip(v, e, STR("there are too many groups: remove some that have ended"));
		return;
	}
	row.task =
	    schedule_submit(v->c, v->row, e->time, jittered_ms(v->row, e->time), STR_NULL, v->out);
	row.reason = reason;
	tick_save(&row, v->out);
	lane_past_grows(v->c, v->s->object.id, e->time);
	p->last_tick_s = e->time;
	p->last_task = row.task;
	p->n_fired++;
	v->changed = true;
	notice_tick(v, "schedule.fired", &row);
}

static struct str id_text(const struct visit *v, rid id)
{
	char text[ID_TEXT];

	return arena_strf(&v->out->batch.arena, "%s", id_format(&v->c->ids, id, text));
}

static const char *what_it_makes(const struct schedule_row *row)
{
	return row->group.p ? "group" : "task";
}

static void wait_in_line(struct visit *v, const struct cron_event *e)
{
	struct schedule_progress *p = &v->row->progress;
	struct tick_row row = row_of(v, e, TICK_WAITING);

	row.reason = arena_strf(&v->out->batch.arena, "waits for the end of %s " STR_FMT,
	    what_it_makes(v->row), STR_ARG(id_text(v, v->s->live[0])));
	tick_save(&row, v->out);
	lane_past_grows(v->c, v->s->object.id, e->time); /* or it will be: nobody may fill it in */
	p->waiting_s = e->time;
	p->waiting_offset_s = row.offset_s;
	v->changed = true;
}

/* The one that waited gives way to a later one. */
static void give_way(struct visit *v)
{
	struct schedule_progress *p = &v->row->progress;
	struct cron_event e = {.time = p->waiting_s,
	    .until = p->waiting_s,
	    .shift = v->c->now_ms / 1000 - p->waiting_s};

	v->of_waiting = true;
	visit_skip(v, &e, STR("a later tick took its place while it waited"));
	v->of_waiting = false;
	p->waiting_s = 0;
}

/* Groups leave the schedule's list as they end, which may be at once. */
static void cancel_groups(struct visit *v)
{
	uint32_t n = v->s->n_live;
	rid *ids = arena_memdup(&v->out->batch.arena, v->s->live, n * sizeof *ids);

	for (uint32_t i = 0; i < n; i++) {
		struct event cancel = {.kind = EV_DO,
		    .now_ms = v->c->now_ms,
		    .mono_ms = v->c->mono_ms,
		    .seed = v->c->seed,
		    .actor = STR("reeve"),
		    .object = {.kind = KIND_GROUP,
		        .id = ids[i],
		        .verb = GROUP_CANCEL,
		        .reason = STR("replaced by the schedule's next tick")}};

		core_command(v->c, &cancel, v->out);
	}
}

static void cancel_tasks(struct visit *v)
{
	struct event cancel = {.kind = EV_CANCEL,
	    .now_ms = v->c->now_ms,
	    .mono_ms = v->c->mono_ms,
	    .seed = v->c->seed,
	    .actor = STR("reeve"),
	    .tasks = {.ids = arena_memdup(
	                  &v->out->batch.arena, v->s->live, v->s->n_live * sizeof *v->s->live),
	        .n = v->s->n_live,
	        .reason = STR("replaced by the schedule's next tick")}};

	core_command(v->c, &cancel, v->out);
}

static void overlaps(struct visit *v, const struct cron_event *e)
{
	struct schedule_progress *p = &v->row->progress;

	switch (v->row->overlap) {
	case OVERLAP_SKIP:
		visit_skip(v, e,
		    arena_strf(&v->out->batch.arena,
		        "%s " STR_FMT " of an earlier tick has not ended", what_it_makes(v->row),
		        STR_ARG(id_text(v, v->s->live[0]))));
		break;
	case OVERLAP_QUEUE:
		if (p->waiting_s)
			visit_skip(
			    v, e, STR("another tick waits already for the one before to end"));
		else
			wait_in_line(v, e);
		break;
	default:
		if (p->waiting_s)
			give_way(v);
		wait_in_line(v, e);
		if (v->row->group.p)
			cancel_groups(v);
		else
			cancel_tasks(v);
		break;
	}
}

void visit_fire(struct visit *v, const struct cron_event *e)
{
	struct str reason = STR_NULL;

	if (v->s->n_live && v->row->overlap != OVERLAP_ALLOW && !MUTANT(OVERLAP_IGNORED)) {
		overlaps(v, e);
		return;
	}
	if (v->row->progress.waiting_s)
		give_way(v); /* the one it waited for is over since a moment ago */
	if (e->label == CRON_LATE)
		reason = arena_strf(&v->out->batch.arena, "%lld s late: " STR_FMT,
		    (long long)e->shift, STR_ARG(v->cause));
	fire(v, e, reason);
}

void visit_fire_waiting(struct visit *v)
{
	struct schedule_progress *p = &v->row->progress;
	struct cron_event e = {.time = p->waiting_s,
	    .until = p->waiting_s,
	    .shift = v->c->now_ms / 1000 - p->waiting_s};

	v->of_waiting = true;
	fire(v, &e,
	    arena_strf(&v->out->batch.arena, "it waited for the %s before it to end",
	        what_it_makes(v->row)));
	v->of_waiting = false;
	p->waiting_s = 0;
}

/* A tick that nobody looked at in time. With "once" the newest of them gets a task after all. */
void visit_miss(struct visit *v, const struct cron_event *e)
{
	if (MUTANT(LATE_TICKS_DROPPED))
		return;
	if (!v->is_gathering) {
		v->missed = *e;
		v->newest = *e;
		v->is_gathering = true;
		v->n_missed = 1;
		return;
	}
	v->missed.until = v->newest.time;
	v->newest = *e;
	v->n_missed++;
}

/* What becomes of the newest is not known yet: it may be skipped, too, and says so itself. */
static void skip_missed(struct visit *v)
{
	bool once = v->row->missed == MISSED_ONCE;

	if (!once)
		v->missed.until = v->newest.time;
	if (!once || v->n_missed > 1)
		visit_skip(v, &v->missed,
		    arena_strf(&v->out->batch.arena, "missed%s: " STR_FMT,
		        once ? ", and only the newest counts" : "", STR_ARG(v->cause)));
}

void visit_flush(struct visit *v)
{
	if (!v->is_gathering)
		return;
	v->is_gathering = false;
	skip_missed(v);
	if (v->row->missed == MISSED_ONCE)
		visit_fire(v, &v->newest);
}

/* Whether the newest so far is the one that counts is not known yet: it comes again. */
int64_t visit_hand_on(struct visit *v)
{
	v->is_gathering = false;
	skip_missed(v);
	return v->row->missed == MISSED_ONCE ? v->newest.time : v->newest.time + 1;
}

static bool is_waiting(const struct visit *v, int64_t tick_s)
{
	const struct schedule_progress *p = &v->row->progress;

	return tick_s == p->waiting_s && p->waiting_offset_s == schedule_offset_s(v->s, tick_s);
}

/* Nothing will be fired any more in a gap that cannot be remembered. */
static void give_up(struct visit *v, const struct schedule_progress *before, struct dealt_span gap)
{
	struct schedule_row was = *v->row;
	int64_t first;
	struct cron_event e;

	was.progress = *before;
	was.progress.moved_s = v->row->progress.moved_s;
	if (gap.from_s > gap.to_s ||
	    (gap.moved_s != was.progress.moved_s && gap.moved_s != DEALT_ANYWHERE))
		return;
	first = schedule_undealt_s(v->s, &was, gap.from_s);
	if (first && is_waiting(v, first)) /* a tick that waits has a row, and will have a task */
		first = schedule_undealt_s(v->s, &was, first + 1);
	if (!first || first > gap.to_s)
		return;
	e = (struct cron_event){CRON_SKIPPED, first, gap.to_s, v->c->now_ms / 1000 - first};
	visit_skip(
	    v, &e, STR("the clock was set too often to tell what ran then and what did not"));
}

void visit_break(struct visit *v, int64_t from_s)
{
	struct schedule_progress before = v->row->progress;

	give_up(v, &before, dealt_break(&v->row->progress, from_s));
}

void visit_keep(struct visit *v, int64_t from_s)
{
	struct schedule_progress before = v->row->progress;

	give_up(v, &before, dealt_keep(&v->row->progress, from_s));
}

/* What a visit would find out about its zone, where none is taken. */
static void follow_zone(struct visit *v)
{
	struct schedule_progress *p = &v->row->progress;
	int64_t shift = schedule_offset_s(v->s, p->system_s) - p->zone_offset_s;

	if (!p->begun || !shift)
		return;
	p->moved_s += shift;
	p->zone_offset_s += shift;
	visit_break(v, v->c->now_ms / 1000 + 1);
}

/* Nobody looks at a paused schedule: its zone may have moved since. */
void visit_fill(struct visit *v, int64_t from_s, int64_t to_s)
{
	struct schedule_progress before;

	follow_zone(v);
	before = v->row->progress;
	give_up(v, &before, dealt_add(&v->row->progress, from_s, to_s));
}

void visit_begin(struct visit *v, int64_t after_s)
{
	struct schedule_progress *p = &v->row->progress;

	if (MUTANT(SET_FORGETS_DEALT))
		dealt_init(p, after_s + 1);
	follow_zone(v);
	p->begun = true;
	p->done_until_s = p->seen_until_s = p->system_s = after_s;
	p->zone_offset_s = schedule_offset_s(v->s, after_s);
	v->s->mono_ms = after_s == v->c->now_ms / 1000 ? v->c->mono_ms : CRON_NO_MONOTONIC;
	if (after_s < p->dealt[0].to_s)
		visit_break(v, after_s + 1);
	else
		dealt_grow(p, after_s);
}

void visit_skip_past(struct visit *v, int64_t until_s, struct str reason)
{
	struct schedule_progress *p = &v->row->progress;
	int64_t first;
	struct cron_event e;

	follow_zone(v);
	first = schedule_undealt_s(v->s, v->row, p->done_until_s + 1);
	e = (struct cron_event){CRON_SKIPPED, first, until_s, v->c->now_ms / 1000 - first};
	if (first && first <= until_s)
		visit_skip(v, &e, reason);
	visit_begin(v, until_s);
}
