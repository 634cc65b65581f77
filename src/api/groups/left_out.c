/* SPDX-License-Identifier: Apache-2.0 */
/* What a plan of packages left out of a group, with each one's reason: kept with the group. */
#include "api/groups/group_jobs.h"
#include "api/groups/groups.h"
#include "model/objects/group_graph.h"

struct reading {
	rid group;
	struct str text;
};

/* What lies there is one text in pieces. */
static void read_text(struct store_reader *r, void *arg)
{
	struct call *c = arg;
	struct reading *x = c->state;
	const struct part_query q = {.table = &group_graph_table,
	    .object = x->group,
	    .from = LEFT_OUT_FROM,
	    .to = LEFT_OUT_FROM + LEFT_OUT_CHUNKS,
	    .oldest_first = true,
	    .limit = LEFT_OUT_CHUNKS};
	const struct group_graph_row *rows;
	struct part_page page;

	c->code = store_parts(r, &q, &c->arena, &page);
	rows = page.rows;
	for (size_t i = 0; i < page.n && !c->code; i++) {
		if (rows[i].number != LEFT_OUT_FROM + (int64_t)i || !rows[i].data.n)
			c->code = ERR_STORE;
		else
			x->text = arena_strf(
			    &c->arena, STR_FMT STR_FMT, STR_ARG(x->text), STR_ARG(rows[i].data));
	}
}

static void send(struct call *c)
{
	const struct reading *x = c->state;

	if (group_read_failed(c))
		return;
	buf_add_str(&c->out,
	    x->text.n ? x->text : STR("{\"n_left_out\":0,\"n_touched\":0,\"left_out\":[]}"));
	call_json(c, 200);
}

void group_left_out(struct call *c)
{
	const struct group_row *g = path_group(c);
	struct reading *x;

	if (!g)
		return;
	x = call_state(c, sizeof *x);
	x->group = g->id;
	call_read(c, read_text, send);
}
