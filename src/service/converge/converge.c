/* SPDX-License-Identifier: Apache-2.0 */
#include "service/converge/converge.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/mutant.h"

const char *const seen_worker_names[N_SEEN_WORKERS] = {
    [SEEN_PRESENT] = "present", [SEEN_SILENT] = "silent", [SEEN_LOST] = "lost"};
const char *const converge_action_names[N_CONVERGE_ACTIONS] = {
#define X(kind, name) [kind] = name,
    CONVERGE_ACTIONS(X)
#undef X
};

void converge_actions_release(struct converge_actions *a)
{
	free(a->v);
	*a = (struct converge_actions){0};
}

/* One index: its records, NULL where there is none. */
struct looking {
	const struct converge_env *env;
	const struct converge_service *s;
	struct converge_actions *actions;
	uint32_t index;
	const struct instance *ordinary, *evacuating, *suspect;
};

static void act(struct looking *l, enum converge_action_kind kind, enum presence presence,
    uint32_t worker, const char *reason)
{
	struct converge_actions *a = l->actions;

	GROW(a->v, a->cap, a->n + 1);
	a->v[a->n++] =
	    (struct converge_action){kind, l->s->service, l->index, presence, worker, reason};
}

static enum seen_worker seen(const struct looking *l, const struct instance *i)
{
	return i->worker == NO_WORKER ? SEEN_LOST : (enum seen_worker)l->env->workers[i->worker];
}

static bool is_on_worker(const struct instance *i)
{
	return i->state == INSTANCE_CLAIMED || i->state == INSTANCE_RUNNING;
}

/* What was asked for long ago got lost; so did what was asked for by a clock that has been set. */
static bool is_long_ago(const struct looking *l, int64_t asked_ms)
{
	return l->env->now_ms - asked_ms >= l->env->ask_again_ms || asked_ms > l->env->now_ms;
}

static void stop(
    struct looking *l, const struct instance *i, enum presence presence, const char *reason)
{
	if (!i->is_stopping || is_long_ago(l, i->asked_ms))
		act(l, ACT_STOP, presence, i->worker, reason);
}

/* A lost worker's instances beside the ordinary one are certainly over. */
static void drop_what_is_over(struct looking *l)
{
	if (l->evacuating && seen(l, l->evacuating) == SEEN_LOST) {
		act(l, ACT_DELETE, PRESENCE_EVACUATING, l->evacuating->worker,
		    "its worker is lost");
		l->evacuating = NULL;
	}
	if (l->suspect && seen(l, l->suspect) == SEEN_LOST) {
		act(l, ACT_DELETE, PRESENCE_SUSPECT, l->suspect->worker, "its worker is lost");
		l->suspect = NULL;
	}
}

/* The replacement was faster, or the suspect is: the first one back wins. */
static void settle_suspect(struct looking *l)
{
	const struct instance *loser = l->ordinary;

	if (!l->suspect || seen(l, l->suspect) != SEEN_PRESENT || MUTANT(SERVICE_SUSPECT_STAYS))
		return;
	if (l->suspect->is_stopping || (l->ordinary && l->ordinary->state == INSTANCE_RUNNING)) {
		stop(l, l->suspect, PRESENCE_SUSPECT, "another is in its place");
		return;
	}
	act(l, ACT_PROMOTE, PRESENCE_SUSPECT, l->suspect->worker,
	    "its worker is back before the replacement runs");
	l->ordinary = l->suspect;
	l->suspect = NULL;
	if (!loser || !is_on_worker(loser))
		return;
	if (seen(l, loser) == SEEN_LOST) {
		act(l, ACT_DELETE, PRESENCE_SUSPECT, loser->worker, "its worker is lost");
		return;
	}
	l->suspect = loser;
	if (seen(l, loser) == SEEN_PRESENT)
		stop(l, loser, PRESENCE_SUSPECT, "what it should replace is back");
}

static void look_at_surplus(struct looking *l)
{
	const struct instance *i = l->ordinary;

	if (!i)
		return;
	if (is_on_worker(i) && seen(l, i) == SEEN_LOST)
		act(l, ACT_DELETE, PRESENCE_ORDINARY, i->worker,
		    "its worker is lost, and nobody wants it");
	else if (!l->s->domain_is_fresh && !MUTANT(SERVICE_SURPLUS_ANYWHERE))
		return;
	else if (!is_on_worker(i))
		act(l, ACT_DELETE, PRESENCE_ORDINARY, NO_WORKER, "nobody wants it");
	else if (seen(l, i) == SEEN_PRESENT)
		stop(l, i, PRESENCE_ORDINARY, "nobody wants it");
}

static void create(struct looking *l, const char *reason)
{
	act(l, ACT_CREATE, PRESENCE_ORDINARY, NO_WORKER, reason);
}

/* Of one whose worker does not answer. Two that may run are enough, and surge is there for a while
 * only. */
static void look_at_silent(struct looking *l)
{
	if ((l->s->is_singleton && !MUTANT(SERVICE_SINGLETON_REPLACED)) || l->suspect ||
	    l->evacuating || l->ordinary->is_surge)
		return;
	act(l, ACT_SUSPECT, PRESENCE_ORDINARY, l->ordinary->worker, "its worker is silent");
	create(l, "to replace the suspect");
}

static void look_at_wanted(struct looking *l)
{
	const struct instance *i = l->ordinary;

	if (l->s->is_singleton && (l->suspect || l->evacuating) &&
	    !MUTANT(SERVICE_SINGLETON_REPLACED))
		return; /* another may run: this waits until that is certainly over */
	if (!i)
		create(l, "it is wanted, and there is no record");
	else if (i->state == INSTANCE_UNCLAIMED && is_long_ago(l, i->asked_ms))
		act(l, ACT_START, PRESENCE_ORDINARY, NO_WORKER,
		    "its start was asked for long ago, and got lost");
	else if (crash_is_due(i, l->s->policy, l->env->now_ms))
		act(l, ACT_RESTART, PRESENCE_ORDINARY, NO_WORKER,
		    "it has waited long enough after its crash");
	else if (is_on_worker(i) && seen(l, i) == SEEN_LOST)
		act(l, ACT_UNCLAIM, PRESENCE_ORDINARY, i->worker, "its worker is lost");
	else if (is_on_worker(i) && seen(l, i) == SEEN_SILENT)
		look_at_silent(l);
}

static void look(struct looking *l)
{
	drop_what_is_over(l);
	settle_suspect(l);
	if (l->index < l->s->wanted || (l->ordinary && l->ordinary->is_surge))
		look_at_wanted(l);
	else
		look_at_surplus(l);
}

void converge_service(const struct converge_env *env, const struct converge_service *s,
    const struct instance *records, size_t n, struct converge_actions *actions)
{
	uint32_t next = 0;

	for (size_t i = 0; i < n || next < s->wanted;) {
		struct looking l = {.env = env, .s = s, .actions = actions};

		l.index = i < n && (next >= s->wanted || records[i].index < next) ? records[i].index
		                                                                  : next;
		for (; i < n && records[i].index == l.index; i++) {
			if (records[i].presence == PRESENCE_ORDINARY)
				l.ordinary = &records[i];
			else if (records[i].presence == PRESENCE_EVACUATING)
				l.evacuating = &records[i];
			else
				l.suspect = &records[i];
		}
		look(&l);
		next = l.index + 1;
	}
}
