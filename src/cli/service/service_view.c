/* SPDX-License-Identifier: Apache-2.0 */
/* Services for people: in a list, all about one, its revisions and how two of them differ. */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "cli/service/services.h"

#define REVISIONS_SHOWN 5
#define INSTANCES_SHOWN 30

static char *deploy_words(const struct cli *c, const json_t *service)
{
	const char *state = js(json_object_get(service, "deploy"), "state");

	return xstrdup(jb(service, "deleting") ? "deleting" : state);
}

/* Why not all run: first what keeps some from a start. */
static char *trouble_words(const struct cli *c, const json_t *service)
{
	if (jhas(service, "place_error"))
		return xstrdup(js(service, "place_error"));
	return jhas(service, "crash_reason") ? xstrdup(js(service, "crash_reason")) : NULL;
}

static const struct heading columns[] = {
    {"SERVICE", HEADING_STRETCH | HEADING_NAME, {SHOWN_TEXT, "name"}},
    {"WANTED", HEADING_RIGHT, {SHOWN_COUNT, "instances"}},
    {"RUNNING", HEADING_RIGHT, {SHOWN_COUNT, "counts.running"}},
    {"READY", HEADING_RIGHT, {SHOWN_COUNT, "counts.ready"}},
    {"STARTING", HEADING_RIGHT | HEADING_WIDE, {SHOWN_COUNT, "counts.claimed"}},
    {"CRASHED", HEADING_RIGHT, {SHOWN_COUNT, "counts.crashed"}},
    {"UNPLACED", HEADING_RIGHT, {SHOWN_COUNT, "counts.unplaced"}},
    {"DEPLOY", 0, {.words = deploy_words}},
    {"REVISION", HEADING_RIGHT, {SHOWN_NUMBER, "deploy.target"}},
    {"DOMAIN", HEADING_STRETCH, {SHOWN_TEXT, "domain"}},
    {"QUEUE", HEADING_STRETCH | HEADING_WIDE, {SHOWN_TEXT, "queue"}},
    {"CHANGED", HEADING_RIGHT | HEADING_WIDE, {SHOWN_AGO, "mtime"}},
    {"TROUBLE", HEADING_STRETCH | HEADING_SPARE, {.words = trouble_words}},
};

const struct listing service_list = {.columns = columns,
    .n_columns = N_OF(columns),
    .usual = 100,
    .most = 1000000,
    .none = "there are no services; reeve service add makes one",
    .none_such = "no service is like that"};

static char *counts_words(const struct cli *c, const json_t *service)
{
	static const char *const names[] = {
	    "running", "claimed", "unclaimed", "crashed", "evacuating", "suspect"};
	const json_t *counts = json_object_get(service, "counts");
	AUTO(buf_release) struct buf words = {0};

	buf_printf(&words, "%lld wanted, %lld ready", (long long)ji(service, "instances", 0),
	    (long long)ji(counts, "ready", 0));
	for (size_t i = 0; i < N_OF(names); i++)
		if (ji(counts, names[i], 0))
			buf_printf(
			    &words, ", %lld %s", (long long)ji(counts, names[i], 0), names[i]);
	return xstrdup(words.p);
}

static char *revision_words(const struct cli *c, const json_t *service)
{
	const json_t *deploy = json_object_get(service, "deploy");
	int64_t target = ji(deploy, "target", 0), stable = ji(deploy, "stable", 0);

	if (!stable)
		return xasprintf("%lld, none was healthy yet", (long long)target);
	if (stable == target)
		return xasprintf("%lld", (long long)target);
	return xasprintf(
	    "%lld; the last that was healthy is %lld", (long long)target, (long long)stable);
}

static char *state_words(const struct cli *c, const json_t *service)
{
	const json_t *deploy = json_object_get(service, "deploy");

	if (jb(service, "deleting"))
		return xstrdup("deleting: it goes with its last instance");
	return xasprintf(
	    "%s%s%s", js(deploy, "state"), *js(deploy, "why") ? ": " : "", js(deploy, "why"));
}

static char *strategy_words(const struct cli *c, const json_t *service)
{
	const json_t *s = json_object_get(service, "strategy");
	char healthy[TIME_TEXT_MAX], deadline[TIME_TEXT_MAX];

	return xasprintf("%s, at most %lld more and %lld fewer, healthy after %s, deadline %s%s",
	    js(s, "kind"), (long long)ji(s, "max_surge", 0), (long long)ji(s, "max_unavailable", 0),
	    time_human_ms(ji(s, "min_healthy_ms", 0), healthy),
	    ji(s, "deadline_ms", 0) ? time_human_ms(ji(s, "deadline_ms", 0), deadline) : "none",
	    jb(s, "auto_rollback") ? ", goes back by itself" : "");
}

static char *crash_words(const struct cli *c, const json_t *service)
{
	const json_t *s = json_object_get(service, "crash");
	char wait[TIME_TEXT_MAX], most[TIME_TEXT_MAX];

	return xasprintf("%lld at once, then after %s to %s", (long long)ji(s, "at_once", 0),
	    time_human_ms(ji(s, "wait_ms", 0), wait), time_human_ms(ji(s, "wait_max_ms", 0), most));
}

static const struct fact facts[] = {
    {"service", {SHOWN_TEXT, "name"}},
    {"id", {SHOWN_TEXT, "id"}},
    {"domain", {SHOWN_TEXT, "domain"}},
    {"instances", {.words = counts_words}},
    {"no place", {SHOWN_TEXT, "place_error"}},
    {"last crash", {SHOWN_TEXT, "crash_reason"}},
    {"deploy", {.words = state_words}},
    {"revision", {.words = revision_words}},
    {"strategy", {.words = strategy_words}},
    {"after a crash", {.words = crash_words}},
    {"ports", {SHOWN_NUMBER, "ports"}},
    {"of its worker", {SHOWN_NEED, "need"}},
    {"needs", {SHOWN_NAMES, "needs"}},
    {"queue", {SHOWN_TEXT, "queue"}},
    {"command", {SHOWN_COMMAND, "task.command"}},
    {"action", {SHOWN_JSON, "task.action"}},
    {"params", {SHOWN_JSON, "task.params"}},
    {"cwd", {SHOWN_TEXT, "task.cwd"}},
    {"env", {SHOWN_PAIRS, "task.env"}},
    {"run", {SHOWN_OBJECT, "task.run"}},
    {"routes", {SHOWN_JSON, "routes"}},
    {"labels", {SHOWN_PAIRS, "labels"}},
    {"annotation", {SHOWN_TEXT, "annotation"}},
    {"made", {SHOWN_TIME, "ctime"}},
    {"changed", {SHOWN_TIME, "mtime"}},
    {"changed by", {SHOWN_TEXT, "actor"}},
};

static char *mark_words(const struct cli *c, const json_t *revision)
{
	return xasprintf("%s%s%s", jb(revision, "target") ? "wanted" : "",
	    jb(revision, "target") && jb(revision, "stable") ? ", " : "",
	    jb(revision, "stable") ? "last healthy" : "");
}

static const struct heading revision_columns[] = {
    {"REVISION", HEADING_RIGHT, {SHOWN_NUMBER, "revision"}},
    {"OUTCOME", 0, {SHOWN_TEXT, "outcome"}},
    {"INSTANCES", HEADING_RIGHT, {SHOWN_COUNT, "instances"}},
    {"IS", 0, {.words = mark_words}},
    {"AGE", HEADING_RIGHT, {SHOWN_AGO, "time"}},
    {"BY", HEADING_STRETCH, {SHOWN_TEXT, "actor"}},
    {"COMMAND", HEADING_STRETCH, {SHOWN_COMMAND, "task.command"}},
    {"REASON", HEADING_STRETCH, {SHOWN_TEXT, "reason"}},
};

static int show_more(struct cli *c, const json_t *service)
{
	AUTO(json_drop) json_t *page = NULL;
	json_t *items;
	int r = noun_call(c, "GET", &service_noun, js(service, "name"), "revisions", NULL, &page);

	if (r < 0 || (r = instances_print(c, js(service, "name"), INSTANCES_SHOWN)) < 0)
		return r;
	items = json_object_get(page, "items");
	while (json_array_size(items) > REVISIONS_SHOWN)
		json_array_remove(items, json_array_size(items) - 1);
	putchar('\n');
	table_show(c, revision_columns, N_OF(revision_columns), items);
	return EXIT_OK;
}

const struct view service_view = {facts, N_OF(facts), show_more};

static int draw_history(struct cli *c)
{
	static const struct listing history = {.columns = revision_columns,
	    .n_columns = N_OF(revision_columns),
	    .most = 1000000,
	    .none = "it has no revisions"};
	AUTO(buf_release) struct buf path = {0};

	noun_path(c, &service_noun, c->options.args[0], "revisions", &path);
	return listing_show(c, &history, path.p);
}

int cmd_service_history(struct cli *c)
{
	return noun_alone(c) < 0 ? c->problem.code : watch_loop(c, draw_history);
}

static char *side(const json_t *change, const char *name)
{
	const json_t *v = json_object_get(change, name);

	if (!v || json_is_null(v))
		return xstrdup("nothing");
	return json_dumps(v, JSON_ENCODE_ANY | JSON_COMPACT);
}

void changes_print(struct cli *c, const json_t *changes)
{
	const json_t *one;
	size_t i;

	json_array_foreach(changes, i, one)
	{
		AUTO(free_cstr) char *from = side(one, "from"), *to = side(one, "to");

		say(stdout, "  %s: %s %s %s", js(one, "member"), from, c->term.utf8 ? "→" : "->",
		    to);
	}
}

static void add_revision(struct buf *path, const char *name, const char *number)
{
	if (number)
		url_add(path, name, number);
}

int cmd_service_diff(struct cli *c)
{
	const struct options *o = &c->options;
	const char *from = o->n_args > 1 ? o->args[1] : NULL,
	           *to = o->n_args > 2 ? o->args[2] : NULL;
	AUTO(buf_release) struct buf path = {0};
	AUTO(json_drop) json_t *diff = NULL;
	const json_t *changes;
	int r;

	if (o->n_args > 3)
		return problem_set(&c->problem, ERR_INVALID,
		    "reeve service diff takes a NAME and two revisions at most");
	noun_path(c, &service_noun, o->args[0], "diff", &path);
	add_revision(&path, "from", from);
	add_revision(&path, "to", to);
	r = cli_get(c, path.p, &diff);
	if (r < 0)
		return r;
	if (wants_machine(c)) {
		print_json(c, diff);
		return EXIT_OK;
	}
	changes = json_object_get(diff, "changes");
	if (jhas(diff, "from"))
		say(stdout, "from revision %lld to revision %lld", (long long)ji(diff, "from", 0),
		    (long long)ji(diff, "to", 0));
	else
		say(stdout, "revision %lld, before which there is none",
		    (long long)ji(diff, "to", 0));
	changes_print(c, changes);
	if (!json_array_size(changes))
		say(stdout, "  no difference");
	return EXIT_OK;
}
