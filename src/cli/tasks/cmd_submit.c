/* SPDX-License-Identifier: Apache-2.0 */
/* `reeve submit`: one task, an array, or a stream of ready-made ones. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "cli/frame/cmds.h"
#include "cli/frame/interrupt.h"
#include "cli/output/output.h"
#include "cli/reach/last.h"
#include "cli/reach/target.h"
#include "cli/tasks/sender.h"
#include "cli/tasks/work.h"
#include "model/limits.h"

#define ERRORS_SHOWN 10

static int wait_timeout(struct cli *c, int64_t *ret_ms)
{
	*ret_ms = -1;
	return options_duration(&c->options, "wait-timeout", ret_ms, &c->problem);
}

int waited(struct cli *c, int r)
{
	if (r >= 0)
		return r;
	if (interrupt_count() > 0) {
		cli_note(c, "reeve: the work goes on; `reeve wait @last` waits again");
		return 128 + interrupt_signal();
	}
	cli_complain(&c->term, &c->problem);
	return r == ERR_TIMEOUT ? EXIT_TIMED_OUT : EXIT_OURS;
}

static int wait_for_one(struct cli *c, const char *id)
{
	AUTO(json_drop) json_t *task = NULL;
	AUTO(buf_release) struct buf words = {0};
	int64_t timeout_ms;
	int r;

	if (wait_timeout(c, &timeout_ms) < 0)
		return c->problem.code;
	interrupt_catch();
	r = wait_task(c, id, timeout_ms, &task);
	if (r < 0)
		return waited(c, r);
	buf_printf(&words, "%s ", state_glyph(js(task, "state"), c->term.utf8));
	task_outcome(task, &words);
	cli_note(c, "%s", words.p);
	return task_exit_code(task);
}

/* The batch that the tasks shall join; "": none. */
static int batch_joined(struct cli *c, char ret_id[25])
{
	const char *typed = options_get(&c->options, "batch");

	ret_id[0] = 0;
	return typed ? batch_find(c, typed, ret_id) : 0;
}

/* The rest of its standard input: before the id is shown, or the task is over. */
static int send_rest(struct sender *s, const json_t *reply)
{
	int r;

	if (s->fd < 0 || jb(reply, "duplicate"))
		return 0;
	s->id = js(reply, "id");
	r = sender_finish(s);
	if (r < 0 && r != ERR_CONFLICT)
		sender_cancel(s);
	return r == ERR_CONFLICT ? 0 : r;
}

static int send_one(struct cli *c, json_t *task, struct sender *input)
{
	AUTO(json_drop) json_t *reply = NULL;
	AUTO(buf_release) struct buf url = {0};
	char batch[25];
	const char *id;
	int r = batch_joined(c, batch);

	buf_add_cstr(&url, "/v1/tasks");
	if (r == 0 && *batch)
		url_add(&url, "batch", batch);
	if (r == 0)
		r = cli_call(c, "POST", url.p, task, &reply);
	if (r < 0)
		return r;
	id = js(reply, "id");
	last_save(LAST_TASK, id);
	r = send_rest(input, reply);
	if (r < 0)
		return r;
	if (jb(reply, "duplicate"))
		cli_note(c, "reeve: a task with this key is there already: %s (%s)", id,
		    js(reply, "state"));
	if (wants_machine(c))
		print_json(c, reply);
	else
		say(stdout, "%s", id);
	fflush(stdout);
	return options_switch(&c->options, "wait", false) ? wait_for_one(c, id) : EXIT_OK;
}

static int feed_stdin(struct cli *c, struct bulk *b, const struct pattern *p)
{
	AUTO(free_cstr) char *line = NULL;
	size_t cap = 0;
	ssize_t n;

	for (int64_t number = 1, index = 1; (n = getline(&line, &cap, stdin)) >= 0; number++) {
		int r;

		if (n > 0 && line[n - 1] == '\n')
			n--;
		if (n == 0)
			continue;
		if (!pattern_add(p, (struct str){line, (size_t)n}, index++, bulk_buffer(b)))
			return problem_set(&c->problem, ERR_INVALID,
			    "line %lld of standard input is not valid UTF-8", (long long)number);
		r = bulk_line(b);
		if (r < 0)
			return r;
	}
	return 0;
}

static int feed_range(struct bulk *b, const struct pattern *p, const struct range *range)
{
	char item[24];
	int r = 0;

	for (int64_t i = 0; i < range_count(range) && r == 0; i++) {
		int64_t index = range_at(range, i);
		int n = snprintf(item, sizeof item, "%lld", (long long)index);

		pattern_add(p, (struct str){item, (size_t)n}, index, bulk_buffer(b));
		r = bulk_line(b);
	}
	return r;
}

static int feed_ranges(struct cli *c, struct bulk *b, const struct pattern *p, const char *text)
{
	struct array_items items;
	int r = array_parse(text, &items, &c->problem);

	for (size_t i = 0; r == 0 && i < items.n; i++)
		r = feed_range(b, p, &items.all[i]);
	array_release(&items);
	return r;
}

static int feed_ndjson(struct cli *c, struct bulk *b, const char *file)
{
	FILE *f = strcmp(file, "-") ? fopen(file, "re") : stdin;
	AUTO(free_cstr) char *line = NULL;
	size_t cap = 0;
	ssize_t n;
	int r = 0;

	if (!f)
		return problem_set(
		    &c->problem, ERR_IO, "%s cannot be read: %s", file, strerror(errno));
	while (r == 0 && (n = getline(&line, &cap, f)) >= 0) {
		buf_add(bulk_buffer(b), line, (size_t)n);
		if (n == 0 || line[n - 1] != '\n')
			buf_add_char(bulk_buffer(b), '\n');
		r = bulk_line(b);
	}
	if (r == 0 && ferror(f))
		r = problem_set(
		    &c->problem, ERR_IO, "%s cannot be read: %s", file, strerror(errno));
	if (f != stdin)
		fclose(f);
	return r;
}

static void show_errors(const json_t *result)
{
	const json_t *errors = json_object_get(result, "errors");
	int64_t rejected = ji(result, "rejected", 0);
	json_t *error;
	size_t i;

	json_array_foreach(errors, i, error)
	{
		if (i == ERRORS_SHOWN)
			break;
		say(stderr, "reeve: line %lld: %s", (long long)ji(error, "line", 0),
		    js(error, "detail"));
		if (*js(error, "hint"))
			say(stderr, "  hint: %s", js(error, "hint"));
	}
	if (rejected > 0)
		fprintf(stderr, "reeve: %lld %s refused%s\n", (long long)rejected,
		    rejected == 1 ? "line was" : "lines were",
		    rejected > ERRORS_SHOWN ? "; the first are shown" : "");
}

static int show_batch(struct cli *c, json_t *result)
{
	const char *batch = js(result, "batch");
	char count[TIME_TEXT_MAX];

	if (wants_machine(c))
		print_json(c, result);
	else if (*batch)
		say(stdout, "%s", batch);
	fflush(stdout);
	show_errors(result);
	if (*batch)
		last_save(LAST_BATCH, batch);
	cli_note(c, "%s %s submitted%s", human_count(ji(result, "accepted", 0), count),
	    ji(result, "accepted", 0) == 1 ? "task" : "tasks",
	    ji(result, "duplicates", 0) > 0 ? "; some were there already" : "");
	return ji(result, "rejected", 0) > 0 ? EXIT_FAILED : EXIT_OK;
}

static int wait_for_batch(struct cli *c, const char *batch)
{
	AUTO(buf_release) struct buf url = {0};
	int64_t timeout_ms;

	if (wait_timeout(c, &timeout_ms) < 0)
		return c->problem.code;
	buf_add_cstr(&url, "/v1/tasks/summary");
	url_add(&url, "batch", batch);
	return waited(c, wait_summary(c, url.p, timeout_ms));
}

static int submit_many(struct cli *c, json_t *task)
{
	const char *array = options_get(&c->options, "array");
	const char *ndjson = options_get(&c->options, "ndjson");
	struct bulk *b =
	    bulk_new(c, options_switch(&c->options, "atomic", false), wants_machine(c));
	struct pattern p = {0};
	const char *name = options_get(&c->options, "name");
	char batch[25];
	int r = batch_joined(c, batch), code;

	if (name && !strstr(name, "{}")) /* else each task has its own */
		bulk_name(b, name);
	if (r == 0 && *batch)
		bulk_join(b, batch);
	if (array)
		pattern_init(&p, task);
	if (r == 0 && ndjson)
		r = feed_ndjson(c, b, ndjson);
	else if (r == 0)
		r = array_is_stdin(array) ? feed_stdin(c, b, &p) : feed_ranges(c, b, &p, array);
	if (r == 0)
		r = bulk_finish(b);
	pattern_release(&p);
	if (r == 0) {
		r = code = show_batch(c, bulk_result(b));
		if (options_switch(&c->options, "wait", false) && *js(bulk_result(b), "batch")) {
			r = wait_for_batch(c, js(bulk_result(b), "batch"));
			if (r == EXIT_OK)
				r = code;
		}
	} else {
		show_errors(bulk_result(b));
	}
	bulk_free(b);
	return r;
}

static int other_limit(struct cli *c, const char *name, int64_t limit)
{
	AUTO(buf_release) struct buf typed = {0};

	buf_add_typed(&typed, str_of(name));
	problem_set(&c->problem, ERR_CONFLICT, "the queue \"%s\" has another limit than %lld", name,
	    (long long)limit);
	return problem_hint(&c->problem, "%s, or change it: reeve queue set %s --threads %lld",
	    options_given(&c->options, "queue") ? "leave out --queue" : "name another with --queue",
	    typed.p, (long long)limit);
}

/* A queue that has this limit and no other: never changes what somebody else has set. */
static int use_limit(struct cli *c, json_t *task)
{
	AUTO(json_drop) json_t *queue = NULL, *body = NULL;
	AUTO(buf_release) struct buf path = {0};
	AUTO(free_cstr) char *name = NULL;
	int64_t limit = 0;
	int r;

	if (!options_given(&c->options, "limit"))
		return 0;
	if (options_i64(&c->options, "limit", 1, THREADS_MAX, &limit, &c->problem) < 0)
		return c->problem.code;
	/* A queue that is only the usual one (from a variable, a file) has its own limit. */
	name = options_given(&c->options, "queue") ? xstrdup(options_get(&c->options, "queue"))
	                                           : xasprintf("limit-%lld", (long long)limit);
	json_object_set_new(task, "queue", json_string(name));
	buf_add_cstr(&path, "/v1/queues");
	url_add_path(&path, name);
	r = cli_get(c, path.p, &queue);
	if (r == ERR_NOT_FOUND) {
		body = json_pack("{s:s,s:I}", "name", name, "threads", (json_int_t)limit);
		r = cli_call(c, "POST", "/v1/queues", body, &queue);
		if (r == ERR_CONFLICT) /* somebody made it just now */
			r = cli_get(c, path.p, &queue);
	}
	if (r < 0 || ji(queue, "threads", -1) == limit)
		return r < 0 ? r : 0;
	return other_limit(c, name, limit);
}

/* Each line of NDJSON is a whole task: an option that would be ignored is refused instead. The name
 * is the batch's. */
static int no_task_options(struct cli *c)
{
	const struct option_def *const tables[] = {task_options, once_options};
	const char *wrong = options_given(&c->options, "limit")   ? "limit"
	                    : options_given(&c->options, "stdin") ? "stdin"
	                                                          : NULL;

	for (size_t i = 0; i < 2; i++)
		for (const struct option_def *d = tables[i]; d->name && !wrong; d++)
			if (options_given(&c->options, d->name) && strcmp(d->name, "name"))
				wrong = d->name;
	if (!wrong)
		return 0;
	problem_set(&c->problem, ERR_INVALID,
	    "--%s cannot be used with --ndjson: each line is a whole task", wrong);
	return problem_hint(&c->problem, "write it into the lines, or use --array");
}

/* The items of an array are not put into what the tasks read. */
static int check_array_input(struct cli *c, const json_t *task)
{
	const char *given = options_get(&c->options, "stdin");

	if (!given || !options_given(&c->options, "array"))
		return 0;
	if (!strcmp(given, "-") && array_is_stdin(options_get(&c->options, "array")))
		return problem_set(&c->problem, ERR_INVALID,
		    "--array - and --stdin - cannot both read standard input");
	if (!strstr(js(json_object_get(task, "run"), "input"), "{}"))
		return 0;
	problem_set(&c->problem, ERR_INVALID, "with --array, {} in the standard input is refused");
	return problem_hint(&c->problem, "give the item in the command or with --env ITEM={}");
}

/* Else all but the last would be dropped without a word. */
static int one_array(struct cli *c)
{
	size_t at = 0;

	if (!options_next(&c->options, "array", &at) || !options_next(&c->options, "array", &at))
		return 0;
	problem_set(&c->problem, ERR_INVALID, "--array is given more than once");
	return problem_hint(&c->problem, "write its items in one, with commas: --array 1-3,7,9");
}

static int put_script_input(struct cli *c, const char *input, json_t *task)
{
	json_t *run = json_object_get(task, "run"), *text;

	if (!input)
		return 0;
	text = json_string(input);
	if (!text)
		return problem_set(&c->problem, ERR_INVALID, "the script is not valid UTF-8");
	if (!run) {
		run = json_object();
		json_object_set_new(task, "run", run);
	}
	return json_object_set_new(run, "input", text);
}

static int submit(struct cli *c, const char *input)
{
	bool array = options_given(&c->options, "array"),
	     ndjson = options_given(&c->options, "ndjson");
	AUTO(json_drop) json_t *task = NULL;
	AUTO(sender_release) struct sender rest = {.fd = -1};

	if (array && ndjson)
		return problem_set(
		    &c->problem, ERR_INVALID, "--array and --ndjson exclude each other");
	if (ndjson && c->options.n_args > 0) {
		problem_set(
		    &c->problem, ERR_INVALID, "--ndjson brings whole tasks: no command beside it");
		return problem_hint(&c->problem, "with --array the command is given here");
	}
	if (ndjson && no_task_options(c) < 0)
		return c->problem.code;
	if (task_from_options(c, 0, !ndjson, &task) < 0 ||
	    (!ndjson && stdin_put(c, false, true, task, &rest) < 0) ||
	    put_script_input(c, input, task) < 0 || check_array_input(c, task) < 0 ||
	    array_put_throttle(c, task) < 0 || use_limit(c, task) < 0)
		return c->problem.code;
	if (!ndjson)
		directory_put_here(c, array, task);
	return array || ndjson ? submit_many(c, task) : send_one(c, task, &rest);
}

int cmd_submit(struct cli *c)
{
	const char *input = NULL;

	if (one_array(c) < 0)
		return c->problem.code;
	if (script_given(c)) {
		const char *array = options_get(&c->options, "array");

		if (array && array_is_stdin(array))
			return problem_set(&c->problem, ERR_INVALID,
			    "--array - and the script cannot both be standard input");
		if (script_take(c, &input) < 0)
			return c->problem.code;
	}
	return submit(c, input);
}
