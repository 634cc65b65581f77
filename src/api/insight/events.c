/* SPDX-License-Identifier: Apache-2.0 */
/*
 * GET /v1/events: the durable ones as a list, or everything as it happens, as server-sent events.
 * A notice is rendered once for all who are told it.
 */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "api/insight/subscriber.h"
#include "api/objects/resource.h"
#include "api/objects/show.h"

#define KINDS_MAX 16
#define RENDERED 512     /* notices that are kept as text */
#define SCAN_ROWS 1000   /* of the list: read at a time */
#define SCAN_MOST 100000 /* looked at for one page: what matches rarely is found in several */

struct rendered {
	uint64_t seq;
	struct buf text;
};

struct event_filter {
	struct str kinds[KINDS_MAX];
	size_t n_kinds;
	rid queue, task, batch, worker;
	struct owner owner;
};

struct watcher {
	struct subscriber subscriber;
	struct event_filter filter;
};

struct event_list {
	struct event_filter filter;
	struct str subject[2]; /* durable rows know their subject by name or id */
	int64_t after, limit;
	bool newest; /* not those after a number, but the last ones */
	uint64_t at; /* looked at up to here */
	size_t n_scanned;
	struct event_page page;
	struct event_row *found;
	size_t n_found;
};

static bool kind_fits(const struct event_filter *f, struct str kind)
{
	for (size_t i = 0; i < f->n_kinds; i++) {
		struct str k = f->kinds[i];

		if (kind.n >= k.n && memcmp(kind.p, k.p, k.n) == 0 &&
		    (kind.n == k.n || kind.p[k.n] == '.' || k.p[k.n - 1] == '.'))
			return true;
	}
	return f->n_kinds == 0;
}

static bool notice_fits(const struct event_filter *f, const struct notice *n)
{
	return (!f->queue || f->queue == n->queue) && (!f->task || f->task == n->task) &&
	       (!f->batch || f->batch == n->batch) && (!f->worker || f->worker == n->worker) &&
	       (!f->owner.id || f->owner.id == n->owner.id) && kind_fits(f, str_of(n->kind));
}

static int add_kinds(struct call *c, struct event_filter *f, struct str list)
{
	struct str one;

	while (str_next(&list, ',', &one)) {
		if (one.n == 0 || f->n_kinds == KINDS_MAX) {
			problem_set(&c->problem, ERR_INVALID,
			    one.n ? "more than 16 kinds are given" : "a kind is empty");
			return problem_field(&c->problem, "kind");
		}
		f->kinds[f->n_kinds++] = arena_str(&c->arena, one);
	}
	return 0;
}

static bool read_filter(struct call *c, struct event_filter *f)
{
	const struct queue_row *q;
	int rc = 0;

	for (size_t i = 0; !rc && i < c->req.n_params; i++)
		if (str_is(c->req.params[i].key, "kind"))
			rc = add_kinds(c, f, c->req.params[i].value);
	if (!rc && c->query[Q_QUEUE].p) {
		q = find_queue(c, c->query[Q_QUEUE], "queue", &c->problem);
		rc = q ? 0 : c->problem.code;
		f->queue = q ? q->id : 0;
	}
	if (!rc && c->query[Q_WORKER].p) {
		f->worker = find_worker(c, c->query[Q_WORKER], "worker", &c->problem);
		rc = f->worker ? 0 : c->problem.code;
	}
	if (!rc)
		rc = resource_owner(c, &f->owner);
	if (!rc && c->query[Q_TASK].p)
		rc = find_id(c->api, c->query[Q_TASK], "task", &f->task, &c->problem);
	if (!rc && c->query[Q_BATCH].p)
		rc = find_id(c->api, c->query[Q_BATCH], "batch", &f->batch, &c->problem);
	if (rc)
		call_problem(c);
	return !rc;
}

static void add_sse(struct buf *b, const struct api *a, const struct notice *n)
{
	struct buf json = {0};

	buf_printf(b, "id: %llu\nevent: %s\ndata: ", (unsigned long long)n->seq, n->kind);
	show_notice(&json, a, n);
	buf_add_str(b, buf_str(&json));
	buf_add(b, "\n\n", 2);
	buf_release(&json);
}

/* Subscribers mostly want the same few, one after the other. */
static struct str rendered(struct api *a, const struct notice *n)
{
	struct rendered *r;

	if (!a->rendered)
		a->rendered = xcalloc(RENDERED, sizeof *a->rendered);
	r = &a->rendered[n->seq % RENDERED];
	if (r->seq != n->seq) {
		r->seq = n->seq;
		buf_reset(&r->text);
		add_sse(&r->text, a, n);
	}
	return buf_str(&r->text);
}

void rendered_free(struct api *a)
{
	for (size_t i = 0; a->rendered && i < RENDERED; i++)
		buf_release(&a->rendered[i].text);
	free(a->rendered);
}

static void tell(struct subscriber *s, const struct notice *n)
{
	if (notice_fits(&((struct watcher *)s)->filter, n) && scope_sees_notice(s->c, n))
		buf_add_str(&s->text, rendered(s->c->api, n));
}

/* What is no longer in memory is announced as a gap. */
static void tell_gap(struct subscriber *s, uint64_t after)
{
	buf_printf(&s->text,
	    "id: %llu\nevent: reset\ndata: {\"seq\":%llu,\"kind\":\"reset\",\"after\":%llu}\n\n",
	    (unsigned long long)s->last_seq, (unsigned long long)s->last_seq,
	    (unsigned long long)after);
}

static const struct subscription everything = {.tell = tell, .gap = tell_gap};

static void subscribe(struct call *c)
{
	struct watcher *w = call_state(c, sizeof *w);

	if (read_filter(c, &w->filter))
		subscriber_begin(&w->subscriber, c, &everything);
}

static void read_events(struct store_reader *r, void *arg)
{
	struct call *c = arg;
	struct event_list *l = c->state;

	arena_reset(&c->row_arena);
	c->code = l->newest ? store_events_before(r, l->at, SCAN_ROWS, &c->row_arena, &l->page)
	                    : store_events(r, l->at, SCAN_ROWS, &c->row_arena, &l->page);
}

static bool row_fits(const struct event_list *l, const struct event_row *e)
{
	if (!kind_fits(&l->filter, e->kind))
		return false;
	if (!l->subject[0].p)
		return true;
	return str_eq(e->subject, l->subject[0]) || str_eq(e->subject, l->subject[1]);
}

/* An event's page is given back before the answer is written. */
static struct event_row kept(struct arena *a, const struct event_row *e)
{
	struct event_row copy = *e;
	struct str *texts[] = {&copy.kind, &copy.subject, &copy.actor, &copy.detail, &copy.hash};

	for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
		*texts[i] = arena_str(a, *texts[i]);
	return copy;
}

/* In the order in which they are found: rising, or falling where the newest are wanted. */
static void take_page(struct call *c, struct event_list *l)
{
	size_t n = l->page.n;

	for (size_t i = 0; i < n && l->n_found < (size_t)l->limit; i++) {
		const struct event_row *e = &l->page.rows[l->newest ? n - 1 - i : i];

		l->at = e->seq;
		if (row_fits(l, e) && scope_sees_event(c, e))
			l->found[l->n_found++] = kept(&c->arena, e);
	}
	l->n_scanned += n;
}

static void write_events(struct call *c, bool more)
{
	struct event_list *l = c->state;
	struct buf *b = &c->out;

	jw_open(b, '{');
	jw_key(b, "items");
	jw_open(b, '[');
	for (size_t i = 0; i < l->n_found; i++)
		show_event(b, &l->found[l->newest ? l->n_found - 1 - i : i]);
	jw_close(b, ']');
	jw_key(b, "next");
	if (more && !l->newest)
		buf_printf(b, "\"%llu\"", (unsigned long long)l->at);
	else
		jw_null(b);
	jw_close(b, '}');
	call_json(c, 200);
}

/* Filters come before pages: it is read on until there are enough, or too many were looked at. */
static void events_done(struct call *c)
{
	struct event_list *l = c->state;
	bool more;

	if (call_read_failed(c))
		return;
	take_page(c, l);
	more = l->page.n == SCAN_ROWS || l->n_found == (size_t)l->limit;
	if (more && l->n_found < (size_t)l->limit && l->n_scanned < SCAN_MOST)
		call_read(c, read_events, events_done);
	else
		write_events(c, more);
}

/* Durable rows say what they are about as text: its name, also if it was asked for by its id, or
 * the id. */
static void subject_of(struct call *c, struct event_list *l)
{
	const struct event_filter *f = &l->filter;
	const struct core *core = c->host->core;
	const struct {
		rid id;
		struct str name; /* tasks and batches have none */
	} by[] = {{f->queue, core_name(core, KIND_QUEUE, f->queue)},
	    {f->worker, core_name(core, KIND_WORKER, f->worker)}, {f->task, STR_NULL},
	    {f->batch, STR_NULL},
	    {f->owner.id, core_name(core, (enum kind)f->owner.kind, f->owner.id)}};
	char text[ID_TEXT];

	for (size_t i = 0; i < sizeof by / sizeof by[0]; i++)
		if (by[i].id) {
			l->subject[1] =
			    arena_str(&c->arena, str_of(id_format(c->host->ids, by[i].id, text)));
			l->subject[0] =
			    by[i].name.p ? arena_str(&c->arena, by[i].name) : l->subject[1];
		}
}

static void list_events(struct call *c)
{
	struct event_list *l = call_state(c, sizeof *l);

	l->limit = 100;
	if (!call_int(c, Q_AFTER, 0, INT64_MAX, &l->after) ||
	    !call_int(c, Q_LIMIT, 1, 1000, &l->limit) || !read_filter(c, &l->filter))
		return;
	subject_of(c, l);
	l->newest = !c->query[Q_AFTER].p;
	l->at = l->newest ? UINT64_MAX : (uint64_t)l->after;
	l->found = arena_alloc(&c->arena, (size_t)l->limit * sizeof *l->found);
	call_read(c, read_events, events_done);
}

void events_get(struct call *c)
{
	bool follow;

	if (!call_bool(c, Q_FOLLOW, &follow))
		return;
	if (c->who.limit &&
	    c->who.limit->labels.n) { /* events do not say which labels a task has */
		problem_set(&c->problem, ERR_DENIED,
		    "%.64s is limited to labels, and sees no events", c->who.name.p);
		access_refuse(c);
		return;
	}
	if (c->req.accept.n && memmem(c->req.accept.p, c->req.accept.n, "text/event-stream", 17))
		follow = true;
	if (follow)
		subscribe(c);
	else
		list_events(c);
}
