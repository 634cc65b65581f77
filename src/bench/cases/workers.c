/* SPDX-License-Identifier: Apache-2.0 */
/* The case workers: what very many connected workers cost the server while nothing runs. */
#include <stdio.h>
#include <sys/resource.h>

#include "bench/cases/herd.h"
#include "bench/internal.h"

#define DIALS_PER_SECOND 2000
#define LOOK_MS 10
#define DOWN_SECONDS 2   /* while the server is restarted: the workers dial in vain */
#define FILES_BESIDE 100 /* descriptors that are not links */

struct stage {
	struct bench *b;
	struct herd herd;
	struct loop_timer *look;
	bool (*done)(const struct stage *s);
	double end;       /* of the present wait */
	double healthy;   /* when all were for the first time in it; 0: not yet */
	uint64_t version; /* the set before it changed */
	int code;
};

static bool all_healthy(const struct stage *s)
{
	return s->herd.n_dialled == s->herd.n && s->herd.n_healthy == s->herd.n;
}

static bool all_know(const struct stage *s)
{
	return s->herd.newest > s->version && s->herd.n_know == s->herd.n;
}

static bool time_is_up(const struct stage *s)
{
	return bench_seconds() >= s->end;
}

static int gave_up(struct stage *s)
{
	struct problem *p = &s->b->problem;

	if (bench_interrupted())
		return problem_set(p, ERR_TIMEOUT, "interrupted");
	if (s->b->stand.server && !child_is_alive(s->b->stand.server)) {
		s->b->keep = true;
		return problem_set(p, ERR_IO, "the server under test has ended");
	}
	if (bench_seconds() < s->end)
		return 0;
	problem_set(p, ERR_TIMEOUT, "%zu workers: %zu healthy, %zu know the newest set; gave up",
	    s->herd.n, s->herd.n_healthy, s->herd.n_know);
	return problem_hint(p, "a slow or busy machine needs a larger --time-limit");
}

static void on_look(void *arg)
{
	struct stage *s = arg;

	s->code = 0;
	if (!s->healthy && all_healthy(s))
		s->healthy = bench_seconds();
	if (s->done(s) || (s->code = gave_up(s)) < 0)
		loop_stop(s->herd.loop);
	else
		loop_timer_set(s->look, LOOK_MS);
}

/* Lets the workers live until then; how long that was. */
static int live(
    struct stage *s, bool (*done)(const struct stage *), double at_most, double *ret_seconds)
{
	double start = bench_seconds();

	s->done = done;
	s->healthy = 0;
	s->end = start + at_most;
	loop_timer_set(s->look, 0);
	loop_run(s->herd.loop);
	*ret_seconds = bench_seconds() - start;
	return s->code;
}

static int join_all(struct stage *s, json_t *to)
{
	int64_t over = s->b->workers * 1000 / DIALS_PER_SECOND;
	double limit = (double)s->b->limit_ms / 1000, seconds, settled;
	int r;

	bench_note("%lld workers join …", (long long)s->b->workers);
	herd_grow(&s->herd, (size_t)s->b->workers, over);
	if ((r = live(s, all_healthy, limit, &seconds)) < 0)
		return r;
	json_object_set_new(to, "dialled_over_s", figure((double)over / 1000));
	json_object_set_new(to, "all_healthy_s", figure(seconds));
	if ((r = live(s, all_know, limit, &settled)) < 0)
		return r;
	return json_object_set_new(to, "all_know_the_set_s", figure(seconds + settled));
}

static int rest(struct stage *s, json_t *to)
{
	struct bench *b = s->b;
	double cpu = child_cpu_seconds(b->stand.server), seconds;
	int64_t in = s->herd.frames_in, out = s->herd.frames_out;
	int r;

	bench_note("%lld s of nothing but heartbeats and healthchecks …", (long long)b->seconds);
	s->herd.sampling = true;
	r = live(s, time_is_up, (double)b->seconds, &seconds);
	s->herd.sampling = false;
	if (r < 0)
		return r;
	cpu = child_cpu_seconds(b->stand.server) - cpu;
	out = s->herd.frames_out - out;
	json_object_set_new(to, "measured_s", figure(seconds));
	json_object_set_new(to, "server_cpu_percent", figure(100 * cpu / seconds));
	json_object_set_new(to, "frames_to_server_per_s", figure((double)out / seconds));
	json_object_set_new(
	    to, "frames_to_workers_per_s", figure((double)(s->herd.frames_in - in) / seconds));
	json_object_set_new(
	    to, "server_cpu_us_per_frame", figure(cpu * 1e6 / (double)(out + !out)));
	return json_object_set_new(to, "beat_answered", samples_json(&s->herd.answers));
}

/* One more: everybody is told of the new set with the answer to the next beat. */
static int change_set(struct stage *s, json_t *to)
{
	double limit = (double)s->b->limit_ms / 1000, beat = (double)s->b->heartbeat_ms / 1000;
	double start = bench_seconds(), seconds, more = 0;
	int r;

	bench_note("one more joins …");
	s->version = s->herd.newest;
	herd_grow(&s->herd, 1, 0);
	if ((r = live(s, all_know, limit, &seconds)) < 0)
		return r;
	json_object_set_new(to, "set_change_s", figure(seconds));
	json_object_set_new(to, "set_change_heartbeats", figure(seconds / beat));
	if (!s->healthy && (r = live(s, all_healthy, limit, &more)) < 0)
		return r;
	return json_object_set_new(to, "newcomer_healthy_s", figure(s->healthy - start));
}

/* All come back at once. With volatile dispatch nobody is given work before all have spoken. */
static int restart(struct stage *s, json_t *to)
{
	double limit = (double)s->b->limit_ms / 1000, seconds;
	int r;

	bench_note("the server is restarted …");
	s->herd.quiet = true;
	child_stop(&s->b->stand.server);
	if ((r = live(s, time_is_up, DOWN_SECONDS, &seconds)) < 0)
		return r;
	if ((r = stand_restart_server(s->b)) < 0)
		return r;
	herd_aim(&s->herd, s->b->stand.link_port);
	r = live(s, all_healthy, limit, &seconds);
	s->herd.quiet = false;
	return r < 0 ? r : json_object_set_new(to, "all_healthy_after_restart_s", figure(seconds));
}

static void add_memory(struct stage *s, int64_t before_kb, json_t *to)
{
	pid_t pid = s->b->stand.server;
	double n = (double)s->b->workers;
	int64_t now = child_rss_kb(pid, "VmRSS:"), peak = child_rss_kb(pid, "VmHWM:");

	json_object_set_new(to, "server_rss_before_mb", figure((double)before_kb / 1024));
	json_object_set_new(to, "server_rss_mb", figure((double)now / 1024));
	json_object_set_new(to, "server_rss_kb_per_worker", figure((double)(now - before_kb) / n));
	json_object_set_new(
	    to, "server_peak_kb_per_worker", figure((double)(peak - before_kb) / n));
}

static int measure(struct stage *s, json_t *to)
{
	int64_t before = child_rss_kb(s->b->stand.server, "VmRSS:");
	int r;

	if ((r = join_all(s, to)) < 0 || (r = rest(s, to)) < 0)
		return r;
	add_memory(s, before, to);
	if ((r = change_set(s, to)) < 0)
		return r;
	json_object_set_new(to, "links_lost", json_integer((json_int_t)s->herd.links_lost));
	return restart(s, to);
}

/* The server inherits the limit, and raises its own soft one to it. */
static int check_files(struct bench *b)
{
	struct rlimit r;

	if (getrlimit(RLIMIT_NOFILE, &r) < 0 || r.rlim_max == RLIM_INFINITY ||
	    (int64_t)r.rlim_max >= b->workers + FILES_BESIDE)
		return 0;
	problem_set(&b->problem, ERR_INVALID,
	    "%lld workers need as many open files; %lld are allowed", (long long)b->workers,
	    (long long)r.rlim_max);
	return problem_hint(&b->problem,
	    "raise the hard limit (ulimit -Hn), or ask for --workers %lld",
	    (long long)r.rlim_max - FILES_BESIDE);
}

static int with_dispatch(struct bench *b, const char *dispatch, json_t *to)
{
	struct loop *loop = loop_new(); /* raises the limit of open files */
	struct stage s = {.b = b};
	int r;

	bench_note("%s dispatch", dispatch);
	r = stand_start_server(b, dispatch);
	if (r == 0) {
		s.look = loop_timer_new(loop, on_look, &s);
		herd_init(
		    &s.herd, loop, b->stand.link_port, b->stand.join_token, (size_t)b->workers + 1);
		r = measure(&s, to);
		child_stop(&b->stand.server); /* before it has to write down whom it lost */
		herd_release(&s.herd);
		loop_timer_free(s.look);
	}
	stand_stop(b);
	loop_free(loop);
	return r;
}

int case_workers(struct bench *b, json_t *to)
{
	static const char *const ways[] = {"durable", "volatile"};
	int r = check_files(b);

	if (r < 0)
		return r;
	json_object_set_new(to, "workers", json_integer(b->workers));
	json_object_set_new(to, "heartbeat_s", figure((double)b->heartbeat_ms / 1000));
	json_object_set_new(to, "consensus", consensus_json((size_t)b->workers));
	for (size_t i = 0; i < 2 && r == 0; i++) {
		json_t *way;

		if (b->dispatch && !str_is(str_of(b->dispatch), ways[i]))
			continue;
		way = json_object();
		json_object_set_new(to, ways[i], way);
		r = with_dispatch(b, ways[i], way);
	}
	return r;
}
