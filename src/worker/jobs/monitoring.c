/* SPDX-License-Identifier: Apache-2.0 */
/* A long runner is looked at: by a probe over the network, or by a command of its own. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "agent/monitor.h"
#include "base/mem.h"
#include "base/world/log.h"
#include "model/limits.h"
#include "worker/internal.h"
#include "worker/jobs/probe.h"

#define SAID_MAX 200 /* of what a check's command wrote */

struct monitoring {
	struct job *job;
	struct monitor brain;
	struct loop_timer *timer;
	struct probe *probe;
	struct kept command;
	bool running; /* the command */
	uint64_t number;
};

static void step(struct monitoring *m, const struct monitor_event *ev);

static void tell_result(struct monitoring *m, bool ok, struct str why)
{
	struct monitor_event ev = {
	    .kind = MONITOR_RESULT, .number = m->number, .ok = ok, .why = why};

	step(m, &ev);
}

static void on_probe(bool ok, const char *why, void *arg)
{
	struct monitoring *m = arg;

	m->probe = NULL;
	tell_result(m, ok, str_of(why));
}

static void drop_look(struct monitoring *m)
{
	probe_cancel(m->probe);
	m->probe = NULL;
	if (m->running)
		kept_drop(&m->command);
	m->running = false;
}

static void on_started(struct kept *k)
{
}

static void on_not_started(struct kept *k, int code, struct str why)
{
	struct monitoring *m = CONTAINER_OF(k, struct monitoring, command);

	m->running = false;
	tell_result(m, false, why);
}

/* The last thing that the command said is the reason; its code, if it said nothing. */
static void on_over(struct kept *k)
{
	struct monitoring *m = CONTAINER_OF(k, struct monitoring, command);
	char said[SAID_MAX];
	ssize_t n = -1;
	bool ok = k->exit_code == 0;

	for (int i = 0; i < N_STREAMS && n <= 0; i++)
		n = k->out[i] >= 0 ? read(k->out[i], said, sizeof said) : -1;
	while (n > 0 && said[n - 1] == '\n')
		n--;
	if (n <= 0)
		n = snprintf(said, sizeof said, k->signal ? "ended by signal %d" : "exit code %d",
		    k->signal ? k->signal : k->exit_code);
	kept_drop(k);
	m->running = false;
	tell_result(m, ok, (struct str){said, (size_t)n});
}

static void look_by_command(struct monitoring *m)
{
	static const struct kept_fns fns = {on_started, on_not_started, on_over};
	char why[REASON_MAX_BYTES];

	m->running = true;
	if (launch_check(m->job, &m->command, &fns, why, sizeof why) == 0)
		return;
	m->running = false;
	tell_result(m, false, str_of(why));
}

static void look(struct monitoring *m, uint64_t number)
{
	const struct run_check *c = &m->job->settings->check;

	drop_look(m);
	m->number = number;
	if (c->kind == CHECK_COMMAND)
		look_by_command(m);
	else
		m->probe = probe_start(m->job->w->loop, c, on_probe, m);
}

static void on_timer(void *arg)
{
	step(arg, &(struct monitor_event){.kind = MONITOR_WAKE});
}

static void set_timer(struct monitoring *m)
{
	int64_t wake = monitor_wake_ms(&m->brain), now = worker_mono_ms();

	loop_timer_set(m->timer, wake == INT64_MAX ? -1 : wake > now ? wake - now : 0);
}

static void step(struct monitoring *m, const struct monitor_event *ev)
{
	struct job *j = m->job;
	struct monitor_effect e = {0};
	char id[ID_TEXT];

	monitor_step(&m->brain, ev, worker_mono_ms(), &e);
	set_timer(m);
	switch (e.kind) {
	case MONITOR_CHECK: look(m, e.number); break;
	case MONITOR_IS_WELL:
		log_info("task %s is healthy", id_format(&j->w->ids, j->task, id));
		break;
	case MONITOR_HAS_FAILED:
		drop_look(m);
		worker_feed(j->w, (struct agent_event){.kind = AE_UNWELL,
		                      .task = j->task,
		                      .token = j->token,
		                      .unwell = str_of(e.why)});
		break;
	case MONITOR_NOTHING: break;
	}
}

void monitoring_start(struct job *j)
{
	struct monitoring *m;

	if (j->settings->check.kind == CHECK_NONE)
		return;
	m = j->monitoring = xcalloc(1, sizeof *m);
	m->job = j;
	m->timer = loop_timer_new(j->w->loop, on_timer, m);
	monitor_init(&m->brain, &j->settings->check);
	step(m, &(struct monitor_event){.kind = MONITOR_STARTED});
}

void monitoring_stop(struct job *j)
{
	struct monitoring *m = j->monitoring;

	if (!m)
		return;
	drop_look(m);
	loop_timer_free(m->timer);
	free(m);
	j->monitoring = NULL;
}
