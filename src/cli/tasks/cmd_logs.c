/* SPDX-License-Identifier: Apache-2.0 */
/* `reeve logs`: what one task wrote, or several, each line then with its task before it. */
#include <string.h>

#include "base/mem.h"
#include "base/world/clock.h"
#include "cli/frame/cmds.h"
#include "cli/group/group.h"
#include "cli/output/output.h"
#include "cli/reach/last.h"
#include "cli/reach/target.h"
#include "cli/tasks/logs.h"

/* Output is kept without times, so it is the task that is old, not the line. */
bool logs_wants(const struct logs *l, const json_t *task)
{
	int64_t ended_ms = jtime(task, "ended");

	return !l->since_ms || !ended_ms || ended_ms >= l->since_ms;
}

int logs_get_since(struct logs *l)
{
	const char *text = options_get(&l->c->options, "since");
	int64_t ms;

	if (!text)
		return 0;
	if (time_parse(str_of(text), &l->since_ms))
		return 0;
	if (str_to_duration_ms(str_of(text), &ms)) {
		l->since_ms = clock_wall_ms() - ms;
		return 0;
	}
	problem_set(&l->c->problem, ERR_INVALID,
	    "--since: \"%.64s\" is neither a time nor a duration", text);
	return problem_hint(&l->c->problem, "write it like 10m, or 2026-11-15T21:08:45Z");
}

/* All else is as in `task ls`: this is ours. */
static bool is_age(const struct option_def *o)
{
	return strcmp(o->name, "since") == 0;
}

static int matching_url(struct logs *l, const char *batch, struct buf *url)
{
	const char *group = options_get(&l->c->options, "group"), *value;
	char group_id[25];
	size_t at;

	buf_add_cstr(url, "/v1/tasks");
	if (batch)
		url_add(url, "batch", batch);
	if (group && group_id_of(l->c, group, group_id) < 0)
		return l->c->problem.code;
	if (group)
		url_add(url, "group", group_id);
	for (const struct option_def *o = filter_options; o->name; o++)
		for (at = 0; filter_is_plain(o) && !is_age(o) &&
		             (value = options_next(&l->c->options, o->name, &at));)
			url_add(url, o->name, value);
	return 0;
}

static int add_oldest(struct logs *l, struct buf *url)
{
	AUTO(json_drop) json_t *list = NULL;
	json_t *task;
	size_t i;
	int r;

	url_add(url, "order", "asc");
	r = cli_get_list(l->c, url->p, LOGS_TASKS_MAX, &list);
	if (r < 0)
		return r;
	if (jhas(list, "next"))
		cli_note(
		    l->c, "reeve: more than %d tasks match; these are the oldest", LOGS_TASKS_MAX);
	json_array_foreach(json_object_get(list, "items"), i, task)
	{
		AUTO(free_cstr) char *name = logs_name(task);

		if (is_id(js(task, "id")) && logs_wants(l, task))
			logs_add(l, js(task, "id"), name);
	}
	return 0;
}

static int add_matching(struct logs *l, const char *batch)
{
	AUTO(buf_release) struct buf url = {0};
	int r = matching_url(l, batch, &url);

	if (r < 0)
		return r;
	l->is_prefixed |= options_given(&l->c->options, "service");
	if (l->follow && options_given(&l->c->options, "service"))
		return logs_follow_service(l, url.p, -1);
	return add_oldest(l, &url);
}

static int add_named(struct logs *l, const char *typed)
{
	AUTO(json_drop) json_t *task = NULL;
	AUTO(free_cstr) char *path = NULL;
	struct target named;
	int r;

	if (target_find_any(l->c, typed, &named) < 0)
		return l->c->problem.code;
	if (named.kind == TARGET_BATCH)
		return add_matching(l, named.id);
	if (named.kind == TARGET_GROUP)
		return logs_add_group(l, named.id);
	if (named.kind == TARGET_SERVICE)
		return logs_add_service(l, named.id, named.index);
	if (l->since_ms) {
		path = xasprintf("/v1/tasks/%s", named.id);
		r = cli_get(l->c, path, &task);
		if (r < 0 || !logs_wants(l, task))
			return r;
	}
	logs_add(l, named.id, NULL);
	return 0;
}

static bool filters_given(const struct cli *c)
{
	bool given = false;

	for (const struct option_def *o = filter_options; o->name; o++)
		given |= !is_age(o) && options_given(&c->options, o->name);
	return given;
}

static int which_tasks(struct logs *l)
{
	struct cli *c = l->c;
	const char *batch = options_get(&c->options, "batch");
	char id[25];
	int r = logs_get_since(l);

	if (c->options.n_args > 0 && filters_given(c)) {
		problem_set(&c->problem, ERR_INVALID, "ids and filters cannot be mixed");
		return problem_hint(&c->problem, "name the ids, or what they have in common");
	}
	if (c->options.n_args == 0 && !filters_given(c)) {
		problem_set(&c->problem, ERR_INVALID, "the output of which tasks? none was named");
		return problem_hint(
		    &c->problem, "name ids, @last, --batch ID, --queue NAME or other filters");
	}
	for (size_t i = 0; r == 0 && i < c->options.n_args; i++)
		r = add_named(l, c->options.args[i]);
	if (r == 0 && c->options.n_args == 0)
		r = batch && batch_find(c, batch, id) < 0 ? c->problem.code
		                                          : add_matching(l, batch ? id : NULL);
	return r;
}

int cmd_logs(struct cli *c)
{
	struct logs l = {.c = c, .follow = options_switch(&c->options, "follow", false)};
	int r = logs_check(c);

	if (r == 0)
		r = cli_client(c) ? which_tasks(&l) : c->problem.code;

	if (r == 0 && l.follow && l.n > FOLLOWED_AT_ONCE)
		cli_note(c, "reeve: following %d of %zu tasks at a time, the oldest first",
		    FOLLOWED_AT_ONCE, l.n);
	if (r == 0 && l.n == 0 && !l.more)
		cli_note(c, "reeve: no task matches");
	if (r == 0)
		r = logs_show(&l);
	logs_release(&l);
	return r;
}
