/* SPDX-License-Identifier: Apache-2.0 */
/* worker ls, show, set, rm: the workers as the server sees them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "cli/cmds.h"
#include "cli/output.h"
#include "cli/views.h"
#include "model/limits.h"

static const struct column worker_columns[] = {
    {"WORKER", COLUMN_STRETCH},
    {"STATE", COLUMN_STATE},
    {"RUNNING", COLUMN_RIGHT},
    {"MAX", COLUMN_RIGHT},
    {"HOST", COLUMN_STRETCH},
    {"ZONE", COLUMN_STRETCH},
    {"TARGET", COLUMN_STRETCH | COLUMN_WIDE},
    {"VERSION", COLUMN_WIDE},
    {"SEEN", COLUMN_RIGHT},
    {"PLUGINS", COLUMN_STRETCH | COLUMN_WIDE},
    {"LABELS", COLUMN_STRETCH | COLUMN_WIDE},
};

static char *joined(const json_t *array)
{
	AUTO(buf_release) struct buf words = {0};
	json_t *item;
	size_t i;

	json_array_foreach(array, i, item)
	    buf_printf(&words, "%s%s", i ? "," : "", json_string_value(item));
	return words.p ? buf_take(&words) : NULL;
}

static char *labels_of(const json_t *worker)
{
	AUTO(buf_release) struct buf words = {0};

	add_pairs(&words, json_object_get(worker, "labels"));
	return words.p ? buf_take(&words) : NULL;
}

void worker_table_init(struct table *t)
{
	table_init(t, worker_columns, sizeof worker_columns / sizeof worker_columns[0]);
}

void worker_table_add(struct table *t, const json_t *worker)
{
	AUTO(free_cstr) char *plugins = joined(json_object_get(worker, "plugins"));
	AUTO(free_cstr) char *labels = labels_of(worker);
	char text[TIME_TEXT_MAX];

	table_add(t, js(worker, "name"));
	table_add(t, js(worker, "state"));
	table_addf(t, "%lld", (long long)ji(worker, "running", 0));
	if (jhas(worker, "maxthreads"))
		table_addf(t, "%lld%s", (long long)ji(worker, "maxthreads", 0),
		    jb(worker, "maxthreads_set") ? "*" : "");
	else
		table_add(t, NULL);
	table_add(t, js(worker, "host"));
	table_add(t, js(worker, "zone"));
	table_add(t, js(worker, "target"));
	table_add(t, js(worker, "version"));
	if (strcmp(js(worker, "state"), "connected"))
		table_add(t, jago(worker, "last_seen", text));
	else
		table_add(t, "now");
	table_add(t, plugins);
	table_add(t, labels);
}

static int draw_workers(struct cli *c)
{
	AUTO(json_drop) json_t *list = NULL;
	int64_t limit = 0;
	struct table t;
	json_t *worker;
	size_t i;
	int r;

	if (options_i64(&c->options, "limit", 0, 1000000, &limit, &c->problem) < 0)
		return c->problem.code;
	r = cli_get_list(c, "/v1/workers", (size_t)limit, &list);
	if (r < 0)
		return r;
	if (wants_machine(c)) {
		print_json(c, list);
		return EXIT_OK;
	}
	worker_table_init(&t);
	json_array_foreach(json_object_get(list, "items"), i, worker) worker_table_add(&t, worker);
	if (i == 0)
		cli_note(c, "there are no workers; `reeve worker --join ADDRESS` starts one");
	else
		table_print(&t, c);
	table_release(&t);
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

static char *text_of(const json_t *worker, const char *name)
{
	return *js(worker, name) ? xstrdup(js(worker, name)) : NULL;
}

static char *lost_fact(const json_t *worker)
{
	char text[TIME_TEXT_MAX];

	if (!jhas(worker, "lost_in_ms"))
		return NULL;
	return xasprintf(
	    "in %s, if it does not return", time_human_ms(ji(worker, "lost_in_ms", 0), text));
}

static char *seen_fact(const json_t *worker, const char *name)
{
	char text[TIME_TEXT_MAX];

	return jhas(worker, name) ? xasprintf("%s (%s)", js(worker, name), jago(worker, name, text))
	                          : NULL;
}

static void show_worker(struct cli *c, const json_t *worker)
{
	struct fact facts[] = {
	    {"worker", text_of(worker, "name")},
	    {"id", text_of(worker, "id")},
	    {"instance", text_of(worker, "instance")},
	    {"state", xasprintf("%s %s", state_glyph(js(worker, "state"), c->term.utf8),
	                  js(worker, "state"))},
	    {"given up", lost_fact(worker)},
	    {"host", text_of(worker, "host")},
	    {"zone", text_of(worker, "zone")},
	    {"target", text_of(worker, "target")},
	    {"version", text_of(worker, "version")},
	    {"labels", labels_of(worker)},
	    {"plugins", joined(json_object_get(worker, "plugins"))},
	    {"serves only", joined(json_object_get(worker, "activequeues"))},
	    {"ignores", joined(json_object_get(worker, "ignorequeues"))},
	    {"running", xasprintf("%lld", (long long)ji(worker, "running", 0))},
	    {"maxthreads",
	        jhas(worker, "maxthreads")
	            ? xasprintf("%lld%s", (long long)ji(worker, "maxthreads", 0),
	                  jb(worker, "maxthreads_set") ? " (set here, not by the worker)" : "")
	            : xstrdup("no limit")},
	    {"started", seen_fact(worker, "started")},
	    {"first seen", seen_fact(worker, "first_seen")},
	    {"last seen", seen_fact(worker, "last_seen")},
	};

	facts_print(c, facts, sizeof facts / sizeof facts[0]);
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
			show_worker(c, worker);
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
