/* SPDX-License-Identifier: Apache-2.0 */
/* Services as objects: their rows at rest, how they are loaded, and how they go. */
#include "core/service/place/want.h"

#include <stdlib.h>

#include "core/state.h"
#include "model/rows/pack.h"

_Static_assert((int)STRATEGY_ROLLING == (int)DEPLOY_BY_ROLLING, "as src/service has it");
_Static_assert((int)STRATEGY_RECREATE == (int)DEPLOY_BY_RECREATE, "as src/service has it");
_Static_assert((int)STRATEGY_CANARY == (int)DEPLOY_BY_CANARY, "as src/service has it");
_Static_assert(SERVICE_DEPLOY_STATES == N_DEPLOY_STATES, "as src/service has it");

struct services *services_of(const struct core *c)
{
	return c->of_kind[KIND_SERVICE];
}

struct service *service_find(const struct core *c, rid id)
{
	return object_find(c, KIND_SERVICE, id);
}

static uint64_t kept_elsewhere(void)
{
	return ROW_BIT(service_table, service_row, id) | ROW_BIT(service_table, service_row, name) |
	       ROW_BIT(service_table, service_row, tag) |
	       ROW_BIT(service_table, service_row, deploy.state) |
	       ROW_BIT(service_table, service_row, deploy.target) |
	       ROW_BIT(service_table, service_row, deploy.stable) |
	       ROW_BIT(service_table, service_row, deploy.failed) |
	       ROW_BIT(service_table, service_row, deploy.since_ms) |
	       ROW_BIT(service_table, service_row, last_revision) | service_spec_columns();
}

static struct service_deploy deploy_row(const struct deploy *d)
{
	return (struct service_deploy){
	    (int32_t)d->state, d->target, d->stable, d->failed, d->since_ms};
}

void service_row(const struct service *s, struct arena *a, struct service_row *ret_row)
{
	const struct revision *r = revision_find(s, s->deploy.target);
	struct revision_row target;

	*ret_row = (struct service_row){.id = s->object.id,
	    .name = a ? arena_str(a, s->object.name) : s->object.name,
	    .tag = (int64_t)s->tag,
	    .last_revision = s->last_revision,
	    .deploy = deploy_row(&s->deploy)};
	row_unpack(&service_table, kept_elsewhere(), s->packed, a, ret_row);
	if (!r)
		return;
	revision_row(s, r, a, &target);
	ret_row->spec = target.spec;
}

/* What is looked at often lies open. */
void service_adopt(struct core *c, struct service *s, const struct service_row *row)
{
	const struct service_crash *k = &row->crash;
	const struct service_strategy *t = &row->strategy;

	s->is_deleting = row->deleting;
	s->wanted = row->deleting ? 0 : (uint32_t)row->instances;
	s->is_singleton = row->singleton;
	s->last_revision = row->last_revision;
	service_name_domain(c, s, row->domain);
	s->crash = (struct crash_policy){(uint32_t)k->at_once, k->wait_ms, k->factor,
	    k->wait_max_ms, (uint32_t)k->stop_at, k->reset_after_ms};
	s->strategy = (struct deploy_strategy){(enum deploy_kind)t->kind, (uint32_t)t->max_surge,
	    (uint32_t)t->max_unavailable, (uint32_t)t->canary, t->min_healthy_ms, t->deadline_ms,
	    t->auto_rollback};
	row_pack(&service_table, kept_elsewhere(), row, &s->packed, &s->n_packed);
}

/* The row may be the one that was unpacked without an arena: it is packed before it is lost. */
void service_save(
    struct core *c, struct service *s, const struct service_row *row, struct effects *out)
{
	struct service_row *copy = row_new(&out->batch.arena, &service_table, row);

	service_adopt(c, s, copy);
	service_touch(c, s);
	copy->tag = (int64_t)s->tag;
	copy->deploy = deploy_row(&s->deploy);
	batch_put(&out->batch, &service_table, copy);
}

void service_save_deploy(struct core *c, struct service *s, struct effects *out)
{
	struct service_row *row = arena_zalloc(&out->batch.arena, sizeof *row);

	service_touch(c, s);
	row->id = s->object.id;
	row->deploy = deploy_row(&s->deploy);
	row->tag = (int64_t)s->tag;
	batch_state(&out->batch, &service_table, row);
}

void service_touch(struct core *c, struct service *s)
{
	struct services *all = services_of(c);

	s->tag = ++all->tag;
	TAILQ_REMOVE(&all->changed, s, in_changed);
	TAILQ_INSERT_TAIL(&all->changed, s, in_changed);
}

/* The lowest free number. */
static uint32_t number_take(struct services *all, struct service *s)
{
	size_t n = all->first_free;

	while (n < all->n_numbers && all->by_number[n])
		n++;
	if (n == all->n_numbers) {
		GROW(all->by_number, all->cap_numbers, n + 1);
		all->n_numbers++;
	}
	all->by_number[n] = s;
	all->first_free = n + 1;
	return (uint32_t)n;
}

/* What a damaged row says of it may be any number: then the deploy is over. */
static enum deploy_state known_state(int32_t stored)
{
	bool is_known = stored > 0 && stored < N_DEPLOY_STATES;

	return (enum deploy_state)(is_known ? stored : 0);
}

struct service *service_enter(struct core *c, const struct service_row *row)
{
	struct services *all = services_of(c);
	struct service *s = xcalloc(1, sizeof *s);
	struct str name = {xstrndup(row->name.p, row->name.n), row->name.n};

	object_add(c, &s->object, KIND_SERVICE, row->id, name);
	s->number = number_take(all, s);
	s->deploy = (struct deploy){.state = known_state(row->deploy.state),
	    .target = row->deploy.target,
	    .stable = row->deploy.stable,
	    .failed = row->deploy.failed,
	    .since_ms = row->deploy.since_ms};
	s->tag = (uint64_t)row->tag;
	s->has_surplus = true; /* nobody has looked yet */
	TAILQ_INSERT_TAIL(&all->changed, s, in_changed);
	service_adopt(c, s, row);
	if (all->has_begun)
		services_arm(c);
	return s;
}

static void load(struct core *c, const void *stored)
{
	struct services *all = services_of(c);
	const struct service_row *row = stored;
	struct service *s = service_enter(c, row);

	if (s->tag > all->tag)
		all->tag = s->tag;
}

static void load_part(struct core *c, const struct row_table *t, const void *row)
{
	if (t == &revision_table)
		revision_load(c, row);
	else if (t == &instance_table)
		unit_load(c, row);
}

void service_forget(struct core *c, struct service *s)
{
	struct services *all = services_of(c);

	timer_clear(c, TIMER_WALL, &s->timer);
	while (s->n_units)
		unit_free(c, s->units[--s->n_units]);
	if (s->is_noted)
		TAILQ_REMOVE(&all->noted, s, in_noted);
	if (s->is_needy)
		TAILQ_REMOVE(&all->needy, s, in_needy);
	if (s->has_blocked)
		TAILQ_REMOVE(&all->blocked, s, in_blocked);
	TAILQ_REMOVE(&all->changed, s, in_changed);
	all->by_number[s->number] = NULL;
	if (s->number < all->first_free)
		all->first_free = s->number;
	revisions_release(c, s);
	service_name_domain(c, s, STR_NULL);
	object_del(c, &s->object);
	free((char *)s->object.name.p);
	free(s->units);
	free(s->packed);
	free(s);
}

static int64_t version(const struct object *o)
{
	struct service_row row;

	service_row((const struct service *)o, NULL, &row);
	return row.version;
}

static void save(struct core *c, struct object *o, void *changed, struct effects *out)
{
	struct service *s = (struct service *)o;
	struct service_row *row = changed;
	char *old = (char *)o->name.p;

	service_save(c, s, row, out);
	if (str_eq(row->name, o->name))
		return;
	object_rename(c, o, (struct str){xstrndup(row->name.p, row->name.n), row->name.n});
	free(old);
}

static const struct object *user_of(const struct core *c, rid queue)
{
	struct service *s;

	EACH_OBJECT(s, c, KIND_SERVICE)
	for (size_t i = 0; i < s->n_revisions; i++) {
		struct revision_row row;

		revision_row(s, &s->revisions[i], NULL, &row);
		if (row.spec.queue == queue)
			return &s->object;
	}
	return NULL;
}

static void init(struct core *c)
{
	struct services *all = xcalloc(1, sizeof *all);

	TAILQ_INIT(&all->noted);
	TAILQ_INIT(&all->changed);
	TAILQ_INIT(&all->needy);
	TAILQ_INIT(&all->blocked);
	TAILQ_INIT(&all->written);
	TAILQ_INIT(&all->limbo);
	TAILQ_INIT(&all->due[0]);
	TAILQ_INIT(&all->due[1]);
	c->of_kind[KIND_SERVICE] = all;
	auctions_init(c);
	sites_init(c);
}

static void release(struct core *c)
{
	struct services *all = services_of(c);
	struct service *s;

	while ((s = object_first(c, KIND_SERVICE)))
		service_forget(c, s);
	gone_services_release(all);
	auctions_release(c);
	sites_release(c);
	converge_actions_release(&all->actions);
	deploy_pass_release(&all->pass);
	timer_clear(c, TIMER_MONO, &all->full_timer);
	timer_clear(c, TIMER_MONO, &all->again_timer);
	timer_clear(c, TIMER_MONO, &all->limbo_timer);
	idmap_release(&all->kept);
	free(all->records);
	free(all->seen);
	free(all->by_number);
	free(all);
	c->of_kind[KIND_SERVICE] = NULL; /* workers and tasks go after it */
}

const struct object_kind service_kind = {
    .table = &service_table,
    .events = {[OBJECT_CREATED] = "service.created",
        [OBJECT_CHANGED] = "service.changed",
        [OBJECT_DELETED] = "service.deleted"},
    .max = SERVICES_MAX,
    .taken = HINT_CHANGE,
    .gone = HINT_LIST,
    .load = load,
    .load_part = load_part,
    .version = version,
    .save = save,
    .create = service_create,
    .set = service_set,
    .remove = service_remove,
    .act = service_act,
    .tasks = {.order = service_order,
        .fares = service_fares,
        .ended = service_task_ended,
        .lost = service_task_lost,
        .given_back = service_given_back,
        .refuses = service_refuses},
    .user_of = user_of,
    .time_changed = services_clock_changed,
    .work = services_work,
    .placed = services_placed,
    .init = init,
    .release = release,
};
