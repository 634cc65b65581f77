/* SPDX-License-Identifier: Apache-2.0 */
/* `reeve sim`: options, the runs, and a report that says how to see a failure again. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/mutant.h"
#include "sim/commit.h"
#include "sim/faults/plan.h"
#include "sim/runs.h"
#include "sim/sim.h"

#define ONLY_MOST 256

const struct option_def sim_command_options[] = {
    {"seeds", 'n', "N", "how many seeds to run (default: 100)"},
    {"from", 0, "SEED", "the first seed (default: 1)"},
    {"jobs", 'j', "N", "processes at once (default: one a processor)"},
    {"faults", 0, "LIST",
        "only these classes: net, call, crash, pause, clock, process, store, twin, split, change, "
        "time, remove, slow, hostile, coma, all, none"},
    {"only-faults", 0, "LIST", "of the planned faults only those with these numbers, or none"},
    {"workers", 0, "N", "so many workers instead of a drawn number"},
    {"minutes", 0, "N", "so many simulated minutes with faults, instead of a drawn number"},
    {"tasks", 0, "N", "at most so many commands of clients"},
    {"dispatch", 0, "MODE", "the first server: durable or volatile, instead of drawn"},
    {"trace", 0, NULL, "tell the story of every run"},
    {"trace-shiviz", 0, "FILE", "write a trace of one seed for ShiViz: docs/TRACES.md", NULL, 0,
        "file"},
    {"shrink", 0, NULL, "look for the smallest run that fails in the same way"},
    {"repeat", 0, NULL, "run every seed twice and compare (else: one in 64)"},
    {"mutant", 0, "NAME", "switch on a planted bug (only in builds with -Dmutants=true)"},
    {"output", 'o', "FORMAT", "text or json (default: text)"},
    {NULL},
};

struct asked {
	struct run_many many;
	int64_t first, workers, minutes, tasks, jobs;
	bool trace, shrink, json;
	const char *shiviz; /* NULL: no such trace */
	unsigned only[ONLY_MOST];
	struct problem problem;
};

static int parse_faults(struct asked *a, const char *text)
{
	struct str bad;

	a->many.given.is_listed = text && !str_is(str_of(text), "all");
	if (!text || sim_classes_parse(str_of(text), &a->many.given.faults, &bad))
		return 0;
	if (str_is(bad, "all") || str_is(bad, "none"))
		problem_set(&a->problem, ERR_INVALID,
		    "--faults %.64s: \"" STR_FMT "\" stands alone", text, STR_ARG(bad));
	else
		problem_set(&a->problem, ERR_INVALID,
		    "--faults %.64s: there is no class of faults \"%.*s\"", text,
		    (int)(bad.n < 64 ? bad.n : 64), bad.p);
	problem_hint(&a->problem, "some of net, call, crash, pause, clock, process, store, twin, "
	                          "split, change, time, remove, slow, hostile, coma with commas "
	                          "between them; or all; or none");
	return ERR_INVALID;
}

static int parse_only(struct asked *a, const char *text)
{
	struct str rest = str_of(text), part;
	int64_t n;

	if (!text)
		return 0;
	a->many.given.has_only = true;
	a->many.given.only = a->only;
	while (!str_is(str_of(text), "none") && str_next(&rest, ',', &part)) {
		if (!str_to_i64(part, 0, 100000, &n) || a->many.given.n_only == ONLY_MOST) {
			problem_set(&a->problem, ERR_INVALID,
			    "--only-faults %.64s: not a list of numbers", text);
			return problem_hint(&a->problem, "for example --only-faults 3,17");
		}
		a->only[a->many.given.n_only++] = (unsigned)n;
	}
	return 0;
}

/* What the seed has not planned can't be left out either: most likely the seed is another one. */
static int check_only(struct asked *a)
{
	struct sim_options o = a->many.given;
	size_t planned;

	if (a->many.seeds != 1 || !o.n_only)
		return 0;
	sim_options_draw(&o);
	planned = sim_plan_size(&o);
	for (size_t i = 0; i < o.n_only; i++) {
		if (o.only[i] < planned)
			continue;
		problem_set(&a->problem, ERR_INVALID, "--only-faults: seed %llu has no fault %u",
		    (unsigned long long)o.seed, o.only[i]);
		problem_hint(&a->problem, "its faults are 0 to %zu", planned - 1);
		return ERR_INVALID;
	}
	return 0;
}

static int parse_mutant(struct asked *a, const char *name)
{
	if (!name)
		return 0;
#ifdef REEVE_MUTANTS
	for (int i = 1; i < N_MUTANTS; i++)
		if (!strcmp(mutant_names[i], name)) {
			mutant_now = (enum mutant)i;
			return 0;
		}
	problem_set(&a->problem, ERR_INVALID, "there is no mutant %.64s", name);
	return problem_hint(&a->problem, "src/base/mutants.def lists them");
#else
	problem_set(&a->problem, ERR_INVALID, "this build has no planted bugs");
	return problem_hint(&a->problem, "build with -Dmutants=true");
#endif
}

static int parse_words(struct asked *a, const struct options *o)
{
	const char *dispatch = options_get(o, "dispatch"),
	           *format = options_or(o, "output", "text");

	if (dispatch && strcmp(dispatch, "durable") && strcmp(dispatch, "volatile"))
		return problem_set(&a->problem, ERR_INVALID,
		    "--dispatch %.32s: it is durable or volatile", dispatch);
	if (dispatch)
		a->many.given.dispatch = !strcmp(dispatch, "volatile");
	if (strcmp(format, "text") && strcmp(format, "json"))
		return problem_set(
		    &a->problem, ERR_INVALID, "-o %.32s: it is text or json", format);
	a->json = !strcmp(format, "json");
	a->trace = options_switch(o, "trace", false);
	a->shrink = options_switch(o, "shrink", false);
	a->many.repeat = options_switch(o, "repeat", false);
	return 0;
}

/* A trace has one run in it. */
static int parse_shiviz(struct asked *a, const struct options *o)
{
	a->shiviz = options_get(o, "trace-shiviz");
	if (!a->shiviz)
		return 0;
	if (!options_given(o, "seeds"))
		a->many.seeds = 1;
	if (a->many.seeds == 1)
		return 0;
	problem_set(&a->problem, ERR_INVALID, "--trace-shiviz is for one seed");
	return problem_hint(&a->problem, "--from SEED --seeds 1 says which");
}

static int parse_numbers(struct asked *a, const struct options *o)
{
	struct problem *p = &a->problem;
	int r;

	if ((r = options_i64(o, "seeds", 1, INT64_C(1000000000000), &a->many.seeds, p)) < 0 ||
	    (r = options_i64(o, "from", 0, INT64_MAX / 2, &a->first, p)) < 0 ||
	    (r = options_i64(o, "jobs", 1, 256, &a->jobs, p)) < 0 ||
	    (r = options_i64(o, "workers", 1, SIM_WORKERS_MAX, &a->workers, p)) < 0 ||
	    (r = options_i64(o, "minutes", 1, 100000, &a->minutes, p)) < 0 ||
	    (r = options_i64(o, "tasks", 1, 100000, &a->tasks, p)) < 0)
		return r;
	a->many.given.seed = (uint64_t)a->first;
	a->many.given.workers = (int)a->workers;
	a->many.given.minutes = (int)a->minutes;
	a->many.given.tasks = (int)a->tasks;
	a->many.jobs = (int)a->jobs;
	return 0;
}

static int parse(struct asked *a, int argc, char **argv)
{
	AUTO(options_release) struct options o = {.program = "reeve sim"};
	int r;

	options_add_table(&o, sim_command_options);
	if ((r = options_parse(&o, OPTIONS_ANYWHERE, argc, argv, &a->problem)) < 0)
		return r;
	if (o.n_args) {
		problem_set(&a->problem, ERR_INVALID, "what is \"%.64s\" for?", o.args[0]);
		return problem_hint(
		    &a->problem, "reeve sim takes options only; see reeve help sim");
	}
	if ((r = parse_numbers(a, &o)) < 0 || (r = parse_words(a, &o)) < 0 ||
	    (r = parse_shiviz(a, &o)) < 0 || (r = parse_faults(a, options_get(&o, "faults"))) < 0 ||
	    (r = parse_only(a, options_get(&o, "only-faults"))) < 0 || (r = check_only(a)) < 0)
		return r;
	return parse_mutant(a, options_get(&o, "mutant"));
}

static void print_json(const struct asked *a, const struct run_result *bad, const char *command)
{
	const struct run_many *m = &a->many;

	printf("{\"seeds\":%llu,\"events\":%llu,\"simulated_seconds\":%lld,\"real_ms\":%lld,"
	       "\"hash\":\"%016llx\",\"version\":\"%s\",\"commit\":\"%s\"",
	    (unsigned long long)m->done, (unsigned long long)m->events,
	    (long long)(m->sim_us / SECOND_US), (long long)m->real_ms, (unsigned long long)m->hash,
	    REEVE_VERSION, REEVE_COMMIT);
	if (bad)
		printf(",\"failed\":{\"seed\":%llu,\"invariant\":%d,\"name\":\"%s\",\"command\":\"%"
		       "s\"}",
		    (unsigned long long)bad->o.seed, bad->verdict.invariant,
		    bad->verdict.name ? bad->verdict.name : "crash", command);
	puts("}");
}

static void print_summary(const struct run_many *m)
{
	int64_t ms = m->real_ms > 0 ? m->real_ms : 1;

	printf("%llu seeds, %llu events, %lld h %02lld min simulated in %lld.%lld s: "
	       "%llu seeds/s, hash %016llx\n",
	    (unsigned long long)m->done, (unsigned long long)m->events,
	    (long long)(m->sim_us / (60 * MINUTE_US)), (long long)(m->sim_us / MINUTE_US % 60),
	    (long long)ms / 1000, (long long)ms % 1000 / 100,
	    (unsigned long long)(m->done * 1000 / (uint64_t)ms), (unsigned long long)m->hash);
}

static void print_failure(const struct run_result *r, const char *command, const char *trace)
{
	struct buf b = {0};
	const struct verdict *v = &r->verdict;

	if (v->invariant == RUN_CRASHED)
		printf("seed %llu: the program stopped itself (see above)\n",
		    (unsigned long long)r->o.seed);
	else
		printf("seed %llu: invariant %d (%s) does not hold at %lld.%03lld s\n  %s\n  %s\n",
		    (unsigned long long)r->o.seed, v->invariant, v->name,
		    (long long)(v->at_us / SECOND_US), (long long)(v->at_us % SECOND_US / 1000),
		    v->text, v->detail);
	sim_options_format(&r->o, &b);
	printf("version %s, commit %s\ndrawn: %sagain: %s\nstory: %s\n", REEVE_VERSION,
	    REEVE_COMMIT, b.p, command, trace);
	buf_release(&b);
}

static void report_failure(struct asked *a, struct sim_options *o)
{
	struct run_result r = {.o = *o};
	struct buf command = {0}, trace = {0};

	r.verdict.invariant = run_apart(o, true);
	if (a->shrink && r.verdict.invariant)
		shrink(o, r.verdict.invariant, isatty(STDERR_FILENO) ? stderr : NULL);
	if (r.verdict.invariant == RUN_CRASHED) {
		r.o = *o;
		sim_options_draw(&r.o);
	} else {
		run_twice(o, &r);
	}
	sim_options_command(&r.o, false, &command);
	sim_options_command(&r.o, true, &trace);
	if (a->json)
		print_json(a, &r, command.p);
	else
		print_failure(&r, command.p, trace.p);
	if (a->shrink)
		free((void *)o->only);
	buf_release(&command);
	buf_release(&trace);
}

static int say_problem(const struct problem *p)
{
	fprintf(stderr, "reeve: %s\n", p->what);
	if (p->hint[0])
		fprintf(stderr, "  hint: %s\n", p->hint);
	return err_exit_code(p->code);
}

/* One story after the other, in this process. */
static int tell_stories(struct asked *a)
{
	FILE *lines = a->trace ? stdout : NULL;

	for (int64_t i = 0; i < a->many.seeds; i++) {
		struct sim_options o = a->many.given;
		struct run_result r;

		o.seed += (uint64_t)i;
		if (run_traced(&o, stdout, lines, a->shiviz, &r, &a->problem) < 0)
			return say_problem(&a->problem);
		printf("seed %llu: hash %016llx, %llu events\n", (unsigned long long)o.seed,
		    (unsigned long long)r.hash, (unsigned long long)r.events);
		if (r.verdict.invariant && !a->trace)
			printf("seed %llu: invariant %d (%s) does not hold: %s\n",
			    (unsigned long long)o.seed, r.verdict.invariant, r.verdict.name,
			    r.verdict.detail);
		if (r.verdict.invariant)
			return 1;
	}
	return 0;
}

int sim_command(int argc, char **argv)
{
	struct asked a = {.many.seeds = 100, .first = 1, .jobs = sysconf(_SC_NPROCESSORS_ONLN)};
	struct sim_options bad;

	sim_options_init(&a.many.given);
	if (parse(&a, argc, argv) < 0)
		return say_problem(&a.problem);
	if (a.trace || a.shiviz)
		return tell_stories(&a);
	a.many.progress = !a.json && isatty(STDERR_FILENO);
	run_seeds(&a.many);
	if (!a.many.failed) {
		if (a.json)
			print_json(&a, NULL, NULL);
		else
			print_summary(&a.many);
		return 0;
	}
	bad = a.many.given;
	bad.seed = a.many.failed_seed;
	report_failure(&a, &bad);
	if (!a.json)
		print_summary(&a.many);
	return 1;
}
