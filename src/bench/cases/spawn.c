/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The case spawn: /bin/true with its output captured, in turns with bare loops that make the same
 * pipes and cgroups, so that whatever else the machine does meets all of them alike.
 */
#include <stdio.h>

#include "base/mem.h"
#include "bench/internal.h"
#include "exec/confine/cgroup.h"

#define ROUNDS 3

struct seconds {
	double ours, bare, fresh, same;
};

static int our_turn(struct bench *b, int64_t n, int64_t ended, double *seconds)
{
	static const char line[] = "{\"queue\":\"spawn\",\"command\":[\"/bin/true\"]}";
	double start = bench_seconds();
	int r = submit_bulk(b, line, n, NULL);

	if (r == 0)
		r = queue_wait_ended(b, "spawn", ended);
	*seconds += bench_seconds() - start;
	return r;
}

static int take_turns(struct bench *b, int64_t n, int cgroup_parent, struct seconds *s)
{
	int r = our_turn(b, 10, 10, &s->ours); /* the first ones find nothing ready */

	*s = (struct seconds){0};
	for (int i = 0; i < ROUNDS && r == 0 && !bench_interrupted(); i++) {
		s->bare += limit_spawn_seconds(n, LOOP_BARE, -1, limit_loops());
		if (cgroup_parent >= 0) {
			s->fresh +=
			    limit_spawn_seconds(n, LOOP_FRESH_CGROUP, cgroup_parent, limit_loops());
			s->same +=
			    limit_spawn_seconds(n, LOOP_SAME_CGROUP, cgroup_parent, limit_loops());
		}
		r = our_turn(b, n, 10 + n * (i + 1), &s->ours);
	}
	return r;
}

static void say(const struct seconds *s, int64_t n, json_t *to)
{
	double total = (double)n * ROUNDS;

	json_object_set_new(to, "tasks", json_integer(n * ROUNDS));
	json_object_set_new(to, "tasks_per_s", figure(total / s->ours));
	json_object_set_new(to, "bare_loops", json_integer(limit_loops()));
	json_object_set_new(to, "bare_loops_per_s", figure(total / s->bare));
	json_object_set_new(to, "ratio_to_bare_loops", figure(s->bare / s->ours));
	if (s->fresh <= 0)
		return; /* a host that lets nobody make cgroups, Reeve neither */
	json_object_set_new(to, "fresh_cgroup_loops_per_s", figure(total / s->fresh));
	json_object_set_new(to, "ratio_to_fresh_cgroup_loops", figure(s->fresh / s->ours));
	json_object_set_new(to, "same_cgroup_loops_per_s", figure(total / s->same));
	json_object_set_new(to, "ratio_to_same_cgroup_loops", figure(s->same / s->ours));
}

static int hand_alone(struct bench *b, int cgroup_parent, json_t *to)
{
	json_t *hand = json_object();
	int r = hand_measure(b, cgroup_parent, hand);

	json_object_set_new(to, "hand", hand);
	return r;
}

int case_spawn(struct bench *b, json_t *to)
{
	AUTO(free_cstr)
	char *settings =
	    xasprintf("\"plugin\":\"command\",\"threads\":%lld", (long long)b->spawn_threads);
	int64_t n = bench_scaled(b, 1000, 20);
	struct cgroups g = {.dir_fd = -1};
	struct seconds s = {0};
	struct spent since = spent_now(b);
	int r = queue_make(b, "spawn", settings);

	json_object_set_new(to, "threads", json_integer(b->spawn_threads));
	if (cgroups_open(&g, b->dir, NULL) < 0)
		bench_note("no cgroups here: the loops beside `spawn` run without");
	if (r == 0)
		r = take_turns(b, n, g.dir_fd, &s);
	say(&s, n, to);
	spent_add(b, since, n * ROUNDS, to);
	if (r == 0)
		r = idle_measure(b, to);
	if (r == 0 && g.dir_fd >= 0)
		r = hand_alone(b, g.dir_fd, to);
	cgroups_close(&g);
	return r;
}
