/* SPDX-License-Identifier: Apache-2.0 */
/* queue ls, show, create, set, pause, resume, rm. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/mem.h"
#include "cli/frame/cmds.h"
#include "cli/nouns/views.h"
#include "cli/output/output.h"
#include "cli/tasks/work.h"
#include "model/limits.h"

#define TRIES 10 /* against others who change the same queue */

static const struct column queue_columns[] = {
    {"QUEUE", COLUMN_STRETCH},
    {"STATE", COLUMN_STATE},
    {"THREADS", COLUMN_RIGHT},
    {"QUEUED", COLUMN_RIGHT},
    {"DELAYED", COLUMN_RIGHT | COLUMN_WIDE},
    {"HELD", COLUMN_RIGHT | COLUMN_WIDE},
    {"RUNNING", COLUMN_RIGHT},
    {"SUCCEEDED", COLUMN_RIGHT},
    {"FAILED", COLUMN_RIGHT},
    {"OTHER", COLUMN_RIGHT | COLUMN_WIDE},
    {"OLDEST", COLUMN_RIGHT},
    {"WORKERS", COLUMN_RIGHT},
    {"ORDER", COLUMN_WIDE},
    {"PLUGIN", COLUMN_STRETCH},
    {"REASON", COLUMN_STRETCH | COLUMN_WIDE},
};

static void add_count(struct table *t, const json_t *counts, const char *name)
{
	char text[TIME_TEXT_MAX];

	table_add(t, jhas(counts, name) ? human_count(ji(counts, name, 0), text) : NULL);
}

void queue_table_init(struct table *t)
{
	table_init(t, queue_columns, sizeof queue_columns / sizeof queue_columns[0]);
}

void queue_table_add(struct table *t, const json_t *queue)
{
	static const char *const counted[] = {"succeeded", "failed", "other"};
	const json_t *counts = json_object_get(queue, "counts");
	char text[TIME_TEXT_MAX];

	table_add(t, js(queue, "name"));
	table_add(t, jb(queue, "paused") ? "paused" : "active");
	if (jhas(queue, "threads"))
		table_addf(t, "%lld", (long long)ji(queue, "threads", 0));
	else
		table_add(t, NULL);
	add_count(t, counts, "queued");
	add_count(t, counts, "delayed");
	add_count(t, counts, "held");
	if (jhas(counts, "running"))
		table_add(
		    t, human_count(ji(counts, "running", 0) + ji(counts, "claimed", 0), text));
	else /* a token with labels is not told */
		table_add(t, NULL);
	for (size_t i = 0; i < sizeof counted / sizeof counted[0]; i++)
		add_count(t, counts, counted[i]);
	table_add(
	    t, jhas(queue, "oldest_ms") ? human_short(ji(queue, "oldest_ms", 0), text) : NULL);
	table_addf(t, "%lld", (long long)ji(queue, "workers", 0));
	table_add(t, js(queue, "order"));
	table_add(t, js(queue, "plugin"));
	table_add(t, js(queue, "pause_reason"));
}

static int draw_queues(struct cli *c)
{
	AUTO(json_drop) json_t *list = NULL;
	int64_t limit = 0;
	struct table t;
	json_t *queue;
	size_t i;
	int r;

	if (options_i64(&c->options, "limit", 0, 1000000, &limit, &c->problem) < 0)
		return c->problem.code;
	r = cli_get_list(c, "/v1/queues", (size_t)limit, &list);
	if (r < 0)
		return r;
	if (wants_machine(c)) {
		print_json(c, list);
		return EXIT_OK;
	}
	queue_table_init(&t);
	json_array_foreach(json_object_get(list, "items"), i, queue) queue_table_add(&t, queue);
	if (i == 0)
		cli_note(c, "there are no queues yet; the first task makes one");
	else
		table_print(&t, c);
	table_release(&t);
	return EXIT_OK;
}

int cmd_queue_ls(struct cli *c)
{
	return watch_loop(c, draw_queues);
}

static char *duration_fact(const json_t *queue, const char *name)
{
	char text[TIME_TEXT_MAX];

	return xstrdup(jhas(queue, name) ? time_human_ms(ji(queue, name, 0), text) : "none");
}

static char *pause_fact(const json_t *queue)
{
	char ago[TIME_TEXT_MAX];

	if (!jb(queue, "paused"))
		return NULL;
	return xasprintf("%s%s%s", *js(queue, "pause_reason") ? js(queue, "pause_reason") : "yes",
	    jhas(queue, "paused_until") ? "; resumes " : "",
	    jhas(queue, "paused_until") ? jago(queue, "paused_until", ago) : "");
}

static char *counts_fact(const json_t *counts)
{
	AUTO(buf_release) struct buf words = {0};
	const char *name;
	json_t *n;

	if (!json_is_object(counts))
		return NULL;
	json_object_foreach((json_t *)counts, name, n) if (json_integer_value(n) > 0) buf_printf(
	    &words, "%s%lld %s", words.n ? ", " : "", (long long)json_integer_value(n), name);
	return xstrdup(words.p ? words.p : "none");
}

static char *env_fact(const json_t *queue)
{
	AUTO(buf_release) struct buf words = {0};

	add_pairs(&words, json_object_get(queue, "env"));
	return words.p ? buf_take(&words) : NULL;
}

static void show_queue(struct cli *c, const json_t *queue)
{
	char text[TIME_TEXT_MAX];
	struct fact facts[] = {
	    {"queue", xstrdup(js(queue, "name"))},
	    {"id", xstrdup(js(queue, "id"))},
	    {"paused", pause_fact(queue)},
	    {"plugin", xstrdup(js(queue, "plugin"))},
	    {"threads", jhas(queue, "threads")
	                    ? xasprintf("%lld", (long long)ji(queue, "threads", 0))
	                    : xstrdup("no limit")},
	    {"order", xstrdup(js(queue, "order"))},
	    {"time limit", duration_fact(queue, "timeout_ms")},
	    {"max attempts", xasprintf("%lld", (long long)ji(queue, "max_attempts", 1))},
	    {"backoff", duration_fact(queue, "backoff_ms")},
	    {"backoff max", duration_fact(queue, "backoff_max_ms")},
	    {"exit codes", xstrdup(jb(queue, "exit_codes") ? "99 skip, 100 permanent, 111 temporary"
	                                                   : "0 succeeded, others failed")},
	    {"env", env_fact(queue)},
	    {"run", run_fact(queue)},
	    {"output", xasprintf("%s, at most %s", js(queue, "output"),
	                   human_bytes(ji(queue, "output_max", 0), text))},
	    {"tasks", counts_fact(json_object_get(queue, "counts"))},
	    {"workers", xasprintf("%lld", (long long)ji(queue, "workers", 0))},
	};

	facts_print(c, facts, sizeof facts / sizeof facts[0]);
}

static int queue_path(const char *name, const char *action, struct buf *ret_path)
{
	buf_add_cstr(ret_path, "/v1/queues");
	url_add_path(ret_path, name);
	if (action)
		url_add_path(ret_path, action);
	return 0;
}

/* Shows what the server answered: the queue as it is now, or one line about it. */
static void shown(struct cli *c, json_t *queue, const char *words)
{
	if (wants_machine(c))
		print_json(c, queue);
	else
		say(stdout, "queue %s %s", js(queue, "name"), words);
}

int cmd_queue_show(struct cli *c)
{
	for (size_t i = 0; i < c->options.n_args; i++) {
		AUTO(json_drop) json_t *queue = NULL;
		AUTO(buf_release) struct buf path = {0};
		int r;

		queue_path(c->options.args[i], NULL, &path);
		r = cli_get(c, path.p, &queue);
		if (r < 0)
			return r;
		if (i > 0 && !wants_machine(c))
			putchar('\n');
		if (wants_machine(c))
			print_json(c, queue);
		else
			show_queue(c, queue);
	}
	return EXIT_OK;
}

/* A number, or null for "none". */
static int set_number(
    struct cli *c, json_t *body, const char *option, const char *member, int64_t min, int64_t max)
{
	const char *text = options_get(&c->options, option);
	int64_t n;

	if (!text)
		return 0;
	if (!strcmp(text, "none"))
		return json_object_set_new(body, member, json_null());
	if (options_i64(&c->options, option, min, max, &n, &c->problem) < 0) {
		if (!strcmp(option, "threads"))
			problem_hint(&c->problem, "\"none\" means no limit");
		return c->problem.code;
	}
	return json_object_set_new(body, member, json_integer(n));
}

static int set_env(struct cli *c, json_t *body, const json_t *old)
{
	json_t *env = old ? json_deep_copy(old) : json_object();
	const char *pair;
	size_t at = 0;

	if (!options_given(&c->options, "env")) {
		json_decref(env);
		return 0;
	}
	json_object_set_new(body, "env", env);
	while ((pair = options_next(&c->options, "env", &at))) {
		const char *equals = strchr(pair, '=');
		AUTO(free_cstr) char *key = NULL;

		if (!equals || equals == pair)
			return problem_set(
			    &c->problem, ERR_INVALID, "--env wants KEY=VALUE, not \"%.64s\"", pair);
		key = xstrndup(pair, (size_t)(equals - pair));
		if (equals[1])
			json_object_set_new(env, key, json_string(equals + 1));
		else
			json_object_del(env, key);
	}
	return 0;
}

static int settings(struct cli *c, json_t *body, const json_t *old)
{
	static const struct {
		const char *option, *member;
	} texts[] = {{"plugin", "plugin"}, {"order", "order"}, {"timeout", "timeout"},
	    {"backoff", "backoff"}, {"backoff-max", "backoff_max"}, {"output-mode", "output"}};
	const char *value;

	for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
		value = options_get(&c->options, texts[i].option);
		if (value)
			json_object_set_new(body, texts[i].member,
			    strcmp(value, "none") ? json_string(value) : json_null());
	}
	if (options_given(&c->options, "exit-codes"))
		json_object_set_new(body, "exit_codes",
		    json_boolean(options_switch(&c->options, "exit-codes", false)));
	if (set_number(c, body, "threads", "threads", 0, THREADS_MAX) < 0 ||
	    set_number(c, body, "max-attempts", "max_attempts", 1, ATTEMPTS_MAX) < 0 ||
	    set_number(c, body, "output-max", "output_max", 0, INT64_MAX) < 0 ||
	    set_env(c, body, json_object_get(old, "env")) < 0 ||
	    run_from_options(c, json_object_get(old, "run"), body) < 0)
		return c->problem.code;
	return 0;
}

int cmd_queue_create(struct cli *c)
{
	AUTO(json_drop) json_t *body = json_object(), *queue = NULL;
	int r;

	if (c->options.n_args > 1)
		return problem_set(&c->problem, ERR_INVALID, "one queue at a time");
	json_object_set_new(body, "name", json_string(c->options.args[0]));
	if (settings(c, body, NULL) < 0)
		return c->problem.code;
	r = cli_call(c, "POST", "/v1/queues", body, &queue);
	if (r < 0)
		return r;
	shown(c, queue, "created");
	return EXIT_OK;
}

static int change_queue(struct cli *c, const char *path, json_t **ret_changed)
{
	AUTO(json_drop) json_t *body = json_object(), *old = NULL;
	const char *name = options_get(&c->options, "name");
	char etag[ETAG_MAX] = "";
	int r = 0;

	if (options_given(&c->options, "env") || run_given(c))
		r = cli_get_tagged(c, path, etag, &old);
	if (r < 0 || settings(c, body, old) < 0)
		return c->problem.code;
	if (name)
		json_object_set_new(body, "name", json_string(name));
	if (json_object_size(body) == 0) {
		problem_set(&c->problem, ERR_INVALID, "nothing to change was given");
		return problem_hint(&c->problem, "`reeve queue set --help` lists the settings");
	}
	return cli_patch(c, path, body, etag, ret_changed);
}

int cmd_queue_set(struct cli *c)
{
	AUTO(json_drop) json_t *queue = NULL;
	AUTO(buf_release) struct buf path = {0};
	int r;

	if (c->options.n_args > 1)
		return problem_set(&c->problem, ERR_INVALID, "one queue at a time");
	queue_path(c->options.args[0], NULL, &path);
	/* Some are set among those that there are: nobody else may have changed them since. */
	for (int tries = 1;; tries++) {
		r = change_queue(c, path.p, &queue);
		if (r != ERR_PRECONDITION || tries == TRIES)
			break;
		client_backoff(c->client, tries);
	}
	if (r < 0)
		return r;
	shown(c, queue, "changed");
	return EXIT_OK;
}

static int queue_action(struct cli *c, const char *action, json_t *body, const char *words)
{
	for (size_t i = 0; i < c->options.n_args; i++) {
		AUTO(json_drop) json_t *queue = NULL;
		AUTO(buf_release) struct buf path = {0};
		int r;

		queue_path(c->options.args[i], action, &path);
		r = cli_call(c, "POST", path.p, body, &queue);
		if (r < 0)
			return r;
		shown(c, queue, words);
	}
	return EXIT_OK;
}

int cmd_queue_pause(struct cli *c)
{
	AUTO(json_drop) json_t *body = json_object();
	const char *reason = options_get(&c->options, "reason"),
	           *until = options_get(&c->options, "until");

	if (reason)
		json_object_set_new(body, "reason", json_string(reason));
	if (until)
		json_object_set_new(body, "until", json_string(until));
	return queue_action(c, "pause", body, "paused");
}

int cmd_queue_resume(struct cli *c)
{
	return queue_action(c, "resume", NULL, "resumed");
}

static int cancel_dispatched(struct cli *c, const char *name)
{
	AUTO(json_drop) json_t *reply = NULL;
	AUTO(json_drop)
	json_t *body = json_pack("{s:{s:s, s:[s, s]}, s:s}", "filter", "queue", name, "state",
	    "claimed", "running", "reason", "its queue is deleted");

	return cli_call(c, "POST", "/v1/tasks/actions/cancel", body, &reply);
}

/*
 * A queue whose tasks have processes can not go: nothing more is started, what runs is ended, and
 * we wait for that.
 */
static int stop_queue(struct cli *c, const char *name)
{
	AUTO(json_drop) json_t *body = json_pack("{s:s}", "reason", "it is being deleted");
	AUTO(json_drop) json_t *paused = NULL;
	AUTO(buf_release) struct buf pause = {0}, show = {0};
	struct timespec moment = {0, 50000000};
	int r;

	queue_path(name, "pause", &pause);
	queue_path(name, NULL, &show);
	if ((r = cli_call(c, "POST", pause.p, body, &paused)) < 0 ||
	    (r = cancel_dispatched(c, name)) < 0)
		return r;
	for (;;) {
		AUTO(json_drop) json_t *queue = NULL;
		const json_t *counts;

		if ((r = cli_call(c, "GET", show.p, NULL, &queue)) < 0)
			return r;
		counts = json_object_get(queue, "counts");
		if (ji(counts, "claimed", 0) + ji(counts, "running", 0) == 0)
			return 0;
		nanosleep(&moment, NULL);
	}
}

static int count_tasks(struct cli *c, const char *queue, int64_t *ret_live, int64_t *ret_ended)
{
	AUTO(json_drop) json_t *summary = NULL;
	AUTO(buf_release) struct buf path = {0};
	int r;

	buf_add_cstr(&path, "/v1/tasks/summary");
	url_add(&path, "queue", queue);
	r = cli_get(c, path.p, &summary);
	*ret_live = ji(summary, "live", 0);
	*ret_ended = ji(summary, "done", 0);
	return r < 0 ? r : 0;
}

/* The history of a queue goes with it, which nobody expects who has not been told. */
static bool may_delete(struct cli *c, const char *name, int64_t live, int64_t ended)
{
	bool force = options_switch(&c->options, "force", false);
	char n[TIME_TEXT_MAX], m[TIME_TEXT_MAX];

	if (options_switch(&c->options, "yes", false) || (live > 0 && !force))
		return true; /* the server refuses the latter, and says why */
	if (live > 0)
		return confirm(c,
		    "delete the queue %s, its %s live and %s ended tasks, and their output?", name,
		    human_count(live, n), human_count(ended, m));
	return ended == 0 ||
	       confirm(c, "delete the queue %s, its %s ended task%s, and their output?", name,
	           human_count(ended, n), ended == 1 ? "" : "s");
}

static int delete_queue(struct cli *c, const char *name)
{
	bool force = options_switch(&c->options, "force", false);
	AUTO(json_drop) json_t *reply = NULL;
	AUTO(buf_release) struct buf path = {0};
	int64_t live, ended;
	int r = count_tasks(c, name, &live, &ended);

	if (r < 0)
		return r;
	if (!may_delete(c, name, live, ended)) {
		cli_note(c, "nothing was changed");
		return EXIT_FAILED;
	}
	queue_path(name, NULL, &path);
	if (force)
		url_add(&path, "force", "true");
	if ((force && (r = stop_queue(c, name)) < 0) ||
	    (r = count_tasks(c, name, &live, &ended)) < 0 || /* some may have ended meanwhile */
	    (r = cli_call(c, "DELETE", path.p, NULL, &reply)) < 0)
		return r;
	if (live + ended == 0)
		say(stdout, "queue %s deleted", name);
	else
		say(stdout, "queue %s deleted, with %lld task%s and all output", name,
		    (long long)(live + ended), live + ended == 1 ? "" : "s");
	return EXIT_OK;
}

int cmd_queue_rm(struct cli *c)
{
	for (size_t i = 0; i < c->options.n_args; i++) {
		int r = delete_queue(c, c->options.args[i]);

		if (r != EXIT_OK)
			return r;
	}
	return EXIT_OK;
}
