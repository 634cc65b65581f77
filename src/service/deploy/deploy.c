/* SPDX-License-Identifier: Apache-2.0 */
/* The states of a deploy, their one door, and what people say to it. */
#include "service/deploy/internal.h"

const char *const deploy_state_names[N_DEPLOY_STATES] = {
    [DEPLOY_STEADY] = "steady",
    [DEPLOY_CANARY] = "canary",
    [DEPLOY_WAITING] = "waiting",
    [DEPLOY_ROLLING] = "rolling",
    [DEPLOY_ROLLING_BACK] = "rolling-back",
    [DEPLOY_STALLED] = "stalled",
};
const char *const deploy_kind_names[N_DEPLOY_KINDS] = {
    [DEPLOY_BY_ROLLING] = "rolling",
    [DEPLOY_BY_RECREATE] = "recreate",
    [DEPLOY_BY_CANARY] = "canary",
};
const char *const deploy_action_names[N_DEPLOY_ACTIONS] = {
#define X(kind, name) [kind] = name,
    DEPLOY_ACTIONS(X)
#undef X
};
const char *const deploy_wait_names[N_DEPLOY_WAITS] = {
#define X(kind, name) [kind] = name,
    DEPLOY_WAITS(X)
#undef X
};

const struct deploy_strategy deploy_strategy_default = {
    .kind = DEPLOY_BY_ROLLING,
    .max_surge = 1,
    .max_unavailable = 0,
    .canary = 1,
    .min_healthy_ms = 10 * 1000,
    .deadline_ms = 10 * 60 * 1000,
};

const struct moves deploy_moves = {
    "deploy",
    {[DEPLOY_STEADY] = "steady",
        [DEPLOY_CANARY] = "canary",
        [DEPLOY_WAITING] = "waiting",
        [DEPLOY_ROLLING] = "rolling",
        [DEPLOY_ROLLING_BACK] = "rolling back",
        [DEPLOY_STALLED] = "stalled"},
    {
        {DEPLOY_STEADY, DEPLOY_ROLLING,
            "a new revision is wanted, or an instance of another one is found"},
        {DEPLOY_STEADY, DEPLOY_CANARY, "a new revision is wanted, a few instances first"},
        {DEPLOY_STEADY, DEPLOY_ROLLING_BACK, "an older revision is asked for"},
        {DEPLOY_CANARY, DEPLOY_WAITING, "these few are healthy"},
        {DEPLOY_CANARY, DEPLOY_ROLLING, "it is promoted, or a newer one goes without canaries"},
        {DEPLOY_CANARY, DEPLOY_ROLLING_BACK, "it is too late, and goes back by choice; or asked"},
        {DEPLOY_CANARY, DEPLOY_STALLED, "it is too late"},
        {DEPLOY_WAITING, DEPLOY_CANARY,
            "one of the few is healthy no more, or a newer revision is wanted"},
        {DEPLOY_WAITING, DEPLOY_ROLLING, "it is promoted, or a newer one goes without canaries"},
        {DEPLOY_WAITING, DEPLOY_ROLLING_BACK, "an older revision is asked for"},
        {DEPLOY_ROLLING, DEPLOY_STEADY, "all instances are healthy"},
        {DEPLOY_ROLLING, DEPLOY_CANARY, "a newer revision is wanted, a few instances first"},
        {DEPLOY_ROLLING, DEPLOY_ROLLING_BACK, "it is too late, and goes back by choice; or asked"},
        {DEPLOY_ROLLING, DEPLOY_STALLED, "it is too late"},
        {DEPLOY_ROLLING_BACK, DEPLOY_STEADY, "all instances are healthy"},
        {DEPLOY_ROLLING_BACK, DEPLOY_ROLLING, "a newer revision is wanted"},
        {DEPLOY_ROLLING_BACK, DEPLOY_CANARY, "a newer revision is wanted, a few instances first"},
        {DEPLOY_ROLLING_BACK, DEPLOY_STALLED, "it is too late"},
        {DEPLOY_STALLED, DEPLOY_STEADY, "all instances are healthy after all"},
        {DEPLOY_STALLED, DEPLOY_ROLLING, "it is promoted, or a newer revision is wanted"},
        {DEPLOY_STALLED, DEPLOY_CANARY, "a newer revision is wanted, a few instances first"},
        {DEPLOY_STALLED, DEPLOY_ROLLING_BACK, "an older revision is asked for"},
    },
};

void deploy_move(struct deploy *d, enum deploy_state to, int64_t now_ms)
{
	d->state = moves_make(&deploy_moves, d->state, to);
	d->since_ms = now_ms;
	d->progress_ms = 0;
}

/* Another target in the same state is a new deploy, too. */
static void go(struct deploy *d, enum deploy_state to, int64_t target, int64_t now_ms)
{
	if (d->state != to)
		deploy_move(d, to, now_ms);
	d->since_ms = now_ms;
	d->progress_ms = 0;
	d->target = target;
	d->failed = 0;
}

void deploy_begin(
    struct deploy *d, int64_t target, const struct deploy_strategy *strategy, int64_t now_ms)
{
	if (d->stable && target == d->stable)
		go(d, DEPLOY_ROLLING_BACK, target, now_ms);
	else if (strategy->kind == DEPLOY_BY_CANARY && d->stable)
		go(d, DEPLOY_CANARY, target, now_ms);
	else
		go(d, DEPLOY_ROLLING, target, now_ms);
}

void deploy_rollback(struct deploy *d, int64_t to, int64_t now_ms)
{
	int64_t failed = d->failed;

	go(d, DEPLOY_ROLLING_BACK, to, now_ms);
	d->failed = failed == to ? 0 : failed;
}

bool deploy_promote(struct deploy *d, int64_t now_ms)
{
	if (d->state != DEPLOY_CANARY && d->state != DEPLOY_WAITING && d->state != DEPLOY_STALLED)
		return false;
	deploy_move(d, DEPLOY_ROLLING, now_ms);
	d->failed = 0;
	return true;
}
