/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/runs.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/world/clock.h"
#include "sim/judge/judge.h"
#include "sim/world/trace.h"

#define JOBS_MOST 256
#define REPEAT_EVERY 64 /* so many seeds: one is run twice, to see that it is the same */
#define POLL_US 50000

static void tell_line(void *arg, const char *line)
{
	fprintf(arg, "%s\n", line);
}

static void tell_drawn(FILE *head, const struct sim_options *drawn)
{
	struct buf b = {0};

	sim_options_format(drawn, &b);
	fprintf(head, "seed %llu: %s", (unsigned long long)drawn->seed, b.p);
	buf_release(&b);
}

int run_traced(const struct sim_options *given, FILE *head, FILE *lines, const char *path,
    struct run_result *ret, struct problem *ret_problem)
{
	struct world *w;
	int e = 0;

	*ret = (struct run_result){.o = *given};
	sim_options_draw(&ret->o);
	w = world_new(&ret->o);
	if (lines) {
		w->tell = tell_line;
		w->tell_arg = lines;
	}
	if (path)
		e = sim_trace_open(w, path, NULL, ret_problem);
	if (e == 0 && head)
		tell_drawn(head, &ret->o);
	if (e == 0)
		world_live(w);
	ret->verdict = w->verdict;
	ret->hash = w->hash;
	ret->events = w->events;
	ret->sim_us = w->now_us;
	world_free(w);
	return e;
}

void run_one(const struct sim_options *given, FILE *lines, struct run_result *ret)
{
	run_traced(given, NULL, lines, NULL, ret, NULL);
}

void run_twice(const struct sim_options *given, struct run_result *ret)
{
	struct run_result again;

	run_one(given, NULL, ret);
	run_one(given, NULL, &again);
	if (ret->verdict.invariant || ret->hash == again.hash)
		return;
	verdict_set(&ret->verdict, 34);
	snprintf(ret->verdict.detail, sizeof ret->verdict.detail,
	    "hash %016llx, then %016llx; %llu events, then %llu", (unsigned long long)ret->hash,
	    (unsigned long long)again.hash, (unsigned long long)ret->events,
	    (unsigned long long)again.events);
}

/* What one process of several tells of itself, in memory that they share with their parent. */
struct job {
	pid_t pid;
	volatile uint64_t seed, done, events, hash;
	volatile int64_t sim_us;
	volatile bool failed;
};

static uint64_t mixed(uint64_t seed, uint64_t hash)
{
	struct rng r = {seed ^ hash};

	return rng_next(&r); /* summed up: the order does not matter */
}

static void work(const struct run_many *m, struct job *j, int number)
{
	struct run_result r;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (int64_t i = number; i < m->seeds; i += m->jobs) {
		struct sim_options o = m->given;

		j->seed = o.seed = m->given.seed + (uint64_t)i;
		if (m->repeat || o.seed % REPEAT_EVERY == 0)
			run_twice(&o, &r);
		else
			run_one(&o, NULL, &r);
		j->done++;
		j->events += r.events;
		j->sim_us += r.sim_us;
		j->hash += mixed(o.seed, r.hash);
		if (r.verdict.invariant) {
			j->failed = true;
			break;
		}
	}
	_exit(0);
}

static void add_up(struct run_many *m, const struct job *jobs)
{
	m->done = m->events = m->hash = 0;
	m->sim_us = 0;
	for (int i = 0; i < m->jobs; i++) {
		m->done += jobs[i].done;
		m->events += jobs[i].events;
		m->hash += jobs[i].hash;
		m->sim_us += jobs[i].sim_us;
	}
}

static void show(const struct run_many *m, int64_t since_ms)
{
	int64_t ms = clock_mono_ms() - since_ms;

	fprintf(stderr, "\r%llu of %lld seeds, %llu a second, %lld hours simulated ",
	    (unsigned long long)m->done, (long long)m->seeds,
	    (unsigned long long)(ms ? m->done * 1000 / (uint64_t)ms : 0),
	    (long long)(m->sim_us / (60 * MINUTE_US)));
}

static void end_jobs(struct job *jobs, int n)
{
	for (int i = 0; i < n; i++)
		if (jobs[i].pid > 0)
			kill(jobs[i].pid, SIGKILL);
	for (int i = 0; i < n; i++)
		if (jobs[i].pid > 0)
			waitpid(jobs[i].pid, NULL, 0);
}

/* One of them has ended: well, with a broken invariant, or by a signal. */
static bool job_ended(struct run_many *m, struct job *j, int status)
{
	j->pid = 0;
	if (!j->failed && WIFEXITED(status) && WEXITSTATUS(status) == 0)
		return false;
	m->failed = true;
	m->failed_seed = j->seed;
	return true;
}

static void watch_jobs(struct run_many *m, struct job *jobs)
{
	int64_t since = clock_mono_ms(), shown = since;
	int left = m->jobs;

	while (left && !m->failed) {
		bool any = false;

		for (int i = 0; i < m->jobs && !m->failed; i++) {
			int status;

			if (jobs[i].pid <= 0 || waitpid(jobs[i].pid, &status, WNOHANG) <= 0)
				continue;
			any = true;
			left--;
			job_ended(m, &jobs[i], status);
		}
		if (m->progress && clock_mono_ms() - shown > 200) {
			shown = clock_mono_ms();
			add_up(m, jobs);
			show(m, since);
		}
		if (!any)
			usleep(POLL_US / (m->seeds < 1000 ? 10 : 1));
	}
	m->real_ms = clock_mono_ms() - since;
	if (m->progress)
		fputs("\r\033[K", stderr);
}

void run_seeds(struct run_many *m)
{
	struct job *jobs;
	size_t bytes = JOBS_MOST * sizeof *jobs;

	if (m->jobs > JOBS_MOST)
		m->jobs = JOBS_MOST;
	if (m->jobs > m->seeds)
		m->jobs = (int)m->seeds;
	jobs = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	MUST(jobs != MAP_FAILED);
	fflush(NULL);
	for (int i = 0; i < m->jobs; i++) {
		pid_t pid = fork();

		MUST(pid >= 0);
		if (pid == 0)
			work(m, &jobs[i], i);
		jobs[i].pid = pid;
	}
	watch_jobs(m, jobs);
	add_up(m, jobs);
	end_jobs(jobs, m->jobs);
	munmap(jobs, bytes);
}

int run_apart(const struct sim_options *given, bool repeat)
{
	struct run_result r;
	int status;
	pid_t pid;

	fflush(NULL);
	pid = fork();
	MUST(pid >= 0);
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (!freopen("/dev/null", "w", stderr))
			_exit(RUN_CRASHED);
		if (repeat)
			run_twice(given, &r);
		else
			run_one(given, NULL, &r);
		_exit(r.verdict.invariant);
	}
	if (waitpid(pid, &status, 0) < 0 || !WIFEXITED(status))
		return RUN_CRASHED;
	return WEXITSTATUS(status);
}
