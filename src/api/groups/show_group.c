/* SPDX-License-Identifier: Apache-2.0 */
/* A group as JSON. */
#include "api/frame/fields_out.h"
#include "api/groups/groups.h"

static void put_counts(struct buf *b, const void *arg)
{
	const struct showing s = {.row = arg};

	jw_open(b, '{');
	fields_write(b, &s, group_count_fields);
	jw_close(b, '}');
}

static const struct field_out found[] = {{"counts", put_counts}, {NULL}};

void show_group(struct buf *b, const struct api *a, const struct group_row *g)
{
	const struct showing s = {a->host.ids, g, found, g, true};

	jw_open(b, '{');
	fields_write(b, &s, group_fields);
	jw_close(b, '}');
}
