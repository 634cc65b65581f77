/* SPDX-License-Identifier: Apache-2.0 */
/*
 * GET /v1/groups: newest first. All of them are in memory. For a caller with limits only those are
 * there whose jobs all lie within them, which the store knows.
 */
#include <string.h>

#include "api/groups/groups.h"
#include "api/objects/show.h"

#define LOOK_MOST 200 /* for a caller with limits: jobs are counted for each */

struct listing {
	struct call *c;
	unsigned states; /* bits; 0: any */
	struct owner of; /* that triggered them; 0: whichever, or none */
	uint32_t limit;
	rid at; /* the last one that was looked at */
	bool more;
	struct task_filter seen; /* what the caller may see */
	struct group_row *found; /* in the arena */
	size_t n, cap;
	uint64_t news_batch; /* the last of theirs */
};

static bool fits(const struct listing *l, const struct group_row *g)
{
	struct str prefix = l->c->query[Q_NAME];
	struct owner of = group_owner(g);

	return (!l->states || l->states >> g->state & 1) &&
	       (!l->of.id || (of.kind == l->of.kind && of.id == l->of.id)) &&
	       (!prefix.n || (g->name.n >= prefix.n && !memcmp(g->name.p, prefix.p, prefix.n)));
}

static void find(struct listing *l, size_t most)
{
	const struct core *core = l->c->host->core;
	int looked = 0;
	rid id = 0;

	while (l->n < most && looked++ < LOOKED_AT_MAX &&
	       (id = core_before(core, KIND_GROUP, l->at))) {
		struct group_view v;

		core_group(core, id, &v);
		l->at = id;
		if (!fits(l, v.row))
			continue;
		l->found = arena_room(&l->c->arena, l->found, l->n, &l->cap, sizeof *l->found);
		if (v.news_batch > l->news_batch)
			l->news_batch = v.news_batch;
		row_copy(&group_table, &l->c->arena, v.row, 0, &l->found[l->n++]);
	}
	l->more = id && core_before(core, KIND_GROUP, l->at);
}

static void look(struct store_reader *r, void *arg)
{
	struct call *c = arg;
	struct listing *l = c->state;
	size_t n = 0;
	bool covered;

	c->code = 0;
	for (size_t i = 0; i < l->n && n < l->limit && !c->code; i++) {
		const struct group_row g = l->found[i];

		c->code = scope_look(r, &l->seen, g.id, g.n_jobs, &c->row_arena, &covered);
		l->more |= n + covered == l->limit && i + 1 < l->n;
		if (covered)
			l->found[n++] = g;
		l->at = g.id;
	}
	l->n = n;
}

static void show(struct call *c)
{
	struct listing *l = c->state;

	if (call_read_failed(c))
		return;
	show_page_begin(c);
	for (size_t i = 0; i < l->n; i++)
		show_group(&c->out, c->api, &l->found[i]);
	show_page_end(c, l->more ? l->at : 0);
}

static void narrow(struct call *c)
{
	struct listing *l = c->state;

	if (!c->who.limit) {
		show(c);
		return;
	}
	scope_narrow(c, &l->seen);
	call_read_long(c, look, show);
}

static bool of_owner(struct call *c, struct owner *ret_of)
{
	if (!resource_owner(c, ret_of))
		return true;
	call_problem(c);
	return false;
}

void groups_list(struct call *c)
{
	struct listing *l = call_state(c, sizeof *l);

	l->c = c;
	if (!call_page(c, &l->at, &l->limit) || !resource_states(c, &l->states) ||
	    !of_owner(c, &l->of))
		return;
	find(l, c->who.limit ? LOOK_MOST : l->limit);
	call_when_durable(c, l->news_batch, narrow);
}
