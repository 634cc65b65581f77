/* SPDX-License-Identifier: Apache-2.0 */
/* A schedule that is only tried: judged as if it were made, and told with its next times. */
#include "api/schedules/schedule_in.h"
#include "api/schedules/show_schedule.h"

/* What the core would still find. */
static int check_name(struct call *c, struct str name)
{
	if (!core_find(c->host->core, KIND_SCHEDULE, name))
		return 0;
	return problem_set(&c->problem, ERR_CONFLICT, "there is a schedule \"" STR_FMT "\" already",
	    STR_ARG(name));
}

static void answer(struct call *c, const struct schedule_in *in)
{
	const struct schedule_row *r = &in->row;
	struct preview w = {
	    .n = PREVIEW_N,
	    .now_ms = in->now_ms,
	    .from_ms = r->start_ms > in->now_ms ? r->start_ms : in->now_ms,
	    .until_ms = r->end_ms ? r->end_ms : CRON_TIME_MAX * 1000,
	};

	jw_open(&c->out, '{');
	jw_mstr(&c->out, "name", r->name);
	preview_add(c, &w, &in->pattern);
	show_draft(&c->out, c->api, r);
	jw_close(&c->out, '}');
	call_json(c, 200);
}

void schedules_draft(struct call *c, json_t *body)
{
	struct schedule_in in;

	if (schedule_in_read(&in, c, body, NULL) || check_name(c, in.row.name))
		call_problem(c);
	else
		answer(c, &in);
	schedule_in_release(&in);
}
