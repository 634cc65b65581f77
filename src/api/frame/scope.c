/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The limits of a token: its queues and labels. Whatever lies outside is not there for its bearer.
 * Names of queues are looked up when they are needed: a queue may be made, renamed or deleted.
 */
#include <string.h>

#include "api/objects/resource.h"
#include "model/lines.h"

bool scope_covers_named(const struct call *c, struct str queue, struct str labels)
{
	return !c->who.limit || token_covers(c->who.limit, queue, labels);
}

bool scope_covers(const struct call *c, rid queue, struct str labels)
{
	const struct queue_row *q;

	if (!c->who.limit)
		return true;
	q = core_queue(c->host->core, queue);
	return q && token_covers(c->who.limit, q->name, labels);
}

bool scope_covers_queue(const struct call *c, struct str name)
{
	return !c->who.limit || !c->who.limit->queues.n || lines_has(c->who.limit->queues, name);
}

/* Queues that are not there (yet) match nothing. */
void scope_narrow(struct call *c, struct task_filter *f)
{
	struct str rest, one;
	const struct queue_row *q;

	if (!c->who.limit)
		return;
	rest = c->who.limit->queues;
	while (f->n_among < TOKEN_QUEUES_MAX && lines_next(&rest, &one)) {
		q = core_queue(c->host->core, core_find(c->host->core, KIND_QUEUE, one));
		f->among[f->n_among++] = q ? q->id : 0;
	}
	rest = c->who.limit->labels;
	while (f->n_labels < FILTER_LABELS_MAX + TOKEN_LABELS_MAX && lines_next(&rest, &one))
		f->labels[f->n_labels++] = one;
}

bool scope_sees_notice(const struct call *c, const struct notice *n)
{
	const struct resource *owner;

	if (!c->who.limit)
		return true;
	if (n->queue)
		return resource_of(KIND_QUEUE)->covers(c, n->queue);
	owner = n->owner.id ? resource_of((enum kind)n->owner.kind) : NULL;
	return owner && owner->covers(c, n->owner.id);
}

bool scope_sees_event(const struct call *c, const struct event_row *e)
{
	if (!c->who.limit)
		return true;
	return str_starts(e->kind, "queue.") && scope_covers_queue(c, e->subject);
}

int scope_problem(struct call *c, struct str queue, struct problem *p)
{
	bool by_labels = scope_covers_queue(c, queue);

	problem_set(p, ERR_DENIED, "%.64s may not use the queue \"%.*s\"%s", c->who.name.p,
	    queue.n > 100 ? 100 : (int)queue.n, queue.p ? queue.p : "",
	    by_labels ? " with these labels" : "");
	if (by_labels)
		problem_hint(p, "every task must have the labels %.*s",
		    (int)strcspn(c->who.limit->labels.p, "\n"), c->who.limit->labels.p);
	else
		problem_hint(p, "it is limited to other queues");
	access_write_down(c, p);
	return ERR_DENIED;
}

static void task_looked_at(struct call *c)
{
	if (call_read_failed(c))
		return;
	c->about = 0;
	c->go_on(c);
}

static void not_covered(struct call *c, const char *what)
{
	problem_set(&c->problem, ERR_NOT_FOUND, "there is no %s \"%.*s\"", what,
	    c->arg.n > 100 ? 100 : (int)c->arg.n, c->arg.p);
	problem_hint(&c->problem, "or it lies outside the limits of this token");
	access_refuse(c);
}

static bool is_covered(struct call *c, const struct resource *r)
{
	struct problem ignored;

	/* what is done to a queue is done to all of its tasks */
	return find_object(c, r->kind, c->arg, "", &ignored) &&
	       (c->req.method == API_GET || !r->holds_tasks || !c->who.limit->labels.n);
}

/* -- objects with tasks of their own: one is there for whoever sees all of them */

struct tasks_look {
	rid object;
	int64_t n_tasks;
	struct task_filter seen;
	bool covered;
};

static int count_tasks(
    struct store_reader *r, const struct task_filter *f, struct arena *a, int64_t *ret_n)
{
	struct status_count *counts = NULL;
	size_t n = 0;
	int rc;

	arena_reset(a);
	rc = store_task_count(r, f, a, &counts, &n);
	for (size_t i = 0; i < n; i++)
		*ret_n += counts[i].n;
	return rc;
}

int scope_look(struct store_reader *r, const struct task_filter *seen, rid object, int64_t n_tasks,
    struct arena *scratch, bool *ret_covered)
{
	struct task_filter all = {.since = object + 1, .until = object + 1 + (rid)n_tasks};
	struct task_filter some = *seen;
	int64_t n_all = 0, n_some = 0;
	int rc = count_tasks(r, &all, scratch, &n_all);

	some.since = all.since;
	some.until = all.until;
	if (!rc)
		rc = count_tasks(r, &some, scratch, &n_some);
	*ret_covered = n_all && n_all == n_some;
	return rc;
}

static void look_at_tasks(struct store_reader *r, void *arg)
{
	struct call *c = arg;
	struct tasks_look *look = c->scope;

	c->code =
	    scope_look(r, &look->seen, look->object, look->n_tasks, &c->row_arena, &look->covered);
}

static void tasks_looked_at(struct call *c)
{
	const struct tasks_look *look = c->scope;

	if (call_read_failed(c))
		return;
	if (!look->covered) {
		not_covered(c, kind_names[resource_at(c->route->tag)->kind]);
		return;
	}
	c->covered = look->object;
	c->go_on(c);
}

static void check_tasks(struct call *c, const struct resource *r)
{
	const struct core *core = c->host->core;
	struct tasks_look *look = arena_zalloc(&c->arena, sizeof *look);
	rid id = core_find(core, r->kind, c->arg);

	if (!id && (!id_parse(c->host->ids, c->arg, &id) || !core_name(core, r->kind, id).p)) {
		not_covered(c, kind_names[r->kind]);
		return;
	}
	look->object = id;
	look->n_tasks = r->n_tasks(core, id);
	scope_narrow(c, &look->seen);
	c->scope = look;
	call_read_long(c, look_at_tasks, tasks_looked_at);
}

/* -- batches: one is there for whoever sees a task of it */

#define BATCH_STEPS 16 /* of a store's list; the first holds a batch's first tasks */

struct batch_look {
	struct task_filter filter;
	bool seen;
};

static void look_for_batch(struct store_reader *r, void *arg)
{
	struct call *c = arg;
	struct batch_look *look = c->scope;
	struct task_page page = {.next = 0};

	for (int i = 0; i < BATCH_STEPS && !look->seen && (i == 0 || page.next); i++) {
		arena_reset(&c->row_arena);
		c->code = store_task_list(
		    r, &look->filter, true, true, page.next, 1, &c->row_arena, &page);
		if (c->code)
			return;
		look->seen = page.n > 0;
	}
}

static void batch_looked_at(struct call *c)
{
	const struct batch_look *look = c->scope;
	char text[ID_TEXT];

	if (call_read_failed(c))
		return;
	if (look->seen) {
		c->go_on(c);
		return;
	}
	problem_set(&c->problem, ERR_NOT_FOUND, "there is no batch %s",
	    id_format(c->host->ids, look->filter.batch, text));
	problem_hint(&c->problem, "or it lies outside the limits of this token");
	problem_field(&c->problem, "batch");
	access_refuse(c);
}

void scope_check_batch(struct call *c, rid batch, call_fn *fn)
{
	struct batch_look *look;

	if (!c->who.limit || !batch) {
		fn(c);
		return;
	}
	look = arena_zalloc(&c->arena, sizeof *look);
	look->filter.batch = batch;
	scope_narrow(c, &look->filter);
	c->scope = look;
	c->go_on = fn;
	call_read(c, look_for_batch, batch_looked_at);
}

void scope_check_path(struct call *c, call_fn *fn)
{
	const char *arg = c->who.limit ? strchr(c->route->pattern, '{') : NULL;
	const struct resource *r = arg ? resource_at(c->route->tag) : NULL;

	c->go_on = fn;
	if (arg && strncmp(arg, "{id}", 4) == 0) {
		if (call_path_id(c, &c->about))
			call_read_task(c, task_looked_at);
	} else if (r && r->n_tasks) {
		check_tasks(c, r);
	} else if (r && !is_covered(c, r)) {
		not_covered(c, kind_names[r->kind]);
	} else {
		fn(c);
	}
}
