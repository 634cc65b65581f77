/* SPDX-License-Identifier: Apache-2.0 */
/* A service's JSON from the options of `service add` and `service set`. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "cli/service/services.h"
#include "cli/tasks/work.h"
#include "model/objects/service.h"

static const struct setting settings[] = {
    {"name", SETTING_TEXT},
    {"instances", SETTING_NUMBER, .max = SERVICE_INSTANCES_OF_ONE},
    {"domain", SETTING_TEXT, .none = true},
    {"ports", SETTING_NUMBER, .max = SERVICE_PORTS_MAX},
    {"need", SETTING_TEXT, .none = true},
    {"needs", SETTING_NAMES, .none = true},
    {"queue", SETTING_TEXT, .none = true},
    {"label", SETTING_PAIRS, .member = "labels"},
    {"annotation", SETTING_TEXT, .none = true},
    {"singleton", SETTING_SWITCH},
    {"reason", SETTING_TEXT},
    {NULL},
};

static const struct setting strategy[] = {
    {"strategy", SETTING_TEXT, .member = "kind"},
    {"max-surge", SETTING_NUMBER, .max = SERVICE_INSTANCES_OF_ONE},
    {"max-unavailable", SETTING_NUMBER, .max = SERVICE_INSTANCES_OF_ONE},
    {"canary", SETTING_NUMBER, .min = 1, .max = SERVICE_INSTANCES_OF_ONE},
    {"min-healthy", SETTING_TEXT},
    {"deadline", SETTING_TEXT},
    {"auto-rollback", SETTING_SWITCH},
    {NULL},
};

static const struct setting crash[] = {
    {"crash-at-once", SETTING_NUMBER, .member = "at_once", .max = SERVICE_CRASHES_AT_MOST},
    {"crash-wait", SETTING_TEXT, .member = "wait"},
    {"crash-wait-max", SETTING_TEXT, .member = "wait_max"},
    {"crash-stop-at", SETTING_NUMBER, .member = "stop_at", .max = SERVICE_CRASHES_AT_MOST},
    {"crash-reset-after", SETTING_TEXT, .member = "reset_after"},
    {NULL},
};

static int put_inside(struct cli *c, const char *member, const struct setting *table, json_t *body)
{
	json_t *inside = json_object();

	if (body_add(c, table, NULL, inside) < 0) {
		json_decref(inside);
		return c->problem.code;
	}
	if (!json_object_size(inside)) {
		json_decref(inside);
		return 0;
	}
	return json_object_set_new(body, member, inside);
}

/* JSON, or a file of it. */
static int put_routes(struct cli *c, json_t *body)
{
	const char *given = options_get(&c->options, "routes");
	AUTO(buf_release) struct buf text = {0};
	json_error_t error;
	json_t *routes;

	if (!given)
		return 0;
	if (!strcmp(given, "none"))
		return json_object_set_new(body, "routes", json_null());
	if (given[0] != '@')
		buf_add_cstr(&text, given);
	else if (input_read(c, given + 1, SERVICE_ROUTES_MAX * 4, &text) < 0)
		return c->problem.code;
	routes = json_loadb(
	    text.p ? text.p : "", text.n, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, &error);
	if (routes)
		return json_object_set_new(body, "routes", routes);
	problem_set(&c->problem, ERR_INVALID, "--routes is no JSON: %s", error.text);
	return problem_hint(
	    &c->problem, "write it like '[{\"host\":\"www.example.org\"}]', or @FILE");
}

static bool content_given(const struct cli *c)
{
	bool given = c->options.n_args > 1 || run_given(c);

	for (const struct option_def *d = content_options; d->name && !given; d++)
		given = options_given(&c->options, d->name);
	return given;
}

bool service_needs_old(const struct cli *c)
{
	return content_given(c) || body_needs_old(c, settings);
}

/* The task is replaced as a whole: what is given is put over what it is now. */
static int put_task(struct cli *c, const json_t *old, json_t *body)
{
	AUTO(json_drop) json_t *task = NULL;

	if (old && !content_given(c))
		return 0;
	if (old && !jhas(old, "task")) {
		problem_set(
		    &c->problem, ERR_DENIED, "this token may not see what the service runs");
		return problem_hint(&c->problem, "it needs the right `logs`");
	}
	task = old ? json_deep_copy(json_object_get(old, "task")) : json_object();
	if (content_put_options(c, 1, old, task) < 0 || content_missing(c, task, " NAME …") < 0)
		return c->problem.code;
	if (!old)
		directory_warn(c, task);
	return json_object_set(body, "task", task);
}

int service_put_options(struct cli *c, const json_t *old, json_t *body)
{
	if (body_add(c, settings, old, body) < 0 || put_routes(c, body) < 0 ||
	    put_inside(c, "strategy", strategy, body) < 0 ||
	    put_inside(c, "crash", crash, body) < 0)
		return c->problem.code;
	return put_task(c, old, body);
}

int instance_name(struct cli *c, const char *text, char **ret_name, int64_t *ret_index)
{
	const char *slash = strrchr(text, '/');

	*ret_index = -1;
	if (slash && !str_to_i64(str_of(slash + 1), 0, SERVICE_INSTANCES_OF_ONE - 1, ret_index)) {
		problem_set(&c->problem, ERR_INVALID, "\"%.64s\" is not an index", slash + 1);
		return problem_hint(&c->problem, "write NAME/INDEX, as in web/0");
	}
	*ret_name = slash ? xstrndup(text, (size_t)(slash - text)) : xstrdup(text);
	return 0;
}
