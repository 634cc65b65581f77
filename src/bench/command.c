/* SPDX-License-Identifier: Apache-2.0 */
/* `reeve bench`: options, a directory on a real disk, the cases in turn, JSON at the end. */
#include <errno.h>
#include <linux/magic.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "bench/bench.h"
#include "bench/cases/schedules.h"

const char bench_about[] =
    "Starts a server and a worker of its own, on loopback, and measures the machine's own limits "
    "beside Reeve's figures. Cases: submit, noop, spawn, latency, backlog, cron, plan, needs, "
    "services (default: all of these), dag, workers, schedules. The case dag has 10,000 and "
    "100,000 jobs without processes, and 10,000 with /bin/true, beside make -j2 and ninja -j2; "
    "--scale changes all of these. Progress goes to standard error, the figures as JSON to "
    "standard output.";

const struct option_def bench_options[] = {
    {"scale", 0, "FACTOR", "so much of the usual counts: 0.1 is quick and coarse (default: 1)"},
    {"tasks", 'n', "N", "tasks of the case noop, before scaling (default: 200000)"},
    {"in-flight", 0, "N", "plugin tasks at once on the worker (default: 512)"},
    {"processes", 0, "N", "processes of the noop plugin (default: 1)"},
    {"spawn-threads", 0, "N", "processes at once in the case spawn (default: 8 a core)"},
    {"workers", 0, "N", "simulated workers in the case workers (default: 10000)"},
    {"schedules", 0, "N", "in the case schedules, before scaling (default: 100000)"},
    {"seconds", 0, "N", "that workers or schedules are watched at rest (default: 60)"},
    {"heartbeat", 0, "TIME", "of the servers and workers under test (default: 15s)"},
    {"dispatch", 0, "HOW",
        "in the case workers: durable or volatile (default: one after the other)"},
    {"peers", 0, "DIR", "in the case cron: where test/bench/cron-peers/install put others", NULL, 0,
        "directory"},
    {"graph", 0, "FILE", "in the case dag: also what `reeve group plan` makes of this file", NULL,
        0, "file"},
    {"time-limit", 0, "TIME", "for any one step (default: 10m)"},
    {"dir", 0, "DIR", "work on this disk (default: $TMPDIR, else /var/tmp)", NULL, 0, "directory"},
    {"keep", 0, NULL, "leave databases and logs behind"},
    {NULL},
};

struct bench_case {
	const char *name;
	int (*run)(struct bench *b, json_t *to);
	bool needs_stand;
	bool only_by_name; /* a case that takes minutes */
};

static const struct bench_case cases[] = {
    {"machine", case_machine, false},
    {"submit", case_submit, true},
    {"noop", case_noop, true},
    {"spawn", case_spawn, true},
    {"latency", case_latency, true},
    {"backlog", case_backlog, true},
    {"cron", case_cron, false},
    {"plan", case_plan, false},
    {"needs", case_needs, false},
    {"dag", case_dag, true, true},
    {"services", case_services, false},
    {"workers", case_workers, false, true},
    {"schedules", case_schedules, false, true},
};
#define N_CASES (sizeof cases / sizeof cases[0])

static const struct goal *const goals[] = {common_goals, schedules_goals, workers_goals, NULL};

static volatile sig_atomic_t interrupted;

static void on_signal(int number)
{
	interrupted = number;
}

bool bench_interrupted(void)
{
	return interrupted != 0;
}

int64_t bench_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

double bench_seconds(void)
{
	return (double)bench_ns() / 1e9;
}

int64_t bench_scaled(const struct bench *b, int64_t n, int64_t least)
{
	int64_t scaled = (int64_t)((double)n * b->scale);

	return scaled < least ? least : scaled;
}

void bench_note(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	fputs("bench: ", stderr);
	vfprintf(stderr, fmt, ap);
	fputc('\n', stderr);
	va_end(ap);
}

static int parse_scale(struct bench *b, const char *text)
{
	char *end;

	if (!text)
		return 0;
	b->scale = strtod(text, &end);
	if (*end || !(b->scale >= 0.0001 && b->scale <= 100))
		return problem_set(&b->problem, ERR_INVALID,
		    "--scale %.32s is not a number from 0.0001 to 100", text);
	return 0;
}

/* All connections are from one address to one port: source ports are the bound. */
#define WORKERS_MAX 25000

static int parse_workers(struct bench *b, struct options *o)
{
	const char *how = b->dispatch = options_get(o, "dispatch");
	int r;

	if (how && strcmp(how, "durable") != 0 && strcmp(how, "volatile") != 0)
		return problem_set(&b->problem, ERR_INVALID,
		    "--dispatch %.32s is neither durable nor volatile", how);
	if ((r = options_i64(o, "workers", 1, WORKERS_MAX, &b->workers, &b->problem)) < 0 ||
	    (r = options_i64(o, "seconds", 1, 86400, &b->seconds, &b->problem)) < 0)
		return r;
	if ((r = options_duration(o, "heartbeat", &b->heartbeat_ms, &b->problem)) < 0)
		return r;
	if (b->heartbeat_ms < 1) {
		problem_set(
		    &b->problem, ERR_INVALID, "--heartbeat is not a time between two beats");
		return problem_hint(&b->problem, "1ms or more; the default is 15s");
	}
	return 0;
}

static int parse(struct bench *b, struct options *o, int argc, char **argv)
{
	int64_t cpus = sysconf(_SC_NPROCESSORS_ONLN);
	int r;

	o->program = "reeve bench";
	options_add_table(o, bench_options);
	r = options_parse(o, OPTIONS_ANYWHERE, argc, argv, &b->problem);
	if (r < 0 || (r = parse_scale(b, options_get(o, "scale"))) < 0 ||
	    (r = parse_workers(b, o)) < 0)
		return r;
	b->spawn_threads = 8 * (cpus < 1 ? 1 : cpus);
	b->keep = options_switch(o, "keep", false);
	b->base_dir = options_get(o, "dir");
	b->peers = options_get(o, "peers");
	b->graph = options_get(o, "graph");
	if ((r = options_i64(o, "tasks", 1, 100000000, &b->tasks, &b->problem)) < 0 ||
	    (r = options_i64(o, "in-flight", 1, 16384, &b->inflight, &b->problem)) < 0 ||
	    (r = options_i64(o, "schedules", 1, 1000000, &b->objects, &b->problem)) < 0 ||
	    (r = options_i64(o, "processes", 1, 64, &b->processes, &b->problem)) < 0 ||
	    (r = options_i64(o, "spawn-threads", 1, 1024, &b->spawn_threads, &b->problem)) < 0)
		return r;
	return options_duration(o, "time-limit", &b->limit_ms, &b->problem);
}

/* Bit i: case i is wanted. Without names: all that are quick. */
static int choose(struct bench *b, const struct options *o, unsigned *ret_wanted)
{
	const char *names[N_CASES];

	*ret_wanted = 1; /* the machine's limits always */
	for (size_t i = 0; i < N_CASES; i++) {
		names[i] = cases[i].name;
		if (!o->n_args && !cases[i].only_by_name)
			*ret_wanted |= 1u << i;
	}
	for (size_t k = 0; k < o->n_args; k++) {
		size_t i = 0;

		while (i < N_CASES && strcmp(o->args[k], names[i]) != 0)
			i++;
		if (i == N_CASES) {
			const char *near = str_nearest(str_of(o->args[k]), names, N_CASES);

			problem_set(
			    &b->problem, ERR_INVALID, "there is no case \"%.64s\"", o->args[k]);
			return near ? problem_hint(&b->problem, "did you mean %s?", near)
			            : problem_hint(&b->problem,
			                  "machine, submit, noop, spawn, "
			                  "latency, backlog, cron, plan, needs, dag, workers or "
			                  "schedules");
		}
		*ret_wanted |= 1u << i;
	}
	return 0;
}

static const char *filesystem_name(long type)
{
	static const struct {
		long type;
		const char *name;
	} known[] = {{EXT4_SUPER_MAGIC, "ext4"}, {XFS_SUPER_MAGIC, "xfs"},
	    {BTRFS_SUPER_MAGIC, "btrfs"}, {TMPFS_MAGIC, "tmpfs"},
	    {OVERLAYFS_SUPER_MAGIC, "overlayfs"}, {NFS_SUPER_MAGIC, "nfs"},
	    {F2FS_SUPER_MAGIC, "f2fs"}, {0x2fc12fc1, "zfs"}, {0x01021997, "9p"}};

	for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
		if (known[i].type == type)
			return known[i].name;
	return "unknown";
}

static int make_dir(struct bench *b)
{
	const char *base = b->base_dir ? b->base_dir : getenv("TMPDIR");

	if (!base || !*base)
		base = "/var/tmp";
	b->dir = xasprintf("%s/reeve-bench-XXXXXX", base);
	if (mkdtemp(b->dir))
		return 0;
	problem_set(&b->problem, ERR_IO, "%s: %s", b->dir, strerror(errno));
	free(b->dir);
	b->dir = NULL;
	return problem_hint(&b->problem, "choose a directory that you may write: --dir DIR");
}

static json_t *describe(const struct bench *b)
{
	struct utsname u = {0};
	struct statfs fs = {0};
	const char *kind;

	uname(&u);
	statfs(b->dir, &fs);
	kind = filesystem_name((long)fs.f_type);
	if (!strcmp(kind, "tmpfs"))
		bench_note("%s lies in memory: nothing there is durable; use --dir DIR", b->dir);
	return json_pack("{s:s,s:s,s:I,s:s,s:o,s:b}", "version", REEVE_VERSION, "kernel", u.release,
	    "cpus", (json_int_t)sysconf(_SC_NPROCESSORS_ONLN), "filesystem", kind, "scale",
	    figure(b->scale), "sanitized",
#ifdef __SANITIZE_ADDRESS__
	    1
#else
	    0
#endif
	);
}

static int run_case(struct bench *b, const struct bench_case *c)
{
	json_t *to = json_object();
	double start = bench_seconds();
	int r = 0;

	bench_note("%s …", c->name);
	json_object_set_new(b->out, c->name, to);
	if (c->needs_stand)
		r = stand_start(b, c->name);
	if (r == 0)
		r = c->run(b, to);
	if (c->needs_stand)
		stand_stop(b);
	json_object_set_new(to, "seconds", figure(bench_seconds() - start));
	if (r == 0 && bench_interrupted())
		r = problem_set(&b->problem, ERR_TIMEOUT, "interrupted");
	return r;
}

static int run_all(struct bench *b, unsigned wanted)
{
	int r = make_dir(b);

	if (r < 0)
		return r;
	json_object_set_new(b->out, "run", describe(b));
	for (size_t i = 0; i < N_CASES && r == 0; i++)
		if (wanted & 1u << i)
			r = run_case(b, &cases[i]);
	json_object_set_new(b->out, "goals", goals_json(goals, b->out));
	if (b->keep)
		bench_note("kept: %s", b->dir);
	else
		remove_tree(b->dir);
	return r;
}

static char *own_path(void)
{
	char path[4096];
	ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);

	return xstrndup(n > 0 ? path : "/proc/self/exe", n > 0 ? (size_t)n : 14);
}

static void catch_signals(void)
{
	struct sigaction a = {.sa_handler = on_signal};

	sigaction(SIGINT, &a, NULL);
	sigaction(SIGTERM, &a, NULL);
	signal(SIGPIPE, SIG_IGN);
}

static int complain(const struct problem *p)
{
	fprintf(stderr, "reeve: %s\n", p->what);
	if (p->hint[0])
		fprintf(stderr, "  hint: %s\n", p->hint);
	return interrupted ? 128 + interrupted : err_exit_code(p->code);
}

int bench_command(int argc, char **argv)
{
	struct bench b = {.scale = 1,
	    .tasks = 200000,
	    .inflight = 512,
	    .processes = 1,
	    .workers = 10000,
	    .objects = 100000,
	    .seconds = 60,
	    .heartbeat_ms = 15000,
	    .limit_ms = 600000,
	    .stand.fd = -1};
	AUTO(options_release) struct options o = {0};
	unsigned wanted = 0;
	int r = parse(&b, &o, argc, argv), code = 0;

	if (r == 0)
		r = choose(&b, &o, &wanted);
	if (r < 0)
		return complain(&b.problem);
	catch_signals();
	b.exe = own_path();
	b.out = json_object();
	r = run_all(&b, wanted);
	json_dumpf(b.out, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(6));
	putchar('\n');
	if (r < 0)
		code = complain(&b.problem);
	json_decref(b.out);
	free(b.exe);
	free(b.dir);
	return code;
}
