/* SPDX-License-Identifier: Apache-2.0 */
/* Services that a server keeps: the commands that make, change and deploy them. */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "cli/frame/cmds.h"
#include "cli/service/services.h"
#include "model/objects/service.h"

const struct noun service_noun = {.word = "service",
    .path = "/v1/services",
    .list = &service_list,
    .view = &service_view,
    .gone = "deleted"};

/* A change of what runs is more than a change. */
static void tell(struct cli *c, json_t *service, const char *done, int64_t before)
{
	const json_t *deploy = json_object_get(service, "deploy");
	int64_t target = ji(deploy, "target", 0);

	if (wants_machine(c)) {
		print_json(c, service);
		return;
	}
	if (c->quiet)
		return;
	if (before >= 0 && target != before)
		say(stdout, "service %s %s: revision %lld", js(service, "name"), done,
		    (long long)target);
	else
		say(stdout, "service %s %s", js(service, "name"), done);
}

static int needs_name(struct cli *c)
{
	const struct options *o = &c->options;

	if (o->n_args > 0 && !(o->has_dashes && o->dashes_at == 0))
		return 0;
	problem_set(&c->problem, ERR_INVALID, "a service needs a name");
	return problem_hint(&c->problem,
	    "put it before the command, as in: reeve %s NAME … -- ./server", c->command->path);
}

int cmd_service_add(struct cli *c)
{
	AUTO(json_drop) json_t *body = json_object(), *service = NULL;
	int r;

	if (needs_name(c) < 0 || body_add_text(c, body, "name", c->options.args[0]) < 0 ||
	    service_put_options(c, NULL, body) < 0)
		return c->problem.code;
	r = cli_call(c, "POST", service_noun.path, body, &service);
	if (r < 0)
		return r;
	tell(c, service, "added", -1);
	return EXIT_OK;
}

struct filled {
	int64_t target; /* before the change; -1: not known */
};

static int fill(struct cli *c, void *arg, const json_t *old, json_t *body)
{
	AUTO(json_drop) json_t *none = json_object();

	if (old)
		((struct filled *)arg)->target = ji(json_object_get(old, "deploy"), "target", -1);
	return service_put_options(c, old ? old : none, body);
}

int cmd_service_set(struct cli *c)
{
	struct filled filled = {-1};
	const struct change change = {service_needs_old(c), fill, &filled};
	AUTO(json_drop) json_t *service = NULL;
	int r = needs_name(c) < 0
	            ? c->problem.code
	            : noun_change(c, &service_noun, c->options.args[0], &change, &service);

	if (r < 0)
		return r;
	tell(c, service, "changed", filled.target);
	return EXIT_OK;
}

static int scale(struct cli *c, const char *name, const char *number)
{
	AUTO(json_drop) json_t *body = json_object(), *service = NULL;
	AUTO(free_cstr) char *done = NULL;
	int64_t n;
	int r;

	if (!str_to_i64(str_of(number), 0, SERVICE_INSTANCES_OF_ONE, &n))
		return problem_set(&c->problem, ERR_INVALID,
		    "\"%.64s\" is not a number of instances: 0 to %d", number,
		    SERVICE_INSTANCES_OF_ONE);
	json_object_set_new(body, "instances", json_integer(n));
	r = noun_call(c, "PATCH", &service_noun, name, NULL, body, &service);
	if (r < 0)
		return r;
	done = xasprintf("shall have %lld instance%s", (long long)n, n == 1 ? "" : "s");
	tell(c, service, done, -1);
	return EXIT_OK;
}

/* scale web 5, or several: scale web=5 api=2 */
int cmd_service_scale(struct cli *c)
{
	const struct options *o = &c->options;
	int r = EXIT_OK;

	if (o->n_args == 2 && !strchr(o->args[0], '=') && !strchr(o->args[1], '='))
		return scale(c, o->args[0], o->args[1]);
	for (size_t i = 0; i < o->n_args && r == EXIT_OK; i++) {
		const char *equals = strrchr(o->args[i], '=');
		AUTO(free_cstr) char *name = NULL;

		if (!equals) {
			problem_set(&c->problem, ERR_INVALID,
			    "how many of \"%.64s\" there shall be is not said", o->args[i]);
			return problem_hint(
			    &c->problem, "as in: reeve service scale web 5, or web=5 api=2");
		}
		name = xstrndup(o->args[i], (size_t)(equals - o->args[i]));
		r = scale(c, name, equals + 1);
	}
	return r;
}

static int act(struct cli *c, const char *name, const char *verb, const char *member,
    int64_t number, const char *done)
{
	AUTO(json_drop) json_t *body = json_object(), *service = NULL;
	int r;

	if (member && number >= 0)
		json_object_set_new(body, member, json_integer(number));
	r = noun_call(c, "POST", &service_noun, name, verb, body, &service);
	if (r < 0)
		return r;
	tell(c, service, done, -1);
	return EXIT_OK;
}

static int revision_given(struct cli *c, const char *text, int64_t *ret)
{
	if (str_to_i64(str_of(text), 1, INT64_MAX, ret))
		return 0;
	problem_set(&c->problem, ERR_INVALID, "\"%.64s\" is not a revision", text);
	return problem_hint(&c->problem, "reeve service history NAME shows those that are kept");
}

int cmd_service_deploy(struct cli *c)
{
	const struct options *o = &c->options;
	AUTO(free_cstr) char *done = NULL;
	int64_t number;

	if (o->n_args != 2) {
		problem_set(
		    &c->problem, ERR_INVALID, "reeve service deploy takes a NAME and a REVISION");
		return problem_hint(&c->problem,
		    "what is new is deployed by reeve service set or apply; reeve service history "
		    "NAME shows the revisions");
	}
	if (revision_given(c, o->args[1], &number) < 0)
		return c->problem.code;
	done = xasprintf("goes to revision %lld", (long long)number);
	return act(c, o->args[0], "deploy", "revision", number, done);
}

static int promote_one(struct cli *c, const struct noun *n, const char *name)
{
	return act(c, name, "promote", NULL, -1, "goes on with all instances");
}

int cmd_service_promote(struct cli *c)
{
	return noun_each(c, promote_one);
}

int cmd_service_rollback(struct cli *c)
{
	const char *to = options_get(&c->options, "to");
	int64_t number = -1;

	if (noun_alone(c) < 0 || (to && revision_given(c, to, &number) < 0))
		return c->problem.code;
	return act(c, c->options.args[0], "rollback", "revision", number, "goes back");
}

static int restart_one(struct cli *c, const struct noun *n, const char *text)
{
	AUTO(free_cstr) char *name = NULL;
	int64_t index;

	if (instance_name(c, text, &name, &index) < 0)
		return c->problem.code;
	return act(c, name, "restart", "index", index,
	    index < 0 ? "starts all its instances anew, one after the other"
	              : "starts that instance anew");
}

int cmd_service_restart(struct cli *c)
{
	return noun_each(c, restart_one);
}

static int stop_one(struct cli *c, const struct noun *n, const char *text)
{
	AUTO(free_cstr) char *name = NULL;
	int64_t index;

	if (instance_name(c, text, &name, &index) < 0)
		return c->problem.code;
	if (index >= 0)
		return act(c, name, "stop", "index", index,
		    "stops that instance; if it is wanted, it is started again");
	problem_set(&c->problem, ERR_INVALID, "which instance shall stop is not said");
	return problem_hint(&c->problem,
	    "as in: reeve service stop %s/0; all of them: reeve service scale %s 0", name, name);
}

int cmd_service_stop(struct cli *c)
{
	return noun_each(c, stop_one);
}

static bool may_delete(struct cli *c, const json_t *service)
{
	const json_t *counts = json_object_get(service, "counts");
	int64_t running = ji(counts, "running", 0) + ji(counts, "claimed", 0);

	return options_switch(&c->options, "yes", false) || running == 0 ||
	       confirm(c, "delete the service %s and end its %lld instance%s?", js(service, "name"),
	           (long long)running, running == 1 ? "" : "s");
}

static int rm_one(struct cli *c, const struct noun *n, const char *name)
{
	AUTO(json_drop) json_t *service = NULL;
	int r = noun_get(c, n, name, &service);

	if (r < 0)
		return r;
	if (!may_delete(c, service))
		return not_confirmed(c);
	r = noun_delete(c, n, name);
	if (r == 0 && !c->quiet)
		say(stdout, "service %s deleted: it goes with its last instance",
		    js(service, "name"));
	return r < 0 ? r : EXIT_OK;
}

int cmd_service_rm(struct cli *c)
{
	return noun_each(c, rm_one);
}
