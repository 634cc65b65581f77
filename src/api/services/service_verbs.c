/* SPDX-License-Identifier: Apache-2.0 */
/* What can be done with services beside changing them: revisions that take their turn, instances
 * that are started anew. */
#include "api/services/services.h"
#include "wire/json/fields.h"

struct ask {
	int64_t revision, index;
};

const struct field revision_ask_fields[] = {
    FIELD("revision", FIELD_I64, ask, revision, .flags = FIELD_GIVEN | FIELD_NEEDED, .min = 1,
        .max = INT64_MAX, .about = "the revision that instances are brought to"),
    {NULL},
};
const struct field rollback_ask_fields[] = {
    FIELD("revision", FIELD_I64, ask, revision, .flags = FIELD_GIVEN, .min = 1, .max = INT64_MAX,
        .about = "the one to go back to; not given: the last of which all instances were healthy"),
    {NULL},
};
const struct field index_ask_fields[] = {
    FIELD("index", FIELD_I64, ask, index, .flags = FIELD_GIVEN, .max = SERVICE_INSTANCES_OF_ONE - 1,
        .about = "of the instance; not given: all, one after the other"),
    {NULL},
};
const struct field index_needed_fields[] = {
    FIELD("index", FIELD_I64, ask, index, .flags = FIELD_GIVEN | FIELD_NEEDED,
        .max = SERVICE_INSTANCES_OF_ONE - 1, .about = "of the instance"),
    {NULL},
};

static bool read_ask(struct call *c, const struct field *fields, struct event *ev, struct ask *k)
{
	const struct fields_in r = {.arena = &c->arena, .into = k, .problem = &c->problem};

	return resource_begin(c, ev) && call_fields(c, &r, fields);
}

static void command(struct call *c, struct event *ev, enum verb verb, int64_t number)
{
	ev->object.verb = verb;
	ev->object.number = number;
	call_command(c, ev, resource_changed);
}

static void lacks(struct call *c, const char *field, const char *hint)
{
	problem_set(&c->problem, ERR_INVALID, "\"%s\" is missing", field);
	problem_hint(&c->problem, "%s", hint);
	problem_field(&c->problem, field);
	call_problem(c);
}

void services_deploy(struct call *c)
{
	struct event ev = {.kind = EV_DO};
	struct ask k = {0};

	if (!read_ask(c, revision_ask_fields, &ev, &k))
		return;
	if (k.revision)
		command(c, &ev, SERVICE_DEPLOY, k.revision);
	else
		lacks(c, "revision",
		    "name one that is kept; what is new is deployed when the service is changed");
}

void services_promote(struct call *c)
{
	resource_do(c, SERVICE_PROMOTE);
}

void services_rollback(struct call *c)
{
	struct event ev = {.kind = EV_DO};
	struct ask k = {0};

	if (read_ask(c, rollback_ask_fields, &ev, &k))
		command(c, &ev, SERVICE_ROLLBACK, k.revision);
}

void services_restart(struct call *c)
{
	struct event ev = {.kind = EV_DO};
	struct ask k = {.index = -1};

	if (read_ask(c, index_ask_fields, &ev, &k))
		command(c, &ev, SERVICE_RESTART, k.index);
}

void services_stop(struct call *c)
{
	struct event ev = {.kind = EV_DO};
	struct ask k = {.index = -1};

	if (!read_ask(c, index_needed_fields, &ev, &k))
		return;
	if (k.index >= 0)
		command(c, &ev, SERVICE_STOP, k.index);
	else
		lacks(c, "index", "\"instances\": 0 stops all of them");
}
