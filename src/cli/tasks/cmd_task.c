/* SPDX-License-Identifier: Apache-2.0 */
/* Tasks: `task set`, `why`. */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/world/clock.h"
#include "cli/frame/cmds.h"
#include "cli/group/group.h"
#include "cli/nouns/noun.h"
#include "cli/reach/last.h"
#include "cli/reach/target.h"
#include "cli/service/services.h"
#include "cli/tasks/work.h"
#include "model/limits.h"
#include "model/objects/group.h"
#include "model/task/task.h"

static int query(struct cli *c, struct buf *url)
{
	if (options_switch(&c->options, "oldest", false))
		url_add(url, "order", "asc");
	if (options_switch(&c->options, "full", false))
		url_add(url, "full", "true");
	return filter_url(c, url);
}

static const struct setting settings[] = {
    {"priority", SETTING_NUMBER, .min = -PRIORITY_MAX, .max = PRIORITY_MAX},
    {NULL},
};

/* The id of a batch or a group looks like a task's; where one task is meant it is none. */
static void unknown(struct cli *c, const char *name)
{
	target_hint(c, name, TARGET_TASK);
}

const struct noun task_noun = {.word = "task",
    .path = "/v1/tasks",
    .list = &task_list,
    .view = &task_view,
    .settings = settings,
    .set_hint = "reeve task set ID --priority N",
    .resolve = task_id_of,
    .unknown = unknown,
    .query = query};

static int set_one(struct cli *c, const struct noun *n, const char *name)
{
	AUTO(json_drop) json_t *task = NULL;
	int r = noun_apply(c, n, name, &task);

	if (r < 0)
		return r;
	if (wants_machine(c))
		print_json(c, task);
	else if (!c->quiet)
		say(stdout, "%s has priority %lld now", js(task, "id"),
		    (long long)ji(task, "priority", 0));
	return EXIT_OK;
}

int cmd_task_set(struct cli *c)
{
	return noun_each(c, set_one);
}

/* Where a task comes from that nobody submitted by hand. */
static void show_origin(struct cli *c, const json_t *task)
{
	AUTO(free_cstr) char *origin = task_origin(c, task);

	if (origin)
		say(stdout, "  of %s", origin);
}

static void show_cures(const struct cli *c, const json_t *task)
{
	const char *arrow = c->term.utf8 ? "→" : "->", *id = js(task, "id");

	if (ji(task, "status", 0) == TASK_SUCCEEDED)
		return;
	if (jhas(task, "started"))
		say(stdout, "  %s what it wrote: reeve logs %s", arrow, id);
	say(stdout, "  %s who did what: reeve task history %s", arrow, id);
	if (!jhas(task, "group"))
		say(stdout, "  %s run it again: reeve retry %s", arrow, id);
}

/* Nothing holds it any more: how it ended, and what one may do about that. */
static void show_end(const struct cli *c, const json_t *task)
{
	AUTO(buf_release) struct buf state = {0}, words = {0};
	char ago[TIME_TEXT_MAX];

	add_state(&state, &c->term, c->term.out_colour, js(task, "state"));
	task_outcome(task, &words);
	fputs(state.p, stdout);
	say(stdout, "%s", words.p + strlen(js(task, "state")));
	say(stdout, "  it ended %s, and waits for nothing",
	    human_ago(clock_wall_ms(), jtime(task, "ended"), ago));
	show_cures(c, task);
}

static void show_reasons(const struct cli *c, const json_t *why, const char *indent)
{
	json_t *reason;
	size_t i;

	json_array_foreach(json_object_get(why, "reasons"), i, reason)
	{
		say(stdout, "%s%s %s", indent, c->term.utf8 ? "•" : "*", js(reason, "text"));
		if (*js(reason, "lift"))
			say(stdout, "%s  %s %s", indent, c->term.utf8 ? "→" : "->",
			    js(reason, "lift"));
	}
}

/* As lists call it: queued, but not before its time. */
static const char *why_state(const json_t *why)
{
	json_t *reason;
	size_t i;

	json_array_foreach(json_object_get(why, "reasons"), i, reason)
	{
		const char *code = js(reason, "code");

		if (!strcmp(js(why, "state"), "queued") &&
		    (!strcmp(code, "run-after") || !strcmp(code, "backoff")))
			return "delayed";
	}
	return js(why, "state");
}

void why_show(struct cli *c, json_t *why)
{
	AUTO(buf_release) struct buf state = {0};
	json_t *job;
	size_t i;

	if (wants_machine(c)) {
		print_json(c, why);
		return;
	}
	add_state(&state, &c->term, c->term.out_colour, why_state(why));
	fputs(state.p, stdout);
	say(stdout, "%s: %s",
	    jb(why, "unsure") ? " (unsure: nobody knows yet whether it was started)" : "",
	    js(why, "summary"));
	show_reasons(c, why, "  ");
	json_array_foreach(json_object_get(why, "jobs"), i, job)
	{
		AUTO(buf_release) struct buf line = {0};

		if (*js(job, "group")) {
			text_add_clean(&line, str_of(js(job, "group")));
			buf_add_char(&line, '/');
		}
		text_add_clean(&line, str_of(js(job, "job")));
		buf_add_cstr(&line, "  ");
		add_state(&line, &c->term, c->term.out_colour, js(job, "state"));
		printf("  %s\n", line.p);
		show_reasons(c, job, "    ");
	}
}

/* A job that was skipped is a cancelled task: it is called what its group calls it. */
static void as_job(struct cli *c, json_t *task)
{
	AUTO(json_drop) json_t *job = NULL;

	if (!jhas(task, "group_id") || ji(task, "status", 0) != TASK_CANCELLED)
		return;
	if (group_job_get(c, js(task, "group_id"), js(task, "id"), &job) < 0)
		c->problem = (struct problem){0};
	else if (!strcmp(js(job, "state"), job_state_names[JOB_DEPENDENCY_FAILED]))
		json_object_set(task, "state", json_object_get(job, "state"));
}

int why_task(struct cli *c, const char *id)
{
	AUTO(json_drop) json_t *why = NULL, *task = NULL;
	int r = noun_call(c, "GET", &task_noun, id, "why", NULL, &why);

	if (r < 0)
		return r;
	if (!wants_machine(c) && noun_get(c, &task_noun, id, &task) < 0)
		c->problem = (struct problem){0}; /* the question was why it waits */
	if (task && task_is_ended((int)ji(task, "status", TASK_QUEUED))) {
		as_job(c, task);
		show_end(c, task);
	} else
		why_show(c, why);
	if (task)
		show_origin(c, task);
	return EXIT_OK;
}

/* For programs it is said in the words of a task's why. */
static void show_idle_batch(const struct cli *c, const char *id, const json_t *batch)
{
	const char *arrow = c->term.utf8 ? "→" : "->",
	           *said = ji(batch, "done", 0) == ji(batch, "total", 0)
	                       ? "all of its tasks have ended: nothing waits"
	                       : "no task of it waits: the others run";
	AUTO(json_drop)
	json_t *why = json_pack("{s:s,s:s,s:[]}", "id", id, "summary", said, "reasons");

	if (wants_machine(c)) {
		print_json(c, why);
		return;
	}
	say(stdout, "%s", said);
	if (ji(batch, "failed", 0) == 0)
		return;
	say(stdout, "  %s what they wrote: reeve logs --batch %s --state failed", arrow, id);
	say(stdout, "  %s run them again: reeve retry --batch %s --failed", arrow, id);
}

/* Of a batch: the first of its tasks that waits, for the others do so behind it. */
static int why_batch(struct cli *c, const char *id)
{
	AUTO(buf_release) struct buf url = {0};
	AUTO(json_drop) json_t *list = NULL, *batch = NULL;
	const json_t *states, *first;
	char count[TIME_TEXT_MAX];
	int r = batch_get(c, id, &batch);

	buf_add_cstr(&url, "/v1/tasks?order=asc&limit=1&state=queued,held,blocked");
	url_add(&url, "batch", id);
	if (r == 0)
		r = cli_get(c, url.p, &list);
	if (r < 0)
		return r;
	states = json_object_get(batch, "states");
	first = json_array_get(json_object_get(list, "items"), 0);
	cli_note(c, "batch %s: %s wait; %lld running, %lld of %lld ended", id,
	    human_count(
	        ji(states, "queued", 0) + ji(states, "held", 0) + ji(states, "blocked", 0), count),
	    (long long)ji(batch, "running", 0), (long long)ji(batch, "done", 0),
	    (long long)ji(batch, "total", 0));
	if (!first) {
		show_idle_batch(c, id, batch);
		return EXIT_OK;
	}
	cli_note(c, "the first that waits is %s", js(first, "id"));
	return why_task(c, js(first, "id"));
}

int cmd_why(struct cli *c)
{
	struct target t;

	if (target_find_any(c, c->options.args[0], &t) < 0)
		return c->problem.code;
	switch (t.kind) {
	case TARGET_BATCH: return why_batch(c, t.id);
	case TARGET_GROUP: return group_explain(c, t.id);
	case TARGET_SERVICE: return service_why(c, t.id, t.index);
	default: return why_task(c, t.id);
	}
}
