/* SPDX-License-Identifier: Apache-2.0 */
/* Needs, offers and restarts by chance, against a recount from the rows. */
#include "needs_story.h"

#include <stdio.h>

#include "base/rng.h"

/* Against a recount from the rows, whatever happens. */
static void check_sums(struct world *w, int n_workers, const int64_t *gpu, const int64_t *cpu)
{
	int64_t licences_used = 0;

	for (int k = 0; k < n_workers; k++) {
		char name[8];
		int64_t g = 0, u = 0;
		rid id;

		snprintf(name, sizeof name, "w%d", k);
		id = core_find(w->core, KIND_WORKER, str_of(name));
		for (size_t i = 0; i < w->n_tasks; i++) {
			const struct task_state *s = &w->tasks[i].state;
			bool on = s->worker == id &&
			          (s->status == TASK_CLAIMED || s->status == TASK_RUNNING);

			if (!on)
				continue;
			g += amount_of(s->charged, STR("gpu")) > 0
			         ? amount_of(s->charged, STR("gpu"))
			         : 0;
			u += amount_of(s->charged, STR("cpu")) > 0
			         ? amount_of(s->charged, STR("cpu"))
			         : 0;
			licences_used += amount_of(s->charged, STR("licence")) > 0
			                     ? amount_of(s->charged, STR("licence"))
			                     : 0;
		}
		assert_int_equal(used(w, name, "gpu"), g);
		assert_int_equal(used(w, name, "cpu"), u);
		assert_true(g <= gpu[k] && u <= cpu[k]);
	}
	assert_int_equal(core_resource(w->core, 0)->used, licences_used);
	assert_true(licences_used <= 3);
}

static void end_some(struct world *w, struct rng *r, int chance)
{
	for (size_t i = 0; i < w->n_tasks; i++) {
		struct task_row *t = &w->tasks[i];

		if (t->state.status != TASK_CLAIMED || (int)rng_below(r, 100) >= chance)
			continue;
		for (size_t k = w->n_sent; k-- > 0;)
			if (w->sent[k].kind == MSG_RUN && w->sent[k].run.task == t->id) {
				world_ended(
				    w, w->sent[k].link, t->id, t->state.token, TASK_SUCCEEDED);
				break;
			}
	}
}

STORY(random_needs_hold_no_more_than_there_is)
{
	const struct amount has[] = {{STR("licence"), 3}};
	struct core_options o = {.resources = has, .n_resources = 1, .window_tasks = 20};

	for (uint64_t seed = 1; seed <= 20; seed++) {
		struct world *w = world_new(&o);
		struct rng r = {seed};
		int64_t gpu[4], cpu[4];
		rid q[3];
		size_t waiting = 0;

		for (int i = 0; i < 3; i++) {
			char name[8];

			snprintf(name, sizeof name, "q%d", i);
			q[i] = world_queue(w, name, i == 0 ? 3 : -1, (enum queue_order)i);
		}
		for (int k = 0; k < 4; k++) {
			char name[8], offer[64];

			gpu[k] = k == 0 ? 4 : (int64_t)rng_below(&r, 5);
			cpu[k] = k == 0 ? 8000 : (int64_t)rng_below(&r, 5) * 1000 + 1000;
			snprintf(name, sizeof name, "w%d", k);
			snprintf(offer, sizeof offer, "cpu=%lld\ngpu=%lld\n", (long long)cpu[k],
			    (long long)gpu[k]);
			joins(w, (uint64_t)k + 1, name, offer, NULL, NULL);
		}
		for (int i = 0; i < 300; i++) {
			char need[96];
			int n = 0;

			if (rng_below(&r, 3))
				n += snprintf(need + n, sizeof need - (size_t)n, "cpu=%d\n",
				    (int)rng_below(&r, 8) * 1000 + 1000);
			if (rng_below(&r, 2))
				n += snprintf(need + n, sizeof need - (size_t)n, "gpu=%d\n",
				    (int)rng_below(&r, 4) + 1);
			if (rng_below(&r, 4) == 0)
				n += snprintf(need + n, sizeof need - (size_t)n, "licence=%d\n",
				    (int)rng_below(&r, 3) + 1);
			submit(w, q[rng_below(&r, 3)], n ? need : NULL);
			if (rng_below(&r, 20) == 0)
				set_queue(w, q[1], rng_below(&r, 2) ? "gpu=2\n" : NULL,
				    (enum queue_placement)rng_below(&r, 2));
			end_some(w, &r, 15);
			check_sums(w, 4, gpu, cpu);
		}
		for (int i = 0; i < 400; i++)
			end_some(w, &r, 50);
		for (size_t i = 0; i < w->n_tasks; i++)
			waiting += w->tasks[i].state.status <= 0;
		if (waiting)
			fail_msg("seed %d: %zu tasks never ended", (int)seed, waiting);
		check_sums(w, 4, gpu, cpu);
		world_free(w);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(random_needs_hold_no_more_than_there_is),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
