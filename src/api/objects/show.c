/* SPDX-License-Identifier: Apache-2.0 */
/* Queues and events as JSON. */
#include "api/objects/show.h"

static void add_counts(struct buf *b, const struct queue_row *q, const struct queue_counts *n)
{
	jw_open(b, '{');
	jw_mi64(b, "queued", n->queued);
	jw_mi64(b, "delayed", n->delayed);
	jw_mi64(b, "held", n->held);
	jw_mi64(b, "claimed", n->claimed);
	jw_mi64(b, "running", n->running);
	jw_mi64(b, "succeeded", q->n_succeeded);
	jw_mi64(b, "failed", q->n_failed);
	jw_mi64(b, "other", q->n_other);
	jw_close(b, '}');
}

/* What is in it, and who would run it. */
static void add_contents(
    struct buf *b, const struct api *a, const struct queue_row *q, unsigned flags)
{
	bool counts = flags & SHOW_COUNTS;
	int64_t now = a->host.wall_ms(a->host.arg);
	struct queue_counts n = {0};

	core_queue_counts(a->host.core, q->id, &n);
	jw_key(b, "counts");
	if (counts)
		add_counts(b, q, &n);
	else
		jw_null(b);
	jw_mi64_null(
	    b, "oldest_ms", now > n.oldest_ms ? now - n.oldest_ms : 0, counts && n.oldest_ms != 0);
	jw_mi64(b, "workers", n.workers);
}

void show_queue(struct buf *b, const struct api *a, const struct queue_row *q, unsigned flags)
{
	jw_open(b, '{');
	jw_mid_null(b, "id", a->host.ids, q->id);
	jw_mstr(b, "name", q->name);
	jw_mstr(b, "plugin", q->plugin);
	jw_mi64_null(b, "threads", q->threads, q->threads >= 0);
	jw_mcstr(b, "order", queue_order_names[q->order]);
	jw_mbool(b, "paused", q->paused);
	jw_mstr_null(
	    b, "pause_reason", q->paused && flags & SHOW_REASON ? q->pause_reason : STR_NULL);
	jw_mtime_null(b, "paused_until", q->paused ? q->paused_until_ms : 0);
	jw_mi64_null(b, "timeout_ms", q->timeout_ms, q->timeout_ms > 0);
	jw_mi64(b, "max_attempts", q->max_attempts);
	jw_mi64(b, "backoff_ms", q->backoff_ms);
	jw_mi64(b, "backoff_max_ms", q->backoff_max_ms);
	jw_mbool(b, "exit_codes", q->exit_codes);
	jw_key(b, "env");
	jw_raw(b, q->env.n && flags & SHOW_FULL ? q->env : STR("{}"));
	jw_key(b, "run");
	jw_raw(b, q->run.n ? q->run : STR("null"));
	jw_mcstr(b, "output", output_mode_names[q->output_mode]);
	jw_mi64(b, "output_max", q->output_max);
	jw_mtime_null(b, "ctime", q->ctime_ms);
	jw_mtime_null(b, "mtime", q->mtime_ms);
	jw_mi64(b, "version", q->version);
	add_contents(b, a, q, flags);
	jw_close(b, '}');
}

static void add_names(struct buf *b, const struct api *a, const struct notice *n)
{
	const struct queue_row *q = n->queue ? core_queue(a->host.core, n->queue) : NULL;
	struct schedule_view s;
	struct worker_view w;

	if (n->task)
		jw_mid_null(b, "task", a->host.ids, n->task);
	if (q)
		jw_mstr(b, "queue", q->name);
	else if (n->queue)
		jw_mid_null(b, "queue", a->host.ids, n->queue);
	if (n->batch)
		jw_mid_null(b, "batch", a->host.ids, n->batch);
	if (n->owner.id && core_schedule(a->host.core, n->owner.id, NULL, &s))
		jw_mstr(b, "schedule", s.row.name);
	else if (n->owner.id)
		jw_mid_null(b, "schedule", a->host.ids, n->owner.id);
	if (n->owner.part)
		jw_mtime_null(b, "tick", n->owner.part * 1000);
	if (n->worker && core_worker(a->host.core, n->worker, 0, &w))
		jw_mstr(b, "worker", w.row->facts.shard);
	else if (n->worker)
		jw_mid_null(b, "worker", a->host.ids, n->worker);
}

void show_notice(struct buf *b, const struct api *a, const struct notice *n)
{
	jw_open(b, '{');
	jw_mi64(b, "seq", (int64_t)n->seq);
	jw_mtime_null(b, "time", n->time_ms);
	jw_mcstr(b, "kind", n->kind);
	add_names(b, a, n);
	if (n->task && !n->owner.id) {
		jw_mi64(b, "status", n->status);
		if (n->attempt > 0)
			jw_mi64(b, "attempt", n->attempt);
		if (n->exit_code >= 0 && task_is_ended(n->status))
			jw_mi64(b, "exit_code", n->exit_code);
	}
	if (n->subject.p)
		jw_mstr(b, "subject", n->subject);
	if (n->detail.n) {
		jw_key(b, "detail");
		jw_raw(b, n->detail);
	}
	jw_close(b, '}');
}

void show_event(struct buf *b, const struct event_row *e)
{
	jw_open(b, '{');
	jw_mi64(b, "seq", (int64_t)e->seq);
	jw_mtime_null(b, "time", e->time_ms);
	jw_mstr(b, "kind", e->kind);
	if (e->subject.p)
		jw_mstr(b, "subject", e->subject);
	if (e->actor.p)
		jw_mstr(b, "actor", e->actor);
	if (e->detail.n) {
		jw_key(b, "detail");
		jw_raw(b, e->detail);
	}
	jw_close(b, '}');
}

void show_page_end(struct call *c, rid next)
{
	jw_close(&c->out, ']');
	jw_mid_null(&c->out, "next", c->host->ids, next);
	jw_close(&c->out, '}');
	call_json(c, 200);
}
