/* SPDX-License-Identifier: Apache-2.0 */
/* What bubblewrap is told to do, and what programs in there can do. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/mem.h"
#include "exec/sandbox/sandbox.h"

#define FIRST_FD 3

static struct arena arena;
static char dir[64]; /* a directory of the host, with a secret in it */
static int filter = -1;
static bool works;

static int setup_all(void **state)
{
	char why[300];
	struct problem p;

	works = sandbox_available(why, sizeof why);
	if (!works)
		print_message("no sandbox can be made here: %s\n", why);
	assert_int_equal(sandbox_filter_make(&filter, &p), 0);
	return 0;
}

static int setup(void **state)
{
	char path[128];
	FILE *f;

	snprintf(dir, sizeof dir, "/var/tmp/reeve-sandbox-XXXXXX");
	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof path, "%s/secret", dir);
	f = fopen(path, "w");
	assert_non_null(f);
	fputs("a secret\n", f);
	fclose(f);
	return 0;
}

static int teardown(void **state)
{
	pid_t pid = fork();

	if (pid == 0) {
		execlp("rm", "rm", "-rf", "--", dir, NULL);
		_exit(127);
	}
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	arena_release(&arena);
	return 0;
}

static const char *const usual_env[] = {"PATH=/usr/bin:/bin", "COLOUR=green", NULL};

struct box {
	struct run_sandbox sandbox;
	struct sandbox_spec spec;
	struct sandboxed made;
	pid_t pid;
	int out_fd;
	char out[4096];
	int code;
	bool ran;
};

static void init(struct box *b, const char *const *argv)
{
	*b = (struct box){.sandbox = {.on = true}};
	b->spec = (struct sandbox_spec){.sandbox = &b->sandbox,
	    .argv = argv,
	    .envp = usual_env,
	    .first_fd = FIRST_FD,
	    .filter_fd = filter};
}

static void start(struct box *b)
{
	struct problem p = {0};
	int fds[2];

	b->spec.sandbox = &b->sandbox;
	if (sandbox_prepare(&b->spec, &arena, &b->made, &p) < 0)
		fail_msg("%s", p.what);
	assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
	b->pid = fork();
	if (b->pid == 0) {
		int high[SANDBOX_FDS_MAX];

		dup2(fds[1], 1);
		dup2(fds[1], 2);
		for (int i = 0; i < b->made.n_fds; i++)
			high[i] = fcntl(b->made.fds[i], F_DUPFD, 100);
		for (int i = 0; i < b->made.n_fds; i++)
			dup2(high[i], FIRST_FD + i);
		syscall(SYS_close_range, FIRST_FD + (unsigned)b->made.n_fds, ~0u, 0u);
		setsid();
		execve(b->made.argv[0], (char **)b->made.argv, (char **)b->made.envp);
		_exit(127);
	}
	close(fds[1]);
	b->out_fd = fds[0];
	sandbox_started(&b->made);
}

/* Reads until the end, or until the text is there. */
static void read_until(struct box *b, const char *text)
{
	size_t n = strlen(b->out);
	ssize_t got;

	while (!(text && strstr(b->out, text)) &&
	       (got = read(b->out_fd, b->out + n, sizeof b->out - 1 - n)) > 0)
		b->out[n += (size_t)got] = 0;
}

static void finish(struct box *b)
{
	int status;

	read_until(b, NULL);
	close(b->out_fd);
	assert_int_equal(waitpid(b->pid, &status, 0), b->pid);
	b->code = WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
	b->ran = sandbox_ran(b->made.status_fd);
	sandbox_release(&b->made);
}

static void run(struct box *b)
{
	start(b);
	finish(b);
}

static void run_shell(struct box *b, const char *script)
{
	static const char *argv[] = {"sh", "-c", NULL, NULL};

	init(b, argv);
	argv[2] = script;
	run(b);
}

#define NEEDS_SANDBOX()         \
	do {                    \
		if (!works)     \
			skip(); \
	} while (0)

/* The options, with a blank before and after each. */
static const char *options_of(struct box *b)
{
	static char text[65536];
	struct problem p = {0};
	ssize_t n;

	if (sandbox_prepare(&b->spec, &arena, &b->made, &p) < 0)
		fail_msg("%s", p.what);
	text[0] = ' ';
	n = pread(b->made.fds[0], text + 1, sizeof text - 2, 0);
	assert_true(n > 0);
	for (ssize_t i = 1; i <= n; i++)
		if (!text[i])
			text[i] = ' ';
	text[n + 1] = 0;
	return text;
}

static void assert_in_order(const char *text, const char *first, const char *second)
{
	const char *a = strstr(text, first), *b = strstr(text, second);

	if (!a || !b || a > b)
		fail_msg("not in order, %s before %s: %s", first, second, text);
}

static void the_options(void **state)
{
	static const char *const argv[] = {"true", "-x", NULL};
	struct box b;
	const char *text;

	if (!sandbox_program())
		skip();
	init(&b, argv);
	b.spec.cwd = "/usr";
	text = options_of(&b);
	for (int i = 0; i < 8; i++) {
		static const char *const wanted[] = {" --unshare-user ", " --unshare-net ",
		    " --unshare-pid ", " --die-with-parent ", " --chdir /usr ", " --clearenv ",
		    " --setenv COLOUR green ", " --seccomp 5 "};

		assert_non_null(strstr(text, wanted[i]));
	}
	assert_in_order(text, " --ro-bind / / ", " --tmpfs /tmp ");
	assert_string_equal(b.made.argv[1], "--args");
	assert_string_equal(b.made.argv[2], "3");
	assert_string_equal(b.made.argv[4], "true");
	assert_string_equal(b.made.argv[5], "-x");
	assert_null(b.made.argv[6]);
	assert_null(b.made.envp[0]); /* nothing of the user's reaches bubblewrap itself */
	assert_int_equal(b.made.n_fds, 3);
	sandbox_release(&b.made);
}

static void what_is_not_wanted_is_not_there(void **state)
{
	static const char *const argv[] = {"true", NULL};
	struct str caps[] = {STR("net_bind_service")};
	struct box b;
	const char *text;

	if (!sandbox_program())
		skip();
	init(&b, argv);
	b.sandbox.network = b.sandbox.no_seccomp = b.spec.privileged = true;
	b.spec.capabilities = caps;
	b.spec.n_capabilities = 1;
	text = options_of(&b);
	assert_null(strstr(text, "--unshare-net"));
	assert_null(strstr(text, "--unshare-user"));
	assert_null(strstr(text, "--seccomp"));
	assert_in_order(text, " --cap-drop ALL ", " --cap-add CAP_NET_BIND_SERVICE ");
	assert_int_equal(b.made.n_fds, 2);
	sandbox_release(&b.made);
}

static void masks_come_after_binds(void **state)
{
	static const char *const argv[] = {"true", NULL};
	const char *hidden[] = {dir, "/nonexistent"}, *own[1];
	struct str writable[] = {STR("/var/tmp")};
	char inside[128], first[128], second[300];
	struct box b;
	const char *text;

	if (!sandbox_program())
		skip();
	init(&b, argv);
	snprintf(inside, sizeof inside, "%s/task", dir);
	own[0] = inside;
	b.spec.hidden = hidden;
	b.spec.n_hidden = 2;
	b.spec.own = own;
	b.spec.n_own = 1;
	b.sandbox.writable = writable;
	b.sandbox.n_writable = 1;
	text = options_of(&b);
	snprintf(first, sizeof first, " --tmpfs %s ", dir);
	snprintf(second, sizeof second, " --bind %s %s ", inside, inside);
	assert_in_order(text, " --bind /var/tmp /var/tmp ", first);
	assert_in_order(text, first, second);
	snprintf(first, sizeof first, " --remount-ro %s ", dir);
	assert_in_order(text, second, first);
	assert_null(strstr(text, "/nonexistent"));
	sandbox_release(&b.made);
}

static void refuse(struct box *b, const char *words)
{
	struct problem p = {0};

	assert_int_equal(sandbox_prepare(&b->spec, &arena, &b->made, &p), ERR_INVALID);
	if (!strstr(p.what, words))
		fail_msg("%s", p.what);
	assert_int_equal(b->made.status_fd, -1);
}

static void paths_that_can_not_be(void **state)
{
	static const char *const argv[] = {"true", NULL};
	const char *hidden[] = {dir};
	char link[128], secret[128];
	struct str path;
	struct box b;

	if (!sandbox_program())
		skip();
	init(&b, argv);
	snprintf(secret, sizeof secret, "%s/secret", dir);
	snprintf(link, sizeof link, "%s-link", dir);
	b.spec.hidden = hidden;
	b.spec.n_hidden = 1;
	b.sandbox.writable = &path;
	b.sandbox.n_writable = 1;
	path = STR("relative");
	refuse(&b, "absolute");
	path = STR("/nonexistent/x");
	refuse(&b, "does not exist");
	path = STR("/proc/self");
	refuse(&b, "stay outside");
	path = STR("/usr/..");
	refuse(&b, "whole root");
	path = str_of(secret);
	refuse(&b, "belongs to Reeve");
	path = str_of(link);
	assert_int_equal(symlink(dir, link), 0);
	refuse(&b, "belongs to Reeve");
	unlink(link);
	assert_int_equal(symlink("/var/tmp", link), 0);
	refuse(&b, "is a link");
	unlink(link);
	b.sandbox.n_writable = 0;
	b.sandbox.rootfs = STR("/var/tmp");
	refuse(&b, "holds files that belong to Reeve");
}

static void it_sees_only_its_own(void **state)
{
	struct box b;

	NEEDS_SANDBOX();
	run_shell(&b, "cd /proc; echo [0-9]*; echo $$; cat /proc/1/comm");
	assert_int_equal(b.code, 0);
	assert_true(b.ran);
	assert_string_equal(b.out, "1 2\n2\nbwrap\n"); /* the reaper and the shell */
}

static void the_environment_is_the_commands(void **state)
{
	struct box b;

	NEEDS_SANDBOX();
	run_shell(&b, "echo $COLOUR; ls /proc/self/fd | wc -l; tr '\\0' '\\n' </proc/1/cmdline |"
	              "grep -c green; tr '\\0' '\\n' </proc/1/environ | grep -c green");
	/* 0, 1, 2 and the one ls reads by: neither options nor status nor filter */
	assert_string_equal(b.out, "green\n4\n1\n0\n"); /* the 1 is this very script */
}

static void the_host_can_not_be_written(void **state)
{
	struct box b;
	struct stat st;
	char script[512];

	NEEDS_SANDBOX();
	snprintf(script, sizeof script,
	    "touch /reeve-test-x /usr/x %s/x; touch /tmp/reeve-sandbox-mark && ls /tmp; "
	    "cat %s/secret",
	    dir, dir);
	run_shell(&b, script);
	assert_int_equal(b.code, 1);
	assert_non_null(strstr(b.out, "/usr/x': Read-only file system"));
	assert_non_null(strstr(b.out, "\nreeve-sandbox-mark\n")); /* and nothing else in there */
	assert_null(strstr(b.out, "a secret"));                   /* /var/tmp is its own, too */
	assert_int_equal(stat("/tmp/reeve-sandbox-mark", &st), -1);
	assert_int_equal(stat("/reeve-test-x", &st), -1);
}

static void what_is_given_can_be_written(void **state)
{
	static const char *argv[] = {"sh", "-c", "cat secret; echo new >mine", NULL};
	struct str writable[] = {str_of(dir)};
	struct stat st;
	struct box b;
	char path[128];

	NEEDS_SANDBOX();
	init(&b, argv);
	b.spec.cwd = dir;
	b.sandbox.writable = writable;
	b.sandbox.n_writable = 1;
	run(&b);
	assert_string_equal(b.out, "a secret\n");
	assert_int_equal(b.code, 0);
	snprintf(path, sizeof path, "%s/mine", dir);
	assert_int_equal(stat(path, &st), 0);
	b.sandbox.readable = writable;
	b.sandbox.n_readable = 1;
	b.sandbox.n_writable = 0;
	memset(b.out, 0, sizeof b.out);
	run(&b);
	assert_non_null(strstr(b.out, "Read-only file system"));
}

static void the_workers_files_are_hidden(void **state)
{
	static const char *argv[] = {"sh", "-c", NULL, NULL};
	const char *hidden[] = {dir}, *own[1];
	struct str writable[] = {STR("/var/tmp")};
	char inside[128], script[512];
	struct stat st;
	struct box b;

	NEEDS_SANDBOX();
	snprintf(inside, sizeof inside, "%s/task", dir);
	assert_int_equal(mkdir(inside, 0700), 0);
	snprintf(
	    script, sizeof script, "ls %s; touch %s/no; echo yes >%s/result", dir, dir, inside);
	init(&b, argv);
	argv[2] = script;
	own[0] = inside;
	b.spec.hidden = hidden;
	b.spec.n_hidden = b.spec.n_own = 1;
	b.spec.own = own;
	b.sandbox.writable = writable;
	b.sandbox.n_writable = 1;
	run(&b);
	assert_int_equal(b.code, 0);
	assert_int_equal(strncmp(b.out, "task\n", 5), 0);
	assert_non_null(strstr(b.out, "Read-only file system"));
	snprintf(inside, sizeof inside, "%s/task/result", dir);
	assert_int_equal(stat(inside, &st), 0);
}

static void a_root_of_ones_own(void **state)
{
	static const char *argv[] = {"/bin/sh", "-c", "ls /; cat /greeting", NULL};
	struct str readable[] = {STR("/usr"), STR("/bin"), STR("/lib"), STR("/lib64")};
	static const char *const names[] = {"proc", "dev", "tmp", "usr", "bin", "lib", "lib64"};
	char path[128];
	FILE *f;
	struct box b;

	NEEDS_SANDBOX();
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
		snprintf(path, sizeof path, "%s/%s", dir, names[i]);
		assert_int_equal(mkdir(path, 0755), 0);
	}
	snprintf(path, sizeof path, "%s/greeting", dir);
	f = fopen(path, "w");
	assert_non_null(f);
	fputs("hello\n", f);
	fclose(f);
	init(&b, argv);
	b.sandbox.rootfs = str_of(dir);
	b.sandbox.readable = readable;
	b.sandbox.n_readable = access("/lib64", F_OK) == 0 ? 4 : 3;
	run(&b);
	if (b.code != 0)
		fail_msg("%s", b.out);
	assert_string_equal(
	    b.out, "bin\ndev\ngreeting\nlib\nlib64\nproc\nsecret\ntmp\nusr\nhello\n");
}

static void there_is_no_network_but_loopback(void **state)
{
	struct box b;

	NEEDS_SANDBOX();
	run_shell(&b, "tail -n +3 /proc/net/dev | cut -d: -f1 | tr -d ' '");
	assert_string_equal(b.out, "lo\n");
}

static int try_call(const char *name, bool with_filter)
{
	static char program[512];
	const char *argv[] = {program, name, NULL};
	struct str readable[1];
	struct box b;

	snprintf(program, sizeof program, "%s/try_call", getenv("REEVE_TEST_PROGRAMS"));
	readable[0] = str_of(program);
	init(&b, argv);
	b.spec.keep_capabilities = true; /* so that it is the filter that says no */
	b.sandbox.no_seccomp = !with_filter;
	b.sandbox.readable = readable;
	b.sandbox.n_readable = 1;
	run(&b);
	if (!b.ran)
		fail_msg("%s", b.out);
	return b.code;
}

static void the_filter_says_no(void **state)
{
	static const char *const names[] = {"mount", "ptrace", "unshare", "clone", "keyctl",
	    "io_uring", "tiocsti", "open_tree_attr", "adjtimex", "clock_adjtime"};

	NEEDS_SANDBOX();
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
		int code = try_call(names[i], true);

		if (code != EPERM)
			fail_msg("%s: %s", names[i], strerror(code));
	}
	assert_int_equal(try_call("clone3", true), ENOSYS);
	assert_int_equal(try_call("unknown", true), ENOSYS); /* whatever the kernel has there */
#ifdef __x86_64__
	assert_int_equal(try_call("x32", true), 128 + SIGSYS);
#endif
}

static void it_is_the_filter_that_said_no(void **state)
{
	NEEDS_SANDBOX();
	assert_int_equal(try_call("ptrace", false), 0);
	if (geteuid() == 0) /* else the mounts belong to a namespace above */
		assert_int_equal(try_call("mount", false), 0);
	assert_int_equal(try_call("unshare", false), 0);
	assert_int_equal(try_call("clone", false), 0);
	assert_int_not_equal(try_call("clone3", false), ENOSYS);
	assert_int_not_equal(try_call("open_tree_attr", false), EPERM);
	assert_int_not_equal(try_call("adjtimex", false), EPERM);
}

static void ends_come_through(void **state)
{
	struct box b;

	NEEDS_SANDBOX();
	run_shell(&b, "exit 42");
	assert_int_equal(b.code, 42);
	run_shell(&b, "kill -SEGV $$");
	assert_int_equal(b.code, 128 + SIGSEGV);
	run_shell(&b, "exit 1");
	assert_int_equal(b.code, 1);
	assert_true(b.ran); /* the command's own 1, not bubblewrap's */
}

static void its_own_failures_can_be_told(void **state)
{
	static const char *const missing[] = {"/nonexistent/program", NULL};
	static const char *const well[] = {"true", NULL};
	struct box b;

	NEEDS_SANDBOX();
	init(&b, missing);
	run(&b);
	assert_int_equal(b.code, 1);
	assert_false(b.ran);
	assert_int_equal(strncmp(b.out, "bwrap: execvp /nonexistent/program: No such file", 48), 0);
	init(&b, well);
	b.spec.cwd = dir; /* it exists, but not in there */
	run(&b);
	assert_false(b.ran);
	assert_int_equal(strncmp(b.out, "bwrap: Can't chdir", 18), 0);
}

static void it_can_be_asked_to_stop(void **state)
{
	static char program[512];
	static const char *const argv[] = {"sh", program, NULL};
	struct str readable[] = {str_of(program)};
	struct box b;

	NEEDS_SANDBOX();
	snprintf(program, sizeof program, "%s/stubborn.sh", getenv("REEVE_TEST_SCRIPTS"));
	readable[0] = str_of(program);
	init(&b, argv);
	b.sandbox.readable = readable;
	b.sandbox.n_readable = 1;
	start(&b);
	read_until(&b, "ready\n");
	assert_true(sandbox_signal(b.pid, SIGTERM));
	finish(&b);
	assert_string_equal(b.out, "ready\nasked\n");
	assert_int_equal(b.code, 7);
	assert_false(sandbox_signal(b.pid, SIGTERM));
}

/* Killing the outer process ends all: nobody inside keeps the pipe open. */
static void all_ends_with_the_outer_one(void **state)
{
	static const char *const argv[] = {
	    "sh", "-c", "trap '' TERM; (setsid sleep 1000 &) ; echo ready; sleep 1000", NULL};
	struct box b;

	NEEDS_SANDBOX();
	init(&b, argv);
	start(&b);
	read_until(&b, "ready\n");
	kill(b.pid, SIGTERM);
	finish(&b); /* returns only when the pipe is closed by all */
	assert_int_equal(b.code, -SIGTERM);
	assert_false(b.ran);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
	    TEST(the_options),
	    TEST(what_is_not_wanted_is_not_there),
	    TEST(masks_come_after_binds),
	    TEST(paths_that_can_not_be),
	    TEST(it_sees_only_its_own),
	    TEST(the_environment_is_the_commands),
	    TEST(the_host_can_not_be_written),
	    TEST(what_is_given_can_be_written),
	    TEST(the_workers_files_are_hidden),
	    TEST(a_root_of_ones_own),
	    TEST(there_is_no_network_but_loopback),
	    TEST(the_filter_says_no),
	    TEST(it_is_the_filter_that_said_no),
	    TEST(ends_come_through),
	    TEST(its_own_failures_can_be_told),
	    TEST(it_can_be_asked_to_stop),
	    TEST(all_ends_with_the_outer_one),
	};

	return cmocka_run_group_tests(tests, setup_all, NULL);
}
