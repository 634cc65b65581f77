/* SPDX-License-Identifier: Apache-2.0 */
/* A group as JSON. */
#include "api/frame/fields_out.h"
#include "api/groups/groups.h"

struct group_shown {
	const struct api *a;
	const struct group_row *g;
};

static void put_counts(struct buf *b, const void *arg)
{
	const struct showing s = {.row = ((const struct group_shown *)arg)->g};

	jw_open(b, '{');
	fields_write(b, &s, group_count_fields);
	jw_close(b, '}');
}

/* Null, too, when that schedule was deleted. */
static void put_schedule(struct buf *b, const void *arg)
{
	const struct group_shown *s = arg;
	struct str name = core_name(s->a->host.core, KIND_SCHEDULE, s->g->schedule);

	if (name.p)
		jw_str(b, name);
	else
		jw_null(b);
}

static void put_tick(struct buf *b, const void *arg)
{
	const struct group_row *g = ((const struct group_shown *)arg)->g;

	if (g->tick_s)
		jw_time(b, g->tick_s * 1000);
	else
		jw_null(b);
}

static const struct field_out found[] = {
    {"counts", put_counts}, {"schedule", put_schedule}, {"tick", put_tick}, {NULL}};

void show_group(struct buf *b, const struct api *a, const struct group_row *g)
{
	const struct group_shown shown = {a, g};
	const struct showing s = {a->host.ids, g, found, &shown, true};

	jw_open(b, '{');
	fields_write(b, &s, group_fields);
	jw_close(b, '}');
}
