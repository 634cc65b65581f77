/* SPDX-License-Identifier: Apache-2.0 */
/*
 * schedule add --from-crontab: a schedule for each line. What is there already is left alone, also
 * when it differs: somebody may have changed it on purpose since.
 */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "cli/cron/crontab_jobs.h"
#include "cli/schedule/schedules.h"
#include "cli/tasks/work.h"

struct adding {
	struct cli *cli;
	const char *prefix;
	bool dry_run;
	json_t *taken; /* names so far */
	json_t *results;
	int worst;
};

static void put_run(json_t *task, const json_t *job)
{
	json_t *run = json_object_get(task, "run");

	if (!jhas(job, "user") && !jhas(job, "stdin"))
		return;
	if (!run) {
		run = json_object();
		json_object_set_new(task, "run", run);
	}
	if (jhas(job, "user"))
		json_object_set(run, "user", json_object_get(job, "user"));
	if (jhas(job, "stdin"))
		json_object_set(run, "input", json_object_get(job, "stdin"));
}

/* The line's variables, and over them those of the command line. */
static int make_task(struct cli *c, const json_t *job, json_t **ret_task)
{
	AUTO(json_drop) json_t *task = NULL;
	json_t *env = json_deep_copy(json_object_get(job, "env"));
	int r = task_from_options(c, 0, false, &task);

	if (r == 0) {
		json_object_update(env, json_object_get(task, "env"));
		if (json_object_size(env))
			json_object_set(task, "env", env);
		json_object_set(task, "command", json_object_get(job, "command"));
		put_run(task, job);
		*ret_task = TAKE(task);
	}
	json_decref(env);
	return r;
}

static int make_body(struct adding *a, const json_t *job, json_t **ret_body)
{
	AUTO(json_drop) json_t *body = json_object(), *task = NULL;
	const char *dst = options_get(&a->cli->options, "dst");
	AUTO(buf_release) struct buf name = {0};
	int r = make_task(a->cli, job, &task);

	if (r < 0)
		return r;
	crontab_name(a->prefix, js(job, "user"),
	    json_string_value(json_array_get(json_object_get(job, "command"), 2)), &name);
	crontab_name_unique(a->taken, &name);
	json_object_set_new(body, "name", json_string(name.p));
	json_object_set(body, "crontab", json_object_get(job, "schedule"));
	if (jhas(job, "zone"))
		json_object_set(body, "time_zone", json_object_get(job, "zone"));
	if (dst)
		json_object_set_new(body, "dst", json_string(dst));
	json_object_set(body, "task", task);
	if ((r = schedule_put_policies(a->cli, body)) < 0)
		return r;
	*ret_body = TAKE(body);
	return 0;
}

static bool same(const json_t *a, const json_t *b, const char *member)
{
	const json_t *x = json_object_get(a, member), *y = json_object_get(b, member);

	return json_equal(x, y) || (!jhas(a, member) && !jhas(b, member));
}

static json_t *as_list(const json_t *items)
{
	return json_is_array(items) ? json_deep_copy(items) : json_pack("[O]", items);
}

/* In what a crontab says; queue, limits and policies are nobody's but the schedule's. */
static const char *difference(const json_t *there, const json_t *job, const json_t *body)
{
	const json_t *task = json_object_get(there, "task"), *mine = json_object_get(body, "task");
	AUTO(json_drop) json_t *x = as_list(json_object_get(there, "items"));
	AUTO(json_drop) json_t *y = as_list(json_object_get(job, "item"));

	if (!json_equal(x, y))
		return "kept: it is there with other times";
	if (!same(there, body, "time_zone"))
		return "kept: it is there with another zone";
	if (!same(task, mine, "command") || !same(task, mine, "env"))
		return "kept: it is there with another command or environment";
	return "there already";
}

static int create(struct adding *a, const json_t *job, json_t *body, const char **ret_what)
{
	AUTO(json_drop) json_t *there = NULL, *made = NULL;
	struct cli *c = a->cli;
	int r = noun_get(c, &schedule_noun, js(body, "name"), &there);

	if (r == ERR_NOT_FOUND) {
		c->problem = (struct problem){0};
		*ret_what = a->dry_run ? "would be added" : "added";
		r = cli_call(
		    c, "POST", a->dry_run ? SCHEDULES_DRY_RUN : "/v1/schedules", body, &made);
		if (r != ERR_CONFLICT)
			return r;
		c->problem = (struct problem){0}; /* somebody made it just now */
		r = noun_get(c, &schedule_noun, js(body, "name"), &there);
	}
	if (r == 0)
		*ret_what = difference(there, job, body);
	return r;
}

static bool is_ours(int code)
{
	return code == ERR_INVALID || code == ERR_CONFLICT || code == ERR_TOO_LARGE;
}

/* One line that the server refuses does not keep the others out. */
static int add_job(struct adding *a, const json_t *job)
{
	AUTO(json_drop) json_t *body = NULL;
	const char *what = NULL;
	struct cli *c = a->cli;
	int r = make_body(a, job, &body);

	if (r < 0)
		return r;
	r = create(a, job, body, &what);
	if (r < 0 && !is_ours(r))
		return r;
	json_array_append_new(a->results,
	    json_pack("{s:O,s:s,s:s,s:O,s:O,s:O,s:O}", "line", json_object_get(job, "line"), "name",
	        js(body, "name"), "result", r < 0 ? "refused" : what, "words",
	        json_object_get(job, "words"), "zone", json_object_get(job, "zone"), "command",
	        json_object_get(job, "command"), "notes", json_object_get(job, "notes")));
	if (r < 0) {
		struct problem p = c->problem;

		problem_set(&c->problem, p.code, "line %lld: %.280s", (long long)ji(job, "line", 0),
		    p.what);
		if (p.hint[0])
			problem_hint(&c->problem, "%s", p.hint);
		cli_complain(&c->term, &c->problem);
		c->problem = (struct problem){0};
		a->worst = err_exit_code(r) > a->worst ? err_exit_code(r) : a->worst;
	}
	return 0;
}

/* Each once, with the lines that it is about. */
static void print_remarks(struct cli *c, const json_t *results)
{
	AUTO(json_drop) json_t *lines = json_object();
	json_t *one, *note;
	const char *text;
	size_t i, n;

	json_array_foreach(results, i, one)
	    json_array_foreach(json_object_get(one, "notes"), n, note)
	{
		AUTO(buf_release) struct buf list = {0};

		text = json_string_value(note);
		buf_printf(&list, "%s%s%lld", js(lines, text), jhas(lines, text) ? ", " : "",
		    (long long)ji(one, "line", 0));
		json_object_set_new(lines, text, json_string(list.p));
	}
	json_object_foreach(lines, text, note) cli_note(c, "line%s %s: %s",
	    strchr(json_string_value(note), ',') ? "s" : "", json_string_value(note), text);
}

static void print_results(struct cli *c, json_t *results)
{
	static const struct heading columns[] = {
	    {"LINE", HEADING_RIGHT, {SHOWN_NUMBER, "line"}},
	    {"SCHEDULE", 0, {SHOWN_TEXT, "name"}},
	    {"RESULT", 0, {SHOWN_TEXT, "result"}},
	    {"WHEN", HEADING_STRETCH, {.words = when_words}},
	    {"ZONE", HEADING_WIDE, {SHOWN_TEXT, "zone"}},
	    {"COMMAND", HEADING_STRETCH, {.words = crontab_line_words}},
	};

	if (json_array_size(results))
		table_show(c, columns, N_OF(columns), results);
	print_remarks(c, results);
}

static int need_shift(struct cli *c)
{
	const struct cron_items none = {0};

	if (schedule_need_shift(c, &none) == 0)
		return 0;
	return problem_hint(&c->problem,
	    "after a stop or a clock set forward, ticks later than that are skipped; when the "
	    "clock is set back by less, nothing runs twice. It holds for all lines: half the "
	    "distance of the most frequent runs, as --max-shift 30m");
}

int schedule_add_crontab(struct cli *c, const char *path)
{
	AUTO(json_drop) json_t *jobs = NULL, *list = NULL;
	struct adding a = {.cli = c,
	    .prefix = options_or(&c->options, "prefix", "cron-"),
	    .dry_run = options_switch(&c->options, "dry-run", false)};
	json_t *job;
	size_t i;
	int r = need_shift(c);

	if (r < 0)
		return r;
	a.worst = crontab_jobs(c, path, NULL, &jobs);
	if (a.worst < 0)
		return a.worst;
	a.taken = json_object();
	a.results = json_array();
	json_array_foreach(jobs, i, job) if ((r = add_job(&a, job)) < 0) break;
	list = json_pack("{s:o}", "items", a.results);
	if (wants_machine(c))
		print_json(c, list);
	else
		print_results(c, a.results);
	json_decref(a.taken);
	return r < 0 ? r : a.worst;
}
