/* SPDX-License-Identifier: Apache-2.0 */
/* Domains: `domain set`, which also makes one, `domain fresh` and `domain stale`. */
#include "model/objects/domain.h"
#include "base/mem.h"
#include "cli/frame/cmds.h"
#include "cli/service/services.h"

const struct noun domain_noun = {.word = "domain",
    .path = "/v1/domains",
    .list = &domain_list,
    .view = &domain_view,
    .fields = domain_fields,
    .gone = "deleted"};

static int tell(struct cli *c, const json_t *domain, const char *done)
{
	if (wants_machine(c))
		print_json(c, (json_t *)domain);
	else if (!c->quiet)
		say(stdout, "domain %s %s", js(domain, "name"), done);
	return EXIT_OK;
}

static int make(struct cli *c, const char *name)
{
	struct made_settings made;
	AUTO(json_drop) json_t *body = json_object(), *domain = NULL;
	int r;

	if (body_add_text(c, body, "name", name) < 0 ||
	    body_add(c, noun_settings(&domain_noun, &made), NULL, body) < 0)
		return c->problem.code;
	r = cli_call(c, "POST", domain_noun.path, body, &domain);
	return r < 0 ? r : tell(c, domain, "created");
}

/* With nothing to change it can only be a new one. */
static int set_one(struct cli *c, const struct noun *n, const char *name)
{
	AUTO(json_drop) json_t *domain = NULL;
	int r;

	if (!options_given(&c->options, "ttl") && !options_given(&c->options, "name"))
		return make(c, name);
	r = noun_apply(c, n, name, &domain);
	if (r == ERR_NOT_FOUND && !options_given(&c->options, "name")) {
		c->problem = (struct problem){0};
		return make(c, name);
	}
	return r < 0 ? r : tell(c, domain, "changed");
}

int cmd_domain_set(struct cli *c)
{
	return noun_alone(c) < 0 ? c->problem.code : noun_each(c, set_one);
}

static int fresh_one(struct cli *c, const struct noun *n, const char *name)
{
	return noun_act(c, n, name, "fresh", NULL, "is fresh: what is surplus stops");
}

int cmd_domain_fresh(struct cli *c)
{
	return noun_each(c, fresh_one);
}

static int stale_one(struct cli *c, const struct noun *n, const char *name)
{
	return noun_act(c, n, name, "stale", NULL, "is not fresh: nothing stops as surplus");
}

int cmd_domain_stale(struct cli *c)
{
	return noun_each(c, stale_one);
}
