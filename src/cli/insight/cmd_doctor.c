/* SPDX-License-Identifier: Apache-2.0 */
/* doctor: one check after the other, each with what to do about it. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/world/clock.h"
#include "cli/frame/cmds.h"
#include "cli/insight/doctor.h"
#include "cli/output/output.h"
#include "cli/reach/server.h"
#include "cli/reach/settings.h"

#define CLOCK_SKEW_MS 5000
#define DISK_MIN_BYTES (1ll << 30)
#define FILES_MIN 1024

void doctor_found(
    struct doctor *d, const char *check, const char *result, const char *fix, const char *fmt, ...)
{
	char text[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	json_array_append_new(d->checks, json_pack("{s:s,s:s,s:s,s:s?}", "check", check, "result",
	                                     result, "text", text, "fix", fix));
	if (!strcmp(result, "fail"))
		d->failed = true;
}

/* A warning of the file is worth a word here, and only here. */
static bool check_config(struct doctor *d)
{
	const struct config *config;
	const struct problem *p = &d->c->problem;
	size_t n;

	if (cli_config(d->c, &config) < 0) {
		doctor_found(d, "config", "fail", p->hint, "%s", p->what);
		return false;
	}
	n = config_problem_count(config);
	for (size_t i = 0; i < n; i++) {
		AUTO(buf_release) struct buf words = {0};

		config_problem_write(config_problem_at(config, i), &words);
		doctor_found(d, "config", "warn", NULL, "%s", words.p);
	}
	if (n == 0 && config_file(config))
		doctor_found(d, "config", "ok", NULL, "%s is in order", config_file(config));
	return true;
}

static bool check_place(struct doctor *d)
{
	AUTO(buf_release) struct buf url = {0};
	const struct problem *p = &d->c->problem;
	const char *path;

	if (cli_server(d->c, &url) < 0) {
		doctor_found(d, "server", "fail", p->hint, "%s", p->what);
		return false;
	}
	doctor_found(d, "server", "ok", NULL, "the server to ask is %s", url.p);
	if (strncmp(url.p, "unix:", 5))
		return true;
	path = url.p + 5;
	if (access(path, R_OK | W_OK) == 0)
		doctor_found(d, "socket", "ok", NULL, "its socket may be used");
	else if (errno == EACCES)
		doctor_found(d, "socket", "fail", "run this as the server's user or as root",
		    "you may not use %s", path);
	else
		doctor_found(d, "socket", "fail", "`reeve dev` or `systemctl start reeve-server`",
		    "%s: %s", path, strerror(errno));
	return errno != EACCES || access(path, R_OK | W_OK) == 0;
}

static bool check_reach(struct doctor *d)
{
	int64_t begin = clock_mono_us();

	if (cli_get(d->c, "/v1/status", &d->status) < 0) {
		doctor_found(d, "reach", "fail", d->c->problem.hint[0] ? d->c->problem.hint : NULL,
		    "%s", d->c->problem.what);
		return false;
	}
	doctor_found(d, "reach", "ok", NULL, "it answers in %.1f ms",
	    (double)(clock_mono_us() - begin) / 1000);
	return true;
}

static void check_ready(struct doctor *d)
{
	json_t *words;
	size_t i;

	if (jb(d->status, "ready"))
		doctor_found(d, "ready", "ok", NULL, "it is ready");
	else
		doctor_found(d, "ready", "warn", "wait; `reeve status --watch` shows what for",
		    "it is not ready: %s",
		    jhas(d->status, "not_ready") ? js(d->status, "not_ready") : "not yet");
	if (jhas(d->status, "search_trouble"))
		doctor_found(d, "search", "warn", NULL, "searches have no index of words: %s",
		    js(d->status, "search_trouble"));
	if (ji(d->status, "search_lag_ms", 0) > 60000)
		doctor_found(d, "search", "warn", NULL,
		    "the index of words is %lld s behind: searches look at newer tasks one by one",
		    (long long)ji(d->status, "search_lag_ms", 0) / 1000);
	json_array_foreach(json_object_get(d->status, "waiting"), i, words)
	    doctor_found(d, "ready", "warn", NULL, "it waits: %s", json_string_value(words));
}

static void check_version(struct doctor *d)
{
	const char *theirs = js(d->status, "version");

	if (!strcmp(theirs, REEVE_VERSION))
		doctor_found(d, "version", "ok", NULL, "both sides are version %s", theirs);
	else
		doctor_found(d, "version", "warn", "install the same version on both sides",
		    "this is version %s, the server %s", REEVE_VERSION, theirs);
}

static void check_clock(struct doctor *d)
{
	int64_t theirs = jtime(d->status, "started") + ji(d->status, "uptime_ms", 0);
	int64_t skew = theirs - clock_wall_ms();
	char text[TIME_TEXT_MAX];

	if (!jtime(d->status, "started"))
		return;
	if (skew < 0)
		skew = -skew;
	if (skew > CLOCK_SKEW_MS)
		doctor_found(d, "clock", "warn",
		    "synchronise the clocks (chrony, systemd-timesyncd)",
		    "this clock and the server's differ by %s", time_human_ms(skew, text));
	else
		doctor_found(d, "clock", "ok", NULL, "this clock and the server's agree");
}

static void check_workers(struct doctor *d)
{
	const json_t *n = json_object_get(d->status, "workers");

	if (ji(n, "connected", 0) == 0)
		doctor_found(d, "workers", "fail", "`reeve worker --join ADDRESS` starts one",
		    "no worker is connected: nothing can run");
	else
		doctor_found(
		    d, "workers", "ok", NULL, "%lld connected", (long long)ji(n, "connected", 0));
	if (ji(n, "new", 0) + ji(n, "unhealthy", 0) > 0)
		doctor_found(d, "workers", "warn", "`reeve worker ls` says which, and why",
		    "%lld not healthy", (long long)(ji(n, "new", 0) + ji(n, "unhealthy", 0)));
	if (ji(n, "must_die", 0) > 0)
		doctor_found(d, "workers", "warn", "`reeve worker rm NAME` forgets one for good",
		    "%lld lost", (long long)ji(n, "must_die", 0));
}

/* As it would be typed. */
static char *queue_command(const char *verb, const char *name, const char *options)
{
	AUTO(json_drop) json_t *words = json_pack("[s, s, s, s]", "reeve", "queue", verb, name);
	AUTO(buf_release) struct buf out = {0};

	add_command(&out, words);
	return xasprintf("%s%s", out.p ? out.p : "", options);
}

static void check_queue(struct doctor *d, const json_t *queue)
{
	int64_t queued = ji(json_object_get(queue, "counts"), "queued", 0);
	const char *name = js(queue, "name");
	char waiting[48];
	AUTO(free_cstr) char *resume = queue_command("resume", name, "");
	AUTO(free_cstr) char *threads = queue_command("set", name, " --threads none");
	AUTO(free_cstr)
	char *plugin = xasprintf(
	    "allow the plugin \"%s\" on a worker that serves the queue", js(queue, "plugin"));

	if (queued == 0)
		return;
	snprintf(waiting, sizeof waiting, queued == 1 ? "a task waits" : "%lld tasks wait",
	    (long long)queued);
	if (ji(queue, "workers", 0) == 0)
		doctor_found(
		    d, "queues", "warn", plugin, "%s in %s, which no worker serves", waiting, name);
	if (jb(queue, "paused"))
		doctor_found(
		    d, "queues", "warn", resume, "%s in %s, which is paused", waiting, name);
	if (jhas(queue, "threads") && ji(queue, "threads", 0) == 0)
		doctor_found(
		    d, "queues", "warn", threads, "%s in %s, which has 0 threads", waiting, name);
}

static void check_queues(struct doctor *d)
{
	AUTO(json_drop) json_t *list = NULL;
	size_t before = json_array_size(d->checks), i;
	json_t *queue;

	if (cli_get_list(d->c, "/v1/queues", 0, &list) < 0) {
		doctor_found(d, "queues", "fail", NULL, "%s", d->c->problem.what);
		return;
	}
	json_array_foreach(json_object_get(list, "items"), i, queue) check_queue(d, queue);
	if (json_array_size(d->checks) == before)
		doctor_found(d, "queues", "ok", NULL, "no queue is stuck");
}

static void check_disk(struct doctor *d, const char *what, const char *path)
{
	struct statvfs fs;
	char text[TIME_TEXT_MAX];
	int64_t free_bytes;

	if (statvfs(path, &fs) < 0)
		return;
	free_bytes = (int64_t)(fs.f_bavail * fs.f_frsize);
	if (free_bytes < DISK_MIN_BYTES)
		doctor_found(d, "disk", "warn",
		    "make room, or keep finished tasks for a shorter time",
		    "only %s are free for %s, in %s", human_bytes(free_bytes, text), what, path);
	else
		doctor_found(d, "disk", "ok", NULL, "%s are free for %s, in %s",
		    human_bytes(free_bytes, text), what, path);
}

/* A folder in which a server keeps its store. */
static bool check_store_in(struct doctor *d, const char *dir)
{
	AUTO(free_cstr) char *file = xasprintf("%s/reeve.db", dir);
	struct stat st;

	if (stat(file, &st) < 0)
		return false;
	check_disk(d, "a server's store", dir);
	return true;
}

/* Beside its socket, where the configuration has it, or where a package keeps it: each once, and
 * only what lies on this machine. */
static void check_stores(struct doctor *d, const struct config *config)
{
	AUTO(buf_release) struct buf beside = {0};
	const char *const dirs[] = {
	    NULL, config ? config_str(config, "server.state_dir") : NULL, "/var/lib/reeve"};
	const char *found[N_OF(dirs)] = {NULL};
	size_t n = 0;

	if (cli_server(d->c, &beside) == 0 && !strncmp(beside.p, "unix:", 5))
		*strrchr(beside.p, '/') = 0;
	else
		buf_reset(&beside);
	for (size_t i = 0; i < N_OF(dirs); i++) {
		const char *dir = i ? dirs[i] : beside.n ? beside.p + 5 : NULL;
		bool known = !dir;

		for (size_t k = 0; k < n; k++)
			known |= !strcmp(found[k], dir);
		if (!known && check_store_in(d, dir))
			found[n++] = dir;
	}
}

static void check_disks(struct doctor *d)
{
	const struct config *config = NULL;
	struct problem p = d->c->problem;

	if (cli_config(d->c, &config) < 0)
		config = NULL;
	check_stores(d, config);
	if (config)
		check_disk(d, "a worker's state", config_str(config, "worker.state_dir"));
	d->c->problem = p;
}

static void check_files(struct doctor *d)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
		return;
	if (limit.rlim_max < FILES_MIN)
		doctor_found(d, "files", "warn",
		    "raise it: ulimit -Hn, or LimitNOFILE= in the unit",
		    "a process here may have only %llu files open",
		    (unsigned long long)limit.rlim_max);
	else
		doctor_found(d, "files", "ok", NULL, "a process here may have %llu files open",
		    (unsigned long long)limit.rlim_max);
}

static void show_checks(struct doctor *d)
{
	struct cli *c = d->c;
	int warnings = 0, failures = 0;
	json_t *check;
	size_t i;

	json_array_foreach(d->checks, i, check)
	{
		AUTO(buf_release) struct buf line = {0};

		add_state(&line, &c->term, c->term.out_colour, js(check, "result"));
		printf("%s%*s ", line.p, (int)(4 - strlen(js(check, "result"))), "");
		say(stdout, "%-8s %s", js(check, "check"), js(check, "text"));
		if (*js(check, "fix"))
			say(stdout, "%16s fix: %s", "", js(check, "fix"));
		warnings += !strcmp(js(check, "result"), "warn");
		failures += !strcmp(js(check, "result"), "fail");
	}
	if (failures + warnings == 0)
		puts("all is well");
	else
		printf("%d wrong, %d to look at\n", failures, warnings);
}

int cmd_doctor(struct cli *c)
{
	struct doctor d = {.c = c, .checks = json_array()};
	AUTO(json_drop) json_t *result = NULL;

	if (check_config(&d) && check_place(&d) && check_reach(&d)) {
		check_ready(&d);
		check_version(&d);
		check_clock(&d);
		check_workers(&d);
		check_queues(&d);
	}
	check_disks(&d);
	check_files(&d);
	doctor_host(&d);
	if (wants_machine(c)) {
		result = json_pack("{s:O,s:b}", "items", d.checks, "ok", !d.failed);
		print_json(c, result);
	} else {
		show_checks(&d);
	}
	json_decref(d.checks);
	json_decref(d.status);
	return d.failed ? EXIT_FAILED : EXIT_OK;
}
