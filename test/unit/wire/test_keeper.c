/* SPDX-License-Identifier: Apache-2.0 */
/* What worker and keeper say to each other: nothing is lost on the way, nothing odd is believed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "wire/link/keeper.h"

static struct arena arena;
static struct buf bytes;

static int teardown(void **state)
{
	arena_release(&arena);
	buf_release(&bytes);
	return 0;
}

static struct to_keeper there(struct to_keeper m)
{
	struct to_keeper got;

	buf_reset(&bytes);
	to_keeper_encode(&m, &arena, &bytes);
	assert_int_equal(to_keeper_decode(buf_str(&bytes), &arena, &got, NULL), 0);
	return got;
}

static struct from_keeper back(struct from_keeper m)
{
	struct from_keeper got;

	buf_reset(&bytes);
	from_keeper_encode(&m, &arena, &bytes);
	assert_int_equal(from_keeper_decode(buf_str(&bytes), &arena, &got, NULL), 0);
	return got;
}

static void test_open(void **state)
{
	static const uint32_t groups[] = {4, 5};
	const struct keeper_identity users[] = {
	    {STR("alice"), 1, 2, groups, 2}, {STR(""), 3, 4, NULL, 0}};
	struct keeper_open o = {.version = 1,
	    .lock = STR("machine:/dir"),
	    .socket = STR("/dir/keeper.sock"),
	    .use_cgroups = true,
	    .keep = true,
	    .term_wait_ms = 300,
	    .worker_uid = 7,
	    .users = users,
	    .n_users = 2,
	    .instance = 8,
	    .start = 9};
	const struct keeper_open *g = there((struct to_keeper){.open = &o}).open;

	assert_true(str_is(g->lock, "machine:/dir") && str_is(g->socket, "/dir/keeper.sock"));
	assert_true(g->use_cgroups && g->keep && !g->adopt);
	assert_int_equal(g->n_users, 2);
	assert_true(str_is(g->users[0].name, "alice"));
	assert_int_equal(g->users[0].groups[1], 5);
	assert_int_equal(g->users[1].uid, 3);
	assert_int_equal(g->worker_uid + g->instance + (uint64_t)g->start, 24);
}

static void test_start(void **state)
{
	static const char *const argv[] = {"a", "", "b\xff", NULL}, *const env[] = {"K=v", NULL};
	const struct str groups[] = {STR("g1"), STR("g2")};
	const struct program_limit rlimits[] = {{4, 0}, {7, UINT64_MAX}};
	struct keeper_start s = {.id = 5,
	    .program.argv = argv,
	    .program.env = env,
	    .program.cwd = "/x",
	    .program.umask = 027,
	    .program.set_nice = true,
	    .program.nice = -3,
	    .input = KEEPER_STDIN_PIPE,
	    .n_fds = 2,
	    .program.same_group = true,
	    .new_privs = true,
	    .has_capabilities = true,
	    .capabilities = 1ull << 40,
	    .kept = true,
	    .program.death_signal = 15,
	    .user = STR("u"),
	    .groups = groups,
	    .n_groups = 2,
	    .limits = {.memory = 1 << 20, .cpu_milli = 1500, .pids = 9, .policy = LIMIT_WARN},
	    .program.limits = rlimits,
	    .program.n_limits = 2,
	    .term_to = KILL_TO_CHILD,
	    .note = {"n\0te", 4},
	    .result_file = "/r",
	    .sandboxed = true};
	const struct keeper_start *g = there((struct to_keeper){.start = &s}).start;

	for (int i = 0; i < 3; i++)
		assert_string_equal(g->program.argv[i], argv[i]);
	assert_null(g->program.argv[3]);
	assert_string_equal(g->program.env[0], "K=v");
	assert_string_equal(g->program.cwd, "/x");
	assert_string_equal(g->result_file, "/r");
	assert_true(g->program.set_nice && g->program.nice == -3);
	assert_int_equal(g->input, KEEPER_STDIN_PIPE);
	assert_true(g->program.same_group && g->new_privs && g->has_capabilities && g->kept &&
	            g->sandboxed);
	assert_int_equal(g->capabilities, 1ull << 40);
	assert_int_equal(g->limits.memory, 1 << 20);
	assert_int_equal(g->limits.policy, LIMIT_WARN);
	assert_int_equal(g->program.limits[1].value, UINT64_MAX);
	assert_true(str_is(g->groups[1], "g2") && str_eq(g->note, s.note) && !g->group.p);
	assert_int_equal(g->term_to, KILL_TO_CHILD);
	assert_int_equal(g->program.death_signal, 15);
}

static void test_what_is_not_said_is_the_default(void **state)
{
	static const char *const argv[] = {"a", NULL}, *const env[] = {NULL};
	struct keeper_start s = {.id = 5, .program.argv = argv, .program.env = env};
	const struct keeper_start *g = there((struct to_keeper){.start = &s}).start;

	assert_false(g->program.set_nice);
	assert_null(g->program.cwd);
	assert_null(g->result_file);
	assert_false(g->has_capabilities);
	assert_int_equal(g->limits.memory + g->limits.pids + g->limits.cpu_milli, 0);
}

static void test_small_words(void **state)
{
	struct keeper_signal s = {7, 15, KILL_TO_GROUP};
	struct to_keeper g = there((struct to_keeper){.signal = &s});

	assert_int_equal(g.signal->id + (uint64_t)g.signal->signal, 22);
	assert_int_equal(g.signal->to, KILL_TO_GROUP);
	assert_int_equal(there((struct to_keeper){.release = 3}).release, 3);
	g = there((struct to_keeper){.hold = 4, .hold_note = STR("x")});
	assert_true(g.hold == 4 && str_is(g.hold_note, "x"));
	g = there((struct to_keeper){.mark = &(struct keeper_mark){4, 3}});
	assert_true(g.mark && g.mark->id == 4 && g.mark->mark == 3);
	g = there((struct to_keeper){.has_deadline = true, .deadline_ms = INT64_MAX});
	assert_true(g.has_deadline && g.deadline_ms == INT64_MAX && !g.leave && !g.has_frozen);
	g = there((struct to_keeper){.has_frozen = true});
	assert_true(g.has_frozen && !g.frozen);
	assert_true(there((struct to_keeper){.leave = true}).leave);
}

static void test_answers(void **state)
{
	struct keeper_over over = {5, 0, 9, {1, 2, 3, 4, true}};
	struct keeper_kept kept = {.id = 6,
	    .note = STR("n"),
	    .pid = 7,
	    .started_ms = 8,
	    .over = &over,
	    .n_fds = 3,
	    .has_result = true};
	struct keeper_started started = {1, 2, STR("warned")};
	struct keeper_not_started not = {1, 127, STR("why")};
	struct keeper_opened opened = {
	    .version = 1, .ended = 2, .adoptions = 3, .no_cgroups = STR("no"), .instance = 4};
	struct from_keeper g = back((struct from_keeper){.over = &over});

	assert_true(g.over->signal == 9 && g.over->exit_code == 0 && g.over->usage.oom_kills == 4);
	g = back((struct from_keeper){.kept = &kept});
	assert_true(g.kept->pid == 7 && g.kept->over->usage.peak_memory == 3 && g.kept->has_result);
	g = back((struct from_keeper){.started = &started});
	assert_true(g.started->pid == 2 && str_is(g.started->warning, "warned"));
	g = back((struct from_keeper){.not_started = &not });
	assert_true(g.not_started->exit_code == 127 && str_is(g.not_started->reason, "why"));
	g = back((struct from_keeper){.opened = &opened});
	assert_true(
	    g.opened->adoptions == 3 && str_is(g.opened->no_cgroups, "no") && !g.opened->problem.p);
	assert_true(back((struct from_keeper){.all_kept = true}).all_kept);
	assert_true(back((struct from_keeper){.froze = true}).froze);
}

static void test_bounds(void **state)
{
	static const char *const argv[] = {"a", NULL}, *const none[] = {NULL};
	const struct keeper_start good = {.id = 5, .program.argv = argv, .program.env = none};
	struct keeper_start bad[] = {good, good, good, good, good, good, good};
	struct to_keeper got;

	bad[0].id = 0;
	bad[1].program.argv = none;
	bad[2].program.umask = 01000;
	bad[3].n_fds = KEEPER_EXTRA_MAX + 1;
	bad[4].program.death_signal = 65;
	bad[5].term_to = N_KILL_TOS;
	bad[6].result_file = "relative";
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		buf_reset(&bytes);
		to_keeper_encode(&(struct to_keeper){.start = &bad[i]}, &arena, &bytes);
		assert_int_equal(
		    to_keeper_decode(buf_str(&bytes), &arena, &got, NULL), ERR_PROTOCOL);
	}
	assert_int_equal(to_keeper_decode(STR("\xff\xff"), &arena, &got, NULL), ERR_PROTOCOL);
}

int main(void)
{
#define T(f) cmocka_unit_test_teardown(f, teardown)
	const struct CMUnitTest tests[] = {
	    T(test_open),
	    T(test_start),
	    T(test_what_is_not_said_is_the_default),
	    T(test_small_words),
	    T(test_answers),
	    T(test_bounds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
