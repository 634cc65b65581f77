/* SPDX-License-Identifier: Apache-2.0 */
#include "service/file/life_values.h"
#include "service/limits.h"

static int set_at_once(const struct node *v, void *arg, struct problem *p)
{
	struct crash_policy *c = arg;

	return node_count(v, "at_once", 0, SERVICE_CRASHES_MAX, &c->at_once, p);
}

static int set_wait(const struct node *v, void *arg, struct problem *p)
{
	struct crash_policy *c = arg;

	return node_span(v, "wait", &c->wait_ms, p);
}

static int set_factor(const struct node *v, void *arg, struct problem *p)
{
	struct crash_policy *c = arg;
	int rc = node_decimal(v, "factor", FACTOR_ONE, 1000, &c->factor, p);

	if (rc == 0 && c->factor < FACTOR_ONE)
		return wrong_at(
		    p, v->line, STR_NULL, "factor must be 1 or more: waits never get shorter");
	return rc;
}

static int set_wait_max(const struct node *v, void *arg, struct problem *p)
{
	struct crash_policy *c = arg;

	return node_span(v, "wait_max", &c->wait_max_ms, p);
}

static int set_stop_at(const struct node *v, void *arg, struct problem *p)
{
	struct crash_policy *c = arg;

	return node_count(v, "stop_at", 0, SERVICE_CRASHES_MAX, &c->stop_at, p);
}

static int set_reset_after(const struct node *v, void *arg, struct problem *p)
{
	struct crash_policy *c = arg;

	return node_span(v, "reset_after", &c->reset_after_ms, p);
}

static const struct member policy_members[] = {
    {"at_once", set_at_once},
    {"wait", set_wait},
    {"factor", set_factor},
    {"wait_max", set_wait_max},
    {"stop_at", set_stop_at},
    {"reset_after", set_reset_after},
};

int policy_read(const struct node *v, struct crash_policy *policy, struct problem *p)
{
	return map_read(v, "policy", policy_members, sizeof policy_members / sizeof *policy_members,
	    policy, STR("policy"), p);
}
