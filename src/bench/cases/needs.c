/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The case needs: what one placement costs the server's brain when nearly all workers do not fit,
 * with ten workers and with very many. The brain alone: an end comes in, the next task is claimed.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/mem.h"
#include "bench/internal.h"
#include "core/core.h"
#include "model/rows/row.h"

#define FOR_EVER (INT64_MAX / 16)
#define FITTING 5    /* workers that fit, whatever their number */
#define FEW 10       /* workers, to compare with */
#define IN_FLIGHT 20 /* tasks on the fitting ones */
#define SUBMIT_AT_ONCE 200
#define ENDS_AT_ONCE 100
#define ROUNDS 3

enum lacking { LACKS_LABEL, LACKS_FREE, LACKS_THREAD, N_LACKS };

/* Why all but a few workers do not fit: what they lack, and what the measured tasks need. */
static const struct {
	const char *name, *fill, *need;
} lacks[N_LACKS] = {
    {"label", NULL, "+role=fit\ngpu=1\n"},       /* no worker ever fits */
    {"held", "+role=other\ngpu=1\n", "gpu=1\n"}, /* others hold it */
    {"threads", "+role=other\n", NULL},          /* no worker has a thread free */
};

struct run {
	uint64_t link;
	rid task;
	int64_t token;
};

struct brain {
	struct core *core;
	struct effects fx;
	uint64_t seq;
	rid queue, filling;
	struct run *runs; /* the queue's runs, oldest first, in a ring */
	size_t begun, over, cap;
	uint64_t (*checks)[2];
	size_t n_checks, cap_checks;
};

static void look_at_messages(struct brain *b)
{
	for (size_t i = 0; i < b->fx.n_messages; i++) {
		const struct message *m = &b->fx.messages[i];

		if (m->kind == MSG_RUN && str_is(m->run.queue, "q"))
			b->runs[b->begun++ % b->cap] =
			    (struct run){m->link, m->run.task, m->run.token};
		if (m->kind != MSG_CHECK)
			continue;
		GROW(b->checks, b->cap_checks, b->n_checks + 1);
		b->checks[b->n_checks][0] = m->link;
		b->checks[b->n_checks++][1] = m->check.number;
	}
}

static void step(struct brain *b, struct event *ev)
{
	ev->now_ms = 1700000000000;
	ev->mono_ms = 1000000;
	ev->seed = b->seq;
	effects_reset(&b->fx, ++b->seq);
	core_step(b->core, ev, &b->fx);
	look_at_messages(b);
}

static rid make_queue(struct brain *b, const char *name)
{
	struct queue_row row = {.name = str_of(name)};
	struct event ev = {.kind = EV_CREATE, .ticket = 1, .object.kind = KIND_QUEUE};

	ev.object.row = &row;
	ev.object.fields = ROW_BIT(queue_table, queue_row, name);
	step(b, &ev);
	return core_find(b->core, KIND_QUEUE, str_of(name));
}

static void submit(struct brain *b, rid queue, const char *need, size_t n)
{
	struct submit_task *tasks = xcalloc(n, sizeof *tasks);
	struct event ev = {.kind = EV_SUBMIT, .ticket = 1};

	for (size_t i = 0; i < n; i++)
		tasks[i] = (struct submit_task){.status = TASK_QUEUED,
		    .spec = {.queue = queue,
		        .backoff_ms = -1,
		        .backoff_max_ms = -1,
		        .need = str_of(need),
		        .body = STR("{}")}};
	ev.submit.tasks = tasks;
	ev.submit.n = n;
	step(b, &ev);
	free(tasks);
}

static void join(struct brain *b, uint64_t link, bool fits)
{
	struct event ev = {.kind = EV_HELLO, .link = link};
	char name[32];

	snprintf(name, sizeof name, "w%llu", (unsigned long long)link);
	ev.hello.dial = 1;
	ev.hello.facts = (struct worker_facts){.shard = str_of(name),
	    .instance = link,
	    .start = (int64_t)link,
	    .lock = str_of(name),
	    .key = str_of(name),
	    .plugins = STR("command\n"),
	    .labels = fits ? STR("role=fit\n") : STR("role=other\n"),
	    .offer = fits ? STR("cpu=4000\ngpu=4\n") : STR("cpu=1000\ngpu=1\n"),
	    .maxthreads = fits ? IN_FLIGHT / FITTING : 1};
	step(b, &ev);
	while (b->n_checks) {
		ev = (struct event){.kind = EV_CHECKED, .link = b->checks[--b->n_checks][0]};
		ev.checked.number = b->checks[b->n_checks][1];
		ev.checked.ok = true;
		step(b, &ev);
	}
}

static void end_oldest(struct brain *b)
{
	struct run *r = &b->runs[b->over++ % b->cap];
	struct event ev = {.kind = EV_ENDED, .link = r->link};

	ev.ended = (struct link_ended){.task = r->task,
	    .token = r->token,
	    .status = TASK_SUCCEEDED,
	    .started_ms = 1700000000000,
	    .ended_ms = 1700000000000};
	step(b, &ev);
}

static void begin(struct brain *b, size_t workers, enum lacking lack)
{
	struct core_options o = {.timeouts = {FOR_EVER, FOR_EVER, FOR_EVER, FOR_EVER, FOR_EVER}};
	struct event ev = {.kind = EV_LOAD_DONE};

	*b = (struct brain){.core = core_new(&o), .cap = 4096};
	b->runs = xcalloc(b->cap, sizeof *b->runs);
	step(b, &ev);
	b->filling = make_queue(b, "filling");
	for (size_t i = 0; i < workers; i++)
		join(b, i + 1, i < FITTING);
	for (size_t left = lacks[lack].fill ? workers - FITTING : 0; left > 0;) {
		size_t n = left < SUBMIT_AT_ONCE ? left : SUBMIT_AT_ONCE;

		submit(b, b->filling, lacks[lack].fill, n);
		left -= n;
	}
	b->queue = make_queue(b, "q");
}

static void end(struct brain *b)
{
	core_free(b->core);
	effects_release(&b->fx);
	free(b->runs);
	free(b->checks);
}

/* Of this thread: what others do on the machine does not count. */
static double cpu_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

/* Microseconds for an end and the placement that it makes room for. */
static int measure(struct bench *bench, size_t workers, enum lacking lack, size_t n, double *ret_us,
    double *ret_first_us)
{
	double start, spent = 0;
	struct brain b;
	int rc = 0;

	begin(&b, workers, lack);
	start = cpu_us();
	submit(&b, b.queue, lacks[lack].need, SUBMIT_AT_ONCE);
	*ret_first_us = cpu_us() - start;
	for (size_t i = 0; i < n && !rc; i += ENDS_AT_ONCE) {
		submit(&b, b.queue, lacks[lack].need, ENDS_AT_ONCE);
		start = cpu_us();
		for (size_t k = 0; k < ENDS_AT_ONCE; k++)
			end_oldest(&b);
		spent += cpu_us() - start;
		if (b.begun - b.over != IN_FLIGHT)
			rc = problem_set(&bench->problem, ERR_INTERNAL,
			    "%zu tasks are under way in place of %d", b.begun - b.over, IN_FLIGHT);
	}
	end(&b);
	*ret_us = spent / (double)n;
	return rc;
}

/* The least of some rounds, in turns: what else the machine does only adds to them. */
static int compare(struct bench *b, enum lacking lack, double ret_us[2], double ret_first_us[2])
{
	size_t n = (size_t)bench_scaled(b, 200, 5) * ENDS_AT_ONCE;
	const size_t workers[2] = {FEW, (size_t)b->workers};

	for (int i = 0; i < 2 * ROUNDS; i++) {
		double us, first_us;
		int rc = measure(b, workers[i % 2], lack, n, &us, &first_us);

		if (rc)
			return rc;
		if (i < 2 || us < ret_us[i % 2])
			ret_us[i % 2] = us;
		if (i < 2 || first_us < ret_first_us[i % 2])
			ret_first_us[i % 2] = first_us;
	}
	return 0;
}

int case_needs(struct bench *b, json_t *to)
{
	double worst = 0;

	json_object_set_new(to, "workers", json_integer((json_int_t)b->workers));
	json_object_set_new(to, "that_fit", json_integer(FITTING));
	for (int lack = 0; lack < N_LACKS; lack++) {
		double us[2], first_us[2];
		int rc = compare(b, (enum lacking)lack, us, first_us);

		if (rc)
			return rc;
		if (us[1] / us[0] > worst)
			worst = us[1] / us[0];
		json_object_set_new(to, lacks[lack].name,
		    json_pack("{s:o,s:o,s:o,s:o}", "of_10_us", figure(us[0]), "of_many_us",
		        figure(us[1]), "ratio", figure(us[1] / us[0]), "first_200_ms",
		        figure(first_us[1] / 1000)));
	}
	json_object_set_new(to, "worst_ratio", figure(worst));
	return 0;
}
