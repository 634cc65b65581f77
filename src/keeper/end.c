/* SPDX-License-Identifier: Apache-2.0 */
/* Time, and the end: of the lease under which the worker holds its tasks, of the worker, of us. */
#include <signal.h>

#include "keeper/internal.h"

#define GIVE_UP_MS 10000 /* after KILL: what does not die then can not be killed */
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

static bool is_live(const struct job *j)
{
	return j->state == JOB_RUNNING || j->state == JOB_EMPTYING;
}

static void kill_all(struct keeper *k)
{
	struct job *j;

	if (k->n_live)
		freeze_all(k, false);
	TAILQ_FOREACH (j, &k->jobs, entry)
		if (is_live(j))
			process_kill(&j->process);
}

static int64_t earlier(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

void end_begin(struct keeper *k, bool at_once)
{
	int64_t now = keeper_now_ms();
	struct job *j;

	if (k->phase == PHASE_ENDING && !at_once)
		return;
	if (k->phase != PHASE_ENDING) /* else it is only hurried */
		keeper_move(k, PHASE_ENDING);
	k->kill_ms = at_once ? now : earlier(now + k->o.term_wait_ms, k->deadline_ms);
	k->give_up_ms = k->kill_ms + GIVE_UP_MS;
	freeze_all(k, false);
	TAILQ_FOREACH (j, &k->jobs, entry)
		if (!at_once && is_live(j))
			process_signal(&j->process, SIGTERM, j->term_to);
	if (at_once)
		end_time(k);
}

/* Pools of plugins and checks were the worker's own: they end with it, and what ran in them. */
void end_alone(struct keeper *k)
{
	struct job *j;

	keeper_move(k, PHASE_ALONE);
	TAILQ_FOREACH (j, &k->jobs, entry)
		if (j->state == JOB_HELD)
			job_lost(k, j);
		else if (is_live(j) && !j->kept)
			process_kill(&j->process);
}

void freeze_all(struct keeper *k, bool on)
{
	struct job *j;

	if (cgroups_freeze(&k->hand.cgroups, on))
		return;
	TAILQ_FOREACH (j, &k->jobs, entry)
		if (j->state == JOB_RUNNING)
			process_signal(&j->process, on ? SIGSTOP : SIGCONT, KILL_TO_GROUP);
}

static void look(struct keeper *k)
{
	struct job *j, *next;

	k->look_ms = INT64_MAX;
	keeper_listen(k);
	orphans_bury(k);
	if (k->hand.cgroups.dir_fd >= 0)
		orphans_end(k, NULL);
	TAILQ_FOREACH_SAFE (j, &k->jobs, entry, next)
		job_look(k, j);
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
		return k->n_live == 0 && (TAILQ_EMPTY(&k->jobs) || k->deadline_ms == INT64_MAX);
	return false;
}
