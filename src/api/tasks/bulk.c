/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Acting on everything that matches: the store is paged through by id, and each page becomes one
 * command, until the end. Nothing blocks in between; a client that leaves ends it.
 */
#include "api/frame/shapes.h"
#include "api/tasks/filter.h"
#include "api/tasks/task_shapes.h"
#include "base/data/idmap.h"
#include "model/limits.h"
#include "wire/json/fields.h"
#include "words/words.h"

#define PAGE_IDS 1000
#define ERRORS_SHOWN 10
#define HOLD_STATUS (-10)

struct bulk {
	enum event_kind kind;
	int32_t status; /* EV_TASK_SET */
	struct task_filter filter;
	bool has_filter, has_ids, dry_run, all, has_states;
	struct str reason;
	rid *ids;         /* given, or of this page */
	size_t n_ids, at; /* given ones: done so far */
	size_t n_page;    /* of these, the ones now at hand */
	rid cursor;
	bool last;
	struct arena page; /* of the reader, emptied with every page */
	struct task_page rows;
	struct task_row *seen; /* of given ids: what they are, bare */
	int64_t matched, changed, refused;
	int n_errors;
	struct buf errors;
	struct call *c;
};

static call_fn bulk_next;

static void bulk_free(struct call *c)
{
	struct bulk *k = c->state;

	arena_release(&k->page);
	buf_release(&k->errors);
}

static void bulk_answer(struct call *c)
{
	struct bulk *k = c->state;
	struct buf *b = &c->out;

	jw_open(b, '{');
	jw_mi64(b, "matched", k->matched);
	jw_mi64(b, "changed", k->changed);
	jw_mi64(b, "refused", k->refused);
	jw_mbool(b, "dry_run", k->dry_run);
	jw_key(b, "errors");
	jw_open(b, '[');
	if (k->errors.n)
		jw_raw(b, buf_str(&k->errors));
	jw_close(b, ']');
	jw_close(b, '}');
	call_json(c, 200);
}

static void add_error(struct call *c, const struct outcome *o)
{
	struct bulk *k = c->state;
	struct buf *b = &k->errors;

	if (k->n_errors++ >= ERRORS_SHOWN)
		return;
	jw_open(b, '{');
	jw_mid_null(b, "id", c->host->ids, o->id);
	jw_key(b, "type");
	buf_printf(b, "\"urn:reeve:error:%s\"", err_name(o->code));
	jw_mstr(b, "detail", words_outcome(&c->arena, o));
	jw_close(b, '}');
}

static void page_changed(struct call *c, const struct reply *r)
{
	struct bulk *k = c->state;

	if (call_refused(c, r))
		return;
	for (size_t i = 0; i < r->n; i++) {
		if (r->outcomes[i].code == 0) {
			k->changed++;
			continue;
		}
		k->refused++;
		add_error(c, &r->outcomes[i]);
	}
	bulk_next(c);
}

static void send_page(struct call *c, const rid *ids, size_t n)
{
	struct bulk *k = c->state;
	struct event ev = {.kind = k->kind,
	    .tasks = {.ids = ids,
	        .n = n,
	        .reason = k->reason,
	        .status = k->status,
	        .has_status = k->kind == EV_TASK_SET}};

	call_command(c, &ev, page_changed);
}

static void read_page(struct store_reader *r, void *arg)
{
	struct call *c = arg;
	struct bulk *k = c->state;

	arena_reset(&k->page);
	c->code =
	    store_task_list(r, &k->filter, true, true, k->cursor, PAGE_IDS, &k->page, &k->rows);
}

/* A job that is blocked waits for what it needs, and may be held; any other task is held by that.
 */
static bool is_meant(const struct bulk *k, const struct task_row *t)
{
	bool is_job = t->spec.owner.id && t->spec.owner.kind == KIND_GROUP;

	if (k->kind != EV_TASK_SET || t->state.status != TASK_BLOCKED)
		return true;
	return k->status == TASK_QUEUED ? !is_job : is_job || k->has_states;
}

static void page_read(struct call *c)
{
	struct bulk *k = c->state;
	size_t n = 0;

	if (call_read_failed(c))
		return;
	MUST(k->rows.n <= PAGE_IDS);
	k->cursor = k->rows.next;
	k->last = k->cursor == 0;
	for (size_t i = 0; i < k->rows.n; i++)
		if (is_meant(k, &k->rows.rows[i]))
			k->ids[n++] = k->rows.rows[i].id;
	k->matched += (int64_t)n;
	if (k->dry_run || n == 0)
		bulk_next(c);
	else
		send_page(c, k->ids, n);
}

/* Given ids are read before they are sent for a caller with limits: which of this page's tasks does
 * he see at all? And in place of that, to say what would become of them. */
static void read_given(struct store_reader *r, void *arg)
{
	struct call *c = arg;
	struct bulk *k = c->state;

	arena_reset(&k->page);
	k->seen = arena_zalloc(&k->page, k->n_page * sizeof *k->seen);
	c->code = 0;
	for (size_t i = 0; i < k->n_page && !c->code; i++) {
		rid id = k->ids[k->at - k->n_page + i];

		c->code = read_bare_task(r, id, &k->page, &k->seen[i]);
	}
}

/* What the command would say of a task that is as it is now; NULL: nothing. */
static const char *refusal(const struct bulk *k, const struct task_row *t)
{
	enum task_phase phase = task_phase(t->state.status);

	switch (k->kind) {
	case EV_CANCEL: return phase == PHASE_ENDED ? "it has ended already" : NULL;
	case EV_RETRY: return phase != PHASE_ENDED ? "it has not ended" : NULL;
	default: break;
	}
	if (phase != PHASE_QUEUED && phase != PHASE_HELD)
		return "it has left the queue";
	return k->status == TASK_QUEUED && !is_meant(k, t)
	           ? "nobody holds it: it waits for the jobs that it needs"
	           : NULL;
}

/* False: it is not to be sent, and that is said. */
static bool given_is_right(struct call *c, rid id, struct task_row *t)
{
	struct bulk *k = c->state;
	struct outcome o = {.id = id, .code = ERR_NOT_FOUND, .why = "there is no such task"};

	if (t->id && scope_covers(c, t->spec.queue, t->spec.labels)) {
		if (!k->dry_run)
			return true;
		task_overlay(c->api, t);
		o.code = ERR_CONFLICT;
		o.why = refusal(k, t);
		if (!o.why)
			return true;
	}
	k->refused++;
	add_error(c, &o);
	return false;
}

static void given_read(struct call *c)
{
	struct bulk *k = c->state;
	rid *ids = k->ids + k->at - k->n_page;
	size_t n = 0;

	if (call_read_failed(c))
		return;
	for (size_t i = 0; i < k->n_page; i++)
		if (given_is_right(c, ids[i], &k->seen[i]))
			ids[n++] = ids[i];
	if (k->dry_run)
		k->matched += (int64_t)n;
	if (n && !k->dry_run)
		send_page(c, ids, n);
	else
		bulk_next(c);
}

static void next_given(struct call *c, size_t n)
{
	struct bulk *k = c->state;

	k->at += n;
	k->n_page = n;
	if (c->who.limit || k->dry_run)
		call_read_long(c, read_given, given_read);
	else
		send_page(c, k->ids + k->at - n, n);
}

static void bulk_next(struct call *c)
{
	struct bulk *k = c->state;
	size_t n = k->n_ids - k->at < PAGE_IDS ? k->n_ids - k->at : PAGE_IDS;

	if (!k->has_ids && !k->last) {
		call_read_long(c, read_page, page_read);
	} else if (k->has_ids && n) {
		next_given(c, n);
	} else {
		bulk_answer(c);
	}
}

static int set_filter(json_t *v, const char *field, void *arg, struct problem *p)
{
	struct bulk *k = arg;

	k->has_filter = true;
	return filter_from_json(k->c, v, &k->filter);
}

/* Each once, however often it is given. */
static void add_id(struct bulk *k, struct idmap *seen, rid id)
{
	if (idmap_get(seen, id))
		return;
	idmap_put(seen, id, k);
	k->ids[k->n_ids++] = id;
}

static int set_ids(json_t *v, const char *field, void *arg, struct problem *p)
{
	struct bulk *k = arg;
	AUTO(idmap_release) struct idmap seen = {0};
	struct str text;
	json_t *one;
	rid id = 0;
	size_t i;

	if (!json_is_array(v))
		return json_in_wrong(v, field, "an array of ids", p);
	if (json_array_size(v) > TASKS_PER_SUBMIT) {
		problem_set(p, ERR_TOO_LARGE, "more than %d ids are given", TASKS_PER_SUBMIT);
		return problem_field(p, field);
	}
	k->has_ids = true;
	k->ids = arena_alloc(&k->c->arena, (json_array_size(v) + 1) * sizeof *k->ids);
	json_array_foreach(v, i, one)
	{
		int rc = json_in_str(one, field, 24, &text, p);

		if (!rc)
			rc = find_id(k->c->api, text, field, &id, p);
		if (rc)
			return rc;
		add_id(k, &seen, id);
	}
	return 0;
}

#define F(name, kind, member, ...) \
	FIELD(name, kind, bulk, member, .flags = FIELD_GIVEN __VA_OPT__(, ) __VA_ARGS__)
const struct field bulk_fields[] = {
    FIELD_TOLD("filter", 0, "the tasks that match this", REF("TaskFilter")),
    FIELD_TOLD("ids", 0, "these tasks", ARRAY(REF("Id"))),
    FIELD("reason", FIELD_TEXT, bulk, reason, .max = REASON_MAX_BYTES,
        .flags = FIELD_GIVEN | FIELD_NULL_GIVEN, .about = "for the record"),
    F("dry_run", FIELD_BOOL, dry_run, .about = "only count what matches"),
    F("all", FIELD_BOOL, all, .about = "must be said when nothing narrows it"),
    {NULL},
};
static const struct json_member own[] = {{"filter", set_filter}, {"ids", set_ids}, {NULL}};

static int check(struct bulk *k, struct problem *p)
{
	if (k->has_filter && k->has_ids)
		return problem_set(p, ERR_INVALID, "give \"filter\" or \"ids\", not both");
	if (k->has_ids || (k->has_filter && !filter_is_empty(&k->filter)) || k->all)
		return 0;
	problem_set(p, ERR_INVALID, "this would act on every task");
	return problem_hint(p, "narrow it with \"filter\" or \"ids\", or say \"all\": true");
}

/* Where no state is asked for, those are meant that the action can apply to. */
static void default_states(struct bulk *k, const char *const *names)
{
	k->has_states = k->filter.n_states > 0;
	if (!k->has_states)
		filter_add_states(&k->filter, names);
}

static void bulk(struct call *c, enum event_kind kind, int32_t status, const char *const *names)
{
	struct bulk *k = call_state(c, sizeof *k);
	const struct fields_in r = {
	    .arena = &c->arena, .into = k, .problem = &c->problem, .own = own, .arg = k};

	*k = (struct bulk){.kind = kind, .status = status, .c = c};
	c->on_free = bulk_free;
	if (!call_fields(c, &r, bulk_fields))
		return;
	if (check(k, &c->problem)) {
		call_problem(c);
		return;
	}
	scope_narrow(c, &k->filter);
	if (k->has_ids && !k->dry_run)
		k->matched = (int64_t)k->n_ids;
	if (!k->has_ids) {
		default_states(k, names);
		k->ids = arena_alloc(&c->arena, PAGE_IDS * sizeof *k->ids);
	}
	/* one key cannot stand for several commands; what matches is found anew each time */
	c->no_idem = !k->has_ids || k->n_ids > PAGE_IDS;
	bulk_next(c);
}

void bulk_cancel(struct call *c)
{
	bulk(c, EV_CANCEL, 0, live_states);
}

void bulk_retry(struct call *c)
{
	static const char *const ended[] = {
	    "orphaned", "cancelled", "terminated", "failed", "finished", NULL};

	bulk(c, EV_RETRY, 0, ended);
}

void bulk_release(struct call *c)
{
	static const char *const held[] = {"held", "blocked", NULL};

	bulk(c, EV_TASK_SET, TASK_QUEUED, held);
}

void bulk_hold(struct call *c)
{
	static const char *const waiting[] = {"queued", "blocked", NULL};

	bulk(c, EV_TASK_SET, HOLD_STATUS, waiting);
}
