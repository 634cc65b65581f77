/* SPDX-License-Identifier: Apache-2.0 */
/* task ls, show, set; why. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "cli/frame/cmds.h"
#include "cli/output/output.h"
#include "cli/reach/place.h"
#include "cli/tasks/work.h"
#include "model/limits.h"
#include "model/task.h"

#define LIST_DEFAULT 50
#define OUTPUT_SHOWN 2000

static const struct column task_columns[] = {
    {"ID", 0},
    {"QUEUE", COLUMN_STRETCH},
    {"STATE", COLUMN_STATE},
    {"TRY", COLUMN_RIGHT},
    {"AGE", COLUMN_RIGHT},
    {"TOOK", COLUMN_RIGHT},
    {"WORKER", COLUMN_STRETCH},
    {"EXIT", COLUMN_RIGHT | COLUMN_WIDE},
    {"PRIORITY", COLUMN_RIGHT | COLUMN_WIDE},
    {"KEY", COLUMN_STRETCH | COLUMN_WIDE},
    {"LABELS", COLUMN_STRETCH | COLUMN_WIDE},
    {"REASON", COLUMN_STRETCH},
};

static void add_took(struct table *t, const json_t *task, int64_t now)
{
	int64_t began = jtime(task, "started"), ended = jtime(task, "ended");
	bool running = ji(task, "status", 0) == TASK_RUNNING;
	char text[TIME_TEXT_MAX];

	if (!began || (!ended && !running))
		table_add(t, NULL);
	else
		table_add(t, time_human_ms((running ? now : ended) - began, text));
}

static void add_exit(struct table *t, const json_t *task)
{
	int64_t signal = ji(task, "signal", 0), code = ji(task, "exit_code", -1);

	if (signal > 0)
		table_addf(t, "sig %lld", (long long)signal);
	else if (code >= 0)
		table_addf(t, "%lld", (long long)code);
	else
		table_add(t, NULL);
}

static void add_task(struct table *t, const json_t *task, int64_t now)
{
	AUTO(buf_release) struct buf labels = {0};
	char age[TIME_TEXT_MAX];
	int64_t due = jtime(task, "due");
	bool delayed = ji(task, "status", 0) == TASK_QUEUED && due > now;

	add_pairs(&labels, json_object_get(task, "labels"));
	table_add(t, js(task, "id"));
	table_add(t, js(task, "queue"));
	table_add(t, delayed ? "delayed" : js(task, "state"));
	table_addf(t, "%lld", (long long)ji(task, "attempt", 0));
	table_add(t, human_short(now - jtime(task, "ctime"), age));
	add_took(t, task, now);
	table_add(t, js(task, "worker"));
	add_exit(t, task);
	table_addf(t, "%lld", (long long)ji(task, "priority", 0));
	table_add(t, js(task, "key"));
	table_add(t, labels.p);
	if (delayed)
		table_addf(t, "starts %s", human_ago(now, due, age));
	else
		table_add(t, jb(task, "cancelling") ? "being cancelled"
		             : jb(task, "unsure")   ? "unsure: was it started?"
		                                    : js(task, "reason"));
}

static int list_url(struct cli *c, struct buf *url)
{
	buf_add_cstr(url, "/v1/tasks");
	if (options_switch(&c->options, "oldest", false))
		url_add(url, "order", "asc");
	if (options_switch(&c->options, "full", false))
		url_add(url, "full", "true");
	return filter_url(c, url);
}

static int draw_tasks(struct cli *c)
{
	AUTO(buf_release) struct buf url = {0};
	AUTO(json_drop) json_t *list = NULL;
	int64_t limit = wants_machine(c) ? 0 : LIST_DEFAULT, now = clock_wall_ms();
	struct table t;
	json_t *task;
	size_t i;
	int r;

	if (options_i64(&c->options, "limit", 0, 10000000, &limit, &c->problem) < 0 ||
	    list_url(c, &url) < 0)
		return c->problem.code;
	r = cli_get_list(c, url.p, (size_t)limit, &list);
	if (r < 0)
		return r;
	if (wants_machine(c)) {
		print_json(c, list);
		return EXIT_OK;
	}
	table_init(&t, task_columns, sizeof task_columns / sizeof task_columns[0]);
	json_array_foreach(json_object_get(list, "items"), i, task) add_task(&t, task, now);
	if (i == 0)
		cli_note(c, "there are no such tasks");
	else
		table_print(&t, c);
	if (jhas(list, "next"))
		cli_note(c, "(there are more; -n 0 shows all)");
	table_release(&t);
	return EXIT_OK;
}

int cmd_task_ls(struct cli *c)
{
	return watch_loop(c, draw_tasks);
}

static char *state_fact(struct cli *c, const json_t *task)
{
	AUTO(buf_release) struct buf words = {0};

	buf_printf(&words, "%s ", state_glyph(js(task, "state"), c->term.utf8));
	task_outcome(task, &words);
	return buf_take(&words);
}

static char *usage_fact(const json_t *usage)
{
	char user[TIME_TEXT_MAX], system[TIME_TEXT_MAX], memory[TIME_TEXT_MAX];
	int64_t kills = ji(usage, "oom_kills", 0);

	if (!json_is_object(usage))
		return NULL;
	return xasprintf("%s user, %s system, %s%s", time_human_ms(ji(usage, "user_ms", 0), user),
	    time_human_ms(ji(usage, "system_ms", 0), system),
	    human_bytes(ji(usage, "peak_memory", 0), memory),
	    kills ? "; the kernel ended some of it for lack of memory" : "");
}

static char *limit_fact(const json_t *task)
{
	char text[TIME_TEXT_MAX];

	if (!jhas(task, "timeout_ms"))
		return NULL;
	return xstrdup(time_human_ms(ji(task, "timeout_ms", 0), text));
}

static char *schedule_fact(const json_t *task)
{
	char ago[TIME_TEXT_MAX];

	if (!jhas(task, "schedule_id"))
		return NULL;
	return xasprintf("%s, %s%s%s%s",
	    jhas(task, "schedule") ? js(task, "schedule") : "one that was deleted",
	    jhas(task, "tick") ? "its tick of " : "run by hand", js(task, "tick"),
	    jhas(task, "tick") ? ", " : "", jhas(task, "tick") ? jago(task, "tick", ago) : "");
}

static void show_attempts(struct cli *c, const json_t *task)
{
	static const struct column columns[] = {{"ATTEMPT", COLUMN_RIGHT}, {"STATE", COLUMN_STATE},
	    {"STARTED", 0}, {"TOOK", COLUMN_RIGHT}, {"EXIT", COLUMN_RIGHT},
	    {"REASON", COLUMN_STRETCH}};
	const json_t *attempts = json_object_get(task, "attempts");
	int64_t now = clock_wall_ms();
	struct table t;
	json_t *one;
	size_t i;

	if (json_array_size(attempts) < 2)
		return;
	table_init(&t, columns, sizeof columns / sizeof columns[0]);
	json_array_foreach(attempts, i, one)
	{
		table_addf(&t, "%lld", (long long)ji(one, "attempt", (int64_t)i + 1));
		table_add(&t, js(one, "state"));
		table_addf(&t, "%s%s", js(one, "started"), jb(one, "times_doubtful") ? " ?" : "");
		add_took(&t, one, now);
		add_exit(&t, one);
		table_add(&t, js(one, "reason"));
	}
	putchar('\n');
	table_print(&t, c);
	table_release(&t);
}

/* The end of a stream that is not part of the task itself. False: it can not be had now. */
static bool get_tail(
    struct cli *c, const json_t *task, const char *stream, int64_t bytes, struct buf *ret_text)
{
	AUTO(buf_release) struct buf path = {0};
	AUTO(reply_release) struct reply reply = {0};
	struct problem none = {0};
	struct request q = {.method = "GET"};
	char offset[24];

	snprintf(offset, sizeof offset, "%lld",
	    (long long)(bytes > OUTPUT_SHOWN ? bytes - OUTPUT_SHOWN : 0));
	buf_add_cstr(&path, "/v1/tasks");
	url_add_path(&path, js(task, "id"));
	buf_add_cstr(&path, "/logs");
	url_add(&path, "stream", stream);
	url_add(&path, "offset", offset);
	q.path = path.p;
	if (client_do(c->client, &q, &reply, &none) < 0)
		return false;
	buf_add(ret_text, reply.body.p ? reply.body.p : "", reply.body.n);
	return true;
}

static void show_lines(struct str text)
{
	struct str line;

	while (str_next(&text, '\n', &line)) {
		AUTO(buf_release) struct buf clean = {0};

		text_add_clean(&clean, line);
		if (text.n > 0 || line.n > 0)
			printf("  %s\n", clean.p ? clean.p : "");
	}
}

static void show_output(struct cli *c, const json_t *task, const char *stream)
{
	AUTO(free_cstr) char *member = xasprintf("%s_bytes", stream);
	AUTO(buf_release) struct buf text = {0};
	int64_t bytes = ji(task, member, 0);
	char size[TIME_TEXT_MAX];
	struct str shown;

	if (bytes == 0)
		return;
	printf("\n%s%s%s (%s)\n", term_on(c->term.out_colour, COLOUR_BOLD), stream,
	    term_off(c->term.out_colour), human_bytes(bytes, size));
	buf_add_cstr(&text, js(task, stream));
	if (text.n == 0 && !get_tail(c, task, stream, bytes, &text)) {
		say(stdout, "  `reeve logs --%s %s` shows it", stream, js(task, "id"));
		return;
	}
	shown = buf_str(&text);
	if (shown.n > OUTPUT_SHOWN)
		shown = (struct str){shown.p + shown.n - OUTPUT_SHOWN, OUTPUT_SHOWN};
	if (bytes > (int64_t)shown.n)
		printf("  %s\n", c->term.utf8 ? "…" : "...");
	show_lines(shown);
}

static void show_result(struct cli *c, const json_t *task)
{
	struct str text = str_of(js(task, "result"));
	char size[TIME_TEXT_MAX];

	if (text.n == 0)
		return;
	printf("\n%sresult%s (%s)\n", term_on(c->term.out_colour, COLOUR_BOLD),
	    term_off(c->term.out_colour), human_bytes((int64_t)text.n, size));
	show_lines(text);
}

static char *doubt_fact(const json_t *task)
{
	return jb(task, "times_doubtful")
	           ? xstrdup("doubtful: the clock of its worker differs from the server's")
	           : NULL;
}

static char *damage_fact(const json_t *task)
{
	return jb(task, "damaged")
	           ? xstrdup("a part of it does not fit its checksum in the store, and is left out")
	           : NULL;
}

static void show_task(struct cli *c, const json_t *task)
{
	struct fact facts[] = {
	    {"task", xstrdup(js(task, "id"))},
	    {"queue", xstrdup(js(task, "queue"))},
	    {"state", state_fact(c, task)},
	    {"command", command_fact(task)},
	    {"action", json_fact(json_object_get(task, "action"))},
	    {"params", json_fact(json_object_get(task, "params"))},
	    {"cwd", text_fact(js(task, "cwd"))},
	    {"env", pairs_fact(json_object_get(task, "env"))},
	    {"run", run_fact(task)},
	    {"labels", pairs_fact(json_object_get(task, "labels"))},
	    {"key", text_fact(js(task, "key"))},
	    {"batch", text_fact(js(task, "batch"))},
	    {"schedule", schedule_fact(task)},
	    {"priority", xasprintf("%lld", (long long)ji(task, "priority", 0))},
	    {"attempts",
	        xasprintf("%lld of at most %lld", (long long)ji(task, "attempt", 0),
	            (long long)(ji(task, "attempts_before", 0) + ji(task, "max_attempts", 1)))},
	    {"time limit", limit_fact(task)},
	    {"submitted", time_fact(task, "ctime")},
	    {"due", time_fact(task, "due")},
	    {"started", time_fact(task, "started")},
	    {"ended", time_fact(task, "ended")},
	    {"times", doubt_fact(task)},
	    {"damaged", damage_fact(task)},
	    {"used", usage_fact(json_object_get(task, "usage"))},
	};

	facts_print(c, facts, sizeof facts / sizeof facts[0]);
	show_attempts(c, task);
	show_result(c, task);
	show_output(c, task, "stdout");
	show_output(c, task, "stderr");
	if (!task_is_ended((int)ji(task, "status", 0)))
		say(stdout, "\n`reeve why %s` says what it waits for", js(task, "id"));
}

int cmd_task_show(struct cli *c)
{
	for (size_t i = 0; i < c->options.n_args; i++) {
		AUTO(json_drop) json_t *task = NULL;
		AUTO(free_cstr) char *path = NULL;
		char id[25];
		int r = id_resolve(c->options.args[i], id, &c->problem);

		if (r < 0)
			return r;
		path = xasprintf("/v1/tasks/%s", id);
		r = cli_get(c, path, &task);
		if (r < 0)
			return r;
		if (i > 0 && !wants_machine(c))
			putchar('\n');
		if (wants_machine(c))
			print_json(c, task);
		else
			show_task(c, task);
	}
	return EXIT_OK;
}

int cmd_task_set(struct cli *c)
{
	int64_t priority = 0;

	if (!options_given(&c->options, "priority")) {
		problem_set(&c->problem, ERR_INVALID, "nothing to change was given");
		return problem_hint(&c->problem, "reeve task set ID --priority N");
	}
	if (options_i64(
	        &c->options, "priority", -PRIORITY_MAX, PRIORITY_MAX, &priority, &c->problem) < 0)
		return c->problem.code;
	for (size_t i = 0; i < c->options.n_args; i++) {
		AUTO(json_drop)
		json_t *body = json_pack("{s:I}", "priority", (json_int_t)priority), *task = NULL;
		AUTO(free_cstr) char *path = NULL;
		char id[25];
		int r = id_resolve(c->options.args[i], id, &c->problem);

		if (r < 0)
			return r;
		path = xasprintf("/v1/tasks/%s", id);
		r = cli_call(c, "PATCH", path, body, &task);
		if (r < 0)
			return r;
		if (wants_machine(c))
			print_json(c, task);
		else
			printf("%s has priority %lld now\n", id, (long long)priority);
	}
	return EXIT_OK;
}

/* Where a task comes from that nobody submitted by hand. */
static void show_origin(struct cli *c, const char *id)
{
	AUTO(free_cstr) char *path = xasprintf("/v1/tasks/%s", id), *origin = NULL;
	AUTO(json_drop) json_t *task = NULL;

	if (cli_get(c, path, &task) < 0) {
		c->problem = (struct problem){0}; /* it was asked why it waits, and that was said */
		return;
	}
	origin = schedule_fact(task);
	if (origin)
		say(stdout, "  of the schedule %s", origin);
}

int cmd_why(struct cli *c)
{
	AUTO(json_drop) json_t *why = NULL;
	AUTO(free_cstr) char *path = NULL;
	AUTO(buf_release) struct buf state = {0};
	char id[25];
	json_t *reason;
	size_t i;
	int r = id_resolve(c->options.args[0], id, &c->problem);

	if (r < 0)
		return r;
	path = xasprintf("/v1/tasks/%s/why", id);
	r = cli_get(c, path, &why);
	if (r < 0)
		return r;
	if (wants_machine(c)) {
		print_json(c, why);
		return EXIT_OK;
	}
	add_state(&state, &c->term, c->term.out_colour, js(why, "state"));
	fputs(state.p, stdout);
	say(stdout, "%s: %s",
	    jb(why, "unsure") ? " (unsure: nobody knows yet whether it was started)" : "",
	    js(why, "summary"));
	json_array_foreach(json_object_get(why, "reasons"), i, reason)
	{
		say(stdout, "  %s %s", c->term.utf8 ? "•" : "*", js(reason, "text"));
		if (*js(reason, "lift"))
			say(stdout, "    %s %s", c->term.utf8 ? "→" : "->", js(reason, "lift"));
	}
	show_origin(c, id);
	return EXIT_OK;
}
