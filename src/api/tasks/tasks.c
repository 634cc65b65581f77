/* SPDX-License-Identifier: Apache-2.0 */
/* Looking at tasks: lists, counts, and why one waits. */
#include "api/groups/job_why.h"
#include "api/objects/show.h"
#include "api/tasks/filter.h"
#include "model/task/body.h"

#define STEP_FULL 2    /* tasks read at a time; each may have a megabyte */
#define SHORT_LIST 100 /* bare ones: read in a millisecond or two */
#define STEP_BARE 125  /* and without their bodies, sixteen kilobytes */

struct step { /* what was read at a time */
	struct task_page page;
	struct step *next;
};

struct listing {
	struct task_filter filter;
	struct step *steps; /* together the page that was asked for */
	rid cursor, next;
	uint32_t limit;
	bool oldest_first, full, summary;
	struct status_count *counts;
	size_t n_counts;
};

static size_t row_bytes(const struct task_row *t)
{
	const struct task_state *s = &t->state;

	return t->spec.key.n + t->spec.labels.n + t->spec.need.n + t->spec.body.n + s->reason.n +
	       s->history.n + s->output[STDOUT].n + s->output[STDERR].n + s->result.n;
}

/* Ends the page where it gets too large, though never before its first task. */
static bool cut_page(struct task_page *p, size_t *bytes)
{
	for (size_t i = 0; i < p->n; i++) {
		if (*bytes && *bytes + row_bytes(&p->rows[i]) > PAGE_BYTES) {
			p->n = i;
			return true;
		}
		*bytes += row_bytes(&p->rows[i]) + 1;
	}
	return false;
}

/* What each is, in a few words: lists leave out bodies. */
static int read_heads(struct store_reader *r, struct call *c, struct task_page *p)
{
	int rc = 0;

	for (size_t i = 0; i < p->n && rc == 0; i++)
		if (!(p->rows[i].damage & DAMAGED_BODY))
			rc = store_task_head(
			    r, p->rows[i].id, BODY_HEAD_BYTES, &c->arena, &p->rows[i].spec.body);
	return rc;
}

/* A few at a time: how large they are shows only when they are there. */
static void read_list(struct store_reader *r, void *arg)
{
	struct call *c = arg;
	struct listing *l = c->state;
	uint32_t step = l->full ? STEP_FULL : STEP_BARE, left = l->limit, want;
	struct step **last = &l->steps;
	size_t bytes = 0;

	l->next = l->cursor;
	while (left > 0) {
		struct task_page *p;

		*last = arena_zalloc(&c->arena, sizeof **last);
		p = &(*last)->page;
		last = &(*last)->next;
		want = left < step ? left : step;
		c->code = store_task_list(
		    r, &l->filter, l->oldest_first, !l->full, l->next, want, &c->arena, p);
		if (c->code == 0 && l->summary)
			c->code = read_heads(r, c, p);
		if (c->code)
			return;
		if (cut_page(p, &bytes)) {
			if (p->n)
				l->next = p->rows[p->n - 1].id;
			return;
		}
		l->next = p->next;
		left -= (uint32_t)p->n;
		if (!p->next || p->n < want)
			return; /* the end, or the store has looked at enough for once */
	}
}

static void list_done(struct call *c)
{
	struct listing *l = c->state;

	if (call_read_failed(c))
		return;
	show_page_begin(c);
	for (struct step *s = l->steps; s; s = s->next)
		for (size_t i = 0; i < s->page.n; i++) {
			task_overlay(c->api, &s->page.rows[i]);
			show_task(&c->out, c->api, &s->page.rows[i],
			    l->full      ? SHOW_FULL
			    : l->summary ? SHOW_SUMMARY
			                 : 0);
		}
	show_page_end(c, l->next);
}

void tasks_list(struct call *c)
{
	struct listing *l = call_state(c, sizeof *l);
	struct str order = c->query[Q_ORDER];

	if (!call_page(c, &l->cursor, &l->limit) || !call_bool(c, Q_FULL, &l->full) ||
	    !filter_from_query(c, &l->filter) || (l->full && !access_may(c, RIGHT_LOGS)))
		return;
	l->summary = !l->full && access_sees(c, RIGHT_LOGS);
	l->oldest_first = str_is(order, "asc");
	if (order.p && !l->oldest_first && !str_is(order, "desc")) {
		problem_set(&c->problem, ERR_INVALID, "\"order\" is neither asc nor desc");
		problem_field(&c->problem, "order");
		call_problem(c);
		return;
	}
	if (l->full || l->filter.search.n || l->limit > SHORT_LIST)
		call_read_long(c, read_list, list_done);
	else
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
		call_read_long(c, read_counts, counts_done);
}

static size_t explain(struct call *c, struct why **ret_whys)
{
	const struct api_host *h = c->host;

	task_overlay(c->api, &c->row);
	return core_why(
	    h->core, &c->row, h->wall_ms(h->arg), h->mono_ms(h->arg), &c->arena, ret_whys);
}

static void show_blocking(struct call *c, const struct task_row *blocks, struct str *summary)
{
	struct str line;

	job_why_open(c);
	if (blocks) {
		line = job_why_show(c, blocks);
		*summary =
		    arena_strf(&c->arena, STR_FMT "; " STR_FMT, STR_ARG(*summary), STR_ARG(line));
	}
	job_why_close(c);
}

static void show_why(struct call *c)
{
	const struct job_why *j = c->state;
	struct buf *b = &c->out;
	struct why *whys = NULL;
	size_t n = explain(c, &whys);
	const struct task_row *blocks = job_why_last(j, whys, n);
	struct str summary;

	job_why_fill(j, whys, n);
	summary = why_summary(&c->arena, &c->row, whys, n);
	jw_open(b, '{');
	jw_mid_null(b, "id", c->host->ids, c->row.id);
	jw_mcstr(b, "state", task_state_name(c->row.state.status));
	jw_mbool(b, "unsure", core_task_unsure(c->host->core, c->row.id));
	show_whys(b, &c->arena, whys, n);
	if (j->is_ahead)
		job_why_show_all(c, &summary);
	else
		show_blocking(c, blocks, &summary);
	jw_mstr(b, "summary", summary);
	jw_close(b, '}');
	call_json(c, 200);
}

/* What a job of a group needs is named by the store. */
static void why_read(struct call *c)
{
	struct job_why *j;
	struct why *whys = NULL;
	size_t n;

	if (call_read_failed(c))
		return;
	n = explain(c, &whys);
	j = call_state(c, sizeof *j);
	j->group = c->row.spec.owner.id;
	if (c->row.state.status != TASK_BLOCKED || !job_why_ahead(j, c, j->group))
		job_why_named(j, whys, n);
	job_why_read(c, j, show_why);
}

void task_why(struct call *c)
{
	if (call_path_id(c, &c->about))
		call_read_task(c, why_read);
}
