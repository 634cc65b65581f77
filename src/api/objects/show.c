/* SPDX-License-Identifier: Apache-2.0 */
/* Queues and events as JSON. */
#include "api/objects/show.h"

#include "api/frame/fields_out.h"
#include "api/objects/resource.h"
#include "words/words.h"

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

struct queue_shown {
	const struct api *a;
	const struct queue_row *q;
	struct queue_counts n;
	bool counts;
};

static void put_counts(struct buf *b, const void *arg)
{
	const struct queue_shown *s = arg;

	if (s->counts)
		add_counts(b, s->q, &s->n);
	else
		jw_null(b);
}

static void put_oldest(struct buf *b, const void *arg)
{
	const struct queue_shown *s = arg;
	int64_t now = s->a->host.wall_ms(s->a->host.arg), since = s->n.oldest_ms;

	if (s->counts && since)
		jw_i64(b, now > since ? now - since : 0);
	else
		jw_null(b);
}

static void put_workers(struct buf *b, const void *arg)
{
	jw_i64(b, ((const struct queue_shown *)arg)->n.workers);
}

/* What is in it, and who would run it. */
static const struct field_out queue_found[] = {
    {"counts", put_counts}, {"oldest_ms", put_oldest}, {"workers", put_workers}, {NULL}};

void show_queue(struct buf *b, const struct api *a, const struct queue_row *q, unsigned flags)
{
	struct queue_shown found = {.a = a, .q = q, .counts = flags & SHOW_COUNTS};
	struct queue_row row = *q;
	const struct showing s = {a->host.ids, &row, queue_found, &found, flags & SHOW_FULL};

	core_queue_counts(a->host.core, q->id, &found.n);
	if (!q->paused || !(flags & SHOW_REASON))
		row.pause.reason = STR_NULL;
	if (!q->paused)
		row.pause.until_ms = 0;
	jw_open(b, '{');
	fields_write(b, &s, queue_fields);
	jw_close(b, '}');
}

static void add_owner(struct buf *b, const struct api *a, const struct owner *o)
{
	const struct resource *r = resource_of((enum kind)o->kind);
	struct str name;

	if (!r || !r->owner)
		return; /* a kind that has no routes of its own */
	name = core_name(a->host.core, r->kind, o->id);
	if (name.p)
		jw_mstr(b, r->owner->name, name);
	else
		jw_mid_null(b, r->owner->name, a->host.ids, o->id);
	if (r->owner->part_is_number)
		jw_mi64(b, r->owner->part, o->part);
	else if (o->part && !r->owner->part_is_name)
		jw_mtime_null(b, r->owner->part, o->part * 1000);
}

static void add_names(struct buf *b, const struct api *a, const struct notice *n)
{
	const struct queue_row *q = n->queue ? core_queue(a->host.core, n->queue) : NULL;
	struct worker_view w;

	if (n->task)
		jw_mid_null(b, "task", a->host.ids, n->task);
	if (q)
		jw_mstr(b, "queue", q->name);
	else if (n->queue)
		jw_mid_null(b, "queue", a->host.ids, n->queue);
	if (n->batch)
		jw_mid_null(b, "batch", a->host.ids, n->batch);
	if (n->owner.id)
		add_owner(b, a, &n->owner);
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

void show_page_begin(struct call *c)
{
	jw_open(&c->out, '{');
	jw_key(&c->out, "items");
	jw_open(&c->out, '[');
}

void show_page_end(struct call *c, rid next)
{
	jw_close(&c->out, ']');
	jw_mid_null(&c->out, "next", c->host->ids, next);
	jw_close(&c->out, '}');
	call_json(c, 200);
}

void show_whys(struct buf *b, struct arena *a, const struct why *whys, size_t n)
{
	jw_key(b, "reasons");
	jw_open(b, '[');
	for (size_t i = 0; i < n; i++) {
		jw_open(b, '{');
		jw_mcstr(b, "code", why_names[whys[i].code]);
		jw_mstr(b, "text", words_why(a, &whys[i]));
		jw_mstr_null(b, "lift", words_lift(a, &whys[i]));
		jw_close(b, '}');
	}
	jw_close(b, ']');
}

static struct str why_nothing(struct arena *a, const struct task_row *t)
{
	const struct task_state *s = &t->state;

	if (task_is_ended(s->status))
		return s->reason.n ? arena_strf(a, "it has ended, and waits for nothing: " STR_FMT,
		                         STR_ARG(s->reason))
		                   : STR("it has ended, and waits for nothing");
	if (task_phase(s->status) == PHASE_QUEUED)
		return STR("it waits for nothing, and starts at once");
	return arena_strf(a, "it waits for nothing: it is %s", task_state_name(s->status));
}

struct str why_summary(struct arena *a, const struct task_row *t, const struct why *whys, size_t n)
{
	if (n == 0)
		return why_nothing(a, t);
	if (n == 1)
		return words_why(a, &whys[0]);
	return arena_strf(a, STR_FMT " (and %zu more)", STR_ARG(words_why(a, &whys[0])), n - 1);
}
