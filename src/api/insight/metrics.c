/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counting. Waits and durations are taken from the times of the notices themselves: the begin of
 * each dispatched task is kept until it ends (as many as run at once), the submit times of the
 * latest tasks in a ring; an older task's comes from its id, to the second.
 */
#include "api/insight/metrics.h"

#include <stdlib.h>
#include <string.h>

#include "api/insight/metrics_internal.h"
#include "api/objects/resource.h"
#include "base/mem.h"

const double metric_bounds[N_BOUNDS] = {0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1,
    2.5, 5, 10, 30, 60, 300, 1800, 7200};

struct metrics *metrics_new(void)
{
	struct metrics *m = xcalloc(1, sizeof *m);

	m->answers = xcalloc(route_number(NULL) + 1, sizeof *m->answers);
	return m;
}

void metrics_free(struct metrics *m)
{
	struct begun *b;

	while ((b = LIST_FIRST(&m->begun_list))) {
		LIST_REMOVE(b, link);
		free(b);
	}
	for (size_t i = 0; i < m->n_queues; i++)
		free(m->queues[i]);
	free(m->queues);
	free(m->answers);
	idmap_release(&m->begun);
	idmap_release(&m->by_queue);
	free(m);
}

void metric_observe(struct histogram *h, double seconds)
{
	size_t i = 0;

	while (i < N_BOUNDS && seconds > metric_bounds[i])
		i++;
	h->buckets[i]++;
	h->count++;
	h->sum += seconds;
}

static struct queue_metrics *queue_of(struct metrics *m, rid id)
{
	struct queue_metrics *q;

	if (m->last_queue && m->last_queue->id == id)
		return m->last_queue;
	q = idmap_get(&m->by_queue, id);
	if (!q) {
		q = xcalloc(1, sizeof *q);
		q->id = id;
		GROW(m->queues, m->cap_queues, m->n_queues + 1);
		m->queues[m->n_queues++] = q;
		idmap_put(&m->by_queue, id, q);
	}
	return m->last_queue = q;
}

static void count_second(struct rate *r, int64_t now_ms)
{
	int64_t second = now_ms / 1000;
	size_t at = (size_t)second % RATE_SECONDS;

	if (r->second[at] != second) {
		r->second[at] = second;
		r->n[at] = 0;
	}
	r->n[at]++;
}

static double rate_of(const struct rate *r, int64_t now_ms)
{
	int64_t now = now_ms / 1000, n = 0;

	for (size_t i = 0; i < RATE_SECONDS; i++)
		if (r->second[i] < now && r->second[i] >= now - 10)
			n += r->n[i];
	return (double)n / 10;
}

void metrics_rates(
    const struct metrics *m, int64_t now_ms, double *ret_submitted, double *ret_ended)
{
	*ret_submitted = rate_of(&m->submitted, now_ms);
	*ret_ended = rate_of(&m->ended, now_ms);
}

void metrics_submitted(struct metrics *m, rid queue, rid task, int64_t now_ms, int64_t due_ms)
{
	struct submitted *s = &m->recent[task % RECENT];

	if (s->task == task)
		return;
	s->task = task;
	s->ms =
	    due_ms > now_ms ? due_ms : now_ms; /* a delayed one does not wait before it is due */
	count_second(&m->submitted, now_ms);
	queue_of(m, queue)->submitted++;
}

static void saw_submit(struct metrics *m, const struct core *core, const struct notice *n)
{
	struct task_state state;
	bool known = core_task_state(core, n->task, &state);

	metrics_submitted(m, n->queue, n->task, n->time_ms, known ? state.due_ms : 0);
}

static void saw_claim(struct metrics *m, const struct notice *n)
{
	struct submitted *s = &m->recent[n->task % RECENT];
	int64_t from = s->task == n->task ? s->ms : id_time_ms(n->task);
	struct begun *b = idmap_get(&m->begun, n->task);

	if (!b) {
		b = xcalloc(1, sizeof *b);
		b->task = n->task;
		idmap_put(&m->begun, n->task, b);
		LIST_INSERT_HEAD(&m->begun_list, b, link);
	}
	b->ms = n->time_ms;
	if (n->attempt <= 1)
		metric_observe(&queue_of(m, n->queue)->wait,
		    n->time_ms > from ? (double)(n->time_ms - from) / 1000 : 0);
}

/* The attempt is over, for good or until the next one. */
static void saw_end(struct metrics *m, const struct notice *n, bool for_good)
{
	struct begun *b = idmap_del(&m->begun, n->task);

	if (b) {
		metric_observe(
		    &queue_of(m, n->queue)->duration, (double)(n->time_ms - b->ms) / 1000);
		LIST_REMOVE(b, link);
		free(b);
	}
	if (for_good)
		count_second(&m->ended, n->time_ms);
}

static enum outcome_kind outcome_of(int status)
{
	switch (status) {
	case TASK_SUCCEEDED: return OUTCOME_SUCCEEDED;
	case TASK_FAILED: return OUTCOME_FAILED;
	case TASK_CANCELLED: return OUTCOME_CANCELLED;
	case TASK_TERMINATED: return OUTCOME_TERMINATED;
	case TASK_ORPHANED: return OUTCOME_ORPHANED;
	default: return OUTCOME_FINISHED;
	}
}

void metrics_notice(struct metrics *m, const struct core *core, const struct notice *n)
{
	const struct resource *owner = n->owner.id ? resource_of((enum kind)n->owner.kind) : NULL;
	struct begun *b;

	m->events++;
	if (owner && owner->saw)
		owner->saw(m, n);
	if (!n->task || n->owner.id)
		return;
	if (strcmp(n->kind, "task.submitted") == 0) {
		saw_submit(m, core, n);
	} else if (strcmp(n->kind, "task.claimed") == 0) {
		saw_claim(m, n);
	} else if (strcmp(n->kind, "task.running") == 0) {
		b = idmap_get(&m->begun, n->task);
		if (b)
			b->ms = n->time_ms;
		else
			saw_claim(m, n);
	} else if (strcmp(n->kind, "task.retrying") == 0) {
		saw_end(m, n, false);
		queue_of(m, n->queue)->outcomes[OUTCOME_RETRIED]++;
	} else if (task_is_ended(n->status)) {
		saw_end(m, n, true);
		queue_of(m, n->queue)->outcomes[outcome_of(n->status)]++;
	}
}

void metrics_answer(struct metrics *m, size_t route, int status)
{
	if (status >= 100 && status < 100 + N_STATUSES)
		m->answers[route].by_status[status - 100]++;
}

void metrics_commit(struct metrics *m, double seconds, size_t rows)
{
	metric_observe(&m->commit, seconds);
	m->commit_rows += rows;
}
