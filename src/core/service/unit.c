/* SPDX-License-Identifier: Apache-2.0 */
/* Units: found by index and presence, counted, changed, and written once a step. */
#include "core/service/unit.h"

#include <stdlib.h>
#include <string.h>

#include "core/state.h"

static const size_t text_max[N_UNIT_TEXTS] = {
    [TEXT_ADDRESS] = HOST_MAX_BYTES,
    [TEXT_PORTS] = PORTS_MAX * 6,
    [TEXT_CRASH] = CRASH_REASON_MAX,
    [TEXT_PLACE] = PLACE_ERROR_MAX,
};

static int cmp(const struct unit *u, int64_t index, int presence)
{
	if ((int64_t)u->i.index != index)
		return (int64_t)u->i.index < index ? -1 : 1;
	return (int)u->i.presence - presence;
}

/* The first at or behind it. */
static size_t place_of(const struct service *s, int64_t index, int presence)
{
	size_t low = 0, high = s->n_units;

	if (high && cmp(s->units[high - 1], index, presence) < 0)
		return high; /* most come in order */
	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (cmp(s->units[mid], index, presence) < 0)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

size_t unit_place(const struct service *s, int64_t index, int presence)
{
	return place_of(s, index, presence);
}

struct unit *unit_find(const struct service *s, int64_t index, enum presence presence)
{
	size_t at = place_of(s, index, (int)presence);

	return at < s->n_units && cmp(s->units[at], index, (int)presence) == 0 ? s->units[at]
	                                                                       : NULL;
}

struct unit *unit_of_task(const struct core *c, const struct service *s, const struct task *t)
{
	int64_t index = t->row.spec.owner.part;

	for (size_t at = place_of(s, index, 0);
	     at < s->n_units && (int64_t)s->units[at]->i.index == index; at++)
		if (s->units[at]->i.id == t->row.id && unit_is_on_worker(s->units[at]))
			return s->units[at];
	return NULL;
}

/* --- counts */

static void count(struct core *c, const struct unit *u, int by)
{
	struct services *all = services_of(c);

	all->beside[u->i.presence] += (size_t)by;
	if (u->i.presence == PRESENCE_ORDINARY)
		all->in[u->i.state] += (size_t)by;
	all->n_ready += u->i.is_ready ? (size_t)by : 0;
	all->n_place_errors += unit_text(u, TEXT_PLACE).p ? (size_t)by : 0;
	u->service->n_ready += u->i.is_ready ? (uint32_t)by : 0;
}

void unit_set_revision(struct unit *u, int64_t revision)
{
	struct revision *was = revision_find(u->service, u->i.revision);
	struct revision *is = revision_find(u->service, revision);

	if (was)
		was->n_units--;
	if (is)
		is->n_units++;
	u->i.revision = revision;
}

/* --- what is there */

static struct unit *enter(struct core *c, struct service *s, uint32_t index, enum presence presence)
{
	size_t at = place_of(s, index, (int)presence);
	struct unit *u = xcalloc(1, sizeof *u);

	u->service = s;
	u->i = (struct instance){
	    .service = s->number, .index = index, .presence = presence, .worker = NO_WORKER};
	GROW(s->units, s->cap_units, s->n_units + 1);
	memmove(&s->units[at + 1], &s->units[at], (s->n_units++ - at) * sizeof(struct unit *));
	s->units[at] = u;
	services_of(c)->n_units++;
	return u;
}

struct unit *unit_add(
    struct core *c, struct service *s, uint32_t index, enum presence presence, int64_t revision)
{
	struct unit *u = enter(c, s, index, presence);

	u->i.since_ms = u->i.asked_ms = c->now_ms;
	u->i.revision = -1;
	unit_set_revision(u, revision);
	count(c, u, +1);
	unit_touch(c, u);
	return u;
}

static void take_out(struct service *s, struct unit *u)
{
	size_t at = place_of(s, u->i.index, (int)u->i.presence);

	MUST(s->units[at] == u);
	memmove(&s->units[at], &s->units[at + 1], (--s->n_units - at) * sizeof(struct unit *));
}

void unit_free(struct core *c, struct unit *u)
{
	unit_unask(c, u);
	unit_leave_limbo(c, u);
	unit_leave_site(c, u);
	unit_set_last(c, u, 0);
	count(c, u, -1);
	unit_set_revision(u, -1);
	if (u->is_changed)
		TAILQ_REMOVE(&services_of(c)->written, u, in_changed);
	for (int k = 0; u->texts && k < N_UNIT_TEXTS; k++)
		free((char *)u->texts->of[k].p);
	free(u->texts);
	services_of(c)->n_units--;
	free(u);
}

static void drop_row(struct unit *u, struct effects *out)
{
	struct instance_row *key;

	if (!u->is_stored || MUTANT(SERVICE_RECORD_STAYS))
		return;
	key = arena_zalloc(&out->batch.arena, sizeof *key);
	key->service = u->service->object.id;
	key->index = u->i.index;
	key->presence = (int64_t)u->i.presence;
	batch_drop(&out->batch, &instance_table, key);
	u->is_stored = false;
}

void unit_remove(struct core *c, struct unit *u, struct effects *out)
{
	struct service *s = u->service;

	drop_row(u, out);
	take_out(s, u);
	unit_free(c, u);
	s->lost_a_row = true; /* the tag of what is gone must not come again */
	service_note(c, s);
}

void unit_set_presence(struct core *c, struct unit *u, enum presence presence, struct effects *out)
{
	struct service *s = u->service;
	size_t at;

	drop_row(u, out);
	take_out(s, u);
	count(c, u, -1);
	u->i.presence = presence;
	count(c, u, +1);
	at = place_of(s, u->i.index, (int)presence);
	memmove(&s->units[at + 1], &s->units[at], (s->n_units++ - at) * sizeof(struct unit *));
	s->units[at] = u;
	unit_touch(c, u);
}

/* What it was told stays, while it is the same start. */
void unit_move(struct core *c, struct unit *u, enum instance_state to)
{
	bool stays = to == INSTANCE_CLAIMED || to == INSTANCE_RUNNING;
	bool was_stopping = u->i.is_stopping;
	int64_t asked_ms = u->i.asked_ms;
	uint32_t worker = u->i.worker;

	count(c, u, -1);
	instance_move(&u->i, to, c->now_ms);
	if (stays && was_stopping) {
		u->i.is_stopping = true;
		u->i.asked_ms = asked_ms;
	}
	u->i.worker = stays ? worker : NO_WORKER;
	count(c, u, +1);
	if (!stays) {
		u->is_up = false;
		u->token = 0;
		u->worker = 0;
		unit_set_text(u, TEXT_ADDRESS, STR_NULL);
		unit_set_text(u, TEXT_PORTS, STR_NULL);
		unit_leave_limbo(c, u);
		unit_leave_site(c, u);
	}
	unit_touch(c, u);
}

void unit_set_ready(struct core *c, struct unit *u, bool ready)
{
	if (u->i.is_ready == ready)
		return;
	count(c, u, -1);
	u->i.is_ready = ready;
	u->i.ready_ms = ready ? c->now_ms : 0;
	count(c, u, +1);
	if (ready && u->service->n_ready == 1)
		services_note_needy(c);
	unit_touch(c, u);
}

void unit_touch(struct core *c, struct unit *u)
{
	if (u->is_changed)
		return;
	u->is_changed = true;
	TAILQ_INSERT_TAIL(&services_of(c)->written, u, in_changed);
}

void unit_set_last(struct core *c, struct unit *u, rid task)
{
	struct idmap *kept = &services_of(c)->kept;

	if (u->last_task)
		idmap_del(kept, u->last_task);
	u->last_task = task;
	if (task)
		idmap_put(kept, task, u);
}

bool services_may_prune(const struct core *c, rid task)
{
	return !idmap_get(&services_of(c)->kept, task);
}

/* --- texts */

struct str unit_text(const struct unit *u, enum unit_text which)
{
	return u->texts ? u->texts->of[which] : STR_NULL;
}

bool unit_set_text(struct unit *u, enum unit_text which, struct str text)
{
	struct str *at;

	if (text.n > text_max[which])
		text.n = text_max[which];
	if (!text.n && !unit_text(u, which).p)
		return false;
	if (!u->texts)
		u->texts = xcalloc(1, sizeof *u->texts);
	at = &u->texts->of[which];
	if (at->p && text.n && str_eq(*at, text))
		return false;
	free((char *)at->p);
	*at = text.n ? (struct str){xstrndup(text.p, text.n), text.n} : STR_NULL;
	return true;
}

/* --- rows */

void unit_row(const struct unit *u, struct instance_row *r)
{
	const struct instance *i = &u->i;

	*r = (struct instance_row){.service = u->service->object.id,
	    .index = i->index,
	    .presence = (int64_t)i->presence,
	    .state = (int32_t)i->state,
	    .crash_count = (int32_t)i->crash_count,
	    .task = i->id,
	    .token = u->token,
	    .last_task = u->last_task,
	    .worker = u->worker,
	    .revision = i->revision,
	    .tag = (int64_t)i->tag,
	    .since_ms = i->since_ms,
	    .asked_ms = i->asked_ms,
	    .crashed_at_ms = i->crashed_at_ms,
	    .ready_ms = i->is_ready ? i->ready_ms : 0,
	    .is_up = u->is_up,
	    .is_stopping = i->is_stopping,
	    .is_surge = i->is_surge,
	    .address = unit_text(u, TEXT_ADDRESS),
	    .ports = unit_text(u, TEXT_PORTS),
	    .crash_reason = unit_text(u, TEXT_CRASH),
	    .place_error = unit_text(u, TEXT_PLACE)};
}

static bool is_sound(const struct instance_row *r)
{
	return r->index >= 0 && r->index < SERVICE_INSTANCES_OF_ONE + SERVICE_INSTANCES_OF_ONE &&
	       r->presence >= 0 && r->presence < N_PRESENCES && r->state >= 0 &&
	       r->state < N_INSTANCE_STATES;
}

/* As it was written; the revision is still to be set. */
static struct instance instance_of(const struct instance *begun, const struct instance_row *r)
{
	struct instance i = *begun;

	i.state = (enum instance_state)r->state;
	i.crash_count = (uint32_t)r->crash_count;
	i.id = r->task;
	i.tag = (uint64_t)r->tag;
	i.since_ms = r->since_ms;
	i.asked_ms = r->asked_ms;
	i.crashed_at_ms = r->crashed_at_ms;
	i.ready_ms = r->ready_ms;
	i.is_ready = r->ready_ms && i.state == INSTANCE_RUNNING;
	i.is_stopping = r->is_stopping;
	i.is_surge = r->is_surge;
	i.revision = -1;
	return i;
}

void unit_load(struct core *c, const struct instance_row *r)
{
	struct services *all = services_of(c);
	struct service *s = service_find(c, r->service);
	struct unit *u;

	if ((uint64_t)r->tag > all->tag)
		all->tag = (uint64_t)r->tag;
	if (!s || !is_sound(r) || unit_find(s, r->index, (enum presence)r->presence))
		return;
	u = enter(c, s, (uint32_t)r->index, (enum presence)r->presence);
	u->is_stored = true;
	u->i = instance_of(&u->i, r);
	u->token = r->token;
	u->worker = r->worker;
	unit_set_last(c, u, r->last_task);
	u->is_up = r->is_up;
	unit_set_revision(u, r->revision);
	unit_set_text(u, TEXT_ADDRESS, r->address);
	unit_set_text(u, TEXT_PORTS, r->ports);
	unit_set_text(u, TEXT_CRASH, r->crash_reason);
	unit_set_text(u, TEXT_PLACE, r->place_error);
	if (u->i.tag > s->tag)
		s->tag = u->i.tag;
	count(c, u, +1);
}

static void notice(struct core *c, const struct unit *u, struct effects *out)
{
	struct notice *n = effects_notice(out, "instance.changed");
	const struct service *s = u->service;

	n->seq = ++c->last_event;
	n->time_ms = c->now_ms;
	n->task = u->i.id;
	n->worker = u->worker;
	n->owner = (struct owner){KIND_SERVICE, s->object.id, u->i.index};
	n->exit_code = -1;
	n->subject =
	    arena_strf(&out->batch.arena, STR_FMT "/%u", STR_ARG(s->object.name), u->i.index);
	n->detail = arena_strf(&out->batch.arena,
	    "{\"state\":\"%s\",\"presence\":\"%s\",\"ready\":%s,\"tag\":%llu}",
	    instance_state_names[u->i.state], presence_names[u->i.presence],
	    u->i.is_ready ? "true" : "false", (unsigned long long)u->i.tag);
}

static void write(struct core *c, struct unit *u, struct effects *out)
{
	struct instance_row row;

	service_touch(c, u->service);
	u->i.tag = u->service->tag;
	unit_row(u, &row);
	batch_put(&out->batch, &instance_table, row_new(&out->batch.arena, &instance_table, &row));
	u->is_stored = true;
	notice(c, u, out);
}

void units_write(struct core *c, struct effects *out)
{
	struct services *all = services_of(c);
	struct unit *u;

	while ((u = TAILQ_FIRST(&all->written))) {
		TAILQ_REMOVE(&all->written, u, in_changed);
		u->is_changed = false;
		write(c, u, out);
	}
}
