/* SPDX-License-Identifier: Apache-2.0 */
/* group plan: from a file to what would be done, without a server. */
#include <string.h>

#include "base/mem.h"
#include "cli/group/group.h"
#include "cli/output/output.h"
#include "cli/tasks/work.h"
#include "graph/file/file.h"
#include "graph/limits.h"

#define WORKERS_SHOWN 32

struct planning {
	struct cli *cli;
	struct plan_file file;
	struct manifest manifest;
	struct job_plan jobs;
	struct report report;
	uint32_t rounds; /* 0: as the file says */
	uint32_t workers[WORKERS_SHOWN];
	size_t n_workers;
};

static void planning_release(struct planning *x)
{
	report_release(&x->report);
	manifest_release(&x->manifest);
	job_plan_release(&x->jobs);
	plan_file_release(&x->file);
}

static int add_workers(struct planning *x, struct str list)
{
	struct problem *p = &x->cli->problem;
	struct str word;
	int64_t n;

	while (list.n && str_next(&list, ',', &word)) {
		if (!str_to_i64(word, 1, PLAN_WORKERS_MAX, &n))
			return problem_set(p, ERR_INVALID,
			    "--workers takes numbers from 1 to %d, with commas between them",
			    PLAN_WORKERS_MAX);
		if (x->n_workers == WORKERS_SHOWN)
			return problem_set(
			    p, ERR_INVALID, "--workers takes %d numbers at most", WORKERS_SHOWN);
		x->workers[x->n_workers++] = (uint32_t)n;
	}
	return 0;
}

static int read_options(struct planning *x)
{
	static const uint32_t usual[] = {4, 8, 16, 32, 64};
	struct cli *c = x->cli;
	int64_t rounds = 0;
	size_t at = 0;
	int rc = options_i64(&c->options, "rounds", 1, PLAN_ROUNDS_MAX, &rounds, &c->problem);

	x->rounds = (uint32_t)rounds;
	for (const char *v; rc == 0 && (v = options_next(&c->options, "workers", &at));)
		rc = add_workers(x, str_of(v));
	if (rc == 0 && x->n_workers == 0) {
		memcpy(x->workers, usual, sizeof usual);
		x->n_workers = N_OF(usual);
	}
	return rc;
}

/* What the command line names takes the place of what the file names. */
static int touch(struct planning *x)
{
	struct cli *c = x->cli;
	size_t at = 0;
	int rc = 0;

	if (!options_given(&c->options, "touched"))
		return 0;
	x->file.n_touched = 0;
	x->file.has_touched = true;
	for (const char *v; rc == 0 && (v = options_next(&c->options, "touched", &at));) {
		struct str list = str_of(v), word;

		while (rc == 0 && list.n && str_next(&list, ',', &word))
			rc = plan_file_touch(&x->file, word, &c->problem);
	}
	if (rc < 0)
		problem_hint(&c->problem, "--touched takes names such as core/gcc,core/make");
	return rc;
}

static int read_file(struct planning *x)
{
	struct cli *c = x->cli;
	const char *path = c->options.args[0];
	AUTO(buf_release) struct buf text = {0};
	int rc;

	if (c->options.n_args > 1)
		return problem_set(&c->problem, ERR_INVALID, "reeve group plan takes one FILE");
	rc = input_read(c, path, PLAN_FILE_MAX, &text);
	return rc < 0 ? rc : plan_file_read(buf_str(&text), &x->file, &c->problem);
}

static int plan_packages(struct planning *x)
{
	uint32_t rounds = x->rounds ? x->rounds : x->file.rounds;
	int rc = touch(x);

	if (rc == 0)
		rc = plan_file_manifest(&x->file, rounds, &x->manifest, &x->cli->problem);
	if (rc == 0)
		report_of_manifest(&x->manifest, rounds ? rounds : PLAN_ROUNDS_DEFAULT, x->workers,
		    x->n_workers, &x->report);
	return rc;
}

static int plan_jobs(struct planning *x)
{
	struct cli *c = x->cli;
	int rc;

	if (x->rounds || options_given(&c->options, "touched"))
		return problem_set(&c->problem, ERR_INVALID,
		    "--touched and --rounds go with packages; this file has jobs");
	rc = job_plan_make(&x->file.jobs, &x->jobs, &c->problem);
	if (rc == 0)
		report_of_jobs(&x->jobs, x->workers, x->n_workers, &x->report);
	return rc;
}

/* The tree is for the formats that are seldom asked for; JSON is written as it is. */
static int print_tree(struct cli *c, struct str text)
{
	json_error_t e;
	AUTO(json_drop) json_t *j = json_loadb(text.p, text.n, 0, &e);

	if (!j)
		return problem_set(&c->problem, ERR_INTERNAL, "the plan is no JSON: %s", e.text);
	print_json(c, j);
	return 0;
}

static int print(struct planning *x)
{
	struct cli *c = x->cli;
	AUTO(buf_release) struct buf out = {0};
	int rc = 0;

	switch (c->format) {
	case FORMAT_DOT:
	case FORMAT_SVG:
		if ((rc = report_dot(&x->report, &out, &c->problem)) < 0)
			return rc;
		if (c->format == FORMAT_SVG)
			return graphviz_draw(buf_str(&out), &c->problem);
		break;
	case FORMAT_JSON: report_json(&x->report, &out); break;
	case FORMAT_JSONL:
	case FORMAT_YAML: report_json(&x->report, &out); return print_tree(c, buf_str(&out));
	default: plan_show(c, &x->report); return 0;
	}
	fwrite(out.p, 1, out.n, stdout);
	return 0;
}

int cmd_group_plan(struct cli *c)
{
	AUTO(planning_release) struct planning x = {.cli = c};
	int rc = read_options(&x);

	if (rc == 0)
		rc = read_file(&x);
	if (rc == 0)
		rc = x.file.has_packages ? plan_packages(&x) : plan_jobs(&x);
	return rc < 0 ? rc : print(&x);
}
