/* SPDX-License-Identifier: Apache-2.0 */
#include "service/file/life_values.h"
#include "service/limits.h"

static int set_kind(const struct node *v, void *arg, struct problem *p)
{
	struct deploy_strategy *s = arg;
	unsigned kind = 0;
	int rc = node_choice(v, "kind", deploy_kind_names, N_DEPLOY_KINDS, &kind, p);

	s->kind = (enum deploy_kind)kind;
	return rc;
}

static int set_max_surge(const struct node *v, void *arg, struct problem *p)
{
	struct deploy_strategy *s = arg;

	return node_count(v, "max_surge", 0, SERVICE_INDEX_MAX, &s->max_surge, p);
}

static int set_max_unavailable(const struct node *v, void *arg, struct problem *p)
{
	struct deploy_strategy *s = arg;

	return node_count(v, "max_unavailable", 0, SERVICE_INDEX_MAX, &s->max_unavailable, p);
}

static int set_canary(const struct node *v, void *arg, struct problem *p)
{
	struct deploy_strategy *s = arg;

	return node_count(v, "canary", 1, SERVICE_INDEX_MAX, &s->canary, p);
}

static int set_min_healthy(const struct node *v, void *arg, struct problem *p)
{
	struct deploy_strategy *s = arg;

	return node_span(v, "min_healthy", &s->min_healthy_ms, p);
}

static int set_deadline(const struct node *v, void *arg, struct problem *p)
{
	struct deploy_strategy *s = arg;

	return node_span(v, "deadline", &s->deadline_ms, p);
}

static int set_auto_rollback(const struct node *v, void *arg, struct problem *p)
{
	struct deploy_strategy *s = arg;

	return node_flag(v, "auto_rollback", &s->auto_rollback, p);
}

static const struct member strategy_members[] = {
    {"kind", set_kind},
    {"max_surge", set_max_surge},
    {"max_unavailable", set_max_unavailable},
    {"canary", set_canary},
    {"min_healthy", set_min_healthy},
    {"deadline", set_deadline},
    {"auto_rollback", set_auto_rollback},
};

int strategy_read(const struct node *v, struct deploy_strategy *s, struct problem *p)
{
	int rc = map_read(v, "strategy", strategy_members,
	    sizeof strategy_members / sizeof *strategy_members, s, STR("strategy"), p);

	if (rc == 0 && s->deadline_ms && s->min_healthy_ms >= s->deadline_ms)
		return wrong_at(p, v->line, STR("strategy"),
		    "min_healthy must be shorter than deadline, or nothing is ever healthy in "
		    "time");
	return rc;
}
