/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The output of a service's instances: of each its present start, or the last one if it does not
 * run. When it is followed, also the starts that come later.
 */
#include <string.h>

#include "base/mem.h"
#include "cli/output/output.h"
#include "cli/reach/last.h"
#include "cli/service/services.h"
#include "cli/tasks/logs.h"

static void add_instance(struct logs *l, const json_t *instance)
{
	const char *task = js(instance, jhas(instance, "task") ? "task" : "last_task");

	if (is_id(task))
		logs_add(l, task, js(instance, "instance"));
}

static bool add_page(struct cli *c, json_t *items, const char *next, void *arg)
{
	json_t *one;
	size_t i;

	json_array_foreach(items, i, one)
	{
		add_instance(arg, one);
	}
	if (next)
		cli_note(c, "reeve: there are more than %d instances; these are the first",
		    LOGS_TASKS_MAX);
	return true;
}

static int add_present(struct logs *l, const char *name, int64_t index)
{
	AUTO(buf_release) struct buf url = {0};
	AUTO(json_drop) json_t *one = NULL;
	char number[24];
	int r;

	noun_path(l->c, &service_noun, name, "instances", &url);
	if (index < 0)
		return cli_each_page(l->c, url.p, LOGS_TASKS_MAX, add_page, l);
	snprintf(number, sizeof number, "%lld", (long long)index);
	url_add_path(&url, number);
	r = cli_get(l->c, url.p, &one);
	if (r == 0)
		add_instance(l, one);
	return r;
}

/* A service that nobody has is an error, not something to wait for. */
static int follow(struct logs *l, const char *name, int64_t index)
{
	AUTO(buf_release) struct buf url = {0};

	buf_add_cstr(&url, "/v1/tasks");
	url_add(&url, "service", name);
	return logs_follow_service(l, url.p, index);
}

int logs_add_service(struct logs *l, const char *name, int64_t index)
{
	l->is_prefixed |= index < 0;
	return l->follow ? follow(l, name, index) : add_present(l, name, index);
}

static int add_named(struct logs *l, const char *typed)
{
	AUTO(free_cstr) char *name = NULL;
	int64_t index;

	if (instance_name(l->c, typed, &name, &index) < 0)
		return l->c->problem.code;
	return logs_add_service(l, name, index);
}

int cmd_service_logs(struct cli *c)
{
	struct logs l = {.c = c, .follow = options_switch(&c->options, "follow", false)};
	int r = logs_check(c);

	if (r == 0 && !cli_client(c))
		r = c->problem.code;
	for (size_t i = 0; r == 0 && i < c->options.n_args; i++)
		r = add_named(&l, c->options.args[i]);
	if (r == 0 && l.n == 0 && !l.more)
		cli_note(c, "reeve: nothing of it has started");
	if (r == 0)
		r = logs_show(&l);
	logs_release(&l);
	return r;
}
