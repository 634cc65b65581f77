/* SPDX-License-Identifier: Apache-2.0 */
#include "api/tasks/filter.h"

#include <stdio.h>
#include <string.h>

#include "api/objects/resource.h"
#include "model/limits.h"
#include "wire/json/json_in.h"
#include "wire/json/task.h"

#define DELAYED "delayed" /* no state, but a part of the queued ones that people ask for */
#define ID_TIME_MAX_MS 4294967294999ll /* what the seconds of an id can hold */

#define FINISHED "finished " /* as a plugin's own status is shown: "finished 7" */

static bool state_parse(struct str text, int *ret_min, int *ret_max)
{
	size_t n = sizeof FINISHED - 1;
	int64_t own;

	if (str_is(text, DELAYED)) {
		*ret_min = *ret_max = TASK_QUEUED;
		return true;
	}
	if (!str_starts(text, FINISHED))
		return task_state_parse(text, ret_min, ret_max);
	if (!task_state_parse(STR("finished"), ret_min, ret_max) ||
	    !str_to_i64((struct str){text.p + n, text.n - n}, *ret_min, *ret_max, &own))
		return false;
	*ret_min = *ret_max = (int)own;
	return true;
}

static int filter_add_state(
    struct task_filter *f, struct str text, const char *field, struct problem *p)
{
	const char *near;
	int min, max;

	if (f->n_states == FILTER_STATES_MAX) {
		problem_set(p, ERR_INVALID, "more than %d states are given", FILTER_STATES_MAX);
		return problem_field(p, field);
	}
	if (!state_parse(text, &min, &max)) {
		near = str_nearest(text, task_state_names, n_task_state_names);
		problem_set(p, ERR_INVALID, "\"%.*s\" is not a state of a task",
		    text.n > 64 ? 64 : (int)text.n, text.p);
		if (near)
			problem_hint(p, "did you mean \"%s\"?", near);
		else
			problem_hint(p,
			    "states are held, blocked, queued, delayed, claimed, running, "
			    "succeeded, failed, finished, cancelled, terminated, orphaned, or a "
			    "number");
		return problem_field(p, field);
	}
	f->states[f->n_states].delayed = str_is(text, DELAYED);
	f->states[f->n_states].min = min;
	f->states[f->n_states++].max = max;
	return 0;
}

const char *const live_states[] = {"held", "blocked", "queued", "claimed", "running", NULL};

void filter_add_states(struct task_filter *f, const char *const *names)
{
	struct problem p;

	for (; *names; names++)
		filter_add_state(f, str_of(*names), "state", &p);
}

static int add_states(struct task_filter *f, struct str list, const char *field, struct problem *p)
{
	struct str one;

	while (str_next(&list, ',', &one))
		if (filter_add_state(f, one, field, p))
			return ERR_INVALID;
	return 0;
}

static int add_label(struct call *c, struct task_filter *f, struct str text, const char *field)
{
	struct problem *p = &c->problem;

	if (f->n_labels == FILTER_LABELS_MAX) {
		problem_set(p, ERR_INVALID, "more than %d labels are given", FILTER_LABELS_MAX);
		return problem_field(p, field);
	}
	if (text.n < 2 || text.n > LABEL_MAX_BYTES || text.p[0] == '=' ||
	    !memchr(text.p, '=', text.n) || memchr(text.p, '\n', text.n)) {
		problem_set(p, ERR_INVALID, "\"%.*s\" is not a label",
		    text.n > 64 ? 64 : (int)text.n, text.p);
		problem_hint(p, "write key=value");
		return problem_field(p, field);
	}
	f->labels[f->n_labels++] = arena_str(&c->arena, text);
	return 0;
}

/* Ids begin with the second they were made in; a bound in mid-second takes that second in. */
static rid bound(int64_t ms, bool upper)
{
	ms += upper ? 999 : 0;
	if (ms > ID_TIME_MAX_MS)
		ms = ID_TIME_MAX_MS;
	return ms > 0 && id_floor(ms) ? id_floor(ms) : 1;
}

static int add_queue(struct call *c, struct task_filter *f, struct str text, const char *field)
{
	const struct queue_row *q = find_queue(c, text, field, &c->problem);

	f->queue = q ? q->id : 0;
	return q ? 0 : c->problem.code;
}

static int add_worker(struct call *c, struct task_filter *f, struct str text, const char *field)
{
	/* a worker that was forgotten can still be named by its id */
	if (id_parse(c->host->ids, text, &f->worker) && f->worker)
		return 0;
	f->worker = find_worker(c, text, field, &c->problem);
	return f->worker ? 0 : c->problem.code;
}

static int add_owner(
    struct call *c, struct task_filter *f, enum query q, struct str text, const char *field)
{
	const struct resource *r = resource_asked(q);

	if (!r)
		return 0;
	f->owner_kind = (int32_t)r->kind;
	/* one that was deleted can still be named by its id */
	if (id_parse(c->host->ids, text, &f->owner) && f->owner)
		return 0;
	f->owner = find_object(c, r->kind, text, field, &c->problem);
	return f->owner ? 0 : c->problem.code;
}

static int add_time(struct call *c, rid *where, struct str text, const char *field, bool upper)
{
	int64_t ms, now = c->host->wall_ms(c->host->arg);

	if (text_in_time(text, field, now, -1, &ms, &c->problem))
		return ERR_INVALID;
	*where = bound(ms, upper);
	return 0;
}

static int add_name(struct call *c, struct task_filter *f, struct str text, const char *field)
{
	if (task_name_check(text, field, &c->problem))
		return ERR_INVALID;
	f->name = arena_str(&c->arena, text);
	return 0;
}

/* A caller that may not see what tasks run must not guess it word by word. */
static int add_search(struct call *c, struct task_filter *f, struct str text, const char *field)
{
	if (!access_sees(c, RIGHT_LOGS)) {
		problem_set(&c->problem, ERR_DENIED,
		    "to search in commands and parameters one must be allowed to see them");
		problem_hint(&c->problem, "a token of the role logs, or above, may do so");
		return problem_field(&c->problem, field);
	}
	return search_parse(&c->arena, text, &f->search, &c->problem)
	           ? problem_field(&c->problem, field)
	           : 0;
}

static int add_one(
    struct call *c, struct task_filter *f, enum query q, struct str v, const char *field)
{
	switch (q) {
	case Q_QUEUE: return add_queue(c, f, v, field);
	case Q_STATE: return add_states(f, v, field, &c->problem);
	case Q_LABEL: return add_label(c, f, v, field);
	case Q_BATCH: return find_id(c->api, v, field, &f->batch, &c->problem);
	case Q_WORKER: return add_worker(c, f, v, field);
	case Q_NAME: return add_name(c, f, v, field);
	case Q_SEARCH: return add_search(c, f, v, field);
	case Q_SINCE: return add_time(c, &f->since, v, field, false);
	case Q_UNTIL: return add_time(c, &f->until, v, field, true);
	default: return add_owner(c, f, q, v, field);
	}
}

bool filter_from_query(struct call *c, struct task_filter *ret_filter)
{
	*ret_filter = (struct task_filter){.now_ms = c->host->wall_ms(c->host->arg)};
	for (size_t i = 0; i < c->req.n_params; i++)
		for (int q = 0; q < N_QUERY; q++)
			if (str_is(c->req.params[i].key, query_infos[q].name) &&
			    add_one(c, ret_filter, (enum query)q, c->req.params[i].value,
			        query_infos[q].name)) {
				call_problem(c);
				return false;
			}
	scope_narrow(c, ret_filter);
	return true;
}

struct reading {
	struct call *c;
	struct task_filter *f;
	enum query q;
};

/* A string (or number), or an array of them where several make sense. */
static int set_one(struct reading *r, json_t *v, const char *field, enum query q)
{
	struct problem *p = &r->c->problem;
	json_t *one;
	size_t i;

	if (json_is_array(v) && query_infos[q].many) {
		json_array_foreach(v, i, one)
		{
			int rc = json_is_array(one) ? json_in_wrong(one, field, "a string", p)
			                            : set_one(r, one, field, q);

			if (rc)
				return rc;
		}
		return 0;
	}
	if (q == Q_STATE && json_is_integer(v))
		return filter_add_state(r->f,
		    arena_strf(&r->c->arena, "%lld", (long long)json_integer_value(v)), field, p);
	if (!json_is_string(v))
		return json_in_wrong(
		    v, field, query_infos[q].many ? "a string or an array" : "a string", p);
	return add_one(
	    r->c, r->f, q, (struct str){json_string_value(v), json_string_length(v)}, field);
}

static int unknown(struct call *c, const char *key)
{
	const char *names[N_QUERY];
	size_t n = 0;

	for (int q = 0; q < N_QUERY; q++)
		if (FILTERS & Q(q))
			names[n++] = query_infos[q].name;
	return json_in_unknown(key, "filter", names, n, &c->problem);
}

int filter_from_json(struct call *c, json_t *object, struct task_filter *ret_filter)
{
	struct reading r = {.c = c, .f = ret_filter};
	const char *key;
	char field[64];
	json_t *v;
	int rc = json_in_object(object, "filter", &c->problem);

	*ret_filter = (struct task_filter){.now_ms = c->host->wall_ms(c->host->arg)};
	json_object_foreach(object, key, v)
	{
		int q = 0;

		while (q < N_QUERY && (!(FILTERS & Q(q)) || strcmp(query_infos[q].name, key) != 0))
			q++;
		snprintf(field, sizeof field, "filter.%s", key);
		rc = q == N_QUERY ? unknown(c, key) : set_one(&r, v, field, (enum query)q);
		if (rc)
			break;
	}
	return rc;
}

bool filter_is_empty(const struct task_filter *f)
{
	return !f->queue && !f->batch && !f->worker && !f->owner && !f->n_states && !f->n_labels &&
	       !f->since && !f->until && !f->name.p && !f->search.n;
}
