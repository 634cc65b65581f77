/* SPDX-License-Identifier: Apache-2.0 */
/*
 * When a group will have ended. What jobs took, in an earlier group of the series or so far, says
 * what those will take that have not ended; what is left is played with as many workers as the
 * group has had.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "cli/group/live.h"
#include "cli/output/output.h"
#include "graph/jobs/jobs.h"
#include "graph/limits.h"
#include "graph/package/names.h"

static const char *const confidence_names[] = {
    [CONFIDENCE_NONE] = "no",
    [CONFIDENCE_LOW] = "low",
    [CONFIDENCE_MEDIUM] = "medium",
    [CONFIDENCE_HIGH] = "high",
};

#define SAMPLES_FEW 5
#define SAMPLES_MANY 30
#define SPREAD_SMALL 1.0 /* the deviation is no more than the mean */
#define UNLIKE 2.0
#define LATE_PART 4 /* who is late takes a quarter of what it has taken so far */

/* What was measured, of jobs of one name or of all. */
struct sample {
	uint32_t n;
	double sum, squares;
};

struct knowledge {
	struct names stems;
	struct sample *of; /* by stem */
	uint32_t *stem;    /* by job */
	struct sample all;
	struct sample before; /* in earlier groups of the series, of jobs that have not ended */
};

/* "build" of "build[os=linux]", "core/gcc" of "core/gcc#2" */
static struct str stem_of(const char *name)
{
	return (struct str){name, strcspn(name, "[#")};
}

static void add_sample(struct sample *s, double ms)
{
	s->n++;
	s->sum += ms;
	s->squares += ms * ms;
}

static void learn(const struct live *l, struct knowledge *k)
{
	k->of = xcalloc((size_t)l->n + 1, sizeof *k->of);
	k->stem = xcalloc((size_t)l->n + 1, sizeof *k->stem);
	for (uint32_t j = 0; j < l->n; j++) {
		double ms = (double)(l->ended[j] - l->started[j]);

		k->stem[j] = names_put(&k->stems, stem_of(live_name(l, j)));
		if (l->took[j] && !job_is_ended(l->states[j]))
			add_sample(&k->before, (double)l->took[j]);
		if (l->states[j] != JOB_BUILT || !l->started[j] || ms < 0)
			continue;
		add_sample(&k->of[k->stem[j]], ms);
		add_sample(&k->all, ms);
	}
}

static void knowledge_release(struct knowledge *k)
{
	names_release(&k->stems);
	free(k->of);
	free(k->stem);
}

static double mean(const struct sample *s)
{
	return s->n ? s->sum / s->n : 0;
}

static double spread(const struct sample *s)
{
	double m = mean(s), variance = s->n ? s->squares / s->n - m * m : 0;

	return m > 0 && variance > 0 ? sqrt(variance) / m : 0;
}

/* A clean-up runs only if something fails: until then it is taken for none. */
static bool is_for_failure(const struct live *l, uint32_t job)
{
	for (uint32_t e = l->dag.first[job]; e < l->dag.first[job + 1]; e++)
		if (l->dag.why[e] == AFTER_FAILURE && !job_is_bad(l->states[l->dag.needs[e]]))
			return true;
	return false;
}

/* The job's own time says most, then that of its siblings. */
static double takes_of(const struct live *l, const struct knowledge *k, uint32_t job)
{
	const struct sample *siblings = &k->of[k->stem[job]];

	if (l->took[job])
		return (double)l->took[job];
	return mean(siblings->n ? siblings : k->all.n ? &k->all : &k->before);
}

static int64_t left_of(
    const struct live *l, const struct knowledge *k, uint32_t job, int64_t now_ms)
{
	double of = takes_of(l, k, job);
	int64_t takes = of < JOB_DURATION_MAX_MS ? (int64_t)of : JOB_DURATION_MAX_MS, had = 0;

	if (is_for_failure(l, job))
		return 1;
	if (job_is_on(l->states[job]) && l->started[job] && now_ms > l->started[job])
		had = now_ms - l->started[job];
	if (had >= takes)
		takes = had + had / LATE_PART;
	takes -= had;
	return takes < 1 ? 1 : takes > JOB_DURATION_MAX_MS ? JOB_DURATION_MAX_MS : takes;
}

/* Jobs that have not ended, numbered anew, and the needs between them. */
struct rest {
	struct dag dag;
	uint32_t *job; /* by new number */
};

static void rest_release(struct rest *r)
{
	dag_release(&r->dag);
	free(r->job);
}

static void rest_make(
    const struct live *l, const struct knowledge *k, int64_t now_ms, struct rest *r)
{
	uint32_t *number = xcalloc((size_t)l->n + 1, sizeof *number), at = 0;
	struct dag *d = &r->dag;

	d->first = xcalloc((size_t)l->n + 2, sizeof *d->first);
	d->needs = xcalloc((size_t)l->dag.first[l->n] + 1, sizeof *d->needs);
	d->why = xcalloc((size_t)l->dag.first[l->n] + 1, 1);
	d->duration = xcalloc((size_t)l->n + 1, sizeof *d->duration);
	r->job = xcalloc((size_t)l->n + 1, sizeof *r->job);
	for (uint32_t j = 0; j < l->n; j++) {
		if (job_is_ended(l->states[j]))
			continue;
		number[j] = d->n;
		r->job[d->n] = j;
		d->duration[d->n] = left_of(l, k, j, now_ms);
		for (uint32_t e = l->dag.first[j]; e < l->dag.first[j + 1]; e++)
			if (!job_is_ended(l->states[l->dag.needs[e]]))
				d->needs[at++] = number[l->dag.needs[e]];
		d->first[++d->n] = at;
	}
	free(number);
}

/* As many as are busy now, or were on average. */
static uint32_t workers_had(const struct live *l, const struct knowledge *k, int64_t now_ms)
{
	int64_t since = jtime(l->group, "dispatched");
	double busy = k->all.sum, span = (double)(now_ms - since);
	uint32_t now = l->counts[JOB_DISPATCHED] + l->counts[JOB_CANCEL_PENDING], average = 0;

	for (uint32_t j = 0; j < l->n; j++)
		if (job_is_on(l->states[j]) && l->started[j] && now_ms > l->started[j])
			busy += (double)(now_ms - l->started[j]);
	if (since && span > 0 && busy / span < PLAN_WORKERS_MAX)
		average = (uint32_t)ceil(busy / span);
	return now > average ? now : average ? average : 1;
}

/* What was built now took much less, or much more, than the rest did before. */
static bool is_unlike_before(const struct knowledge *k)
{
	double now = mean(&k->all), before = mean(&k->before);

	return k->before.n && k->all.n && (now > before * UNLIKE || before > now * UNLIKE);
}

static enum confidence confidence_of(const struct live *l, const struct knowledge *k)
{
	uint32_t left = 0, known = 0;

	for (uint32_t j = 0; j < l->n; j++)
		if (!job_is_ended(l->states[j])) {
			left++;
			known += k->of[k->stem[j]].n > 0 || l->took[j];
		}
	if (k->all.n == 0) /* nobody knows how many workers there will be */
		return k->before.n ? CONFIDENCE_LOW : CONFIDENCE_NONE;
	if ((k->all.n < SAMPLES_FEW && known < left) || is_unlike_before(k))
		return CONFIDENCE_LOW;
	if (known == left || (k->all.n >= SAMPLES_MANY && spread(&k->all) <= SPREAD_SMALL))
		return CONFIDENCE_HIGH;
	return k->all.n >= SAMPLES_MANY || spread(&k->all) <= SPREAD_SMALL ? CONFIDENCE_MEDIUM
	                                                                   : CONFIDENCE_LOW;
}

void forecast_make(const struct live *l, int64_t now_ms, struct forecast *ret_forecast)
{
	struct forecast f = {.critical = xcalloc((size_t)l->n + 1, 1)};
	AUTO(knowledge_release) struct knowledge k = {0};
	AUTO(rest_release) struct rest r = {0};
	AUTO(measures_release) struct measures m = {0};

	learn(l, &k);
	rest_make(l, &k, now_ms, &r);
	dag_measure(&r.dag, &m);
	for (f.n_path = 0; f.n_path < m.n_path; f.n_path++)
		f.critical[r.job[m.path[f.n_path]]] = 1;
	f.workers = workers_had(l, &k, now_ms);
	f.confidence = confidence_of(l, &k);
	if (f.confidence != CONFIDENCE_NONE)
		f.left_ms = dag_makespan(&r.dag, &m, f.workers, PICK_LONGEST);
	*ret_forecast = f;
}

void forecast_release(struct forecast *f)
{
	free(f->critical);
	*f = (struct forecast){0};
}

/* Whole seconds: more would claim to know too much. */
void forecast_words(const struct forecast *f, struct buf *out)
{
	int64_t ms = f->left_ms < 1000 ? 1000 : f->left_ms + 500;
	char text[TIME_TEXT_MAX];

	if (f->confidence == CONFIDENCE_NONE)
		buf_add_cstr(out, "not known yet");
	else
		buf_printf(out, "%s, %s confidence",
		    ms < 60000 ? human_short(ms, text) : time_human_ms(ms / 1000 * 1000, text),
		    confidence_names[f->confidence]);
}
