/* SPDX-License-Identifier: Apache-2.0 */
/* A schedule's group from the command line: a file of jobs or packages, or a trigger. */
#include <string.h>

#include "base/mem.h"
#include "cli/group/group.h"
#include "cli/schedule/schedules.h"
#include "graph/limits.h"
#include "model/objects/schedule.h"

bool schedule_group_given(const struct cli *c)
{
	return options_given(&c->options, "group") || options_given(&c->options, "trigger");
}

/* What is said only of groups. */
int schedule_check_group(struct cli *c)
{
	static const char *const only[] = {"touched", "unbuildable", "rounds", "policy", "series"};
	bool is_file = options_given(&c->options, "group");

	if (is_file && options_given(&c->options, "trigger"))
		return problem_set(
		    &c->problem, ERR_INVALID, "--group and --trigger exclude each other");
	for (size_t i = 0; i < N_OF(only); i++) {
		if (!options_given(&c->options, only[i]) || (is_file && i > 2) ||
		    options_given(&c->options, "trigger"))
			continue;
		return problem_set(&c->problem, ERR_INVALID, "--%s goes only with --%s", only[i],
		    i > 2 ? "group or --trigger" : "trigger");
	}
	return 0;
}

static int said_of(struct cli *c, json_t *said)
{
	static const char *const texts[] = {"policy", "series"};

	for (size_t i = 0; i < N_OF(texts); i++) {
		const char *value = options_get(&c->options, texts[i]);

		if (value && body_add_text(c, said, texts[i], value) < 0)
			return c->problem.code;
	}
	return 0;
}

static int put_file(struct cli *c, const char *path, json_t *body)
{
	AUTO(buf_release) struct buf text = {0}, group = {0};
	AUTO(json_drop) json_t *said = json_object(), *where = json_object();
	const char *given = options_get(&c->options, "cwd");
	AUTO(group_said_release) struct group_said in_file = {0};
	int r;

	if (c->options.n_args > 1) {
		problem_set(
		    &c->problem, ERR_INVALID, "the jobs of --group have their own commands");
		return problem_hint(&c->problem, "leave out what stands after \"--\"");
	}
	if ((r = input_read(c, path, SCHEDULE_GROUP_MAX, &text)) < 0 ||
	    (r = group_file_check(buf_str(&text), &in_file, &c->problem)) < 0 ||
	    (r = said_of(c, said)) < 0 || (given && (r = directory_put(c, given, where)) < 0) ||
	    (r = group_body(buf_str(&text), said, json_string_value(json_object_get(where, "cwd")),
	         &group, &c->problem)) < 0)
		return r;
	json_object_set_new(body, "group", json_stringn(group.p, group.n));
	return 0;
}

static int put_trigger(struct cli *c, const char *graph, json_t *body)
{
	json_t *group = json_object();

	json_object_set_new(body, "group", group);
	return group_trigger_body(c, graph, 1, group);
}

int schedule_put_group(struct cli *c, json_t *body)
{
	const char *file = options_get(&c->options, "group");

	return file ? put_file(c, file, body)
	            : put_trigger(c, options_get(&c->options, "trigger"), body);
}

static size_t lines_of(const char *text)
{
	size_t n = *text != 0;

	for (; *text; text++)
		n += *text == '\n' && text[1];
	return n;
}

char *group_of_schedule(const struct cli *c, const json_t *schedule)
{
	const json_t *group = json_object_get(schedule, "group");

	if (json_is_string(group))
		return xasprintf("a file of %zu lines", lines_of(json_string_value(group)));
	if (!json_is_object(group))
		return NULL;
	if (jhas(group, "graph") && !jhas(group, "touched"))
		return xasprintf("everything in the graph %s", js(group, "graph"));
	if (jhas(group, "graph"))
		return xasprintf("what a change of %zu packages of the graph %s leads to",
		    json_array_size(json_object_get(group, "touched")), js(group, "graph"));
	if (json_object_get(group, "packages"))
		return xasprintf(
		    "%zu packages", json_array_size(json_object_get(group, "packages")));
	return xasprintf("%zu jobs", json_array_size(json_object_get(group, "jobs")));
}
