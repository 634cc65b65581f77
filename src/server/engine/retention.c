/* SPDX-License-Identifier: Apache-2.0 */
#include "server/engine/retention.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/mem.h"

#define STEP 500          /* tasks deleted in one batch */
#define BUSY_PERIOD_MS 50 /* between two steps while there is more to delete */
#define PERIOD_MS 10000
#define EXPIRE_EVERY 60 /* looks */

struct retention {
	struct loop *loop;
	struct engine *engine;
	struct readers *readers;
	struct retention_options o;
	struct loop_timer *timer;
	uint64_t looks;
	/* of the look under way, on a reader's thread */
	struct retention_options wanted;
	int64_t now_ms;
	rid ids[STEP];
	size_t n;
};

static void add_by_age(struct store_reader *r, struct retention *t)
{
	if (t->wanted.age_ms)
		store_prunable(r, 0, t->now_ms - t->wanted.age_ms, STEP, t->ids, &t->n);
}

static void add_by_count(struct store_reader *r, struct retention *t)
{
	int64_t have, excess;

	if (!t->wanted.count || t->n || store_count_ended(r, &have) != 0)
		return;
	excess = have - t->wanted.count;
	if (excess > 0)
		store_prunable(r, 0, 0, excess < STEP ? (uint32_t)excess : STEP, t->ids, &t->n);
}

static void look(struct store_reader *r, void *arg)
{
	struct retention *t = arg;

	t->n = 0;
	add_by_age(r, t);
	add_by_count(r, t);
}

static void looked(void *arg)
{
	struct retention *t = arg;
	int64_t period = t->o.period_ms ? t->o.period_ms : PERIOD_MS;

	engine_prune(t->engine, t->ids, t->n);
	loop_timer_set(t->timer, t->n ? BUSY_PERIOD_MS : period);
}

static void on_timer(void *arg)
{
	struct retention *t = arg;

	t->now_ms = clock_wall_ms();
	t->wanted = t->o;
	if (t->looks++ % EXPIRE_EVERY == 0)
		engine_expire(t->engine, t->now_ms - t->o.idem_ms,
		    t->o.events_ms ? t->now_ms - t->o.events_ms : 0);
	readers_run(t->readers, true, look, looked, t);
}

struct retention *retention_new(
    struct loop *l, struct engine *e, struct readers *r, const struct retention_options *o)
{
	struct retention *t = xcalloc(1, sizeof *t);

	t->loop = l;
	t->engine = e;
	t->readers = r;
	t->o = *o;
	t->timer = loop_timer_new(l, on_timer, t);
	loop_timer_set(t->timer, 1000);
	return t;
}

void retention_set(struct retention *t, const struct retention_options *o)
{
	t->o = *o;
}

void retention_free(struct retention *t)
{
	loop_timer_free(t->timer);
	free(t);
}
