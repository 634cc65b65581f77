/* SPDX-License-Identifier: Apache-2.0 */
/* A long runner is looked at: is it up, is it alive, does it want traffic? */
#include <stdlib.h>

#include "agent/readiness.h"
#include "base/mem.h"
#include "base/world/log.h"
#include "worker/checks/looker.h"

struct monitoring {
	struct job *job;
	struct monitor life; /* startup, then liveness */
	struct readiness traffic;
	struct looker at_life, at_traffic;
	struct loop_timer *timer;
	bool is_up, is_ready;
	bool is_over; /* it is being ended: nobody looks any more */
};

static void set_timer(struct monitoring *m)
{
	int64_t wake = monitor_wake_ms(&m->life), then = readiness_wake_ms(&m->traffic);
	int64_t now = worker_mono_ms();

	if (then < wake)
		wake = then;
	loop_timer_set(m->timer, wake == INT64_MAX ? -1 : wake > now ? wake - now : 0);
}

static void tell(struct monitoring *m)
{
	struct job *j = m->job;

	if (m->is_up == j->is_up && m->is_ready == j->is_ready)
		return;
	j->is_up = m->is_up;
	j->is_ready = m->is_ready;
	job_fares(j);
}

static void say(const struct monitoring *m, const char *what, const char *why)
{
	char id[ID_TEXT];

	id_format(&m->job->w->ids, m->job->task, id);
	if (why)
		log_info("task %s is %s: %s", id, what, why);
	else
		log_info("task %s is %s", id, what);
}

static void step_traffic(struct monitoring *m, const struct monitor_event *ev)
{
	bool is_watched = m->job->checks.readiness.kind != CHECK_NONE;
	struct monitor_effect e = {0};

	if (m->is_over)
		return;
	readiness_step(&m->traffic, ev, worker_mono_ms(), &e);
	set_timer(m);
	switch (e.kind) {
	case MONITOR_CHECK: looker_look(&m->at_traffic, &m->job->checks.readiness, e.number); break;
	case MONITOR_IS_READY:
		m->is_ready = true;
		if (is_watched)
			say(m, "ready", NULL);
		break;
	case MONITOR_IS_UNREADY:
		m->is_ready = false;
		say(m, "not ready", e.why);
		break;
	default: break;
	}
}

static void has_failed(struct monitoring *m, const char *why)
{
	struct job *j = m->job;

	m->is_over = true;
	looker_drop(&m->at_life);
	looker_drop(&m->at_traffic);
	loop_timer_set(m->timer, -1);
	worker_feed(j->w,
	    (struct agent_event){
	        .kind = AE_UNWELL, .task = j->task, .token = j->token, .unwell = str_of(why)});
}

/* What an earlier worker saw is so until a look says otherwise. */
static void is_well(struct monitoring *m)
{
	bool is_watched = m->job->checks.startup.kind != CHECK_NONE;

	if (is_watched)
		say(m, "healthy", NULL);
	m->is_up = true;
	step_traffic(m, &(struct monitor_event){.kind = MONITOR_STARTED, .ok = m->job->is_ready});
}

static void step_life(struct monitoring *m, const struct monitor_event *ev)
{
	struct monitor_effect e = {0};

	monitor_step(&m->life, ev, worker_mono_ms(), &e);
	set_timer(m);
	switch (e.kind) {
	case MONITOR_CHECK: looker_look(&m->at_life, monitor_check(&m->life), e.number); break;
	case MONITOR_IS_WELL: is_well(m); break;
	case MONITOR_HAS_FAILED: has_failed(m, e.why); break;
	default: break;
	}
}

static void life_looked(struct looker *l, bool ok, struct str why)
{
	struct monitoring *m = CONTAINER_OF(l, struct monitoring, at_life);

	step_life(m, &(struct monitor_event){
	                 .kind = MONITOR_RESULT, .number = l->number, .ok = ok, .why = why});
	tell(m);
}

static void traffic_looked(struct looker *l, bool ok, struct str why)
{
	struct monitoring *m = CONTAINER_OF(l, struct monitoring, at_traffic);

	step_traffic(m, &(struct monitor_event){
	                    .kind = MONITOR_RESULT, .number = l->number, .ok = ok, .why = why});
	tell(m);
}

static void on_timer(void *arg)
{
	struct monitoring *m = arg;
	struct monitor_event ev = {.kind = MONITOR_WAKE};

	step_life(m, &ev);
	step_traffic(m, &ev);
	tell(m);
}

static bool is_watched(const struct run_checks *c)
{
	return c->startup.kind != CHECK_NONE || c->liveness.kind != CHECK_NONE ||
	       c->readiness.kind != CHECK_NONE;
}

void monitoring_start(struct job *j)
{
	struct monitoring *m;

	if (!is_watched(&j->checks) && !j->is_instance)
		return;
	m = j->monitoring = xcalloc(1, sizeof *m);
	m->job = m->at_life.job = m->at_traffic.job = j;
	m->at_life.done = life_looked;
	m->at_traffic.done = traffic_looked;
	m->is_up = j->is_up;
	m->is_ready = j->is_ready;
	m->timer = loop_timer_new(j->w->loop, on_timer, m);
	monitor_init(&m->life, &j->checks);
	readiness_init(&m->traffic, &j->checks.readiness);
	step_life(m, &(struct monitor_event){.kind = MONITOR_STARTED, .ok = j->is_up});
	j->is_up = m->is_up;
	j->is_ready = m->is_ready;
	job_fares(j);
}

void monitoring_stop(struct job *j)
{
	struct monitoring *m = j->monitoring;

	if (!m)
		return;
	looker_drop(&m->at_life);
	looker_drop(&m->at_traffic);
	loop_timer_free(m->timer);
	free(m);
	j->monitoring = NULL;
}
