/* SPDX-License-Identifier: Apache-2.0 */
/* Limits on hosts that are only directories: what is written where, whatever this host has. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "exec/confine/cgroup.h"
#include "exec/confine/limits_internal.h"

static char root[64];

static int setup(void **state)
{
	snprintf(root, sizeof root, "/tmp/reeve-limits-XXXXXX");
	return mkdtemp(root) ? 0 : -1;
}

static int teardown(void **state)
{
	pid_t pid = fork();

	if (pid == 0) {
		execlp("rm", "rm", "-rf", "--", root, NULL);
		_exit(127);
	}
	return waitpid(pid, NULL, 0) == pid ? 0 : -1;
}

/* Makes the folders on the way, too. */
static void put(const char *text, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void put(const char *text, const char *fmt, ...)
{
	char path[512] = "", *at;
	size_t n = (size_t)snprintf(path, sizeof path, "%s/", root);
	va_list ap;
	FILE *f;

	va_start(ap, fmt);
	vsnprintf(path + n, sizeof path - n, fmt, ap);
	va_end(ap);
	for (at = path + n; (at = strchr(at, '/')); at++) {
		*at = 0;
		mkdir(path, 0755);
		*at = '/';
	}
	f = fopen(path, "w");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

static int open_dir(const char *name)
{
	char path[512];
	int fd;

	snprintf(path, sizeof path, "%s/%s", root, name);
	fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_true(fd >= 0);
	return fd;
}

static void assert_file(int dir, const char *name, const char *wanted)
{
	char text[512];

	assert_true(limits_read_text(dir, name, text, sizeof text) >= 0);
	assert_string_equal(text, wanted);
}

/* A regular file keeps only the last word that was written into it. */
static void make_v2(const char *offered)
{
	put("0::/unit\n", "proc/self/cgroup");
	put("1 0 0:1 / /cg rw - cgroup2 cgroup2 rw\n", "proc/self/mountinfo");
	put(offered, "cg/unit/cgroup.controllers");
	put(offered, "cg/unit/cgroup.subtree_control");
	put("", "cg/unit/cgroup.type");
	put("", "cg/unit/cgroup.procs");
	put(offered, "cg/unit/reeve-1/cgroup.subtree_control");
	for (int i = 0; i < 7; i++) {
		static const char *const names[] = {"memory.max", "memory.swap.max",
		    "memory.oom.group", "cpu.max", "pids.max", "memory.peak", "memory.events"};

		put("", "cg/unit/reeve-1/t1/%s", names[i]);
	}
}

static void probe(struct limits_host *h, int v2, bool look_only)
{
	limits_probe_at(h, &(struct limits_place){
	                       .root = root, .lock = "x", .v2_dir_fd = v2, .look_only = look_only});
}

static void version_2_gets_every_limit(void **state)
{
	struct run_limits l = {.memory = 100ll << 20, .cpu_milli = 1500, .pids = 12};
	struct limits_task t = {0};
	struct limits_host h;
	struct problem p;
	struct usage u = {0};
	int dir, task;

	make_v2("cpuset cpu memory pids\n");
	dir = open_dir("cg/unit/reeve-1");
	probe(&h, dir, false);
	for (int on = 0; on < N_LIMITS; on++)
		assert_int_equal(h.by[on], BY_V2);
	t.v2_dir_fd = task = open_dir("cg/unit/reeve-1/t1");
	assert_int_equal(limits_take(&h, &l, &t, &p), 0);
	assert_string_equal(p.what, "");
	assert_int_equal(t.n_join, 0);
	assert_true(t.spent);
	assert_file(task, "memory.max", "104857600"); /* bytes */
	assert_file(task, "memory.swap.max", "0");
	assert_file(task, "memory.oom.group", "1");
	assert_file(task, "cpu.max", "150000 100000");
	assert_file(task, "pids.max", "12");
	put("4096000\n", "cg/unit/reeve-1/t1/memory.peak");
	put("low 0\noom 2\noom_kill 3\n", "cg/unit/reeve-1/t1/memory.events");
	limits_read(&h, &t, &u);
	assert_true(u.known);
	assert_int_equal(u.peak_memory, 4096000);
	assert_int_equal(u.oom_kills, 3);
	limits_put(&h, &t);
	assert_file(task, "pids.max", "max");
	limits_release(&h);
	close(task);
	close(dir);
}

static void only_memory_spends_a_directory(void **state)
{
	struct run_limits l = {.cpu_milli = 5, .pids = 12};
	struct limits_task t = {0};
	struct limits_host h;
	struct problem p;
	int dir, task;

	make_v2("cpu memory pids\n");
	dir = open_dir("cg/unit/reeve-1");
	probe(&h, dir, false);
	t.v2_dir_fd = task = open_dir("cg/unit/reeve-1/t1");
	assert_int_equal(limits_take(&h, &l, &t, &p), 0);
	assert_false(t.spent);
	assert_file(task, "cpu.max", "5000 1000000"); /* a quota of 0.5 ms would be refused */
	limits_put(&h, &t);
	limits_release(&h);
	close(task);
	close(dir);
}

static void what_is_not_offered_is_not_used(void **state)
{
	struct run_limits l = {.cpu_milli = 500};
	struct limits_task t = {.v2_dir_fd = -1};
	struct limits_host h;
	struct problem p;
	char text[512];
	int dir;

	make_v2("cpuset memory hugetlb\n"); /* "cpu" is only the beginning of a word */
	dir = open_dir("cg/unit/reeve-1");
	probe(&h, dir, false);
	assert_int_equal(h.by[ON_MEMORY], BY_V2);
	assert_int_equal(h.by[ON_CPU], BY_NOTHING);
	assert_int_equal(h.by[ON_PIDS], BY_RLIMIT);
	limits_describe(&h, ON_CPU, text, sizeof text);
	assert_string_equal(
	    text, "cpu: cannot be limited: cgroup v2 has no cpu controller for us here");
	assert_int_equal(limits_take(&h, &l, &t, &p), ERR_INVALID);
	assert_non_null(strstr(p.what, "cannot limit cpu"));
	assert_non_null(strstr(p.hint, "reeve doctor"));
	l.policy = LIMIT_WARN;
	assert_int_equal(limits_take(&h, &l, &t, &p), 0);
	assert_non_null(strstr(p.what, "cpu is not limited"));
	limits_put(&h, &t);
	limits_release(&h);
	close(dir);
}

static void controllers_are_handed_down(void **state)
{
	struct limits_host h;
	int dir, above;

	make_v2("memory\n");
	put("", "cg/unit/cgroup.subtree_control");
	put("", "cg/unit/reeve-1/cgroup.subtree_control");
	dir = open_dir("cg/unit/reeve-1");
	above = open_dir("cg/unit");
	probe(&h, dir, true);
	assert_int_equal(h.by[ON_MEMORY], BY_V2); /* a look: it could be, and nothing was written */
	assert_file(above, "cgroup.subtree_control", "");
	put("1\n", "cg/unit/cgroup.procs"); /* somebody else lives there */
	probe(&h, dir, true);
	assert_int_equal(h.by[ON_MEMORY], BY_RLIMIT);
	assert_non_null(strstr(h.why[ON_MEMORY], "other processes"));
	probe(&h, dir, false);
	assert_int_equal(h.by[ON_MEMORY], BY_V2);
	assert_file(above, "cgroup.subtree_control", "+memory");
	assert_file(dir, "cgroup.subtree_control", "+memory");
	close(above);
	close(dir);
}

static void make_v1(const char *controller, const char *needed)
{
	char name[64];

	snprintf(name, sizeof name, "reeve-%016" PRIx64, exec_hash("x"));
	put("", "v1/%s/me/%s/%s", controller, name, needed);
}

/* The mount shows only /box of the hierarchy, as in a container. */
static void version_1_is_found_below_our_own_place(void **state)
{
	struct limits_host h;
	char wanted[256];

	put("9:name=systemd:/\n2:cpu,cpuacct:/box/me\n3:pids:/other\n0::/\n", "proc/self/cgroup");
	put("1 0 0:1 /box /v1/c\\160u rw,relatime shared:1 - cgroup cgroup rw,cpuacct,cpu\n"
	    "2 0 0:1 /box /v1/pids rw - cgroup cgroup rw,pids\n",
	    "proc/self/mountinfo");
	make_v1("cpu", "cpu.cfs_quota_us");
	put("", "v1/pids/x");
	probe(&h, -1, false);
	assert_int_equal(h.by[ON_CPU], BY_V1);
	snprintf(wanted, sizeof wanted, "%s/v1/cpu/me/reeve-%016" PRIx64, root, exec_hash("x"));
	assert_string_equal(h.v1_path[ON_CPU], wanted);
	assert_int_equal(h.by[ON_MEMORY], BY_RLIMIT);
	/* there is a hierarchy, but what counts is missing in it */
	assert_int_equal(h.by[ON_PIDS], BY_RLIMIT);
	assert_non_null(strstr(h.why[ON_PIDS], "pids.max cannot be written"));
	limits_release(&h);
}

static void version_1_files(void **state)
{
	struct run_limits l = {.memory = 3ll << 30, .cpu_milli = 250, .pids = 7};
	struct limit_file files[LIMIT_FILES_MAX];
	const char *name = NULL;
	int dir;

	assert_int_equal(limits_v1_files(ON_MEMORY, &l, files), 2);
	assert_string_equal(files[0].name, "memory.limit_in_bytes");
	assert_string_equal(files[0].text, "3221225472");
	assert_string_equal(files[1].text, "3221225472");
	put("", "v1/memory/memory.limit_in_bytes");
	dir = open_dir("v1/memory");
	assert_int_equal(limits_write_files(dir, files, 2, &name), 0); /* no memsw: fine */
	assert_file(dir, "memory.limit_in_bytes", "3221225472");
	files[1].optional = false;
	assert_int_equal(limits_write_files(dir, files, 2, &name), -1);
	assert_string_equal(name, "memory.memsw.limit_in_bytes");
	close(dir);
	assert_int_equal(limits_v1_files(ON_CPU, &l, files), 2);
	assert_string_equal(files[0].text, "100000");
	assert_string_equal(files[1].text, "25000");
	l.cpu_milli = 2;
	limits_v1_files(ON_CPU, &l, files);
	assert_string_equal(files[0].text, "1000000");
	assert_string_equal(files[1].text, "2000");
	assert_int_equal(limits_v1_files(ON_PIDS, &l, files), 1);
	assert_string_equal(files[0].text, "7");
}

static void rlimits_come_with_a_warning(void **state)
{
	struct run_limits l = {.memory = 1 << 20, .pids = 3};
	struct limits_task t = {.v2_dir_fd = -1};
	struct limits_host h;
	struct problem p;

	put("0::/\n", "proc/self/cgroup");
	put("", "proc/self/mountinfo");
	probe(&h, -1, false);
	assert_int_equal(limits_take(&h, &l, &t, &p), 0);
	assert_int_equal(t.address_space, 1 << 20);
	assert_int_equal(t.processes, 3);
	assert_non_null(strstr(p.what, "memory"));
	assert_non_null(strstr(p.what, "pids"));
	limits_put(&h, &t);
	t = (struct limits_task){.v2_dir_fd = -1, .as_root = true};
	assert_int_equal(limits_take(&h, &l, &t, &p), ERR_INVALID);
	assert_non_null(strstr(p.what, "pids"));
	assert_false(limits_kill(&h, &t));
	limits_release(&h);
}

static void lines_of_the_kernel(void **state)
{
	struct str root_path, point;

	assert_false(limits_parse_mount(STR(""), "cpu", &root_path, &point));
	assert_false(limits_parse_mount(
	    STR("1 2 0:1 / /a rw - cgroup2 cgroup2 rw,cpu"), "cpu", &root_path, &point));
	assert_false(limits_parse_mount(
	    STR("1 2 0:1 / /a rw - cgroup cgroup rw,cpuset"), "cpu", &root_path, &point));
	assert_true(limits_parse_mount(
	    STR("1 2 0:1 / /a rw x:1 y - cgroup cgroup rw,cpu"), "cpu", &root_path, &point));
	assert_true(str_is(point, "/a"));
	assert_false(limits_parse_own(STR("0::/x"), "cpu", &point));
	assert_false(limits_parse_own(STR("1:cpu"), "cpu", &point));
	assert_true(limits_parse_own(STR("1:cpu,cpuacct:/a:b"), "cpuacct", &point));
	assert_true(str_is(point, "/a:b"));
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
	    TEST(version_2_gets_every_limit),
	    TEST(only_memory_spends_a_directory),
	    TEST(what_is_not_offered_is_not_used),
	    TEST(controllers_are_handed_down),
	    TEST(version_1_is_found_below_our_own_place),
	    TEST(version_1_files),
	    TEST(rlimits_come_with_a_warning),
	    TEST(lines_of_the_kernel),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
