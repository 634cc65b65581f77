/* SPDX-License-Identifier: Apache-2.0 */
/* Looking at tasks: lists, counts, and why one waits. */
#include "api/filter.h"
#include "api/show.h"

struct listing {
	struct task_filter filter;
	struct task_page page;
	rid cursor;
	uint32_t limit;
	bool oldest_first, full;
	struct status_count *counts;
	size_t n_counts;
};

static void read_list(struct store_reader *r, void *arg)
{
	struct call *c = arg;
	struct listing *l = c->state;

	c->code = store_task_list(
	    r, &l->filter, l->oldest_first, !l->full, l->cursor, l->limit, &c->arena, &l->page);
}

static void list_done(struct call *c)
{
	struct listing *l = c->state;

	if (call_read_failed(c))
		return;
	jw_open(&c->out, '{');
	jw_key(&c->out, "items");
	jw_open(&c->out, '[');
	for (size_t i = 0; i < l->page.n; i++) {
		task_overlay(c->api, &l->page.rows[i]);
		show_task(&c->out, c->api, &l->page.rows[i], l->full ? SHOW_FULL : 0);
	}
	show_page_end(c, l->page.next);
}

void tasks_list(struct call *c)
{
	struct listing *l = call_state(c, sizeof *l);
	struct str order = c->query[Q_ORDER];

	if (!call_page(c, &l->cursor, &l->limit) || !call_bool(c, Q_FULL, &l->full) ||
	    !filter_from_query(c, &l->filter) || (l->full && !access_may(c, RIGHT_LOGS)))
		return;
	l->oldest_first = str_is(order, "asc");
	if (order.p && !l->oldest_first && !str_is(order, "desc")) {
		problem_set(&c->problem, ERR_INVALID, "\"order\" is neither asc nor desc");
		problem_field(&c->problem, "order");
		call_problem(c);
		return;
	}
	call_read(c, read_list, list_done);
}

static void read_counts(struct store_reader *r, void *arg)
{
	struct call *c = arg;
	struct listing *l = c->state;

	c->code = store_task_count(r, &l->filter, &c->arena, &l->counts, &l->n_counts);
}

/* Statuses that share a name (held, finished) are neighbours in the ascending list. */
static void counts_done(struct call *c)
{
	struct listing *l = c->state;
	int64_t total = 0, done = 0, same = 0;
	struct buf *b = &c->out;

	if (call_read_failed(c))
		return;
	jw_open(b, '{');
	jw_key(b, "states");
	jw_open(b, '{');
	for (size_t i = 0; i < l->n_counts; i++) {
		const struct status_count *n = &l->counts[i];
		const char *name = task_state_name(n->status);

		total += n->n;
		done += task_is_ended(n->status) ? n->n : 0;
		same += n->n;
		if (i + 1 < l->n_counts && task_state_name(n[1].status) == name)
			continue;
		jw_mi64(b, name, same);
		same = 0;
	}
	jw_close(b, '}');
	jw_mi64(b, "total", total);
	jw_mi64(b, "done", done);
	jw_mi64(b, "live", total - done);
	jw_close(b, '}');
	call_json(c, 200);
}

void tasks_summary(struct call *c)
{
	struct listing *l = call_state(c, sizeof *l);

	if (filter_from_query(c, &l->filter))
		call_read(c, read_counts, counts_done);
}

static void add_why_summary(
    struct buf *b, struct arena *a, const struct task_row *t, const struct why *whys, size_t n)
{
	jw_key(b, "summary");
	if (n == 1)
		jw_str(b, whys[0].text);
	else if (n > 1)
		jw_str(b, arena_strf(a, STR_FMT " (and %zu more)", STR_ARG(whys[0].text), n - 1));
	else if (task_is_ended(t->state.status))
		buf_printf(b, "\"nothing: it has ended (%s)\"", task_state_name(t->state.status));
	else if (task_phase(t->state.status) == PHASE_QUEUED)
		jw_str(b, STR("nothing: it will start at once"));
	else
		buf_printf(b, "\"nothing: it is %s\"", task_state_name(t->state.status));
}

static void why_done(struct call *c)
{
	const struct api_host *h = c->host;
	struct buf *b = &c->out;
	struct why *whys = NULL;
	size_t n;

	if (call_read_failed(c))
		return;
	task_overlay(c->api, &c->row);
	n = core_why(h->core, &c->row, h->wall_ms(h->arg), h->mono_ms(h->arg), &c->arena, &whys);
	jw_open(b, '{');
	jw_mid_null(b, "id", h->ids, c->row.id);
	jw_mcstr(b, "state", task_state_name(c->row.state.status));
	jw_mbool(b, "unsure", core_task_unsure(h->core, c->row.id));
	add_why_summary(b, &c->arena, &c->row, whys, n);
	jw_key(b, "reasons");
	jw_open(b, '[');
	for (size_t i = 0; i < n; i++) {
		jw_open(b, '{');
		jw_mcstr(b, "code", whys[i].code);
		jw_mstr(b, "text", whys[i].text);
		jw_mstr_null(b, "lift", whys[i].lift);
		jw_close(b, '}');
	}
	jw_close(b, ']');
	jw_close(b, '}');
	call_json(c, 200);
}

void task_why(struct call *c)
{
	if (call_path_id(c, &c->task))
		call_read_task(c, why_done);
}
