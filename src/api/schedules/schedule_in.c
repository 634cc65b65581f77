/* SPDX-License-Identifier: Apache-2.0 */
/* The other members of a schedule, and what must hold between them. */
#include "api/schedules/schedule_in.h"

#include <stdio.h>

#include "api/tasks/task_in.h"
#include "model/limits.h"
#include "wire/json/fields.h"

#define JITTER_MAX_MS (86400LL * 1000)

/* What the table of members cannot say. */
static int check_name(const struct schedule_in *in, struct problem *p)
{
	if (!(in->fields & SCHEDULE_BIT(name)) || !str_is(in->row.name, "preview"))
		return 0;
	problem_set(p, ERR_INVALID, "no schedule can have the name \"preview\"");
	problem_hint(p, "/v1/schedules/preview is something else");
	return problem_field(p, "name");
}

static int check_jitter(const struct schedule_in *in, struct problem *p)
{
	if (in->row.jitter_ms <= JITTER_MAX_MS)
		return 0;
	problem_set(p, ERR_INVALID, "\"jitter\" is longer than a day");
	return problem_field(p, "jitter");
}

static int check_date(int64_t ms, const char *field, struct problem *p)
{
	if (ms >= 0 && ms <= CRON_TIME_MAX * 1000)
		return 0;
	problem_set(p, ERR_INVALID, "\"%s\" lies before 1970 or after 9999", field);
	return problem_field(p, field);
}

static int read_members(struct schedule_in *in, json_t *body)
{
	struct problem *p = &in->c->problem;
	const struct fields_in r = {.arena = &in->c->arena,
	    .into = &in->row,
	    .problem = p,
	    .now_ms = in->now_ms,
	    .row = &schedule_table,
	    .given = &in->fields};
	int rc = fields_read(&r, schedule_fields, body, "");

	if (rc || (rc = check_name(in, p)) || (rc = check_jitter(in, p)) ||
	    (rc = check_date(in->row.start_ms, "start", p)) ||
	    (rc = check_date(in->row.end_ms, "end", p)))
		return rc;
	pattern_in_find(body, &in->pattern_members);
	in->task = json_object_get(body, "task");
	in->group = json_object_get(body, "group");
	return in->task ? json_in_object(in->task, "task", p) : 0;
}

/* "task.command" for what the task's own reader calls "command". */
static int within_task(struct problem *p)
{
	char field[sizeof p->field];

	snprintf(field, sizeof field, "task%s%.50s", p->field[0] ? "." : "", p->field);
	problem_field(p, field);
	return p->code;
}

/* A tick says when, and a schedule submits many. */
static int check_task(const json_t *task, struct problem *p)
{
	static const struct {
		const char *name, *hint;
	} not_here[] = {
	    {"run_after", "the schedule says when; \"jitter\" spreads its tasks"},
	    {"key", "each tick has one task anyway; \"overlap\" says what two of them do"},
	    {"status", "pause the schedule instead"},
	    {"stdin", "nobody is there to send it; \"run\": {\"input\": …} is a text for all"},
	};

	for (size_t i = 0; i < sizeof not_here / sizeof not_here[0]; i++)
		if (json_object_get(task, not_here[i].name)) {
			problem_set(p, ERR_INVALID, "the task of a schedule has no \"%s\"",
			    not_here[i].name);
			problem_hint(p, "%s", not_here[i].hint);
			return problem_field(p, not_here[i].name);
		}
	return 0;
}

static void take_task(struct schedule_in *in, const struct task_spec *spec)
{
	struct schedule_row *row = &in->row;

	in->fields |= SCHEDULE_BIT(queue) | SCHEDULE_BIT(priority) | SCHEDULE_BIT(max_attempts) |
	              SCHEDULE_BIT(timeout_ms) | SCHEDULE_BIT(backoff_ms) |
	              SCHEDULE_BIT(backoff_max_ms) | SCHEDULE_BIT(labels) | SCHEDULE_BIT(need) |
	              SCHEDULE_BIT(body);
	row->priority = spec->priority;
	row->max_attempts = spec->max_attempts;
	row->timeout_ms = spec->timeout_ms;
	row->backoff_ms = spec->backoff_ms;
	row->backoff_max_ms = spec->backoff_max_ms;
	row->labels = spec->labels;
	row->need = spec->need;
	row->body = spec->body;
}

static int read_task(struct schedule_in *in)
{
	struct call *c = in->c;
	struct task_in t = {.arena = &c->arena, .now_ms = in->now_ms};
	const struct queue_row *q;
	struct queue_row fresh;
	struct submit_task task;
	struct str name;
	int rc = check_task(in->task, &c->problem);

	if (!rc)
		rc = task_in_value(&t, in->task, &task, &c->problem);
	buf_release(&t.text);
	if (rc)
		return within_task(&c->problem);
	name = t.queue.p ? t.queue : STR("default");
	in->needs_default = str_is(name, "default") &&
	                    !core_queue(c->host->core, core_find(c->host->core, KIND_QUEUE, name));
	if (in->needs_default) {
		queue_defaults(&fresh);
		fresh.name = name;
	}
	q = in->needs_default ? &fresh : find_queue(c, name, "queue", &c->problem);
	if (!scope_covers_named(c, q ? q->name : name, task.spec.labels)) {
		scope_problem(c, name, &c->problem);
		return within_task(&c->problem);
	}
	if (!q || task_in_fits(&t, q, &c->problem))
		return within_task(&c->problem);
	take_task(in, &task.spec);
	in->row.queue = q->id;
	return 0;
}

static int differs(struct schedule_in *in, int64_t shift_s)
{
	struct problem *p = &in->c->problem;

	problem_set(p, ERR_INVALID,
	    "an item says max_shift_seconds_for_unskip_and_do_not_repeat %lld, which is not the "
	    "schedule's %lld",
	    (long long)shift_s, (long long)in->row.max_shift_s);
	problem_hint(p, "a schedule has one such limit: leave it out of the items, or say the "
	                "same everywhere");
	return problem_field(p, "max_shift");
}

/* Mandatory, once: there is no good default for how late is too late. */
static int settle_shift(struct schedule_in *in, const struct schedule_view *old)
{
	const struct cron_items *items =
	    (in->fields & SCHEDULE_BIT(items)) || !old ? &in->pattern.items : old->items;
	struct problem *p = &in->c->problem;
	size_t n_said = 0;

	for (size_t i = 0; i < items->n; i++)
		n_said += items->items[i].has_shift_limit;
	if (!(in->fields & SCHEDULE_BIT(max_shift_s)) && items->n && n_said == items->n) {
		in->row.max_shift_s = items->items[0].shift_limit;
		in->fields |= SCHEDULE_BIT(max_shift_s);
	}
	if (!(in->fields & SCHEDULE_BIT(max_shift_s)) && old)
		in->row.max_shift_s = old->row.max_shift_s;
	else if (!(in->fields & SCHEDULE_BIT(max_shift_s))) {
		problem_set(p, ERR_INVALID, "a schedule needs a \"max_shift\"");
		problem_hint(p,
		    "how late may a tick still run after downtime or a clock change, and how "
		    "far may the clock go back without running things again? 10m suits most "
		    "jobs, 1d rare ones");
		return problem_field(p, "max_shift");
	}
	for (size_t i = 0; i < items->n; i++)
		if (items->items[i].has_shift_limit &&
		    items->items[i].shift_limit != in->row.max_shift_s)
			return differs(in, items->items[i].shift_limit);
	return 0;
}

static int need(struct schedule_in *in, bool given, const char *field, const char *hint)
{
	struct problem *p = &in->c->problem;

	if (given)
		return 0;
	problem_set(p, ERR_INVALID, "a schedule needs a \"%s\"", field);
	problem_hint(p, "%s", hint);
	return problem_field(p, field);
}

static int read_pattern(struct schedule_in *in, const struct schedule_view *old)
{
	int rc;

	if (old && !pattern_in_given(&in->pattern_members))
		return (in->fields & SCHEDULE_BIT(max_shift_s)) ? settle_shift(in, old) : 0;
	rc = pattern_in_make(in->c, &in->pattern_members, old, &in->pattern);
	if (rc)
		return rc;
	in->fields |= SCHEDULE_BIT(items) | SCHEDULE_BIT(source) | SCHEDULE_BIT(zone);
	in->row.items = in->pattern.text;
	in->row.source = in->pattern.source;
	in->row.zone = in->pattern.zone;
	return settle_shift(in, old);
}

int schedule_in_read(
    struct schedule_in *in, struct call *c, json_t *body, const struct schedule_view *old)
{
	int rc;

	*in = (struct schedule_in){.c = c, .now_ms = c->host->wall_ms(c->host->arg)};
	in->row = (struct schedule_row){.overlap = OVERLAP_SKIP, .missed = MISSED_ONCE};
	rc = read_members(in, body);
	if (!rc && !old)
		rc = need(
		    in, in->fields & SCHEDULE_BIT(name), "name", "it is what people will call it");
	if (!rc)
		rc = read_pattern(in, old);
	if (!rc && !old)
		rc = need(in, in->task || in->group, "task",
		    "what shall run, as POST /v1/tasks takes it: {\"command\":[\"date\"]}; or a "
		    "\"group\", as POST /v1/groups takes it");
	if (!rc)
		rc = schedule_in_group(in, old);
	if (!rc && in->task)
		rc = read_task(in);
	if (!rc)
		rc = schedule_dates_check(in, old);
	if (!old)
		in->fields = row_settable(&schedule_table);
	return rc;
}

void schedule_in_release(struct schedule_in *in)
{
	pattern_in_release(&in->pattern);
}
