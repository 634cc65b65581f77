/* SPDX-License-Identifier: Apache-2.0 */
#include "server/workers/following.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/world/clock.h"

#define SAY_AGAIN_MS 2000

struct following {
	struct engine *engine;
	struct sessions *sessions;
	struct loop_timer *again; /* runs while anything is followed */
	bool is_set;
};

/* A task that runs nowhere needs no word: its run will bring it along. */
static void say(struct following *f, rid task, bool is_followed)
{
	const struct core *c = engine_core(f->engine);
	struct link_follow word = {.task = task, .for_ms = is_followed ? FOLLOW_FOR_MS : 0};
	struct task_state state;
	struct worker_view worker;

	if (!core_task_state(c, task, &state) || !state.worker ||
	    !core_worker(c, state.worker, clock_mono_ms(), &worker) || !worker.link)
		return;
	word.token = state.token;
	sessions_follow(f->sessions, worker.link, &word);
}

static void say_one(rid task, bool is_followed, void *arg)
{
	say(arg, task, is_followed);
}

static void say_all(void *arg)
{
	struct following *f = arg;

	f->is_set = hub_each_followed(engine_hub(f->engine), say_one, f) > 0;
	if (f->is_set)
		loop_timer_set(f->again, SAY_AGAIN_MS);
}

static void on_follow(rid task, bool is_followed, void *arg)
{
	struct following *f = arg;

	say(f, task, is_followed);
	if (is_followed && !f->is_set) {
		f->is_set = true;
		loop_timer_set(f->again, SAY_AGAIN_MS);
	}
}

struct following *following_new(struct loop *l, struct engine *e, struct sessions *s)
{
	struct following *f = xcalloc(1, sizeof *f);

	f->engine = e;
	f->sessions = s;
	f->again = loop_timer_new(l, say_all, f);
	hub_on_follow(engine_hub(e), on_follow, f);
	return f;
}

void following_free(struct following *f)
{
	hub_on_follow(engine_hub(f->engine), NULL, NULL);
	loop_timer_free(f->again);
	free(f);
}
