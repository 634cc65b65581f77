/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/load/needs.h"

#include <stdio.h>
#include <string.h>

#include "sim/world/worker.h"

const char *const held_names[N_HELD] = {"cpu", "gpu", "licence", "one", "two"};
const struct amount sim_resources[] = {{STR("licence"), SIM_LICENCES}};
const size_t n_sim_resources = 1;

/* Each of them fits the first worker when it is idle, and so does every pair of a queue's and a
 * task's. */
static const char *const of_tasks[] = {NULL, NULL, "cpu=500\n", "cpu=1000\n", "cpu=2000\n",
    "cpu=4000\n", "gpu=1\n", "gpu=2\n", "gpu=3\n", "cpu=1000\ngpu=1\n", "cpu=3000\ngpu=2\n",
    "licence=1\n", "licence=3\n", "cpu=1000\nlicence=2\n", "+zone=a\n", "-zone=b\ncpu=500\n",
    "+zone=a\ncpu=1000\ngpu=1\nlicence=1\n"};
static const char *const of_queues[] = {
    NULL, NULL, NULL, "cpu=1000\n", "gpu=1\n", "licence=1\n", "+zone=a\ncpu=500\n"};
/* Each throttle has one limit: with several, who was placed first may start last. */
static const char *const throttled[] = {"%one=1\n", "%two=2\n", "%two=2\ncpu=1000\nlicence=1\n",
    "%two=2\n+zone=a\n", "%one=1\n%two=2\n"};
#define N_THROTTLED (sizeof throttled / sizeof throttled[0])
#define N_OF_TASKS (sizeof of_tasks / sizeof of_tasks[0])
#define N_OF_QUEUES (sizeof of_queues / sizeof of_queues[0])

void sim_needs_draw(struct sim_options *o)
{
	struct rng r = {o->seed ^ 0x6e65656473000000ull};

	o->has_needs = sim_chance(&r, 350);
	o->has_drains = sim_chance(&r, 300);
}

/* Of those that need nothing some are throttled. That is drawn from a stream of its own, too. */
struct str needs_of_task(struct world *w)
{
	const char *need;

	if (!w->o.has_needs)
		return STR_NULL;
	need = of_tasks[rng_below(&w->rng_need, N_OF_TASKS)];
	if (!need && sim_chance(&w->rng_throttle, 700))
		need = throttled[rng_below(&w->rng_throttle, N_THROTTLED)];
	return str_of(need);
}

struct str needs_of_queue(struct world *w)
{
	return w->o.has_needs ? str_of(of_queues[rng_below(&w->rng_need, N_OF_QUEUES)]) : STR_NULL;
}

struct str needs_known(struct str need)
{
	for (size_t i = 0; need.n && i < N_OF_TASKS; i++)
		if (of_tasks[i] && str_is(need, of_tasks[i]))
			return str_of(of_tasks[i]);
	for (size_t i = 0; need.n && i < N_THROTTLED; i++)
		if (str_is(need, throttled[i]))
			return str_of(throttled[i]);
	for (size_t i = 0; need.n && i < N_OF_QUEUES; i++)
		if (of_queues[i] && str_is(need, of_queues[i]))
			return str_of(of_queues[i]);
	return STR_NULL;
}

/* Another process may offer something else; who is of an older version offers nothing. */
void needs_offer(struct world *w, struct sim_worker *k)
{
	struct rng *r = &w->rng_need;
	bool is_first = strcmp(k->shard, "w0") == 0;
	int cpu = (int)sim_between(r, 1, 4), gpu = (int)sim_between(r, 0, 3);
	bool is_old = sim_chance(r, 100), is_near = sim_chance(r, 500);

	k->offer[0] = k->labels[0] = 0;
	if (!w->o.has_needs || (is_old && !is_first))
		return;
	snprintf(k->offer, sizeof k->offer, "cpu=%d\ngpu=%d\n", is_first ? 4000 : cpu * 1000,
	    is_first ? 3 : gpu);
	snprintf(k->labels, sizeof k->labels, "zone=%s\n", is_first || is_near ? "a" : "b");
}
