/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A package that cannot be built any more, in groups that are under way: its jobs there fail with
 * that reason, and the rest goes on by each group's policy. What is done already stays done when it
 * is asked for once more.
 */
#include <string.h>

#include "base/mem.h"
#include "cli/nouns/body.h"
#include "cli/nouns/graphs.h"
#include "cli/output/output.h"
#include "cli/reach/client.h"
#include "model/objects/group.h"

#define LIVE_GROUPS "queued,dispatching"
#define LIVE_JOBS "pending,schedulable,eligible,dispatched"

struct live_fail {
	const char *graph, *package, *reason;
	json_t *failed; /* what was done */
	const json_t *group;
	int rc;
};

/* As the server says where a group comes from. What is left of one has at least its series. */
static bool is_of_graph(const json_t *group, const char *graph)
{
	AUTO(buf_release) struct buf words = {0};

	buf_printf(&words, "triggered from the graph %s, version ", graph);
	return !strcmp(js(group, "series"), graph) || strstr(js(group, "reason"), words.p);
}

static int fail_job(struct cli *c, struct live_fail *f, const json_t *job)
{
	AUTO(json_drop) json_t *body = json_object(), *after = NULL;
	int r;

	json_object_set(body, "job", json_object_get(job, "task"));
	if (body_add_text(c, body, "reason", f->reason) < 0)
		return c->problem.code;
	r = noun_call(c, "POST", &group_noun, js(f->group, "id"), "fail", body, &after);
	if (r == ERR_CONFLICT) { /* it has ended meanwhile */
		c->problem = (struct problem){0};
		return 0;
	}
	if (r < 0)
		return r;
	json_array_append_new(
	    f->failed, json_pack("{s:s,s:s,s:s}", "group", js(f->group, "name"), "job",
	                   js(after, "name"), "state", js(after, "state")));
	return 0;
}

static bool fail_jobs(struct cli *c, json_t *items, const char *next, void *arg)
{
	struct live_fail *f = arg;
	json_t *job;
	size_t i;

	json_array_foreach(items, i, job) if ((f->rc = fail_job(c, f, job)) < 0) return false;
	return true;
}

static int fail_in(struct cli *c, struct live_fail *f, const json_t *group)
{
	AUTO(buf_release) struct buf url = {0}, begins = {0};
	int r;

	buf_printf(&begins, "%s#", f->package);
	buf_add_cstr(&url, "/v1/groups");
	url_add_path(&url, js(group, "id"));
	buf_add_cstr(&url, "/jobs");
	url_add(&url, "state", LIVE_JOBS);
	url_add(&url, "name", begins.p);
	f->group = group;
	r = cli_each_page(c, url.p, 0, fail_jobs, f);
	return f->rc < 0 ? f->rc : r;
}

int graph_fail_live(
    struct cli *c, const char *graph, const char *package, const char *reason, json_t *failed)
{
	AUTO(json_drop) json_t *groups = NULL;
	struct live_fail f = {graph, package, reason, failed};
	json_t *group;
	size_t i;
	int r = cli_get_list(c, "/v1/groups?state=" LIVE_GROUPS, 0, &groups);

	if (r < 0)
		return r;
	json_array_foreach(json_object_get(groups, "items"), i,
	    group) if (is_of_graph(group, graph) && (r = fail_in(c, &f, group)) < 0) return r;
	return 0;
}

void graph_tell_failed(struct cli *c, const json_t *failed)
{
	const json_t *one;
	size_t i;

	json_array_foreach(failed, i, one)
	    say(stdout, "job %s of the group %s %s", js(one, "job"), js(one, "group"),
	        strcmp(js(one, "state"), job_state_names[JOB_CANCEL_PENDING])
	            ? "has failed"
	            : "will have failed when its worker says that it is over");
	if (!json_array_size(failed))
		say(stdout, "no job of it is under way");
}
