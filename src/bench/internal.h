/* SPDX-License-Identifier: Apache-2.0 */
/* Inside the benchmark: one run, the server and worker it started, and the load it makes. */
#ifndef BENCH_INTERNAL_H
#define BENCH_INTERNAL_H

#include <jansson.h>
#include <sys/types.h>

#include "base/err.h"
#include "base/str.h"

#define NOOP_QUEUE_PLUGIN "noop"
#define BULK_LINES 50000 /* tasks in one bulk request */

struct stand { /* a server and a worker of our own */
	pid_t server, worker;
	char *dir, *socket;
	int http_port, link_port;
	int fd; /* the control connection; -1: none */
	char token[80], join_token[80];
};

struct bench {
	double scale;
	int64_t tasks;     /* for `noop`, before scaling */
	int64_t inflight;  /* the worker's maxthreads, for plugins */
	int64_t processes; /* of the noop plugin */
	int64_t spawn_threads;
	int64_t limit_ms; /* for any one wait */
	/* the case workers */
	int64_t workers, seconds, heartbeat_ms;
	const char *dispatch; /* NULL: both */
	int64_t objects;      /* of a case that makes very many, before scaling */
	const char *graph;    /* the case dag: also the plan of this file; NULL: none */
	const char *peers;    /* the case cron: where other programs are; NULL: none */
	bool keep;
	const char *base_dir;
	char *dir, *exe;
	json_t *out;
	double noop_rate, bulk_rate; /* tasks/s once measured; 0: not yet */
	struct problem problem;
	struct stand stand;
};

/* A count of this many at scale 1; never less than `least`. */
int64_t bench_scaled(const struct bench *b, int64_t n, int64_t least);
void bench_note(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
bool bench_interrupted(void);
double bench_seconds(void); /* monotonic */
int64_t bench_ns(void);

/* figures.c: many measured durations, and what is said of them */
struct samples {
	int64_t *ns;
	size_t n, cap;
};
void samples_release(struct samples *s);
void samples_add(struct samples *s, int64_t ns);
/* {"p50_ms","p99_ms","max_ms"}: sorts them */
json_t *samples_json(struct samples *s);
double samples_ms(struct samples *s, double quantile);
/* A number that people read: four digits count. */
json_t *figure(double x);
double figure_get(const json_t *o, const char *path); /* "a.b.c"; NAN when absent */

/* own.c: this process */
void peak_forget(void);
double peak_mb(void); /* since then; NAN when it cannot be told */
double cpu_seconds(void);

/* process.c */
pid_t child_start(const char *const *argv, const char *log, struct problem *ret_problem);
/* Another program, by its name. */
pid_t child_start_other(const char *const *argv, const char *log, struct problem *ret_problem);
/* Until it has ended: its exit code. ERR_TIMEOUT, and it is stopped, when that takes too long. */
int child_wait(pid_t *pid, int64_t limit_ms);
void child_stop(pid_t *pid);
bool child_is_alive(pid_t pid);
int64_t child_rss_kb(pid_t pid, const char *field); /* "VmRSS:", "VmHWM:" */
void child_peak_forget(pid_t pid);                  /* VmHWM: from now on */
double child_cpu_seconds(pid_t pid);
double child_cpu_exact(pid_t pid); /* to the nanosecond, of the threads that are there */
int remove_tree(const char *path);

/* stand.c */
int stand_start(struct bench *b, const char *name);
/* Without a worker; with that dispatch, which is its name too. */
int stand_start_server(struct bench *b, const char *dispatch);
int stand_restart_server(struct bench *b); /* on other ports */
void stand_stop(struct bench *b);

/* http.c: one request at a time on a blocking connection */
int connect_unix(const char *path);
int connect_tcp(int port);
int http_raw(int fd, struct str request, struct buf *body, int *ret_status);
int http_call(
    struct bench *b, const char *method, const char *path, const char *body, json_t **ret_json);
void http_request(
    struct buf *out, const char *method, const char *path, const char *type, struct str body);
/* With the token that TCP wants. */
void http_request_as(struct buf *out, const char *token, const char *method, const char *path,
    const char *type, struct str body);

/* load.c: requests on many connections, the same again and again or each its own */
struct load {
	bool tcp;
	int clients;
	int64_t requests;
	struct str request;
	/* Instead of `request`: each its own. */
	void (*make)(int64_t i, struct buf *out, const void *arg);
	const void *arg;
};
struct load_result {
	double seconds;
	struct samples latency;
};
int load_run(struct bench *b, const struct load *l, struct load_result *ret_result);

/* cases.c: what server and worker spent on the processor since the last look */
struct spent {
	double server, worker;
};
struct spent spent_now(const struct bench *b);
/* Per task: "server_cpu_us", "worker_cpu_us". */
void spent_add(const struct bench *b, struct spent since, int64_t n, json_t *to);

/* work.c: queues, bulk submits and waiting, as all cases need them */
int queue_make(struct bench *b, const char *name, const char *settings);
int queue_change(struct bench *b, const char *name, const char *verb, const char *settings);
int queue_ended(struct bench *b, const char *name, int64_t *ret_n);
int queue_wait_ended(struct bench *b, const char *name, int64_t n);
/* Submits n times this line; *ret_seconds may be NULL. */
int submit_bulk(struct bench *b, const char *line, int64_t n, double *ret_seconds);
int submit_single(struct bench *b, const char *line, bool tcp, int clients, int64_t n,
    double *ret_rate, json_t **ret_json);
int noop_end_to_end(struct bench *b, const char *queue, int64_t n, double *ret_rate);
/* From paused and full to empty. */
int noop_drain(struct bench *b, const char *queue, int64_t n, double *ret_rate);

/* limits.c: what the machine does without us */
int limits_disk(struct bench *b, json_t *to);
/* Synced overwrites per second, at this moment. */
double limit_sync_now(struct bench *b);
int limits_ping(struct bench *b, json_t *to);

/* loops.c: n times /bin/true, by so many loops at once, with two pipes read to their end */
enum loop_kind {
	LOOP_NOTHING, /* no pipes either */
	LOOP_BARE,
	LOOP_FRESH_CGROUP, /* made for it and removed again */
	LOOP_SAME_CGROUP,  /* born in one that is there, by the call that Reeve uses */
};
int limit_loops(void);
double limit_spawn_seconds(int64_t n, enum loop_kind kind, int cgroup_parent, int loops);

/* hand.c: a keeper of our own, beside one loop */
int hand_measure(struct bench *b, int cgroup_parent, json_t *to);
/* idle.c: what a task that waits costs the worker under test */
int idle_measure(struct bench *b, json_t *to);

/* agree.c: one computation of consensus over so many workers */
json_t *consensus_json(size_t n);

/* the cases */
int case_machine(struct bench *b, json_t *to);
int case_submit(struct bench *b, json_t *to);
int case_noop(struct bench *b, json_t *to);
int case_spawn(struct bench *b, json_t *to);
int case_latency(struct bench *b, json_t *to);
int case_backlog(struct bench *b, json_t *to);
int case_workers(struct bench *b, json_t *to);
int case_needs(struct bench *b, json_t *to);
int case_cron(struct bench *b, json_t *to);
int case_plan(struct bench *b, json_t *to);
int case_dag(struct bench *b, json_t *to);
int case_services(struct bench *b, json_t *to);

/* goals.c: what we want of a machine with two cores; one without a name ends a list */
struct goal {
	const char *name;
	const char *path; /* in the output */
	double goal;
	bool at_most;
};
extern const struct goal common_goals[], workers_goals[];
json_t *goals_json(const struct goal *const *lists, const json_t *out); /* NULL ends them */

#endif
