/* SPDX-License-Identifier: Apache-2.0 */
/* Groups: what can be asked of one by its id, its name or @last. */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/world/clock.h"
#include "cli/frame/cmds.h"
#include "cli/group/group.h"
#include "cli/group/live.h"
#include "cli/nouns/noun.h"
#include "cli/reach/last.h"
#include "cli/reach/target.h"

static int last_group(struct cli *c, const char *typed, char ret_id[25])
{
	return group_resolve(typed, ret_id, &c->problem);
}

static void unknown(struct cli *c, const char *name)
{
	target_hint(c, name, TARGET_GROUP);
}

const struct noun group_noun = {.word = "group",
    .path = "/v1/groups",
    .list = &group_list,
    .view = &group_view,
    .gone = "deleted",
    .resolve = last_group,
    .unknown = unknown,
    .has_names = true};

int group_get_live(struct cli *c, const char *group, struct live *ret_live)
{
	AUTO(json_drop) json_t *reply = NULL;
	int r = noun_call(c, "GET", &group_noun, group, "graph", NULL, &reply);

	if (r == 0 && jhas(reply, "problem"))
		cli_note(c, "%s", js(reply, "problem"));
	return r < 0 ? r : live_load(reply, ret_live, &c->problem);
}

/* Of a group that is being cancelled. */
static bool nothing_runs(struct cli *c, const char *group)
{
	AUTO(json_drop) json_t *list = NULL;
	struct problem was = c->problem;
	int r = noun_call(c, "GET", &group_noun, group,
	    "jobs?state=dispatched,cancel-pending&limit=1", NULL, &list);

	c->problem = was; /* it was cancelled, whatever can be said of it */
	return r == 0 && json_array_size(json_object_get(list, "items")) == 0;
}

int group_end_early(struct cli *c, const char *group)
{
	const char *reason = options_get(&c->options, "reason");
	AUTO(json_drop) json_t *body = json_object(), *reply = NULL;
	int r;

	if (reason)
		json_object_set_new(body, "reason", json_string(reason));
	r = noun_call(c, "POST", &group_noun, group, "cancel", body, &reply);
	if (r < 0)
		return r;
	if (wants_machine(c))
		print_json(c, reply);
	else if (!c->quiet)
		say(stdout, "group %s %s", js(reply, "name"),
		    group_state_of(js(reply, "state")) == GROUP_CANCELED ? "cancelled"
		    : nothing_runs(c, group)
		        ? "is being cancelled: what waits ends, and nothing runs"
		        : "is being cancelled: what waits has ended, what runs is told");
	return EXIT_OK;
}

static int cancel_one(struct cli *c, const struct noun *n, const char *name)
{
	return group_end_early(c, name);
}

int cmd_group_cancel(struct cli *c)
{
	return noun_each(c, cancel_one);
}

/* A job ends at once, or when its worker has said so: until then it is cancel-pending. */
int cmd_group_fail(struct cli *c)
{
	const char *reason = options_get(&c->options, "reason");
	AUTO(json_drop) json_t *body = json_object(), *job = NULL;
	const char **args = c->options.args;
	int r;

	if (c->options.n_args != 2 || !reason || !*reason) {
		problem_set(
		    &c->problem, ERR_INVALID, "reeve group fail takes GROUP JOB --reason TEXT");
		return problem_hint(
		    &c->problem, "reeve group fail nightly build --reason 'plan disconnected'");
	}
	if (body_add_text(c, body, "job", args[1]) < 0 ||
	    body_add_text(c, body, "reason", reason) < 0)
		return c->problem.code;
	r = noun_call(c, "POST", &group_noun, args[0], "fail", body, &job);
	if (r < 0)
		return r;
	if (wants_machine(c))
		print_json(c, job);
	else if (!c->quiet)
		say(stdout, "job %s %s", js(job, "name"),
		    strcmp(js(job, "state"), job_state_names[JOB_CANCEL_PENDING])
		        ? "has failed"
		        : "will have failed when its worker says that it is over");
	return EXIT_OK;
}

int group_explain(struct cli *c, const char *group)
{
	AUTO(json_drop) json_t *why = NULL;
	int r = noun_call(c, "GET", &group_noun, group, "why", NULL, &why);

	if (r < 0)
		return r;
	why_show(c, why);
	if (!wants_machine(c))
		r = left_out_show(c, group);
	return r < 0 ? r : EXIT_OK;
}

/* Of the group, or of one of its jobs: GROUP JOB, or GROUP/JOB as elsewhere. */
int cmd_group_why(struct cli *c)
{
	const char **args = c->options.args;
	AUTO(json_drop) json_t *job = NULL;
	int r;

	if (c->options.n_args > 2)
		return problem_set(&c->problem, ERR_INVALID, "reeve group why takes GROUP [JOB]");
	if (c->options.n_args == 2) {
		r = group_job_get(c, args[0], args[1], &job);
		return r < 0 ? r : why_task(c, js(job, "task"));
	}
	return strchr(args[0], '/') ? cmd_why(c) : group_explain(c, args[0]);
}

int cmd_group_graph(struct cli *c)
{
	AUTO(live_release) struct live l = {0};
	AUTO(forecast_release) struct forecast f = {0};
	AUTO(buf_release) struct buf out = {0};
	AUTO(json_drop) json_t *reply = NULL;
	int r = noun_alone(c);

	if (r == 0)
		r = noun_call(c, "GET", &group_noun, c->options.args[0], "graph", NULL, &reply);
	if (r < 0)
		return r;
	if (wants_machine(c)) {
		print_json(c, reply);
		return EXIT_OK;
	}
	if ((r = live_load(reply, &l, &c->problem)) < 0)
		return r;
	forecast_make(&l, clock_wall_ms(), &f);
	if ((r = live_dot(&l, &f, &out, &c->problem)) < 0)
		return r;
	if (c->format == FORMAT_SVG)
		return graphviz_draw(buf_str(&out), &c->problem);
	fwrite(out.p, 1, out.n, stdout);
	return EXIT_OK;
}
