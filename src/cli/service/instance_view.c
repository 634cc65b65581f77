/* SPDX-License-Identifier: Apache-2.0 */
/* Instances of services for people: a row for each index, and why one is as it is. */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "cli/service/services.h"

/* The state, and what is unusual about it. */
static char *state_words(const struct cli *c, const json_t *i)
{
	const char *presence = js(i, "presence"), *state = js(i, "state");

	if (strcmp(presence, "ordinary"))
		return xasprintf("%s, %s", state, presence);
	return xasprintf("%s%s", state, jb(i, "stopping") ? ", stopping" : "");
}

static char *ready_words(const struct cli *c, const json_t *i)
{
	return xstrdup(jb(i, "ready") ? "yes" : jb(i, "up") ? "no" : "");
}

static char *address_words(const struct cli *c, const json_t *i)
{
	const json_t *ports = json_object_get(i, "ports"), *port;
	AUTO(buf_release) struct buf words = {0};
	size_t k;

	if (!jhas(i, "address"))
		return NULL;
	buf_add_cstr(&words, js(i, "address"));
	json_array_foreach(ports, k, port)
	{
		buf_printf(&words, "%s%lld", k ? "," : ":", (long long)json_integer_value(port));
	}
	return xstrdup(words.p);
}

/* What it waits for, first. */
static char *story_words(const struct cli *c, const json_t *i)
{
	char when[TIME_TEXT_MAX];

	if (jhas(i, "waits_for"))
		return xasprintf("waits for %s", js(i, "waits_for"));
	if (jhas(i, "place_error"))
		return xstrdup(js(i, "place_error"));
	if (!strcmp(js(i, "state"), "CRASHED"))
		return xasprintf("%s; starts again %s", js(i, "crash_reason"),
		    jhas(i, "restarts") ? jago(i, "restarts", when) : "only when it is told to");
	return jhas(i, "crash_reason")
	           ? xasprintf("crashed %s: %s", jago(i, "crashed", when), js(i, "crash_reason"))
	           : NULL;
}

static const struct heading columns[] = {
    {"INSTANCE", HEADING_NAME, {SHOWN_TEXT, "instance"}},
    {"STATE", 0, {.words = state_words}},
    {"READY", 0, {.words = ready_words}},
    {"SINCE", HEADING_RIGHT, {SHOWN_AGO, "since"}},
    {"REVISION", HEADING_RIGHT, {SHOWN_NUMBER, "revision"}},
    {"CRASHES", HEADING_RIGHT, {SHOWN_COUNT, "crashes"}},
    {"WORKER", HEADING_STRETCH, {SHOWN_TEXT, "worker"}},
    {"ZONE", HEADING_STRETCH | HEADING_WIDE, {SHOWN_TEXT, "zone"}},
    {"ADDRESS", HEADING_STRETCH, {.words = address_words}},
    {"TASK", HEADING_WIDE, {SHOWN_TEXT, "task"}},
    {"STORY", HEADING_STRETCH | HEADING_SPARE, {.words = story_words}},
};

int instances_print(struct cli *c, const char *service, size_t most)
{
	AUTO(buf_release) struct buf path = {0};
	AUTO(json_drop) json_t *list = NULL;
	const json_t *items;
	int r;

	noun_path(c, &service_noun, service, "instances", &path);
	r = cli_get_list(c, path.p, most, &list);
	items = json_object_get(list, "items");
	if (r < 0 || !json_array_size(items))
		return r;
	putchar('\n');
	table_show(c, columns, N_OF(columns), items);
	return 0;
}

static int draw_instances(struct cli *c)
{
	static const struct listing instances = {.columns = columns,
	    .n_columns = N_OF(columns),
	    .most = 1000000,
	    .none = "it has no instances"};
	AUTO(buf_release) struct buf path = {0};

	noun_path(c, &service_noun, c->options.args[0], "instances", &path);
	return listing_show(c, &instances, path.p);
}

int cmd_service_instances(struct cli *c)
{
	return noun_alone(c) < 0 ? c->problem.code : watch_loop(c, draw_instances);
}

#define NAMES_MOST 200

void instance_names(struct cli *c, const char *typed, struct buf *out)
{
	const char *slash = strrchr(typed, '/');
	AUTO(free_cstr) char *name = slash ? xstrndup(typed, (size_t)(slash - typed)) : NULL;
	AUTO(buf_release) struct buf path = {0};
	AUTO(json_drop) json_t *list = NULL;
	json_t *one;
	size_t i;

	if (slash)
		noun_path(c, &service_noun, name, "instances", &path);
	else
		buf_add_cstr(&path, service_noun.path);
	if (cli_get_list(c, path.p, NAMES_MOST, &list) < 0)
		return;
	json_array_foreach(json_object_get(list, "items"), i, one)
	{
		text_add_clean(out, str_of(js(one, slash ? "instance" : "name")));
		if (slash)
			buf_printf(out, "\t%s", js(one, "state"));
		buf_add_char(out, '\n');
	}
}

char *service_of_task(const struct cli *c, const json_t *task)
{
	if (!jhas(task, "service_id"))
		return NULL;
	return xasprintf("%s, instance %lld",
	    jhas(task, "service") ? js(task, "service") : "one that was deleted",
	    (long long)ji(task, "index", 0));
}
