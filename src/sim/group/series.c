/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Series: a third of the groups is of one, and of half of these it is known what their jobs are
 * built from. And the judge: what is remembered of a build is that build's.
 */
#include "base/hex.h"
#include "model/objects/group_graph.h"
#include "sim/group/group.h"

bool group_is_of_series(const struct group_wish *p)
{
	return p->request % 3 == 0;
}

static bool has_digests(const struct group_wish *p)
{
	return p->request % 6 == 0;
}

/* Another one for every job of every request. */
static struct input_digest digest_of(const struct group_wish *p, int job)
{
	struct rng r = {(uint64_t)p->request << 8 | (unsigned)job};
	struct input_digest d;

	for (size_t i = 0; i < sizeof d.bytes; i++)
		d.bytes[i] = (unsigned char)(rng_next(&r) | 1);
	return d;
}

void group_submit_series(const struct group_wish *p, struct submit_group *g, struct arena *a)
{
	struct input_digest *all;

	if (!group_is_of_series(p))
		return;
	g->series = STR("s");
	if (!has_digests(p))
		return;
	g->digests = all = arena_zalloc(a, (SUBMIT_MOST) * sizeof *all);
	for (int i = 0; i < p->n; i++)
		all[i] = digest_of(p, i);
}

/* The digest is not known yet of what ends while its group is being read after a start. */
static bool is_right(const struct group_wish *p, int job, struct str digest)
{
	struct input_digest d = digest_of(p, job);
	char text[2 * sizeof d + 1];

	if (!digest.n)
		return true;
	hex_put(text, d.bytes, sizeof d);
	return has_digests(p) && str_is(digest, text);
}

void judge_group_built(struct world *w, const struct built_row *row)
{
	const struct truth_group *g = groups_find(w, row->group);
	struct truth_task *t = truth_of(w, row->task);
	int job = g ? groups_place(g, t) : -1;

	if (job < 0 || !g->wish)
		return;
	if (t->stored_status != TASK_SUCCEEDED || !group_is_of_series(g->wish) ||
	    g->wish->taken[job].id)
		world_fail(w, 50, "group %u: task %u is remembered as built, and is %s", g->number,
		    t->number, task_state_name(t->stored_status));
	if (!is_right(g->wish, job, row->digest))
		world_fail(w, 50, "group %u: what task %u was built from is another's", g->number,
		    t->number);
}
