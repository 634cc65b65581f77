/* SPDX-License-Identifier: Apache-2.0 */
/* cancel, retry, hold, release: on one task or batch, on some, or on everything that matches. */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "cli/frame/cmds.h"
#include "cli/group/group.h"
#include "cli/output/output.h"
#include "cli/reach/target.h"
#include "cli/tasks/work.h"
#include "model/limits.h"

#define QUEUED_STATUS (-2)

struct act {
	const char *verb, *done; /* "cancel", "cancelled" */
};

static json_t *body_of(struct cli *c)
{
	const char *reason = options_get(&c->options, "reason");
	json_t *body = json_object();

	if (reason)
		json_object_set_new(body, "reason", json_string(reason));
	return body;
}

static int act_on_one(struct cli *c, const struct act *a, const char *id)
{
	AUTO(json_drop) json_t *body = body_of(c), *reply = NULL;
	AUTO(free_cstr) char *path = NULL;
	bool patches = !strcmp(a->verb, "hold") || !strcmp(a->verb, "release");
	int r;

	if (patches) {
		path = xasprintf("/v1/tasks/%s", id);
		json_object_set_new(body, "status",
		    json_integer(!strcmp(a->verb, "hold") ? HELD_STATUS : QUEUED_STATUS));
	} else {
		path = xasprintf("/v1/tasks/%s/%s", id, a->verb);
	}
	r = cli_call(c, patches ? "PATCH" : "POST", path, body, &reply);
	if (r < 0)
		return r;
	if (wants_machine(c))
		print_json(c, reply);
	else if (!c->quiet)
		printf("%s %s\n", id,
		    jb(reply, "cancelling") ? "is being cancelled: it runs, and is killed first"
		                            : a->done);
	return EXIT_OK;
}

static int post_action(
    struct cli *c, const struct act *a, json_t *body, bool dry_run, json_t **ret_reply)
{
	AUTO(free_cstr) char *path = xasprintf("/v1/tasks/actions/%s", a->verb);

	json_object_set_new(body, "dry_run", json_boolean(dry_run));
	return cli_call(c, "POST", path, body, ret_reply);
}

static int show_action(struct cli *c, const struct act *a, json_t *reply, bool dry_run)
{
	json_t *error;
	size_t i;

	if (wants_machine(c)) {
		print_json(c, reply);
	} else if (dry_run) {
		printf("%lld match; none was %s\n", (long long)ji(reply, "matched", 0), a->done);
	} else if (!c->quiet) {
		printf("%lld of %lld %s\n", (long long)ji(reply, "changed", 0),
		    (long long)ji(reply, "matched", 0), a->done);
	}
	json_array_foreach(json_object_get(reply, "errors"), i, error)
	    say(stderr, "reeve: %s %s", js(error, "id"),
	        json_is_string(error) ? json_string_value(error) : js(error, "detail"));
	return ji(reply, "refused", 0) > 0 ? EXIT_FAILED : EXIT_OK;
}

static int act_on_many(struct cli *c, const struct act *a, json_t *body)
{
	bool dry_run = options_switch(&c->options, "dry-run", false);
	AUTO(json_drop) json_t *reply = NULL, *count = NULL;
	int64_t matched;
	int r;

	if (!dry_run && !options_switch(&c->options, "yes", false) && c->term.in_tty &&
	    c->term.err_tty) {
		r = post_action(c, a, body, true, &count);
		if (r < 0)
			return r;
		matched = ji(count, "matched", 0);
		if (matched > 1 && !confirm(c, "%s %lld tasks?", a->verb, (long long)matched))
			return not_confirmed(c);
	}
	r = post_action(c, a, body, dry_run, &reply);
	return r < 0 ? r : show_action(c, a, reply, dry_run);
}

/* What matches, of all or of what the target is. */
static int act_on_filter(struct cli *c, const struct act *a, const struct target *t)
{
	AUTO(json_drop) json_t *body = body_of(c);
	json_t *filter = NULL;

	if (filter_json(c, &filter) < 0)
		return c->problem.code;
	if (t)
		json_object_set_new(
		    filter, t->kind == TARGET_GROUP ? "group" : "batch", json_string(t->id));
	json_object_set_new(body, "filter", filter);
	if (options_switch(&c->options, "all", false))
		json_object_set_new(body, "all", json_true());
	return act_on_many(c, a, body);
}

static int retries_group(struct cli *c, const char *id)
{
	problem_set(&c->problem, ERR_INVALID,
	    "jobs of a group are not queued again: what needed them has been skipped");
	return problem_hint(
	    &c->problem, "`reeve group retry %s` makes a new group of what is left", id);
}

/* A group is cancelled as a whole; with filters, or by the other verbs, those of its jobs. */
static int act_on_group(struct cli *c, const struct act *a, const struct target *t)
{
	if (!strcmp(a->verb, "retry"))
		return retries_group(c, t->id);
	if (strcmp(a->verb, "cancel") || filter_given(c) ||
	    options_switch(&c->options, "dry-run", false))
		return act_on_filter(c, a, t);
	return group_end_early(c, t->id);
}

/* Tasks together, and each batch or group that is among them by itself. */
static int act_on_several(struct cli *c, const struct act *a)
{
	AUTO(json_drop) json_t *body = body_of(c);
	json_t *ids = json_array();
	int code = EXIT_OK, r;

	json_object_set_new(body, "ids", ids);
	for (size_t i = 0; i < c->options.n_args; i++) {
		struct target t;

		if (target_find(c, c->options.args[i], &t) < 0)
			return c->problem.code;
		if (t.kind == TARGET_TASK) {
			json_array_append_new(ids, json_string(t.id));
			continue;
		}
		r = t.kind == TARGET_GROUP ? act_on_group(c, a, &t) : act_on_filter(c, a, &t);
		if (r < 0)
			return r;
		code = r > code ? r : code;
	}
	r = json_array_size(ids) ? act_on_many(c, a, body) : EXIT_OK;
	return r < 0 || r > code ? r : code;
}

static int mixed(struct cli *c)
{
	problem_set(&c->problem, ERR_INVALID, "ids and filters cannot be mixed");
	return problem_hint(&c->problem, "name the ids, or what they have in common");
}

/* A batch, with filters: those of its tasks that match. */
static int act_on_named(struct cli *c, const struct act *a)
{
	struct target t;

	if (c->options.n_args > 1)
		return filter_given(c) ? mixed(c) : act_on_several(c, a);
	if (target_find(c, c->options.args[0], &t) < 0)
		return c->problem.code;
	if (t.kind == TARGET_BATCH)
		return act_on_filter(c, a, &t);
	if (t.kind == TARGET_GROUP)
		return act_on_group(c, a, &t);
	if (filter_given(c))
		return mixed(c);
	return options_switch(&c->options, "dry-run", false) ? act_on_several(c, a)
	                                                     : act_on_one(c, a, t.id);
}

static int act(struct cli *c, const struct act *a)
{
	if (c->options.n_args > 0)
		return act_on_named(c, a);
	if (filter_given(c) || options_switch(&c->options, "all", false))
		return act_on_filter(c, a, NULL);
	problem_set(&c->problem, ERR_INVALID, "which tasks? none was named");
	return problem_hint(&c->problem, "name ids, @last, filters (--state, --queue, --label, "
	                                 "--batch, --since), or --all for really all");
}

int cmd_cancel(struct cli *c)
{
	return act(c, &(struct act){"cancel", "cancelled"});
}

int cmd_retry(struct cli *c)
{
	return act(c, &(struct act){"retry", "queued again"});
}

int cmd_task_hold(struct cli *c)
{
	return act(c, &(struct act){"hold", "held"});
}

int cmd_task_release(struct cli *c)
{
	return act(c, &(struct act){"release", "released"});
}
