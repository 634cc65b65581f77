/* SPDX-License-Identifier: Apache-2.0 */
/* schedule ls, show, pause, resume, rm. */
#include <stdio.h>

#include "base/mem.h"
#include "cli/frame/cmds.h"
#include "cli/nouns/schedules.h"
#include "cli/tasks/work.h"

#define LIST_DEFAULT 50
#define STATES_SHOWN_MAX 200 /* each is a request of its own */
#define LIVE_SHOWN 10
#define HISTORY_SHOWN "10"

static void list_url(struct cli *c, struct buf *url)
{
	static const char *const singles[] = {"queue", "name"};
	const char *value;
	size_t at = 0;

	buf_add_cstr(url, "/v1/schedules");
	for (size_t i = 0; i < sizeof singles / sizeof singles[0]; i++)
		if ((value = options_get(&c->options, singles[i])))
			url_add(url, singles[i], value);
	while ((value = options_next(&c->options, "state", &at)))
		url_add(url, "state", value);
}

static void print_list(struct cli *c, const json_t *schedules)
{
	struct table t;
	json_t *schedule;
	size_t i;

	schedule_table_init(&t);
	json_array_foreach(schedules, i, schedule)
	{
		const char *task = js(json_object_get(schedule, "last"), "task");
		char state[32] = "";

		if (*task && i < STATES_SHOWN_MAX)
			task_state_of(c, task, state);
		schedule_table_add(&t, schedule, state);
	}
	table_print(&t, c);
	table_release(&t);
	json_array_foreach(schedules, i, schedule) if (jhas(schedule, "problem"))
	    cli_note(c, "%s does not run: %s", js(schedule, "name"), js(schedule, "problem"));
}

static int draw_schedules(struct cli *c)
{
	AUTO(buf_release) struct buf url = {0};
	AUTO(json_drop) json_t *list = NULL;
	int64_t limit = wants_machine(c) ? 0 : LIST_DEFAULT;
	const json_t *schedules;
	int r;

	if (options_i64(&c->options, "limit", 0, 10000000, &limit, &c->problem) < 0)
		return c->problem.code;
	list_url(c, &url);
	r = cli_get_list(c, url.p, (size_t)limit, &list);
	if (r < 0)
		return r;
	schedules = json_object_get(list, "items");
	if (wants_machine(c))
		print_json(c, list);
	else if (json_array_size(schedules) == 0)
		cli_note(c, "there are no such schedules; `reeve schedule add` makes one");
	else
		print_list(c, schedules);
	if (!wants_machine(c) && jhas(list, "next"))
		cli_note(c, "(there are more; -n 0 shows all)");
	return EXIT_OK;
}

int cmd_schedule_ls(struct cli *c)
{
	return watch_loop(c, draw_schedules);
}

static int show_live(struct cli *c, const json_t *schedule)
{
	static const struct column columns[] = {{"LIVE TASK", 0}, {"STATE", COLUMN_STATE},
	    {"TICK", 0}, {"AGE", COLUMN_RIGHT}, {"WORKER", COLUMN_STRETCH},
	    {"REASON", COLUMN_STRETCH}};
	AUTO(buf_release) struct buf url = {0};
	AUTO(json_drop) json_t *list = NULL;
	char ago[TIME_TEXT_MAX];
	struct table t;
	json_t *task;
	size_t i;
	int r;

	buf_add_cstr(&url, "/v1/tasks");
	url_add(&url, "schedule", js(schedule, "name"));
	url_add(&url, "state", "queued,claimed,running,held,blocked");
	r = ji(schedule, "live", 0) ? cli_get_list(c, url.p, LIVE_SHOWN, &list) : 0;
	if (r < 0 || json_array_size(json_object_get(list, "items")) == 0)
		return r;
	table_init(&t, columns, sizeof columns / sizeof columns[0]);
	json_array_foreach(json_object_get(list, "items"), i, task)
	{
		table_add(&t, js(task, "id"));
		table_add(&t, js(task, "state"));
		table_add(&t, js(task, "tick"));
		table_add(&t, jago(task, "ctime", ago));
		table_add(&t, js(task, "worker"));
		table_add(&t, js(task, "reason"));
	}
	putchar('\n');
	table_print(&t, c);
	table_release(&t);
	return 0;
}

static int show_history(struct cli *c, const json_t *schedule)
{
	AUTO(buf_release) struct buf url = {0};
	AUTO(json_drop) json_t *page = NULL;
	const json_t *ticks;
	int r;

	schedule_path(js(schedule, "name"), "history", &url);
	url_add(&url, "limit", HISTORY_SHOWN);
	r = cli_get(c, url.p, &page);
	ticks = json_object_get(page, "items");
	if (r < 0 || json_array_size(ticks) == 0)
		return r;
	putchar('\n');
	return schedule_print_ticks(c, js(schedule, "name"), ticks);
}

static int show_schedule(struct cli *c, const json_t *schedule)
{
	int r;

	schedule_facts(c, schedule);
	putchar('\n');
	if ((r = schedule_print_future(c, schedule)) < 0 || (r = show_live(c, schedule)) < 0)
		return r;
	return show_history(c, schedule);
}

int cmd_schedule_show(struct cli *c)
{
	for (size_t i = 0; i < c->options.n_args; i++) {
		AUTO(json_drop) json_t *schedule = NULL;
		int r = schedule_get(c, c->options.args[i], &schedule);

		if (r < 0)
			return r;
		if (wants_machine(c)) {
			print_json(c, schedule);
			continue;
		}
		if (i > 0)
			putchar('\n');
		if ((r = show_schedule(c, schedule)) < 0)
			return r;
	}
	return EXIT_OK;
}

static int act_on_all(struct cli *c, const char *verb, json_t *body, const char *words)
{
	for (size_t i = 0; i < c->options.n_args; i++) {
		AUTO(json_drop) json_t *schedule = NULL;
		AUTO(buf_release) struct buf path = {0};
		int r;

		schedule_path(c->options.args[i], verb, &path);
		r = cli_call(c, "POST", path.p, body, &schedule);
		if (r < 0)
			return r;
		if (wants_machine(c))
			print_json(c, schedule);
		else
			say(stdout, "schedule %s %s", js(schedule, "name"), words);
	}
	return EXIT_OK;
}

int cmd_schedule_pause(struct cli *c)
{
	AUTO(json_drop) json_t *body = json_object();
	AUTO(buf_release) struct buf moment = {0};
	const char *reason = options_get(&c->options, "reason"),
	           *until = options_get(&c->options, "until");

	if (!reason || !*reason) {
		problem_set(&c->problem, ERR_INVALID, "a pause needs a reason");
		return problem_hint(
		    &c->problem, "--reason TEXT: whoever misses its runs will want to know");
	}
	json_object_set_new(body, "reason", json_string(reason));
	if (until) {
		moment_text(until, &moment);
		json_object_set_new(body, "until", json_string(moment.p));
	}
	return act_on_all(c, "pause", body, "paused");
}

int cmd_schedule_resume(struct cli *c)
{
	return act_on_all(c, "resume", NULL, "resumed");
}

/* Its history goes with it, which nobody expects who has not been told. */
static bool may_delete(struct cli *c, const json_t *schedule)
{
	return options_switch(&c->options, "yes", false) ||
	       confirm(c, "delete the schedule %s and its history (%lld runs, %lld skipped)?",
	           js(schedule, "name"), (long long)ji(schedule, "fired", 0),
	           (long long)ji(schedule, "skipped", 0));
}

static int delete_schedule(struct cli *c, const char *name)
{
	AUTO(json_drop) json_t *schedule = NULL, *reply = NULL;
	AUTO(buf_release) struct buf path = {0};
	int64_t live;
	int r = schedule_get(c, name, &schedule);

	if (r < 0)
		return r;
	if (!may_delete(c, schedule)) {
		cli_note(c, "nothing was changed");
		return EXIT_FAILED;
	}
	schedule_path(name, NULL, &path);
	r = cli_call(c, "DELETE", path.p, NULL, &reply);
	if (r < 0)
		return r;
	live = ji(schedule, "live", 0);
	say(stdout, "schedule %s deleted", js(schedule, "name"));
	if (live)
		cli_note(c, "%lld of its tasks %s not ended yet, and go%s on", (long long)live,
		    live == 1 ? "has" : "have", live == 1 ? "es" : "");
	return EXIT_OK;
}

int cmd_schedule_rm(struct cli *c)
{
	for (size_t i = 0; i < c->options.n_args; i++) {
		int r = delete_schedule(c, c->options.args[i]);

		if (r != EXIT_OK)
			return r;
	}
	return EXIT_OK;
}
