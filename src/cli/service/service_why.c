/* SPDX-License-Identifier: Apache-2.0 */
/* Why an instance is as it is; and of a service, what its deploy waits for and what is not ready.
 */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "cli/output/output.h"
#include "cli/service/services.h"

#define SHOWN 10 /* of the instances that are not ready */

static void say_reasons(const json_t *why)
{
	const json_t *reasons = json_object_get(why, "reasons"), *one;
	size_t i;

	say(stdout, "%s/%lld", js(why, "service"), (long long)ji(why, "index", 0));
	json_array_foreach(reasons, i, one)
	{
		say(stdout, "  %s", js(one, "text"));
		if (jhas(one, "lift"))
			say(stdout, "    %s", js(one, "lift"));
	}
}

static int get_why(struct cli *c, const char *name, int64_t index, json_t **ret_why)
{
	AUTO(buf_release) struct buf path = {0};
	char number[24];

	snprintf(number, sizeof number, "%lld", (long long)index);
	noun_path(c, &service_noun, name, "why", &path);
	url_add(&path, "index", number);
	return cli_get(c, path.p, ret_why);
}

static int why_instance(struct cli *c, const char *name, int64_t index)
{
	AUTO(json_drop) json_t *why = NULL;
	int r = get_why(c, name, index, &why);

	if (r < 0)
		return r;
	if (wants_machine(c))
		print_json(c, why);
	else
		say_reasons(why);
	return EXIT_OK;
}

struct unready {
	const char *service;
	json_t *whys; /* of the first */
	size_t n;
	int result;
};

/* An instance may go between the list and the question. */
static bool add_page(struct cli *c, json_t *items, const char *next, void *arg)
{
	struct unready *u = arg;
	json_t *one, *why;
	size_t i;

	json_array_foreach(items, i, one)
	{
		if (jb(one, "ready") && !jb(one, "stopping"))
			continue;
		u->n++;
		why = NULL;
		if (json_array_size(u->whys) >= SHOWN || u->result < 0)
			continue;
		u->result = get_why(c, u->service, ji(one, "index", 0), &why);
		if (u->result == ERR_NOT_FOUND)
			u->result = 0;
		if (why)
			json_array_append_new(u->whys, why);
	}
	return u->result >= 0;
}

static void say_service(const json_t *service, const struct unready *u)
{
	const json_t *deploy = json_object_get(service, "deploy");
	size_t shown = json_array_size(u->whys);

	say(stdout, "%s: %lld wanted, %lld ready", js(service, "name"),
	    (long long)ji(service, "instances", 0),
	    (long long)ji(json_object_get(service, "counts"), "ready", 0));
	if (jb(service, "deleting"))
		say(stdout, "  it is being deleted: it goes with its last instance");
	say(stdout, "  deploy: %s%s%s", js(deploy, "state"), *js(deploy, "why") ? ": " : "",
	    js(deploy, "why"));
	if (!u->n)
		say(stdout, "  all of its instances are ready: nothing waits");
	for (size_t i = 0; i < shown; i++)
		say_reasons(json_array_get(u->whys, i));
	if (u->n > shown)
		say(stdout, "and %zu more; `reeve service instances` has all", u->n - shown);
}

static int why_all(struct cli *c, const char *name)
{
	AUTO(json_drop) json_t *service = NULL, *whys = json_array(), *all = NULL;
	AUTO(buf_release) struct buf path = {0};
	struct unready u = {.service = name, .whys = whys};
	int r = noun_call(c, "GET", &service_noun, name, NULL, NULL, &service);

	if (r < 0)
		return r;
	noun_path(c, &service_noun, name, "instances", &path);
	r = cli_each_page(c, path.p, 0, add_page, &u);
	if (r < 0 || u.result < 0)
		return r < 0 ? r : u.result;
	if (!wants_machine(c)) {
		say_service(service, &u);
		return EXIT_OK;
	}
	all = json_pack("{s:s,s:O,s:O,s:I,s:O}", "service", js(service, "name"), "deploy",
	    json_object_get(service, "deploy"), "counts", json_object_get(service, "counts"),
	    "unready", (json_int_t)u.n, "instances", whys);
	print_json(c, all);
	return EXIT_OK;
}

int service_why(struct cli *c, const char *name, int64_t index)
{
	return index < 0 ? why_all(c, name) : why_instance(c, name, index);
}

static int why_one(struct cli *c, const struct noun *n, const char *text)
{
	AUTO(free_cstr) char *name = NULL;
	int64_t index;

	if (instance_name(c, text, &name, &index) < 0)
		return c->problem.code;
	return service_why(c, name, index);
}

int cmd_service_why(struct cli *c)
{
	return noun_each(c, why_one);
}
