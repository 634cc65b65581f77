/* SPDX-License-Identifier: Apache-2.0 */
/* The real keeper and its client: each story is told with cgroups and without. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/data/heap.h"
#include "exec/process.h"
#include "keeper/client.h"

#define PATIENCE_MS 20000

static struct keeper_client keeper;
static struct keeper_options options;
static char lock[64], socket_path[64];
static const char *env[] = {"PATH=/usr/bin:/bin", NULL, NULL};

struct seen { /* what became of one process */
	struct kept kept;
	bool started, over;
	int not_started;
	char why[256];
	struct buf out;
};

static void on_started(struct kept *k)
{
	CONTAINER_OF(k, struct seen, kept)->started = true;
}

static void on_not_started(struct kept *k, int code, struct str why)
{
	struct seen *s = CONTAINER_OF(k, struct seen, kept);

	s->not_started = code;
	snprintf(s->why, sizeof s->why, STR_FMT, STR_ARG(why));
}

static void on_over(struct kept *k)
{
	CONTAINER_OF(k, struct seen, kept)->over = true;
}

static const struct kept_fns fns = {on_started, on_not_started, on_over};

static int64_t now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_BOOTTIME, &ts);
	return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

static void set_options(bool cgroups, bool keep)
{
	static char lock_variable[128];
	char *mark;

	snprintf(lock, sizeof lock, "keeper-test-%d-%d", (int)getpid(), cgroups);
	snprintf(socket_path, sizeof socket_path, "/tmp/keeper-test-%d.sock", (int)getpid());
	mark = exec_lock_mark(lock);
	snprintf(lock_variable, sizeof lock_variable, EXEC_LOCK_VARIABLE "=%s", mark);
	free(mark);
	env[1] = lock_variable;
	options = (struct keeper_options){.lock = lock,
	    .socket = keep ? socket_path : NULL,
	    .held_fd = -1,
	    .use_cgroups = cgroups,
	    .term_wait_ms = 300,
	    .worker_uid = geteuid(),
	    .instance = 77,
	    .start = 88};
}

static int open_keeper(bool cgroups, bool keep)
{
	struct problem p = {0};

	set_options(cgroups, keep);
	return keeper_make(&keeper, &options, &p);
}

static int with_cgroups(void **state)
{
	return open_keeper(true, false);
}

static int with_groups(void **state)
{
	return open_keeper(false, false);
}

static int kept_with_cgroups(void **state)
{
	return open_keeper(true, true);
}

static int kept_with_groups(void **state)
{
	return open_keeper(false, true);
}

static int teardown(void **state)
{
	keeper_close(&keeper, true, PATIENCE_MS);
	return 0;
}

static void begin_with(struct seen *s, struct keeper_start *o, const int *fds, int n_fds)
{
	*s = (struct seen){0};
	o->program.env = env;
	o->program.umask = 022;
	o->program.death_signal = SIGKILL;
	assert_true(keeper_start(&keeper, o, fds, n_fds, &s->kept, &fns));
}

static void begin(struct seen *s, const char *script)
{
	const char *argv[] = {"sh", "-c", script, NULL};

	begin_with(s, &(struct keeper_start){.program.argv = argv}, NULL, 0);
}

static bool turn(int ms)
{
	struct pollfd pf = {keeper_fd(&keeper), POLLIN, 0};

	poll(&pf, 1, ms);
	return keeper_writable(&keeper) && keeper_readable(&keeper);
}

static void until(const bool *flag)
{
	int64_t by = now_ms() + PATIENCE_MS;

	while (!*flag && now_ms() < by)
		assert_true(turn(100));
	assert_true(*flag);
}

static const char *output(struct seen *s, int stream)
{
	struct pollfd pf = {s->kept.out[stream], POLLIN, 0};
	char bytes[4096];
	ssize_t n;

	buf_reset(&s->out);
	while (poll(&pf, 1, PATIENCE_MS) == 1 && (n = read(pf.fd, bytes, sizeof bytes)) > 0)
		buf_add(&s->out, bytes, (size_t)n);
	return s->out.p ? s->out.p : "";
}

/* A first line, while it runs on. */
static int first_number(struct seen *s)
{
	struct pollfd pf = {s->kept.out[0], POLLIN, 0};
	char text[64] = "";

	assert_int_equal(poll(&pf, 1, PATIENCE_MS), 1);
	assert_true(read(pf.fd, text, sizeof text - 1) > 0);
	return atoi(text);
}

static void drop(struct seen *s)
{
	kept_drop(&s->kept);
	buf_release(&s->out);
}

static bool is_alive(pid_t pid)
{
	char path[64], text[256] = "", *end;
	FILE *f;

	snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
	f = fopen(path, "re");
	if (!f)
		return false;
	if (!fgets(text, sizeof text, f))
		text[0] = 0;
	fclose(f);
	end = strrchr(text, ')');
	return end && end[2] != 'Z' && end[2] != 'X';
}

static void assert_gone(pid_t pid)
{
	for (int i = 0; i < PATIENCE_MS && is_alive(pid); i++)
		usleep(1000);
	assert_false(is_alive(pid));
}

static void runs_and_tells_its_end(void **state)
{
	struct seen s;

	begin(&s, "echo out; echo err >&2; exit 7");
	until(&s.over);
	assert_true(s.started);
	assert_string_equal(output(&s, 0), "out\n");
	assert_string_equal(output(&s, 1), "err\n");
	assert_int_equal(s.kept.exit_code, 7);
	assert_int_equal(s.kept.signal, 0);
	assert_true(s.kept.usage.known && s.kept.usage.peak_memory > 100000);
	drop(&s);
}

static void what_can_not_be_executed_is_told_exactly(void **state)
{
	static const struct {
		const char *program, *cwd, *why;
		int code;
	} cases[] = {
	    {"/nope/nope", NULL, "exec /nope/nope: No such file or directory", 127},
	    {"nope", NULL, "exec nope: not found in PATH", 127},
	    {"/etc", NULL, "exec /etc: Permission denied", 126},
	    {"true", "/nope", "working directory /nope: No such file or directory", 126},
	};

	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		const char *argv[] = {cases[i].program, NULL};
		struct seen s;
		int64_t by = now_ms() + PATIENCE_MS;

		begin_with(&s,
		    &(struct keeper_start){.program.argv = argv, .program.cwd = cases[i].cwd}, NULL,
		    0);
		while (!s.not_started && now_ms() < by)
			assert_true(turn(100));
		assert_int_equal(s.not_started, cases[i].code);
		assert_string_equal(s.why, cases[i].why);
		assert_false(s.started || s.over);
		drop(&s);
	}
}

static void signals_reach_the_chosen(void **state)
{
	static const enum kill_to tos[] = {KILL_TO_CGROUP, KILL_TO_GROUP};
	struct seen s;

	for (size_t i = 0; i < 2; i++) { /* the child of the shell gets it, too */
		begin(&s, "trap : TERM; "
		          "(trap 'echo inner; exit' TERM; echo 1; while :; do sleep 0.05; done) & "
		          "wait; wait; exit 3");
		until(&s.started);
		first_number(&s);
		kept_signal(&s.kept, SIGTERM, tos[i]);
		until(&s.over);
		assert_string_equal(output(&s, 0), "inner\n");
		assert_int_equal(s.kept.exit_code, 3);
		drop(&s);
	}
	begin(&s, "(trap 'echo inner' TERM; sleep 1000 & wait) & trap 'exit 4' TERM; echo 1; wait");
	until(&s.started);
	first_number(&s);
	kept_signal(&s.kept, SIGTERM, KILL_TO_CHILD);
	until(&s.over);
	assert_int_equal(s.kept.exit_code, 4);
	assert_string_equal(output(&s, 0), "");
	drop(&s);
}

/* Over means over: of descendants who left their group and session, too. */
static void nothing_outlives_its_leader(void **state)
{
	struct seen s;
	int pid;

	begin(&s, "setsid sh -c 'trap \"\" TERM HUP; (setsid sleep 1000 & echo $!) ; sleep 1000' & "
	          "sleep 0.2; exit 0");
	until(&s.over);
	pid = first_number(&s);
	assert_true(pid > 1);
	assert_gone(pid);
	drop(&s);
}

static void plenty_at_once(void **state)
{
	enum { MANY = 200 };
	static struct seen all[MANY];
	int64_t by = now_ms() + PATIENCE_MS;
	int n = 0;

	for (int i = 0; i < MANY; i++)
		begin(&all[i], "exit 5");
	while (n < MANY && now_ms() < by) {
		assert_true(turn(100));
		n = 0;
		for (int i = 0; i < MANY; i++)
			n += all[i].over;
	}
	for (int i = 0; i < MANY; i++) {
		assert_int_equal(all[i].kept.exit_code, 5);
		drop(&all[i]);
	}
}

static void long_arguments_and_files_come_through(void **state)
{
	enum { LONG = 120000 };
	char *word = malloc(LONG + 1), path[] = "/tmp/keeper-test-XXXXXX";
	const char *argv[] = {
	    "sh", "-c", "printf %s \"$1\" | wc -c; cat; cat <&3", "sh", word, NULL};
	struct keeper_start o = {.program.argv = argv, .input = KEEPER_STDIN_FD, .n_fds = 1};
	int fds[2] = {mkstemp(path), -1};
	struct seen s;

	memset(word, 'x', LONG);
	word[LONG] = 0;
	unlink(path);
	assert_int_equal(write(fds[0], "given\n", 6), 6);
	lseek(fds[0], 0, SEEK_SET);
	fds[1] = open("/dev/null", O_RDONLY);
	begin_with(&s, &o, fds, 2);
	until(&s.over);
	assert_string_equal(output(&s, 0), "120000\ngiven\n");
	close(fds[0]);
	close(fds[1]);
	free(word);
	drop(&s);
}

static void limits_and_place_are_set(void **state)
{
	const char *argv[] = {"sh", "-c",
	    "nice; umask; pwd; ulimit -c; ls /proc/self/fd | wc -l; "
	    "grep -c NoNewPrivs:.1 /proc/self/status",
	    NULL};
	struct program_limit limit = {4 /* RLIMIT_CORE */, 0};
	struct keeper_start o = {.program.argv = argv,
	    .program.cwd = "/usr",
	    .program.limits = &limit,
	    .program.n_limits = 1};
	struct seen s = {0};

	o.program.env = env;
	o.program.umask = 027;
	o.program.set_nice = true;
	o.program.nice = 7;
	assert_true(keeper_start(&keeper, &o, NULL, 0, &s.kept, &fns));
	until(&s.over);
	assert_string_equal(output(&s, 0), "7\n0027\n/usr\n0\n4\n1\n");
	drop(&s);
}

static void all_is_over_at_the_deadline(void **state)
{
	struct seen s, again;

	begin(&s, "trap '' TERM; echo 1; sleep 1000 & wait; wait");
	until(&s.started);
	first_number(&s);
	keeper_deadline(&keeper, now_ms() + 3600000);
	keeper_deadline(&keeper, now_ms() + 100);
	until(&s.over);
	assert_int_equal(s.kept.signal, SIGKILL);
	keeper_deadline(&keeper, INT64_MAX);
	begin(&again, "exit 6"); /* and it goes on */
	until(&again.over);
	assert_int_equal(again.kept.exit_code, 6);
	drop(&s);
	drop(&again);
}

/* In a process that will be killed: what it started, among it one that hides and ignores TERM. */
static void doomed_worker(bool cgroups, int tell)
{
	struct seen s;
	char text[64] = "";

	if (open_keeper(cgroups, false) < 0)
		_exit(1);
	begin(&s,
	    "trap '' TERM; setsid sleep 1000 >/dev/null 2>&1 & echo $!; wait; wait; sleep 1000");
	until(&s.started);
	snprintf(text, sizeof text, "%d", first_number(&s));
	dprintf(tell, "%d %d %s", (int)keeper.pid, (int)s.kept.pid, text);
	pause();
	_exit(1);
}

static void a_killed_worker_leaves_nothing(void **state)
{
	for (int cgroups = 0; cgroups < 2; cgroups++) {
		int tell[2], pids[3];
		char text[64] = "";
		pid_t worker;

		assert_int_equal(pipe2(tell, O_CLOEXEC), 0);
		if ((worker = fork()) == 0)
			doomed_worker(cgroups, tell[1]);
		assert_true(read(tell[0], text, sizeof text - 1) > 0);
		assert_int_equal(sscanf(text, "%d %d %d", &pids[0], &pids[1], &pids[2]), 3);
		kill(pids[0], SIGTERM); /* the keeper is not so easily ended */
		kill(worker, SIGKILL);
		waitpid(worker, NULL, 0);
		for (int i = 2; i >= 0; i--)
			assert_gone(pids[i]);
		close(tell[0]);
		close(tell[1]);
	}
}

static void a_killed_keeper_takes_its_leaders_along(void **state)
{
	struct seen s;
	int64_t by = now_ms() + PATIENCE_MS;

	begin(&s, "echo 1; exec sleep 1000");
	until(&s.started);
	first_number(&s);
	kill(keeper.pid, SIGKILL);
	while (turn(100) && now_ms() < by)
		;
	assert_gone(s.kept.pid);
	keeper_lost(&keeper);
	assert_true(s.over);
	assert_int_equal(s.kept.signal, SIGKILL);
	drop(&s);
	waitpid(keeper.pid, NULL, 0);
	keeper.pid = 0;
	exec_end_cgroups(lock);
}

static void what_was_ordered_from_a_dead_keeper_counts_as_started(void **state)
{
	struct seen s;

	kill(keeper.pid, SIGKILL);
	waitpid(keeper.pid, NULL, 0);
	keeper.pid = 0;
	s = (struct seen){0};
	{
		const char *argv[] = {"true", NULL};
		struct keeper_start o = {.program.argv = argv, .program.env = env};

		keeper_start(&keeper, &o, NULL, 0, &s.kept, &fns);
	}
	keeper_lost(&keeper);
	assert_true(s.started && s.over);
	drop(&s);
}

static void a_start_twice_or_nonsense_is_refused(void **state)
{
	const char *argv[] = {"true", NULL};
	struct keeper_start o = {.program.argv = argv, .n_fds = 2};
	struct seen s;
	int64_t by = now_ms() + PATIENCE_MS;

	begin_with(&s, &o, NULL, 0); /* two descriptors are announced, none comes */
	while (!s.not_started && now_ms() < by)
		assert_true(turn(100));
	assert_int_equal(s.not_started, -1);
	drop(&s);
}

static void another_user_needs_a_permit(void **state)
{
	const char *argv[] = {"true", NULL};
	struct keeper_start o = {.program.argv = argv, .user = STR("nobody")};
	struct seen s;
	int64_t by = now_ms() + PATIENCE_MS;

	begin_with(&s, &o, NULL, 0);
	while (!s.not_started && now_ms() < by)
		assert_true(turn(100));
	assert_int_equal(s.not_started, 126);
	assert_non_null(strstr(s.why, "may not run tasks as nobody"));
	drop(&s);
}

static void another_user_is_really_that_one(void **state)
{
	static const uint32_t groups[] = {65534, 4};
	const struct keeper_identity nobody = {STR("nobody"), 65534, 65534, groups, 2};
	const char *argv[] = {
	    "sh", "-c", "id -u; id -g; id -G; grep CapEff /proc/self/status", NULL};
	struct keeper_start o = {
	    .program.argv = argv, .user = STR("nobody"), .has_capabilities = true};
	struct problem p = {0};
	struct seen s;

	if (geteuid() != 0)
		return; /* the test before this one is about those who have no right to */
	keeper_close(&keeper, true, PATIENCE_MS);
	options.users = &nobody;
	options.n_users = 1;
	assert_int_equal(keeper_make(&keeper, &options, &p), 0);
	begin_with(&s, &o, NULL, 0);
	until(&s.over);
	assert_string_equal(output(&s, 0), "65534\n65534\n65534 4\nCapEff:\t0000000000000000\n");
	drop(&s);
}

static void all_stand_still_and_go_on(void **state)
{
	struct seen s;
	struct pollfd pf;
	char bytes[4096];

	begin(&s, "while :; do echo x; sleep 0.01; done");
	until(&s.started);
	keeper_freeze(&keeper, true, PATIENCE_MS);
	pf = (struct pollfd){s.kept.out[0], POLLIN, 0};
	while (poll(&pf, 1, 200) == 1) /* what it had written before */
		assert_true(read(pf.fd, bytes, sizeof bytes) > 0);
	keeper_freeze(&keeper, false, PATIENCE_MS);
	assert_int_equal(poll(&pf, 1, PATIENCE_MS), 1);
	kept_signal(&s.kept, SIGKILL, KILL_TO_CGROUP);
	until(&s.over);
	drop(&s);
}

static void leave_worker(void)
{
	options.held_fd = -1;
	keeper_close(&keeper, false, 0);
}

static void call_again(void)
{
	for (int i = 0; i < PATIENCE_MS && !keeper_adopt(&keeper, &options); i++)
		usleep(1000);
	assert_int_equal(keeper.opened.instance, 77);
	assert_int_equal(keeper.opened.start, 88);
}

static void kept_ones_go_on_and_are_taken_over(void **state)
{
	const char *argv[] = {"sh", "-c", "echo one; read x; echo two; exit 9", NULL};
	const char *short_argv[] = {"sh", "-c", "echo all; exit 2", NULL};
	int pipe_fds[2];
	struct seen runs, ends, not_kept, back[2] = {0};
	int unkept;

	assert_int_equal(pipe2(pipe_fds, O_CLOEXEC), 0);
	begin_with(&runs,
	    &(struct keeper_start){.program.argv = argv,
	        .input = KEEPER_STDIN_FD,
	        .kept = true,
	        .note = STR("note one")},
	    pipe_fds, 1);
	until(&runs.started);
	begin(&not_kept, "echo $$; exec sleep 1000");
	until(&not_kept.started);
	unkept = first_number(&not_kept);
	begin_with(&ends,
	    &(struct keeper_start){
	        .program.argv = short_argv, .kept = true, .note = STR("note two")},
	    NULL, 0);
	until(&ends.over);
	keeper_deadline(&keeper, now_ms() + 3600000);
	/* as if we were killed: what we have seen and not taken is there again */
	leave_worker();
	assert_gone(unkept);
	assert_int_equal(write(pipe_fds[1], "go\n", 3), 3);
	call_again();
	assert_int_equal(keeper.opened.adoptions, 1);
	assert_int_equal(keeper.n_adopted, 2);
	assert_true(str_is(keeper.adopted[0].note, "note one"));
	assert_true(str_is(keeper.adopted[1].note, "note two"));
	assert_true(keeper.adopted[1].is_over);
	for (int i = 0; i < 2; i++)
		kept_adopt(&keeper, &back[i].kept, &keeper.adopted[i], &fns);
	if (!back[0].kept.is_over)
		until(&back[0].over);
	assert_int_equal(back[0].kept.exit_code, 9);
	assert_string_equal(output(&back[0], 0), "one\ntwo\n");
	assert_int_equal(back[1].kept.exit_code, 2);
	assert_string_equal(output(&back[1], 0), "all\n");
	for (int i = 0; i < 2; i++) {
		keeper_release(&keeper, back[i].kept.id);
		drop(&back[i]);
	}
	close(pipe_fds[0]);
	close(pipe_fds[1]);
	/* released: nothing is left to take over, and an idle keeper does not stay */
	leave_worker();
	for (int i = 0; i < PATIENCE_MS && access(socket_path, F_OK) == 0; i++)
		usleep(1000);
	assert_int_equal(access(socket_path, F_OK), -1);
}

static void held_ones_are_over_when_their_worker_is(void **state)
{
	keeper_deadline(&keeper, now_ms() + 3600000);
	keeper_hold(&keeper, STR("in a plugin"));
	leave_worker();
	call_again();
	assert_int_equal(keeper.n_adopted, 1);
	assert_true(str_is(keeper.adopted[0].note, "in a plugin"));
	assert_int_equal(keeper.adopted[0].pid, 0);
	assert_true(keeper.adopted[0].is_over);
	keeper_release(&keeper, keeper.adopted[0].id);
}

static void alone_it_keeps_the_lease(void **state)
{
	const char *argv[] = {
	    "sh", "-c", "echo $$; trap '' TERM; sleep 1000 & wait; sleep 1000", NULL};
	struct seen s;
	int pid;

	begin_with(&s, &(struct keeper_start){.program.argv = argv, .kept = true}, NULL, 0);
	until(&s.started);
	pid = first_number(&s);
	keeper_deadline(&keeper, now_ms() + 300);
	leave_worker();
	assert_gone(pid);
	for (int i = 0; i < PATIENCE_MS && access(socket_path, F_OK) == 0; i++)
		usleep(1000);
	assert_int_equal(access(socket_path, F_OK), -1); /* nobody could tell anything any more */
}

int main(void)
{
#define T(f)                                                        \
	cmocka_unit_test_setup_teardown(f, with_cgroups, teardown), \
	    cmocka_unit_test_setup_teardown(f, with_groups, teardown)
#define K(f)                                                             \
	cmocka_unit_test_setup_teardown(f, kept_with_cgroups, teardown), \
	    cmocka_unit_test_setup_teardown(f, kept_with_groups, teardown)
	const struct CMUnitTest tests[] = {
	    T(runs_and_tells_its_end),
	    T(what_can_not_be_executed_is_told_exactly),
	    T(signals_reach_the_chosen),
	    T(nothing_outlives_its_leader),
	    T(plenty_at_once),
	    T(long_arguments_and_files_come_through),
	    T(limits_and_place_are_set),
	    T(all_is_over_at_the_deadline),
	    cmocka_unit_test(a_killed_worker_leaves_nothing),
	    T(a_killed_keeper_takes_its_leaders_along),
	    T(what_was_ordered_from_a_dead_keeper_counts_as_started),
	    T(a_start_twice_or_nonsense_is_refused),
	    T(another_user_needs_a_permit),
	    T(another_user_is_really_that_one),
	    T(all_stand_still_and_go_on),
	    K(kept_ones_go_on_and_are_taken_over),
	    K(held_ones_are_over_when_their_worker_is),
	    K(alone_it_keeps_the_lease),
	};

	signal(SIGPIPE, SIG_IGN);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
