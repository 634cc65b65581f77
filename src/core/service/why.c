/* SPDX-License-Identifier: Apache-2.0 */
/* Why an instance is as it is, and what would lift that. */
#include "core/service/unit.h"
#include "core/service/view.h"
#include "core/state.h"

static struct facts *add(struct why_answer *an, enum why_code code, const struct unit *u)
{
	struct facts *f = why_add(an, code);

	f->name = u->service->object.name;
	f->n = u->i.index;
	return f;
}

static void why_unclaimed(
    struct why_answer *an, const struct core *c, const struct unit *u, int64_t mono_ms)
{
	struct str lacks = service_lacks(c, u->service, u->i.revision);
	struct str place = unit_text(u, TEXT_PLACE);

	if (c->start.waiting)
		why_add(an, WHY_INITIAL_WAIT)->in_ms = c->start.until_ms - mono_ms;
	if (lacks.p)
		add(an, WHY_INSTANCE_NEEDS, u)->other = lacks;
	if (u->service->holds_starts)
		add(an, WHY_INSTANCE_HELD, u);
	if (place.p)
		add(an, WHY_INSTANCE_NO_PLACE, u)->reason = place;
	if (!an->n)
		add(an, WHY_INSTANCE_DUE, u);
}

static void why_crashed(struct why_answer *an, const struct unit *u, int64_t now_ms)
{
	int64_t due = crash_due_ms(&u->i, &u->service->crash);
	struct facts *f =
	    add(an, due == CRASH_NEVER ? WHY_INSTANCE_GAVE_UP : WHY_INSTANCE_CRASHED, u);

	f->of = u->i.crash_count;
	f->reason = unit_text(u, TEXT_CRASH);
	if (due == CRASH_NEVER)
		return;
	f->at_ms = due;
	f->in_ms = due > now_ms ? due - now_ms : 0;
}

static struct str worker_name(const struct core *c, const struct unit *u)
{
	const struct worker *w = worker_find(c, u->worker);

	return w ? w->row.facts.shard : STR_NULL;
}

static void why_on_worker(struct why_answer *an, const struct core *c, const struct unit *u)
{
	bool is_silent = u->line == LINE_UNIT_LIMBO || (u->site && u->site->seen != SEEN_PRESENT);

	if (is_silent)
		add(an, WHY_INSTANCE_SILENT, u)->other = worker_name(c, u);
	if (u->i.presence == PRESENCE_EVACUATING)
		add(an, WHY_INSTANCE_EVACUATING, u)->other = worker_name(c, u);
	if (u->i.presence == PRESENCE_ORDINARY && u->site && u->site->is_drained &&
	    !u->i.is_stopping)
		add(an, WHY_INSTANCE_BLOCKED, u)->other = worker_name(c, u);
	if (u->i.is_stopping)
		add(an, WHY_INSTANCE_STOPPING, u)->other = worker_name(c, u);
	else if (!u->is_up)
		add(an, WHY_INSTANCE_STARTING, u)->other = worker_name(c, u);
	else if (!u->i.is_ready)
		add(an, WHY_INSTANCE_NOT_READY, u)->other = worker_name(c, u);
	else
		add(an, WHY_INSTANCE_READY, u)->other = worker_name(c, u);
	if (u->i.index >= u->service->wanted && !u->i.is_surge && !u->i.is_stopping)
		add(an, WHY_INSTANCE_SURPLUS, u);
}

static void why_unit(struct why_answer *an, const struct core *c, const struct unit *u,
    int64_t now_ms, int64_t mono_ms)
{
	switch (u->i.state) {
	case INSTANCE_UNCLAIMED: why_unclaimed(an, c, u, mono_ms); break;
	case INSTANCE_CRASHED: why_crashed(an, u, now_ms); break;
	default: why_on_worker(an, c, u); break;
	}
}

size_t core_instance_why(const struct core *c, rid id, int64_t index, int64_t now_ms,
    int64_t mono_ms, struct arena *a, struct why **ret_whys)
{
	const struct service *s = service_find(c, id);
	struct why_answer an = {.a = a};

	for (int p = 0; s && p < N_PRESENCES; p++) {
		const struct unit *u = unit_find(s, index, (enum presence)p);

		if (u && !u->is_over)
			why_unit(&an, c, u, now_ms, mono_ms);
	}
	if (s && !an.n && index >= 0 && index < (int64_t)s->wanted) {
		struct facts *f = why_add(&an, WHY_INSTANCE_NONE);

		f->name = s->object.name;
		f->n = index;
	}
	*ret_whys = an.whys;
	return an.n;
}
