/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The engine against a model that shares no idea with it: every event of ten days stands in a
 * table by its local time, with what became of it. Thousands of clock histories, compared exactly.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "clocks.h"

#define HISTORIES 3000
#define READINGS 40
#define PERIOD 900
#define DAY 86400
#define SLOTS (10 * DAY / PERIOD)
#define BASE INT64_C(1800000000) /* the local time of slot 0; a multiple of PERIOD */
#define GOT_MAX (SLOTS + 1)

struct model {
	bool begun;
	bool dealt[SLOTS]; /* fired or skipped */
	bool told[SLOTS];  /* and, since the clock last stood before it, passed again */
	int64_t reached;   /* the furthest local time */
	int64_t limit, on_time;
};

static int64_t slot_time(size_t i)
{
	return BASE + (int64_t)i * PERIOD;
}

static void model_begin(struct model *m, int64_t local)
{
	if (!m->begun)
		m->reached = local - 1;
	for (size_t i = 0; i < SLOTS; i++) {
		if (!m->begun || m->reached - local > m->limit)
			m->dealt[i] = m->told[i] = slot_time(i) < local;
		else if (slot_time(i) > local)
			m->told[i] = false;
	}
	if (m->begun && m->reached - local > m->limit)
		m->reached = local - 1;
	m->begun = true;
}

/* Marks all that are too old; says where that ends. */
static int64_t model_skip(struct model *m, int64_t local)
{
	int64_t end = local - m->limit - 1;

	for (size_t i = 0; i < SLOTS; i++)
		if (slot_time(i) <= end)
			m->dealt[i] = m->told[i] = true;
	return end;
}

/* What happens at one slot, if anything; `offset` leads from local time to that of the events. */
static bool model_slot(
    struct model *m, size_t i, int64_t local, int64_t offset, struct cron_event *ret)
{
	int64_t age = local - slot_time(i), at = slot_time(i) - offset;

	if (age < 0 || m->told[i])
		return false;
	*ret = (struct cron_event){CRON_ALREADY_FIRED, at, at, age};
	m->told[i] = true;
	if (m->dealt[i])
		return true;
	m->dealt[i] = true;
	m->reached = slot_time(i);
	ret->label = age <= m->on_time ? CRON_ON_TIME : CRON_LATE;
	if (age > m->limit) {
		m->reached = model_skip(m, local);
		ret->label = CRON_SKIPPED;
		ret->until = m->reached - offset;
	}
	return true;
}

static size_t model_call(
    struct model *m, int64_t local, int64_t offset, struct cron_event *ret, size_t max)
{
	size_t n = 0;

	model_begin(m, local);
	for (size_t i = 0; i < SLOTS && n < max; i++)
		n += model_slot(m, i, local, offset, &ret[n]);
	if (n < max && m->reached < local)
		m->reached = local;
	return n;
}

static int64_t either_way(struct rng *r, int64_t n)
{
	return (int64_t)rng_below(r, (uint64_t)(2 * n + 1)) - n;
}

/* Just the limit, too: that is where mistakes hide. */
static int64_t random_step(struct rng *r, int64_t limit)
{
	switch (rng_below(r, 9)) {
	case 0: return either_way(r, 2);
	case 1: return either_way(r, PERIOD);
	case 2: return either_way(r, 6 * 3600);
	case 3: return either_way(r, 2 * DAY);
	case 4: return rng_below(r, 2) ? limit : -limit;
	default: return 0;
	}
}

static int64_t random_sleep(struct rng *r)
{
	switch (rng_below(r, 6)) {
	case 0: return (int64_t)rng_below(r, 3 * 3600);
	case 1: return 0;
	default: return (int64_t)rng_below(r, PERIOD + 60);
	}
}

static int64_t random_limit(struct rng *r)
{
	static const int64_t limits[] = {0, 1, 150, PERIOD, 3600, 7200, DAY, 5 * DAY};

	return limits[rng_below(r, 8)];
}

static int64_t move_zone(struct watch *w, struct rng *r, int64_t offset)
{
	static const char *const names[] = {"UTC", "+08:00", "-10:00", "+05:45", "-03:30"};
	static const int64_t offsets[] = {0, 28800, -36000, 20700, -12600};
	size_t i = rng_below(r, 5);

	if (rng_below(r, 10))
		return offset;
	watch_zone(w, names[i]);
	return offsets[i];
}

static void compare(const struct cron_event *a, size_t n_a, const struct cron_event *b, size_t n_b)
{
	assert_int_equal(n_a, n_b);
	for (size_t i = 0; i < n_a; i++) {
		assert_int_equal(a[i].label, b[i].label);
		assert_int_equal(a[i].time, b[i].time);
		assert_int_equal(a[i].until, b[i].until);
		assert_int_equal(a[i].shift, b[i].shift);
	}
}

static void live(uint64_t seed, size_t counts[4])
{
	static struct cron_event wanted[GOT_MAX], got[GOT_MAX];
	static struct model m;
	struct rng r = {seed};
	struct watch w;
	int64_t offset = 0;

	watch_init(&w, "{\"minute\":{\"period\":15},\"dst_fixes\":[\"skip\",\"repeat_use_both\"]}",
	    "UTC", random_limit(&r));
	w.system = BASE + 5 * DAY + either_way(&r, PERIOD);
	memset(&m, 0, sizeof m);
	m.limit = w.policy.shift_limit;
	m.on_time = w.policy.on_time;
	for (int i = 0; i < READINGS; i++) {
		size_t max = rng_below(&r, 4) ? GOT_MAX : rng_below(&r, 4), n;

		n = model_call(&m, w.system + offset, offset, wanted, max);
		compare(wanted, n, got, watch_call(&w, got, max));
		for (size_t j = 0; j < n; j++)
			counts[got[j].label]++;
		watch_pass(&w, random_sleep(&r), random_step(&r, m.limit));
		if (llabs(w.system - BASE - 5 * DAY) > 4 * DAY)
			w.system = BASE + 5 * DAY;
		offset = move_zone(&w, &r, offset);
	}
	watch_release(&w);
}

static void test_histories(void **state)
{
	size_t counts[4] = {0};

	for (uint64_t seed = 1; seed <= HISTORIES; seed++)
		live(seed, counts);
	for (int i = 0; i < 4; i++)
		assert_true(counts[i] > HISTORIES / 10); /* all of it was tried */
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_histories)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
