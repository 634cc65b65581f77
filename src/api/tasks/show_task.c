/* SPDX-License-Identifier: Apache-2.0 */
/* A task as JSON, and how the newest state in memory is laid over a stored row. */
#include <string.h>

#include "api/objects/resource.h"
#include "api/objects/show.h"
#include "base/mem.h"
#include "model/task/body.h"
#include "model/task/history.h"

/* What the core holds is at least as new as any row; output it leaves to the store. */
void task_overlay(const struct api *a, struct task_row *row)
{
	struct task_state fresh, *old = &row->state;

	if (!core_task_state(a->host.core, row->id, &fresh) || fresh.token < old->token)
		return;
	if (!fresh.history.p)
		fresh.history = old->history;
	if (!fresh.deeds.p)
		fresh.deeds = old->deeds;
	if (fresh.output_where == OUTPUT_NONE) {
		fresh.output_where = old->output_where;
		memcpy(fresh.output, old->output, sizeof fresh.output);
		memcpy(fresh.output_bytes, old->output_bytes, sizeof fresh.output_bytes);
		memcpy(fresh.output_dropped, old->output_dropped, sizeof fresh.output_dropped);
	}
	*old = fresh;
}

/* The body is our own canonical text: its members stand in the task's object as they are. */
static void add_body(struct buf *b, struct str body)
{
	if (body.n > 2 && body.p[0] == '{')
		jw_raw(b, (struct str){body.p + 1, body.n - 2});
}

static void add_summary(struct buf *b, struct str body)
{
	AUTO(buf_release) struct buf text = {0};

	if (body.n > BODY_HEAD_BYTES)
		body.n = BODY_HEAD_BYTES;
	body_summary(body, &text);
	jw_mstr_null(b, "summary", text.n ? buf_str(&text) : STR_NULL);
}

static void add_attempt(struct buf *b, const struct id_space *ids, const struct attempt *t)
{
	jw_open(b, '{');
	jw_mi64(b, "attempt", t->number);
	jw_mi64(b, "token", t->token);
	jw_mid_null(b, "worker_id", ids, t->worker);
	jw_mtime_null(b, "claimed", t->claimed_ms);
	jw_mtime_null(b, "started", t->started_ms);
	jw_mtime_null(b, "ended", t->ended_ms);
	jw_mbool(b, "times_doubtful", t->times_doubtful);
	jw_mi64(b, "status", t->status);
	jw_mcstr(b, "state", task_state_name(t->status));
	jw_mi64_null(b, "exit_code", t->exit_code, t->exit_code >= 0);
	jw_mi64_null(b, "signal", t->signal, t->signal != 0);
	jw_mstr_null(b, "reason", t->reason);
	jw_close(b, '}');
}

static void add_attempts(struct buf *b, const struct id_space *ids, const struct task_state *s)
{
	struct str rest = s->history;
	struct attempt one, last = {0};

	jw_key(b, "attempts");
	jw_open(b, '[');
	while (history_next(&rest, &one)) {
		add_attempt(b, ids, &one);
		last = one;
	}
	/* while it waits for its next attempt, the one before is in the history already */
	if (s->attempt > 0 && s->token != last.token) {
		attempt_of(s, &one);
		add_attempt(b, ids, &one);
	}
	jw_close(b, ']');
}

/* Limits in force: the task's own, else its queue's. */
static void add_limits(struct buf *b, const struct task_spec *s, const struct queue_row *q)
{
	int64_t timeout = s->timeout_ms ? s->timeout_ms : q->timeout_ms;

	jw_mi64_null(b, "timeout_ms", timeout, timeout > 0);
	jw_mi64(b, "max_attempts", s->max_attempts ? s->max_attempts : q->max_attempts);
	jw_mi64(b, "backoff_ms", s->backoff_ms >= 0 ? s->backoff_ms : q->backoff_ms);
	jw_mi64(
	    b, "backoff_max_ms", s->backoff_max_ms >= 0 ? s->backoff_max_ms : q->backoff_max_ms);
}

static void add_place(struct buf *b, const struct api *a, const struct task_row *t)
{
	const struct task_state *s = &t->state;
	struct worker_view view;
	bool known = s->worker && core_worker(a->host.core, s->worker, 0, &view);

	jw_mi64(b, "attempt", s->attempt);
	jw_mi64(b, "attempts_before", s->attempts_before);
	jw_mi64(b, "token", s->token);
	jw_mstr_null(b, "worker", known ? view.row->facts.shard : STR_NULL);
	jw_mid_null(b, "worker_id", a->host.ids, s->worker);
	jw_mbool(b, "cancelling", task_is_told(s) && !task_is_ended(s->status));
	jw_mbool(b, "unsure", core_task_unsure(a->host.core, t->id));
}

static void add_output(struct buf *b, const struct task_state *s, bool full, size_t *ret_at)
{
	static const char *const where[] = {"none", "inline", "chunks"};

	if (full) {
		bool kept = s->output_where == OUTPUT_INLINE;

		jw_mstr_null(b, "stdout", kept ? s->output[STDOUT] : STR_NULL);
		ret_at[STDOUT] = b->n - 1;
		jw_mstr_null(b, "stderr", kept ? s->output[STDERR] : STR_NULL);
		ret_at[STDERR] = b->n - 1;
	}
	jw_mi64(b, "stdout_bytes", s->output_bytes[STDOUT]);
	jw_mi64(b, "stderr_bytes", s->output_bytes[STDERR]);
	jw_mi64(b, "stdout_dropped", s->output_dropped[STDOUT]);
	jw_mi64(b, "stderr_dropped", s->output_dropped[STDERR]);
	jw_mcstr(
	    b, "output", where[s->output_where >= 0 && s->output_where < 3 ? s->output_where : 0]);
}

/* Rounded, whatever the number: a row may hold any. */
static int64_t ms_of(int64_t us)
{
	return us / 1000 + (us % 1000 >= 500);
}

static void add_usage(struct buf *b, const struct usage *u)
{
	jw_key(b, "usage");
	if (!u->known) {
		jw_null(b);
		return;
	}
	jw_open(b, '{');
	jw_mi64(b, "user_ms", ms_of(u->user_us));
	jw_mi64(b, "system_ms", ms_of(u->system_us));
	jw_mi64(b, "peak_memory", u->peak_memory);
	jw_mi64(b, "oom_kills", u->oom_kills);
	jw_close(b, '}');
}

/* The members of all kinds that it might belong to; null are those of all but one. */
static void add_owners(struct buf *b, const struct api *a, const struct task_row *t)
{
	const struct owner *o = &t->spec.owner;
	const struct section *p;

	for (size_t i = 0; (p = section_at(i)); i++) {
		const struct resource *r = p->resource;
		bool is_its = r && o->id && (int)r->kind == o->kind;

		if (!r || !r->owner)
			continue;
		jw_mstr_null(
		    b, r->owner->name, is_its ? core_name(a->host.core, r->kind, o->id) : STR_NULL);
		jw_mid_null(b, r->owner->id, a->host.ids, is_its ? o->id : 0);
		if (r->owner->part_is_name)
			jw_mstr_null(b, r->owner->part, is_its ? t->spec.name : STR_NULL);
		else if (r->owner->part_is_number)
			jw_mi64_null(b, r->owner->part, o->part, is_its);
		else
			jw_mtime_null(b, r->owner->part, is_its ? o->part * 1000 : 0);
	}
}

static void add_task(
    struct buf *b, const struct api *a, const struct task_row *t, unsigned flags, size_t *ret_at)
{
	const struct task_state *s = &t->state;
	const struct id_space *ids = a->host.ids;
	const struct queue_row *q = core_queue(a->host.core, t->spec.queue);
	struct queue_row none;

	if (!q) {
		queue_defaults(&none);
		q = &none;
	}
	jw_open(b, '{');
	jw_key(b, "id");
	jw_id(b, ids, t->id);
	jw_mstr_null(b, "name", t->spec.name);
	add_summary(b, flags & (SHOW_FULL | SHOW_SUMMARY) ? t->spec.body : STR_NULL);
	jw_mstr_null(b, "queue", q->name);
	jw_mid_null(b, "queue_id", ids, t->spec.queue);
	jw_mcstr(b, "state", task_state_name(s->status));
	jw_mi64(b, "status", s->status);
	jw_mi64(b, "priority", t->spec.priority);
	if (flags & SHOW_FULL)
		add_body(b, t->spec.body);
	if (t->spec.is_streamed)
		jw_mcstr(b, "stdin", "stream");
	jw_mlabels(b, "labels", t->spec.labels);
	jw_mneed(b, "need", t->spec.need);
	jw_mneed(b, "holds", s->charged);
	jw_mstr_null(b, "key", t->spec.key);
	jw_mid_null(b, "batch", ids, t->spec.batch);
	jw_mstr_null(b, "actor", t->spec.actor);
	add_owners(b, a, t);
	jw_mtime_null(b, "run_after", t->spec.run_after_ms);
	jw_mtime_null(b, "due", s->due_ms);
	add_limits(b, &t->spec, q);
	add_place(b, a, t);
	jw_mtime_null(b, "ctime", t->ctime_ms);
	jw_mtime_null(b, "mtime", s->mtime_ms);
	jw_mtime_null(b, "claimed", s->claimed_ms);
	jw_mtime_null(b, "started", s->started_ms);
	jw_mtime_null(b, "ended", s->ended_ms);
	jw_mbool(b, "times_doubtful", s->times_doubtful);
	jw_mi64_null(b, "exit_code", s->exit_code, s->exit_code >= 0);
	jw_mi64_null(b, "signal", s->signal, s->signal != 0);
	jw_mstr_null(b, "reason", s->reason);
	add_usage(b, &s->usage);
	if (flags & SHOW_FULL) {
		jw_mstr_null(b, "result", s->result);
		add_attempts(b, ids, s);
	}
	add_output(b, s, flags & SHOW_FULL, ret_at);
	jw_mbool(b, "damaged", t->damage != 0);
	if (flags & SHOW_TWIN)
		jw_mbool(b, "duplicate", true);
	jw_close(b, '}');
}

void show_task(struct buf *b, const struct api *a, const struct task_row *t, unsigned flags)
{
	size_t at[N_STREAMS];

	add_task(b, a, t, flags, at);
}

void show_task_around(
    struct buf *b, const struct api *a, const struct task_row *t, size_t ret_at[N_STREAMS])
{
	struct task_row shown = *t;

	shown.state.output_where = OUTPUT_INLINE;
	shown.state.output[STDOUT] = shown.state.output[STDERR] = STR("");
	add_task(b, a, &shown, SHOW_FULL, ret_at);
}
