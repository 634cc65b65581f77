/* SPDX-License-Identifier: Apache-2.0 */
/* What a group waits for, and what a job does: named up to what blocks, however long the row is. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/mem.h"
#include "core/state.h"
#include "group_story.h"
#include "words/words.h"

#define STORY(name) static void name(void **state)
#define LONG 100000

static int set_status(struct group_story *s, char job, int status)
{
	struct event ev = {.kind = EV_TASK_SET, .ticket = ++s->w->last_ticket};

	ev.tasks.ids = &s->job[job - 'a'];
	ev.tasks.n = 1;
	ev.tasks.has_status = true;
	ev.tasks.status = status;
	world_step(s->w, &ev);
	return world_reply(s->w)->outcomes[0].code;
}

/* The letters of the jobs that could go on. */
static const char *live(struct group_story *s)
{
	static char letters[GROUP_LIVE_MAX + 1];
	rid jobs[GROUP_LIVE_MAX];
	size_t n = core_group_live(s->w->core, s->group, jobs);

	memset(letters, 0, sizeof letters);
	for (size_t i = 0; i < n; i++)
		for (int k = 0; k < LETTERS; k++)
			if (s->job[k] == jobs[i])
				letters[i] = (char)('a' + k);
	return letters;
}

STORY(what_waits_goes_before_what_runs)
{
	struct group_story s = story_new(NULL);

	assert_int_equal(core_group_live(s.w->core, 12345, (rid[GROUP_LIVE_MAX]){0}), 0);
	story_worker(&s, 1);
	story_submit(&s, "a b c d:a");
	assert_string_equal(live(&s), "bca");
	assert_int_equal(set_status(&s, 'c', -10), 0);
	assert_string_equal(live(&s), "bca");
	world_restart(s.w);
	assert_string_equal(live(&s), "bca");
	story_do(&s, EV_DO);
	assert_int_equal(story_group(&s), GROUP_CANCELING);
	assert_string_equal(live(&s), "a");
	world_free(s.w);
}

/* However many others wait before it in another queue. */
STORY(one_of_each_kind_of_wait_is_listed)
{
	struct group_story s = story_new(NULL);

	story_submit(&s, "a b c d e f g h i j k l m");
	assert_string_equal(live(&s), "abcdefgh");
	assert_int_equal(set_status(&s, 'm', -10), 0);
	assert_string_equal(live(&s), "ambcdefg");
	world_free(s.w);
}

/* A group as it is in memory: nothing of it has ended. */
static void long_group(struct group *g, struct active *a, uint32_t n, uint32_t n_edges)
{
	*a = (struct active){.stage = STAGE_RUN, .n_edges = n_edges};
	*g = (struct group){.row.n_jobs = n, .active = a};
	a->marks = xcalloc(n, 1);
	a->first = xcalloc(n + 1, sizeof *a->first);
	a->needed_by = xcalloc(n_edges + 1, sizeof *a->needed_by);
}

static void drop(struct active *a)
{
	free(a->marks);
	free(a->first);
	free(a->needed_by);
}

STORY(a_chain_is_followed_to_its_end)
{
	struct group g;
	struct active a;
	uint32_t need, last;

	long_group(&g, &a, LONG, LONG - 1);
	for (uint32_t i = 0; i + 1 < LONG; i++) {
		a.first[i] = i;
		a.needed_by[i] = (i + 1) << 2;
	}
	a.first[LONG - 1] = LONG - 1;
	assert_int_equal(graph_blockers(&g, LONG - 1, &need, &last), LONG - 1);
	assert_int_equal(need, LONG - 2);
	assert_int_equal(last, 0);
	memset(a.marks, MARK_BUILT, 70000);
	assert_int_equal(graph_blockers(&g, LONG - 1, &need, &last), LONG - 1 - 70000);
	assert_int_equal(last, 70000);
	assert_int_equal(graph_blockers(&g, 70000, &need, &last), 0);
	drop(&a);
}

/* Each needs the ten before it: the chain is still gone down once. */
STORY(a_ladder_is_followed_to_its_end)
{
	struct group g;
	struct active a;
	uint32_t need, last, n = 0;

	long_group(&g, &a, LONG, LONG * 10);
	for (uint32_t i = 0; i < LONG; i++) {
		a.first[i] = n;
		for (uint32_t k = i + 1; k <= i + 10 && k < LONG; k++)
			a.needed_by[n++] = k << 2;
	}
	a.n_edges = n;
	assert_int_equal(graph_blockers(&g, LONG - 1, &need, &last), LONG - 1);
	assert_int_equal(last, 0);
	drop(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(what_waits_goes_before_what_runs),
	    cmocka_unit_test(one_of_each_kind_of_wait_is_listed),
	    cmocka_unit_test(a_chain_is_followed_to_its_end),
	    cmocka_unit_test(a_ladder_is_followed_to_its_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
