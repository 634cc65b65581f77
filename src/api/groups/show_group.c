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

/* Null, too, when the owner was deleted. */
static void put_owner(struct buf *b, const void *arg)
{
	const struct group_shown *s = arg;
	struct owner of = group_owner(s->g);
	struct str name = core_name(s->a->host.core, (enum kind)of.kind, of.id);

	if (name.p)
		jw_str(b, name);
	else
		jw_null(b);
}

static void put_part(struct buf *b, const void *arg)
{
	int64_t part = ((const struct group_shown *)arg)->g->owner_part;

	if (part)
		jw_time(b, part * 1000);
	else
		jw_null(b);
}

void show_group(struct buf *b, const struct api *a, const struct group_row *g)
{
	const struct owner_names *owner = resource_of((enum kind)group_owner(g).kind)->owner;
	const struct field_out found[] = {
	    {"counts", put_counts}, {owner->name, put_owner}, {owner->part, put_part}, {NULL}};
	const struct group_shown shown = {a, g};
	const struct showing s = {a->host.ids, g, found, &shown, true};

	jw_open(b, '{');
	fields_write(b, &s, group_fields);
	jw_close(b, '}');
}
