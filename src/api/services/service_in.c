/* SPDX-License-Identifier: Apache-2.0 */
/* A service from its body: by the table of its members, and what that table cannot say. */
#include <stdio.h>

#include "api/services/services.h"
#include "api/tasks/task_in.h"
#include "model/limits.h"
#include "model/lines.h"
#include "wire/json/fields.h"
#include "wire/json/task.h"

static int too_long(const char *field, size_t n, size_t max, struct problem *p)
{
	problem_set(
	    p, ERR_TOO_LARGE, "\"%s\" has %zu bytes; at most %zu are allowed", field, n, max);
	return problem_field(p, field);
}

/* Routes of any shape are kept as they are. */
static int set_routes(json_t *v, const char *field, void *arg, struct problem *p)
{
	AUTO(buf_release) struct buf text = {0};
	struct service_in *in = arg;

	in->fields |= SERVICE_BIT(routes);
	in->row.routes = STR_NULL;
	if (json_is_null(v))
		return 0;
	if (json_in_depth(v, field, p))
		return p->code;
	jw_value(&text, v);
	if (text.n > SERVICE_ROUTES_MAX)
		return too_long(field, text.n, SERVICE_ROUTES_MAX, p);
	in->row.routes = arena_str(&in->c->arena, buf_str(&text));
	return 0;
}

static int set_labels(json_t *v, const char *field, void *arg, struct problem *p)
{
	AUTO(buf_release) struct buf scratch = {0};
	struct service_in *in = arg;

	in->row.labels = STR_NULL;
	if (json_is_null(v) || (json_is_object(v) && !json_object_size(v)))
		return 0;
	return labels_in(v, field, &scratch, &in->c->arena, &in->row.labels, p);
}

static int add_need(json_t *v, const char *field, struct buf *lines, struct problem *p)
{
	struct str name;

	if (json_in_str(v, field, NAME_MAX_BYTES, &name, p) || name_check(name, field, p))
		return p->code;
	if (!lines_has(buf_str(lines), name))
		lines_add(lines, name);
	return 0;
}

static int set_needs(json_t *v, const char *field, void *arg, struct problem *p)
{
	AUTO(buf_release) struct buf lines = {0};
	struct service_in *in = arg;
	size_t n = json_array_size(v);
	char place[64];

	in->row.spec.needs = STR_NULL;
	if (json_is_null(v))
		return 0;
	if (!json_is_array(v))
		return json_in_wrong(v, field, "an array of names of services", p);
	if (n > SERVICE_NEEDS_MAX) {
		problem_set(p, ERR_INVALID, "\"%s\" has %zu entries; at most %d are allowed", field,
		    n, SERVICE_NEEDS_MAX);
		return problem_field(p, field);
	}
	for (size_t i = 0; i < n; i++) {
		snprintf(place, sizeof place, "%s[%zu]", field, i);
		if (add_need(json_array_get(v, i), place, &lines, p))
			return p->code;
	}
	if (lines.n)
		in->row.spec.needs = arena_str(&in->c->arena, buf_str(&lines));
	return 0;
}

static int set_queue(json_t *v, const char *field, void *arg, struct problem *p)
{
	struct service_in *in = arg;
	const struct queue_row *q;
	struct str name;

	in->fields |= SERVICE_BIT(spec.queue);
	in->row.spec.queue = 0;
	if (json_is_null(v))
		return 0;
	if (json_in_str(v, field, NAME_MAX_BYTES, &name, p))
		return p->code;
	q = find_queue(in->c, name, field, p);
	if (q)
		in->row.spec.queue = q->id;
	return q ? 0 : p->code;
}

static int set_task(json_t *v, const char *field, void *arg, struct problem *p)
{
	((struct service_in *)arg)->task = v;
	return json_in_object(v, field, p);
}

static int set_reason(json_t *v, const char *field, void *arg, struct problem *p)
{
	struct service_in *in = arg;

	if (json_is_null(v))
		return 0;
	if (json_in_str(v, field, REASON_MAX_BYTES, &in->reason, p))
		return p->code;
	in->reason = arena_str(&in->c->arena, in->reason);
	return 0;
}

static const struct json_member own[] = {{"routes", set_routes}, {"labels", set_labels},
    {"needs", set_needs}, {"queue", set_queue}, {"task", set_task}, {"reason", set_reason}, {NULL}};

/* "task.command" for what the task's own reader calls "command". */
static int within_task(struct problem *p)
{
	char field[sizeof p->field];

	snprintf(field, sizeof field, "task%s%.50s", p->field[0] ? "." : "", p->field);
	problem_field(p, field);
	return p->code;
}

/* An instance's start is one attempt, and the service says the rest. */
static int check_members(const json_t *task, struct problem *p)
{
	static const struct {
		const char *name, *hint;
	} not_here[] = {
	    {"queue", "\"queue\" is a member of the service itself"},
	    {"need", "\"need\" is a member of the service itself"},
	    {"labels", "\"labels\" is a member of the service itself"},
	    {"name", "its instances are called after the service: web/0, web/1"},
	    {"timeout", "an instance runs until it is stopped"},
	    {"max_attempts", "\"crash\" says what becomes of an instance that ends"},
	    {"backoff", "\"crash\" says how long an instance waits after it has ended"},
	    {"backoff_max", "\"crash\" says how long an instance waits after it has ended"},
	    {"priority", "instances do not wait in a line"},
	    {"run_after", "instances are started at once"},
	    {"key", "each index has one instance anyway"},
	    {"status", "\"instances\": 0 starts nothing"},
	    {"stdin", "nobody is there to send it; \"run\": {\"input\": …} is a text for all"},
	};

	for (size_t i = 0; i < sizeof not_here / sizeof not_here[0]; i++)
		if (json_object_get(task, not_here[i].name)) {
			problem_set(p, ERR_INVALID, "the task of a service has no \"%s\"",
			    not_here[i].name);
			problem_hint(p, "%s", not_here[i].hint);
			return problem_field(p, not_here[i].name);
		}
	return 0;
}

static int fits(struct service_in *in, const struct task_in *t, struct problem *p)
{
	const struct queue_row *q =
	    core_queue(in->c->host->core, service_queue_of(in->c, &in->row));
	struct queue_row fresh;

	if (!q) {
		queue_defaults(&fresh);
		fresh.name = STR(SERVICE_QUEUE);
		q = &fresh;
	}
	return task_in_fits(t, q, p);
}

static int read_task(struct service_in *in)
{
	struct call *c = in->c;
	struct task_in t = {.arena = &c->arena, .now_ms = c->host->wall_ms(c->host->arg)};
	struct submit_task task;
	int rc = check_members(in->task, &c->problem);

	if (!rc)
		rc = task_in_value(&t, in->task, &task, &c->problem);
	if (!rc)
		rc = fits(in, &t, &c->problem);
	buf_release(&t.text);
	if (rc)
		return within_task(&c->problem);
	in->row.spec.body = task.spec.body;
	in->fields |= SERVICE_BIT(spec.body);
	return 0;
}

/* What ran in one queue may make no sense in another. */
static int check_kept_task(struct service_in *in)
{
	struct call *c = in->c;
	struct task_in t = {.arena = &c->arena, .now_ms = c->host->wall_ms(c->host->arg)};
	struct submit_task task;
	int rc = task_in_text(&t, in->row.spec.body, &task, &c->problem);

	if (!rc)
		rc = fits(in, &t, &c->problem);
	buf_release(&t.text);
	return rc ? within_task(&c->problem) : 0;
}

int service_in_read(
    struct service_in *in, struct call *c, json_t *body, const struct service_row *base)
{
	const struct fields_in r = {.arena = &c->arena,
	    .into = &in->row,
	    .problem = &c->problem,
	    .own = own,
	    .arg = in,
	    .row = &service_table,
	    .given = &in->fields};
	int rc;

	*in = (struct service_in){.c = c, .row = *base};
	rc = fields_read(&r, service_fields, body, "");
	if (rc)
		return rc;
	in->has_name = in->fields & SERVICE_BIT(name);
	if (in->task)
		return read_task(in);
	if (in->fields & SERVICE_BIT(spec.queue) && in->row.spec.body.n)
		return check_kept_task(in);
	return 0;
}

static int need(struct problem *p, const char *field, const char *hint)
{
	problem_set(p, ERR_INVALID, "a service needs a \"%s\"", field);
	problem_hint(p, "%s", hint);
	return problem_field(p, field);
}

int service_in_need(struct service_in *in)
{
	if (!in->row.name.n)
		return need(&in->c->problem, "name", "it is what people will call it");
	if (!in->task)
		return need(&in->c->problem, "task",
		    "what shall run, as POST /v1/tasks takes it: {\"command\":[\"httpd\"]}");
	return 0;
}
