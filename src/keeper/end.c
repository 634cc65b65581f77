/* SPDX-License-Identifier: Apache-2.0 */
/* Time, and the end: of the lease under which the worker holds its tasks, of the worker, of us. */
#include <signal.h>

#include "keeper/internal.h"

#define GIVE_UP_MS 10000 /* after KILL: what does not die then cannot be killed */
#define LOOK_MS 100

const struct moves keeper_moves = {
    "keeper",
    {[PHASE_SERVING] = "serving", [PHASE_ALONE] = "alone", [PHASE_ENDING] = "ending"},
    {
        {PHASE_SERVING, PHASE_ALONE, "its worker is gone, and it keeps the tasks"},
        {PHASE_ALONE, PHASE_SERVING, "a worker calls"},
        {PHASE_SERVING, PHASE_ENDING, "its worker is gone, or says leave, or makes no sense"},
    },
};

void keeper_move(struct keeper *k, enum phase to)
{
	k->phase = moves_make(&keeper_moves, k->phase, to);
}

static bool is_live(const struct ward *w)
{
	return w->state == WARD_RUNNING || w->state == WARD_EMPTYING;
}

static void kill_all(struct keeper *k)
{
	struct ward *w;

	if (k->n_live)
		freeze_all(k, false);
	TAILQ_FOREACH (w, &k->wards, entry)
		if (is_live(w))
			process_kill(&w->process);
}

static int64_t earlier(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

void end_begin(struct keeper *k, bool at_once)
{
	int64_t now = keeper_now_ms();
	struct ward *w;

	if (k->phase == PHASE_ENDING && !at_once)
		return;
	if (k->phase != PHASE_ENDING) /* else it is only hurried */
		keeper_move(k, PHASE_ENDING);
	k->kill_ms = at_once ? now : earlier(now + k->o.term_wait_ms, k->deadline_ms);
	k->give_up_ms = k->kill_ms + GIVE_UP_MS;
	freeze_all(k, false);
	TAILQ_FOREACH (w, &k->wards, entry)
		if (!at_once && is_live(w))
			process_signal(&w->process, SIGTERM, w->term_to);
	if (at_once)
		end_time(k);
}

/* Pools of plugins and checks were the worker's own: they end with it, and what ran in them. */
void end_alone(struct keeper *k)
{
	struct ward *w;

	keeper_move(k, PHASE_ALONE);
	TAILQ_FOREACH (w, &k->wards, entry)
		if (w->state == WARD_HELD)
			ward_lost(k, w);
		else if (is_live(w) && !w->kept)
			process_kill(&w->process);
}

void freeze_all(struct keeper *k, bool on)
{
	struct ward *w;

	if (cgroups_freeze(&k->hand.cgroups, on))
		return;
	TAILQ_FOREACH (w, &k->wards, entry)
		if (w->state == WARD_RUNNING)
			process_signal(&w->process, on ? SIGSTOP : SIGCONT, KILL_TO_GROUP);
}

static void look(struct keeper *k)
{
	struct ward *w, *next;

	k->look_ms = INT64_MAX;
	keeper_listen(k);
	orphans_bury(k);
	if (k->hand.cgroups.dir_fd >= 0)
		orphans_end(k, NULL);
	TAILQ_FOREACH_SAFE (w, &k->wards, entry, next)
		ward_look(k, w);
}

void end_time(struct keeper *k)
{
	int64_t now = keeper_now_ms();

	if (k->deadline_ms <= now) {
		k->deadline_ms = INT64_MAX; /* until a new one is told */
		kill_all(k);
	}
	if (k->phase == PHASE_ENDING && k->kill_ms <= now) {
		k->kill_ms = INT64_MAX;
		kill_all(k);
	}
	if (k->phase == PHASE_ENDING && k->n_live && now + LOOK_MS < k->look_ms)
		k->look_ms = now + LOOK_MS;
	if (k->look_ms <= now)
		look(k);
}

int64_t end_wake_ms(const struct keeper *k)
{
	int64_t wake = earlier(k->deadline_ms, k->look_ms);

	if (k->phase == PHASE_ENDING)
		wake = earlier(wake, earlier(k->kill_ms, k->give_up_ms));
	return wake;
}

/* Alone, we wait for a worker as long as it could still tell the server something: that is until
 * the lease is over, and not at all where there was none. */
bool end_reached(const struct keeper *k)
{
	if (k->phase == PHASE_ENDING)
		return k->n_live == 0 || k->give_up_ms <= keeper_now_ms();
	if (k->phase == PHASE_ALONE)
		return k->n_live == 0 && (TAILQ_EMPTY(&k->wards) || k->deadline_ms == INT64_MAX);
	return false;
}
