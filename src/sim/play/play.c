/* SPDX-License-Identifier: Apache-2.0 */
/* `reeve sim play FILE…` */
#include "sim/play/play.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "sim/judge/judge.h"
#include "sim/play/play_internal.h"

const struct option_def sim_play_options[] = {
    {"output", 'o', "FORMAT", "text or json (one JSON object per line)"},
    {"trace", 't', NULL, "tell the whole story, every message"},
    {"trace-shiviz", 0, "FILE", "write a trace for ShiViz: docs/TRACES.md", NULL, 0, "file"},
    {"brief", 'b', NULL, "only what does not hold, and one line per file"},
    {NULL},
};

static void say_wrong(const struct play *p)
{
	json_t *j;

	if (!p->is_json) {
		fprintf(stderr, "reeve: %s: %s%s%s\n", p->file, p->path, *p->path ? ": " : "",
		    p->problem.what);
		if (*p->problem.hint)
			fprintf(stderr, "  hint: %s\n", p->problem.hint);
		return;
	}
	j = json_pack("{s:s, s:s, s:s, s:s, s:s}", "type", "malformed", "file", p->file, "path",
	    p->path, "text", p->problem.what, "hint", p->problem.hint);
	json_dumpf(j, stdout, JSON_COMPACT);
	putchar('\n');
	json_decref(j);
}

static void say_violation(const struct play *p)
{
	const struct verdict *v = &p->w->verdict;
	char when[32];

	if (p->is_json)
		printf("{\"type\":\"violation\",\"invariant\":%d,\"time\":\"%s\"}\n", v->invariant,
		    play_time(v->at_us, when));
	else if (v->invariant == p->expect_violation && !p->quiet)
		printf("%14s  ok      invariant %d (%s) is broken, as expected: %s\n",
		    play_time(v->at_us, when), v->invariant, v->name, v->detail);
	else if (v->invariant != p->expect_violation)
		printf("%14s  NOT SO  invariant %d (%s): %s\n", play_time(v->at_us, when),
		    v->invariant, v->name, v->detail);
}

/* 0: as expected. */
static int judge_all(struct play *p)
{
	int seen = p->w->verdict.invariant;

	if (seen)
		say_violation(p);
	if (seen && seen != p->expect_violation)
		say_story(p);
	if (!seen && p->expect_violation && !p->failed) {
		printf("%s: invariant %d was expected to be broken, and holds\n", p->file,
		    p->expect_violation);
		say_story(p);
	}
	return p->failed || seen != p->expect_violation;
}

static void say_end(const struct play *p, int result)
{
	char when[32];
	const char *name = json_string_value(json_object_get(p->doc, "name"));

	if (!p->is_json) {
		printf("%s  %s: %u expectations, %s of virtual time\n",
		    result ? "FAILED" : "passed", name, p->n_expects,
		    play_time(p->w->now_us, when));
		return;
	}
	printf(
	    "{\"type\":\"result\",\"file\":\"%s\",\"ok\":%s,\"expectations\":%u,\"time\":\"%s\"}\n",
	    p->file, result ? "false" : "true", p->n_expects, play_time(p->w->now_us, when));
}

static void say_start(const struct play *p)
{
	const char *text = json_string_value(json_object_get(p->doc, "text"));

	if (p->is_json || p->quiet)
		return;
	printf("%s\n", json_string_value(json_object_get(p->doc, "name")));
	if (text)
		printf("  %s\n", text);
}

static int play_it(struct play *p)
{
	int result;

	if (!play_read(p) || !play_setup(p))
		return 2;
	p->boss.id = label_number("boss");
	p->boss.state = WORKER_HEALTHY;
	p->boss.welcomes = p->boss.acks = p->boss.checks = true;
	play_world_new(p);
	if (is_wrong(p) || !events_check(p))
		return 2;
	say_start(p);
	if (!events_run(p) && is_wrong(p))
		return 2;
	result = judge_all(p);
	say_end(p, result);
	return result;
}

static int play_file(const char *file, bool is_json, const struct options *o)
{
	struct play *p = xcalloc(1, sizeof *p);
	int result;

	p->file = file;
	p->is_json = is_json;
	p->trace = options_switch(o, "trace", false);
	p->quiet = options_switch(o, "brief", false);
	p->shiviz = options_get(o, "trace-shiviz");
	result = play_it(p);
	if (is_wrong(p)) {
		say_wrong(p);
		result = 2;
	}
	play_world_free(p);
	free(p);
	return result;
}

static int usage(const struct problem *p)
{
	fprintf(stderr, "reeve: %s\n", p->what);
	if (*p->hint)
		fprintf(stderr, "  hint: %s\n", p->hint);
	return 2;
}

int sim_play_command(int argc, char **argv)
{
	struct options o = {.program = "reeve sim play"};
	struct problem p = {0};
	const char *format;
	int worst = 0, result;

	options_add_table(&o, sim_play_options);
	if (options_parse(&o, OPTIONS_ANYWHERE, argc, argv, &p) == 0 && !o.n_args) {
		problem_set(&p, ERR_INVALID, "there is no scenario to play");
		problem_hint(&p, "reeve sim play FILE…; docs/SIMULATOR.md describes the format");
	}
	format = p.code ? "text" : options_or(&o, "output", "text");
	if (!p.code && strcmp(format, "text") && strcmp(format, "json") && strcmp(format, "jsonl"))
		problem_set(&p, ERR_INVALID, "the output is text or json, not %s", format);
	if (!p.code && o.n_args > 1 && options_get(&o, "trace-shiviz"))
		problem_set(&p, ERR_INVALID, "--trace-shiviz is for one scenario");
	for (size_t i = 0; !p.code && i < o.n_args; i++) {
		result = play_file(o.args[i], *format == 'j', &o);
		worst = result > worst ? result : worst;
	}
	options_release(&o);
	return p.code ? usage(&p) : worst;
}
