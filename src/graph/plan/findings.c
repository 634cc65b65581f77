/* SPDX-License-Identifier: Apache-2.0 */
/* A plan of everything, made as far as there is something to be found. */
#include "graph/plan/findings.h"

#include <stdlib.h>

#include "base/mem.h"
#include "graph/package/loops.h"
#include "graph/plan/internal.h"

void findings_release(struct findings *f)
{
	arena_release(&f->arena);
	free(f->loop);
	for (size_t i = 0; i < f->n_contradictions && i < FINDINGS_LISTED; i++)
		free(f->contradictions[i]);
	free(f->contradictions);
	free(f->unknown);
	free(f->blocked);
	*f = (struct findings){0};
}

static void find_blocked(const struct manifest *m, struct findings *f)
{
	size_t most = m->n_left_out < FINDINGS_LISTED ? m->n_left_out : FINDINGS_LISTED;

	f->n_blocked = m->n_left_out;
	f->blocked = xcalloc(most + 1, sizeof *f->blocked);
	for (size_t i = 0; i < most; i++) {
		const struct left_out *l = &m->left_out[i];
		struct finding_blocked *b = &f->blocked[i];

		b->package = m->texts[l->node];
		b->reason = arena_str(&f->arena, m->reasons[l->root]);
		if (l->through == l->node)
			continue;
		b->through = m->texts[l->through];
		b->root = m->texts[l->root];
	}
}

static void note_unknown(const struct plan *x, uint32_t node, struct finding_unknown *u)
{
	uint32_t from = x->user_first[node];

	u->package = x->m->texts[node];
	u->n_users = x->user_first[node + 1] - from;
	for (uint32_t i = 0; i < u->n_users && i < FINDING_USERS; i++)
		u->users[i] = x->m->texts[x->users[from + i]];
}

/* A name that is only pinned to a version that is not there is needed by nobody now. */
static void find_unknown(const struct plan *x, struct findings *f)
{
	f->unknown = xcalloc(FINDINGS_LISTED, sizeof *f->unknown);
	for (uint32_t i = 0; i < x->m->n_nodes; i++) {
		if (x->m->packages[i] || x->user_first[i] == x->user_first[i + 1])
			continue;
		if (f->n_unknown < FINDINGS_LISTED)
			note_unknown(x, i, &f->unknown[f->n_unknown]);
		f->n_unknown++;
	}
}

static void add_contradiction(void *arg, const struct problem *p)
{
	struct findings *f = arg;

	if (f->n_contradictions < FINDINGS_LISTED)
		f->contradictions[f->n_contradictions] = xstrdup(p->what);
	f->n_contradictions++;
}

static void find_contradictions(struct plan *x, struct findings *f)
{
	f->contradictions = xcalloc(FINDINGS_LISTED, sizeof *f->contradictions);
	for (uint32_t i = 0; i < x->m->n_nodes; i++)
		x->chosen[i] = x->m->packages[i] != NULL;
	plan_components(x);
	plan_order_each(x, add_contradiction, f);
}

void findings_make(const struct package_graph *g, const struct plan_block *blocked,
    size_t n_blocked, struct findings *ret_findings)
{
	struct plan_request all = {.all = true, .blocked = blocked, .n_blocked = n_blocked};
	struct findings f = {.n_packages = g->n_known, .n_deps = g->n_deps};
	struct problem p = {0};
	struct manifest m = {0};
	AUTO(plan_release) struct plan x = {.g = g, .request = &all, .m = &m, .p = &p};

	if (runtime_loop_anywhere(g, &p) < 0)
		f.loop = xstrdup(p.what);
	plan_view(&x);
	plan_choose(&x);
	find_blocked(&m, &f);
	find_unknown(&x, &f);
	find_contradictions(&x, &f);
	manifest_release(&m);
	*ret_findings = f;
}
