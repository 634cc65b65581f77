/* SPDX-License-Identifier: Apache-2.0 */
/* The door: every event enters here, and the rotation is served before it closes again. */
#include "core/state.h"

#include <stdlib.h>

#include "model/limits.h"

#define OR(value, otherwise) ((value) ? (value) : (otherwise))

struct core *core_new(const struct core_options *o)
{
	struct core *c = xcalloc(1, sizeof *c);

	c->o = (struct core_options){
	    .window_tasks = OR(o->window_tasks, 2048),
	    .window_bytes = OR(o->window_bytes, (size_t)4 << 20),
	    .timeouts = o->timeouts,
	    .lost_hold_ms = OR(o->lost_hold_ms, 66000),
	    .run_wait_ms = OR(o->run_wait_ms, 4000),
	    .server = OR(o->server, 1),
	    .is_volatile = o->is_volatile,
	    .allow_bump_unhealthy = o->allow_bump_unhealthy,
	    .maxthreads_max = o->maxthreads_max,
	    .workers_max = o->workers_max,
	    .caution_startup_wait = o->caution_startup_wait,
	    .startup_wait_ms = o->startup_wait_ms,
	    .resources = o->resources,
	    .n_resources = o->n_resources,
	    .groups_active = o->groups_active,
	    .groups_delay_ms = o->groups_delay_ms,
	    .place = o->place,
	    .services_pass_ms = OR(o->services_pass_ms, 30000),
	    .submit_slice = OR(o->submit_slice, 1024),
	    .consensus_patience = OR(o->consensus_patience, 16),
	    .input_max = OR(o->input_max, INPUT_MAX_DEFAULT),
	    .input_silence_ms = OR(o->input_silence_ms, INPUT_SILENCE_DEFAULT_MS),
	};
	if (!c->o.place.starting_weight && !c->o.place.bin_pack_weight)
		c->o.place.starting_weight = place_config_default.starting_weight;
	c->o.place.zones_are_hashed = false; /* evenly, whatever zones there are */
	c->o.place.zones = NULL;
	c->o.place.n_zones = 0;
	if (!c->o.timeouts.heartbeat_ms)
		timeouts_default(&c->o.timeouts);
	c->start.before = c->o.timeouts;
	consensus_init(&c->set, c->o.server, c->o.consensus_patience);
	c->set_looked_ms = INT64_MIN / 2;
	inputs_init(&c->inputs);
	TAILQ_INIT(&c->ghosts);
	TAILQ_INIT(&c->rotation);
	TAILQ_INIT(&c->stalled);
	TAILQ_INIT(&c->roomy);
	TAILQ_INIT(&c->hungry);
	TAILQ_INIT(&c->starving);
	commons_init(c);
	RB_INIT(&c->throttles);
	TAILQ_INIT(&c->lane.waiting);
	TAILQ_INIT(&c->lane.round);
	RB_INIT(&c->lane.fresh);
	kinds_init(c);
	return c;
}

static void free_list(struct pending_list *l)
{
	struct pending *p;

	while ((p = TAILQ_FIRST(l))) {
		TAILQ_REMOVE(l, p, in_lane);
		arena_release(&p->arena);
		free(p);
	}
}

void core_free(struct core *c)
{
	struct task *t;

	while ((t = TAILQ_FIRST(&c->ghosts)))
		task_free(c, t);
	inputs_release(c);
	kinds_release(c);
	zones_release(c);
	gone_release(c);
	refusals_release(c);
	free_list(&c->lane.waiting);
	free_list(&c->lane.round);
	arena_release(&c->lane.arena);
	idmap_release(&c->lane.row_of);
	free(c->lane.keys);
	free(c->lane.ids);
	free(c->lane.batch_ids);
	free(c->outstanding);
	timers_release(c);
	idmap_release(&c->tasks);
	idmap_release(&c->links);
	idmap_release(&c->shapes);
	commons_release(c);
	free(c);
}

int core_command(struct core *c, const struct event *ev, struct effects *out)
{
	MUST(c->open);
	if (!lane_needs(c, ev))
		return command_run(c, ev, NULL, out);
	lane_push(c, ev, out);
	return 0;
}

/* Tasks that only the worker knows of must be read first: until then it is new. */
static void greet(struct core *c, const struct event *ev, struct effects *out)
{
	if (worker_by_link(c, ev->link) || lane_find_hello(c, ev->link))
		return; /* said twice */
	if (!lane_needs(c, ev)) {
		hello(c, ev, out);
		return;
	}
	c->start.parked_hellos++;
	lane_push(c, ev, out);
}

/* What commands wait for, or what some kind asked for. */
static void answered(struct core *c, const struct event *ev, struct effects *out)
{
	uint64_t number = ev->kind == EV_PARTS_READ ? ev->parts.read : ev->rows.read;
	bool is_lanes = ev->kind == EV_KEYS_READ ||
	                (ev->kind == EV_TASKS_READ && number == c->lane.tasks_read) ||
	                (ev->kind == EV_PARTS_READ && number == c->lane.past_read);

	if (is_lanes) {
		lane_read(c, ev, out);
		return;
	}
	kinds_were_read(c, ev, out);
	/* only now: ghosts must outlive the answer that may speak of them */
	read_end(c, number);
}

static int take(struct core *c, const struct event *ev, struct effects *out)
{
	if (ev->kind <= EV_LOAD_DONE) {
		load_step(c, ev, out);
		return 0;
	}
	switch (ev->kind) {
	case EV_HELLO: greet(c, ev, out); return 0;
	case EV_LINK_LOST: link_lost(c, ev, out); return 0;
	case EV_BEAT: watch_beat(c, ev, out); return 0;
	case EV_CHECKED: watch_checked(c, ev, out); return 0;
	case EV_NOTIFIED: unsure_answer(c, ev, out); return 0;
	case EV_STARTED: report_started(c, ev, out); return 0;
	case EV_HEALTH: report_health(c, ev, out); return 0;
	case EV_ENDED: report_ended(c, ev, out); return 0;
	case EV_OUTPUT: report_output(c, ev, out); return 0;
	case EV_INPUT_ACK: report_input_ack(c, ev, out); return 0;
	case EV_INPUT_READ: input_was_read(c, ev, out); return 0;
	case EV_HEAD_READ:
	case EV_DUE_READ: window_read(c, ev, out); return 0;
	case EV_KEYS_READ:
	case EV_TASKS_READ:
	case EV_PARTS_READ: answered(c, ev, out); return 0;
	case EV_WAKE: return 0; /* timers are served before the step ends */
	case EV_GO_ON: lane_go_on(c, out); return 0;
	case EV_ZONE: zone_set(c, ev); return 0;
	case EV_REFUSED: refusal(c, ev, out); return 0;
	default: return core_command(c, ev, out);
	}
}

int core_step(struct core *c, const struct event *ev, struct effects *out)
{
	int code;

	c->now_ms = ev->now_ms;
	c->mono_ms = ev->mono_ms;
	c->seed = ev->seed;
	code = take(c, ev, out);
	if (c->open) {
		if (timers_clock_was_set(c))
			kinds_time_changed(c, NULL);
		if (ev->kind == EV_WAKE)
			timers_run(c, out);
		watch_set(c, out);
		start_look(c, out);
		kinds_work(c, out);
		place(c, out);
		kinds_placed(c, out);
	}
	ghosts_reap(c);
	return code;
}

int64_t core_wake_ms(const struct core *c)
{
	return timers_next_ms(c);
}

bool core_is_midway(const struct core *c)
{
	return c->lane.midway;
}

bool core_is_open(const struct core *c)
{
	return c->open;
}
