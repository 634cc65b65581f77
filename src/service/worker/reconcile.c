/* SPDX-License-Identifier: Apache-2.0 */
#include "service/worker/reconcile.h"

#include "base/mem.h"

const char *const reconcile_container_names[N_RECONCILE_CONTAINERS] = {
#define X(code, name) [code] = name,
    RECONCILE_CONTAINERS(X)
#undef X
};
const char *const reconcile_record_names[N_RECONCILE_RECORDS] = {
#define X(code, name) [code] = name,
    RECONCILE_RECORDS(X)
#undef X
};
const char *const reconcile_decision_names[N_RECONCILE_DECISIONS] = {
#define X(code, name, words) [code] = name,
    RECONCILE_DECISIONS(X)
#undef X
};
const char *const reconcile_decision_words[N_RECONCILE_DECISIONS] = {
#define X(code, name, words) [code] = words,
    RECONCILE_DECISIONS(X)
#undef X
};
const char *const reconcile_when_names[N_RECONCILE_WHENS] = {
    [WHEN_ALONE] = "drained or not",
    [WHEN_ORDINARY] = "not drained",
    [WHEN_DRAINED] = "drained",
    [WHEN_EVACUATING] = "evacuating record",
    [WHEN_SUSPECT] = "suspect record",
};

static bool when_holds(enum reconcile_when when, const struct reconcile_view *v)
{
	bool is_alone = !v->has_evacuating && !v->has_suspect;

	switch (when) {
	case WHEN_ORDINARY: return is_alone && !v->is_drained;
	case WHEN_DRAINED: return is_alone && v->is_drained;
	case WHEN_EVACUATING: return v->has_evacuating;
	case WHEN_SUSPECT: return v->has_suspect && !v->has_evacuating;
	default: return is_alone;
	}
}

const struct reconcile_row *reconcile_row_of(const struct reconcile_view *v)
{
	for (unsigned i = 0; i < reconcile_rows; i++) {
		const struct reconcile_row *r = &reconcile_table[i];

		if ((r->containers >> v->container & 1) && (r->records >> v->record & 1) &&
		    when_holds(r->when, v))
			return r;
	}
	MUST(!"every case has its row");
	return NULL;
}

enum reconcile_decision reconcile_decide(const struct reconcile_view *v)
{
	return reconcile_row_of(v)->decision;
}

bool reconcile_stands(enum reconcile_decision decided, const struct reconcile_view *now)
{
	return reconcile_decide(now) == decided;
}

static enum reconcile_container container_seen(const struct container *c)
{
	static const enum reconcile_container seen[N_CONTAINER_STATES] = {
	    [CONTAINER_RESERVED] = HAS_RESERVED,
	    [CONTAINER_INITIALIZING] = HAS_INITIALIZING,
	    [CONTAINER_CREATED] = HAS_CREATED,
	    [CONTAINER_RUNNING] = HAS_RUNNING,
	    [CONTAINER_COMPLETED] = HAS_CRASHED,
	};

	if (!c)
		return HAS_NONE;
	return c->state == CONTAINER_COMPLETED && c->was_told ? HAS_SHUT_DOWN : seen[c->state];
}

/* Without a container any start on this worker is this one: it should be here, and is not. */
static bool is_this(
    const struct instance *r, const struct reconcile_self *self, const struct container *c)
{
	return r && r->worker == self->worker && (!c || r->id == self->id);
}

static enum reconcile_record record_seen(const struct instance *r, bool is_self)
{
	if (!r)
		return SAYS_NONE;
	switch (r->state) {
	case INSTANCE_UNCLAIMED: return SAYS_UNCLAIMED;
	case INSTANCE_CLAIMED: return is_self ? SAYS_CLAIMED_SELF : SAYS_CLAIMED_OTHER;
	case INSTANCE_RUNNING: return is_self ? SAYS_RUNNING_SELF : SAYS_RUNNING_OTHER;
	default: return SAYS_CRASHED;
	}
}

struct reconcile_view reconcile_look(const struct reconcile_self *self, const struct container *c,
    const struct instance *const records[N_PRESENCES])
{
	const struct instance *r = records[PRESENCE_ORDINARY];

	return (struct reconcile_view){
	    .container = container_seen(c),
	    .record = record_seen(r, is_this(r, self, c)),
	    .is_drained = self->is_drained,
	    .has_evacuating = is_this(records[PRESENCE_EVACUATING], self, c),
	    .has_suspect = is_this(records[PRESENCE_SUSPECT], self, c),
	};
}
