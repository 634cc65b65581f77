/* SPDX-License-Identifier: Apache-2.0 */
#include "model/link/health.h"

#include "base/mutant.h"

#define SECOND 1000

const char *const worker_state_names[N_WORKER_STATES] = {"new", "unhealthy", "healthy", "must_die"};

const struct moves worker_moves = {
    "worker",
    {[WORKER_NEW] = "new",
        [WORKER_UNHEALTHY] = "unhealthy",
        [WORKER_HEALTHY] = "healthy",
        [WORKER_MUST_DIE] = "must_die"},
    {
        {WORKER_NEW, WORKER_UNHEALTHY, "its tasks are known, or it does not speak"},
        {WORKER_UNHEALTHY, WORKER_HEALTHY, "all proofs are fresh"},
        {WORKER_HEALTHY, WORKER_UNHEALTHY, "one of them is too old"},
        {WORKER_UNHEALTHY, WORKER_MUST_DIE, "unhealthy for too long, or declared lost"},
        {WORKER_NEW, WORKER_MUST_DIE, "declared lost; or it was lost before the server started"},
        {WORKER_HEALTHY, WORKER_MUST_DIE, "declared lost"},
    },
};

void timeouts_default(struct timeouts *t)
{
	*t = (struct timeouts){
	    .heartbeat_ms = 15 * SECOND,
	    .heartbeat_grace_ms = 60 * SECOND,
	    .check_period_ms = 60 * SECOND,
	    .check_grace_ms = 60 * SECOND,
	    .lose_after_ms = 500 * SECOND,
	    .margin_ms = 5 * SECOND,
	    .kill_wait_ms = 5 * SECOND,
	};
}

struct timeouts timeouts_of_worker(const struct timeouts *t)
{
	struct timeouts own = *t;

	own.lose_after_ms -= t->margin_ms;
	if (MUTANT(WORKER_WITHOUT_MARGIN))
		own.lose_after_ms = t->lose_after_ms + t->margin_ms;
	if (own.lose_after_ms < 0)
		own.lose_after_ms = 0;
	return own;
}

static int64_t beat_limit_ms(const struct timeouts *t)
{
	return t->heartbeat_ms + t->heartbeat_grace_ms;
}

static int64_t check_limit_ms(const struct timeouts *t)
{
	return t->check_period_ms + t->check_grace_ms + t->margin_ms;
}

int64_t timeouts_to_lose_ms(const struct timeouts *t)
{
	int64_t beat = beat_limit_ms(t), check = check_limit_ms(t);

	return (beat > check ? beat : check) + t->lose_after_ms;
}

void health_init(struct health *h, int64_t now_ms)
{
	*h = (struct health){
	    .state = WORKER_NEW, .since_ms = now_ms, .beat_ms = now_ms, .check_ms = HEALTH_NEVER};
}

/* Too old is strictly older: a mark at the very limit is still good. */
static bool too_old(int64_t mark_ms, int64_t limit_ms, int64_t now_ms)
{
	return mark_ms == HEALTH_NEVER || now_ms - mark_ms > limit_ms;
}

enum health_lack health_lack(const struct health *h, const struct timeouts *t, int64_t now_ms)
{
	if (h->state == WORKER_MUST_DIE)
		return LACK_LIFE;
	if (!h->known)
		return LACK_KNOWN;
	if (too_old(h->beat_ms, beat_limit_ms(t), now_ms))
		return LACK_BEAT;
	if (too_old(h->check_ms, check_limit_ms(t), now_ms) && !MUTANT(CHECKS_NOT_NEEDED))
		return LACK_CHECK;
	if (!h->permitted && !h->has_been_healthy)
		return LACK_CONSENSUS;
	return LACK_NOTHING;
}

void health_move(struct health *h, enum worker_state to)
{
	h->state = moves_make(&worker_moves, h->state, to);
	if (to == WORKER_HEALTHY)
		h->has_been_healthy = true;
}

static bool become(struct health *h, enum worker_state state, int64_t now_ms)
{
	health_move(h, state);
	h->since_ms = now_ms;
	return true;
}

void health_lose(struct health *h)
{
	health_move(h, WORKER_MUST_DIE);
}

static int64_t earlier(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

/* Until then the marks are good. */
static int64_t marks_end_ms(const struct health *h, const struct timeouts *t)
{
	int64_t beat = h->beat_ms + beat_limit_ms(t);

	if (h->check_ms == HEALTH_NEVER || MUTANT(CHECKS_NOT_NEEDED))
		return beat;
	return earlier(beat, h->check_ms + check_limit_ms(t));
}

/*
 * Near its limit a check may be too old by the server's clock and not by the worker's. Who the
 * server counts down must not begin anew, so the worker wants a margin. (A beat needs none: it is
 * new whenever the server hears it.)
 */
static bool check_is_certain(const struct health *h, const struct timeouts *t, int64_t now_ms)
{
	return !h->doubted || now_ms - h->check_ms <= check_limit_ms(t) - t->margin_ms;
}

static bool step_unhealthy(
    struct health *h, const struct timeouts *t, enum health_lack lack, int64_t now_ms)
{
	if (lack == LACK_NOTHING && !h->doubted)
		return become(h, WORKER_HEALTHY, now_ms);
	if (lack == LACK_CONSENSUS && check_is_certain(h, t, now_ms)) {
		/* nobody dies for lack of consensus alone: its time runs from when it lacks more */
		h->since_ms = marks_end_ms(h, t);
		return false;
	}
	if (now_ms - h->since_ms > t->lose_after_ms)
		return become(h, WORKER_MUST_DIE, now_ms);
	return false;
}

/*
 * A newcomer has as long to prove itself as two marks of this very moment would give it.
 * Less would be unsafe: when the server is new and its welcome was lost, the worker still goes by
 * the marks that it has from the server before, and would outlive the new one's patience. More
 * would be unsafe on the worker's side: the server may have counted a check that it has not heard
 * of, and then goes by the marks of that.
 */
static void begin(struct health *h, const struct timeouts *t, enum health_lack lack, int64_t now_ms)
{
	if (!step_unhealthy(h, t, lack, now_ms) && !MUTANT(NEWCOMER_WITHOUT_GRACE))
		h->since_ms = now_ms + earlier(beat_limit_ms(t), check_limit_ms(t));
}

bool health_step(struct health *h, const struct timeouts *t, int64_t now_ms)
{
	enum health_lack lack = health_lack(h, t, now_ms);

	switch (h->state) {
	case WORKER_NEW:
		if (h->known || too_old(h->beat_ms, beat_limit_ms(t), now_ms)) {
			become(h, WORKER_UNHEALTHY, now_ms);
			if (h->known)
				begin(h, t, lack, now_ms);
			return true;
		}
		return false;
	case WORKER_UNHEALTHY: return step_unhealthy(h, t, lack, now_ms);
	case WORKER_HEALTHY:
		return lack != LACK_NOTHING ? become(h, WORKER_UNHEALTHY, now_ms) : false;
	default: return false;
	}
}

int64_t health_next_ms(const struct health *h, const struct timeouts *t)
{
	switch (h->state) {
	case WORKER_NEW: return h->beat_ms + beat_limit_ms(t) + 1;
	case WORKER_HEALTHY: return marks_end_ms(h, t) + 1;
	case WORKER_UNHEALTHY: return h->since_ms + t->lose_after_ms + 1;
	default: return INT64_MAX;
	}
}
