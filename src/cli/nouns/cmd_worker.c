/* SPDX-License-Identifier: Apache-2.0 */
/* worker ls, show, set, stop, restart, rm: the workers as the server sees them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "cli/frame/cmds.h"
#include "cli/nouns/views.h"
#include "cli/output/output.h"
#include "cli/tasks/work.h"
#include "model/limits.h"

static int draw_workers(struct cli *c)
{
	AUTO(buf_release) struct buf path = {0}, notes = {0};
	AUTO(json_drop) json_t *list = NULL;
	const char *state;
	int64_t limit = 0;
	struct table t;
	json_t *worker;
	size_t i, at = 0;
	int r;

	if (options_i64(&c->options, "limit", 0, 1000000, &limit, &c->problem) < 0)
		return c->problem.code;
	buf_add_cstr(&path, "/v1/workers");
	while ((state = options_next(&c->options, "state", &at)))
		url_add(&path, "state", state);
	r = cli_get_list(c, path.p, (size_t)limit, &list);
	if (r < 0)
		return r;
	if (wants_machine(c)) {
		print_json(c, list);
		return EXIT_OK;
	}
	worker_table_init(&t);
	json_array_foreach(json_object_get(list, "items"), i, worker) worker_table_add(&t, worker);
	if (i == 0 && options_given(&c->options, "state"))
		cli_note(c, "there are no such workers");
	else if (i == 0)
		cli_note(c, "there are no workers; `reeve worker --join ADDRESS` starts one");
	else
		table_print(&t, c);
	table_release(&t);
	worker_notes(c, json_object_get(list, "items"), &notes);
	if (notes.p)
		fputs(notes.p, stdout);
	return EXIT_OK;
}

int cmd_worker_ls(struct cli *c)
{
	return watch_loop(c, draw_workers);
}

static void worker_path(const char *name, struct buf *ret_path)
{
	buf_add_cstr(ret_path, "/v1/workers");
	url_add_path(ret_path, name);
}

int cmd_worker_show(struct cli *c)
{
	for (size_t i = 0; i < c->options.n_args; i++) {
		AUTO(json_drop) json_t *worker = NULL;
		AUTO(buf_release) struct buf path = {0};
		int r;

		worker_path(c->options.args[i], &path);
		r = cli_get(c, path.p, &worker);
		if (r < 0)
			return r;
		if (i > 0 && !wants_machine(c))
			putchar('\n');
		if (wants_machine(c))
			print_json(c, worker);
		else
			worker_show(c, worker);
	}
	return EXIT_OK;
}

static int wanted_threads(struct cli *c, json_t **ret_value)
{
	const char *text = options_get(&c->options, "maxthreads");
	int64_t n = 0;

	if (!text) {
		problem_set(&c->problem, ERR_INVALID, "nothing to change was given");
		return problem_hint(&c->problem, "reeve worker set NAME --maxthreads N");
	}
	if (!strcmp(text, "worker"))
		*ret_value = json_string("worker");
	else if (!strcmp(text, "none"))
		*ret_value = json_null();
	else if (options_i64(&c->options, "maxthreads", 0, THREADS_MAX, &n, &c->problem) < 0)
		return problem_hint(
		    &c->problem, "\"none\" means no limit, \"worker\" the worker's own setting");
	else
		*ret_value = json_integer(n);
	return 0;
}

int cmd_worker_set(struct cli *c)
{
	AUTO(json_drop) json_t *body = json_object();
	json_t *value = NULL;

	if (wanted_threads(c, &value) < 0)
		return c->problem.code;
	json_object_set_new(body, "maxthreads", value);
	for (size_t i = 0; i < c->options.n_args; i++) {
		AUTO(json_drop) json_t *worker = NULL;
		AUTO(buf_release) struct buf path = {0};
		int r;

		worker_path(c->options.args[i], &path);
		r = cli_call(c, "PATCH", path.p, body, &worker);
		if (r < 0)
			return r;
		if (wants_machine(c))
			print_json(c, worker);
		else
			say(stdout, "worker %s changed", js(worker, "name"));
	}
	return EXIT_OK;
}

int cmd_worker_rm(struct cli *c)
{
	for (size_t i = 0; i < c->options.n_args; i++) {
		AUTO(json_drop) json_t *reply = NULL;
		AUTO(buf_release) struct buf path = {0};
		int r;

		worker_path(c->options.args[i], &path);
		if (options_switch(&c->options, "lost", false))
			url_add(&path, "lost", "true");
		r = cli_call(c, "DELETE", path.p, NULL, &reply);
		if (r < 0)
			return r;
		say(stdout, "worker %s forgotten", c->options.args[i]);
	}
	return EXIT_OK;
}

/* Its tasks die with it: whoever sits at a terminal is asked first. */
static int may_stop(struct cli *c, const char *path, const char *verb)
{
	AUTO(json_drop) json_t *worker = NULL;
	int64_t n;
	int r;

	if (options_switch(&c->options, "yes", false))
		return 1;
	r = cli_get(c, path, &worker);
	if (r < 0)
		return r;
	n = ji(worker, "running", 0);
	return n == 0 || confirm(c, "%s the worker %s, and end its %lld task%s?", verb,
	                     js(worker, "name"), (long long)n, n == 1 ? "" : "s");
}

static int stop_one(struct cli *c, const char *name, const char *verb)
{
	AUTO(json_drop) json_t *worker = NULL;
	AUTO(buf_release) struct buf path = {0};
	int r;

	worker_path(name, &path);
	r = may_stop(c, path.p, verb);
	if (r < 0)
		return r;
	if (r == 0) {
		cli_note(c, "nothing was changed");
		return EXIT_FAILED;
	}
	url_add_path(&path, verb);
	r = cli_call(c, "POST", path.p, NULL, &worker);
	if (r < 0)
		return r;
	if (wants_machine(c))
		print_json(c, worker);
	else
		say(stdout, "worker %s was told to %s", js(worker, "name"), verb);
	return EXIT_OK;
}

static int stop_all(struct cli *c, const char *verb)
{
	int r = EXIT_OK;

	for (size_t i = 0; i < c->options.n_args && r == EXIT_OK; i++)
		r = stop_one(c, c->options.args[i], verb);
	return r;
}

int cmd_worker_stop(struct cli *c)
{
	return stop_all(c, "stop");
}

int cmd_worker_restart(struct cli *c)
{
	return stop_all(c, "restart");
}
