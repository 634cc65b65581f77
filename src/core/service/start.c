/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The start of an instance is a task, which is its worker's from the beginning: rows of both and
 * the order are in one batch. And what an instance is told to stop with.
 */
#include "core/service/place/want.h"
#include "core/state.h"

bool unit_start(struct core *c, struct unit *u, struct worker *w, struct effects *out)
{
	struct service *s = u->service;
	struct revision *r = revision_find(s, u->i.revision);
	struct want *want = r ? want_of(c, s, r) : NULL;
	struct submit_task start = {.status = TASK_QUEUED};
	struct revision_row row;
	struct task *t;

	if (!want || !w->link || !want_fits_now(c, want, w))
		return false;
	revision_row(s, r, NULL, &row);
	start.spec = (struct task_spec){.queue = row.spec.queue,
	    .max_attempts = 1,
	    .timeout_ms = -1,
	    .backoff_ms = -1,
	    .backoff_max_ms = -1,
	    .owner = {KIND_SERVICE, s->object.id, u->i.index},
	    .name =
	        arena_strf(&out->batch.arena, STR_FMT "/%u", STR_ARG(s->object.name), u->i.index),
	    .need = row.spec.need,
	    .body = row.spec.body};
	t = submit_to(c, &start, w, want->need, out);
	unit_unask(c, u);
	if (unit_text(u, TEXT_PLACE).p) {
		services_of(c)->n_place_errors--;
		unit_set_text(u, TEXT_PLACE, STR_NULL);
	}
	unit_move(c, u, INSTANCE_CLAIMED);
	u->i.id = t->row.id;
	u->token = t->row.state.token;
	unit_enter_site(c, u, w);
	services_of(c)->starts++;
	place_order(c, t, NULL, out);
	task_drop_body(t);
	return true;
}

/* The worker gives all of it back in its hellos: a server that knows nothing can write it down. */
void service_order(const struct core *c, const struct object *o, const struct task *t,
    struct link_run *run, struct arena *a)
{
	const struct service *s = (const struct service *)o;
	const struct unit *u = unit_of_task(c, s, t);
	struct revision_row row = {0};
	struct service_row whole;
	const struct revision *r = u ? revision_find(s, u->i.revision) : NULL;

	if (!u)
		return;
	if (r)
		revision_row(s, r, NULL, &row);
	service_row(s, NULL, &whole);
	run->instance = (struct link_instance){.service = arena_str(a, s->object.name),
	    .domain = arena_str(a, whole.domain),
	    .index = u->i.index,
	    .revision = u->i.revision,
	    .need = arena_str(a, t->row.state.charged)};
	run->n_ports = (uint32_t)row.spec.n_ports;
}

void unit_tell(struct core *c, struct unit *u, struct str reason, struct effects *out)
{
	struct task *t = u->i.id ? task_find(c, u->i.id) : NULL;

	u->i.is_stopping = true;
	u->i.asked_ms = c->now_ms;
	if (!MUTANT(SERVICE_STOPPING_IS_READY))
		unit_set_ready(c, u, false);
	unit_touch(c, u);
	if (t && t->worker && t->row.state.token == u->token)
		task_tell_end(c, t, WISH_CANCEL, reason, out);
}
