/* SPDX-License-Identifier: Apache-2.0 */
/* Workers: looked at in memory, changed by commands. */
#include <string.h>

#include "api/objects/resource.h"
#include "api/objects/show.h"
#include "model/limits.h"
#include "model/row.h"
#include "wire/json_in.h"

#define MAXTHREADS_OWN (-2) /* back to the worker's own setting */

static bool view_of(const struct call *c, rid id, struct worker_view *ret_view)
{
	return core_worker(c->host->core, id, c->host->mono_ms(c->host->arg), ret_view);
}

static bool state_bit(struct call *c, struct str name, unsigned *states)
{
	const char *near;

	for (int i = 0; i < N_WORKER_SHOWN; i++)
		if (str_is(name, worker_shown_names[i])) {
			*states |= 1u << i;
			return true;
		}
	near = name.n <= 64 ? str_nearest(name, worker_shown_names, N_WORKER_SHOWN) : NULL;
	problem_set(&c->problem, ERR_INVALID, "\"%.*s\" is not a state of a worker",
	    name.n > 64 ? 64 : (int)name.n, name.p);
	if (near)
		problem_hint(&c->problem, "did you mean \"%s\"?", near);
	else
		problem_hint(&c->problem, "states are new, unhealthy, healthy, must_die and left");
	problem_field(&c->problem, "state");
	call_problem(c);
	return false;
}

/* A bit per state that is wanted; all when none is named. */
static bool wanted_states(struct call *c, unsigned *ret_states)
{
	struct str list, one;

	*ret_states = 0;
	for (size_t i = 0; i < c->req.n_params; i++) {
		if (!str_is(c->req.params[i].key, "state"))
			continue;
		list = c->req.params[i].value;
		while (str_next(&list, ',', &one))
			if (!state_bit(c, one, ret_states))
				return false;
	}
	if (!*ret_states)
		*ret_states = ~0u;
	return true;
}

void workers_list(struct call *c)
{
	struct worker_view view;
	unsigned states;
	uint32_t limit;
	rid at, id = 0;

	if (!call_page(c, &at, &limit) || !wanted_states(c, &states))
		return;
	jw_open(&c->out, '{');
	jw_key(&c->out, "items");
	jw_open(&c->out, '[');
	while (limit > 0 && c->out.n < PAGE_BYTES &&
	       (id = core_next(c->host->core, KIND_WORKER, at))) {
		at = id;
		if (!view_of(c, id, &view) || !(states & 1u << view.shown))
			continue;
		show_worker(&c->out, c->api, &view);
		limit--;
	}
	show_page_end(c, id && core_next(c->host->core, KIND_WORKER, at) ? at : 0);
}

bool worker_seek(struct call *c, int64_t *ret_version)
{
	struct worker_view view;
	rid id = find_worker(c, c->arg, "worker", &c->problem);

	if (!id || !view_of(c, id, &view)) {
		call_problem(c);
		return false;
	}
	c->about = id;
	*ret_version = view.row->version;
	return true;
}

void worker_answer(struct call *c, rid id, int status)
{
	struct worker_view view;

	if (!view_of(c, id, &view)) {
		call_fail(c, ERR_NOT_FOUND, "the worker was forgotten in the meantime");
		return;
	}
	if (call_etag(c, view.row->version))
		return;
	show_worker(&c->out, c->api, &view);
	call_json(c, status);
}

static int set_maxthreads(json_t *v, const char *field, void *arg, struct problem *p)
{
	struct worker_row *row = arg;
	int64_t n = -1;

	row->maxthreads_set = MAXTHREADS_OWN;
	if (json_is_string(v)) {
		return strcmp(json_string_value(v), "worker") == 0
		           ? 0
		           : json_in_wrong(
		                 v, field, "a number, null (no limit) or \"worker\" (its own)", p);
	}
	if (!json_is_null(v) && json_in_int(v, field, 0, THREADS_MAX, &n, p))
		return ERR_INVALID;
	row->maxthreads_is_set = true;
	row->maxthreads_set = (int32_t)n;
	return 0;
}

static const struct json_member members[] = {{"maxthreads", set_maxthreads}};

void worker_patch(struct call *c)
{
	struct worker_row row = {0};
	struct event ev = {.kind = EV_SET};
	json_t *body;

	if (!resource_begin(c, &ev) || !call_body(c, &body))
		return;
	ev.object.row = &row;
	ev.object.fields = row_settable(&worker_table);
	if (json_in_members(body, "", members, 1, &row, &c->problem))
		call_problem(c);
	else if (json_object_size(body) == 0)
		call_fail(c, ERR_INVALID, "nothing to change: give \"maxthreads\"");
	else
		call_command(c, &ev, resource_changed);
	json_decref(body);
}

void worker_stop(struct call *c)
{
	resource_do(c, WORKER_STOP);
}

void worker_restart(struct call *c)
{
	resource_do(c, WORKER_RESTART);
}

void worker_drain(struct call *c)
{
	struct event ev = {.kind = EV_DO, .object.verb = WORKER_DRAIN};
	json_t *body;

	if (!resource_begin(c, &ev) || !call_body(c, &body))
		return;
	if (reason_in_read(c, body, &ev.object.reason))
		call_problem(c);
	else
		call_command(c, &ev, resource_changed);
	json_decref(body);
}

void worker_undrain(struct call *c)
{
	resource_do(c, WORKER_UNDRAIN);
}
