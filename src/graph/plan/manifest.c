/* SPDX-License-Identifier: Apache-2.0 */
#include "graph/plan/manifest.h"

#include <stdlib.h>

#include "base/mem.h"
#include "graph/limits.h"
#include "graph/plan/internal.h"

void plan_release(struct plan *x)
{
	free(x->first);
	free(x->on);
	free(x->kinds);
	free(x->user_first);
	free(x->users);
	free(x->touched);
	free(x->chosen);
	free(x->comp);
	free(x->comp_first);
	free(x->members);
}

void manifest_release(struct manifest *m)
{
	arena_release(&m->arena);
	free(m->texts);
	free(m->packages);
	free(m->reasons);
	dag_release(&m->dag);
	free(m->jobs);
	free(m->outside_first);
	free(m->outside);
	free(m->outside_why);
	free(m->left_out);
	free(m->components);
	free(m->unknown);
	*m = (struct manifest){0};
}

static int64_t known_duration(const struct manifest *m, uint32_t job)
{
	const struct package *k = m->packages[m->jobs[job].node];

	return k ? k->duration_ms : 0;
}

/* What a build takes, where that is known of any; the others take as long as those on average. */
static void set_durations(struct manifest *m)
{
	int64_t sum = 0, n = 0;

	for (uint32_t j = 0; j < m->dag.n; j++) {
		sum += known_duration(m, j);
		n += known_duration(m, j) > 0;
	}
	m->has_durations = n > 0;
	if (n == 0)
		return;
	m->dag.duration = xcalloc((size_t)m->dag.n + 1, sizeof *m->dag.duration);
	for (uint32_t j = 0; j < m->dag.n; j++) {
		int64_t known = known_duration(m, j);

		m->dag.duration[j] = known > 0 ? known : sum / n;
	}
}

int manifest_make(const struct package_graph *g, const struct plan_request *request,
    struct manifest *ret_manifest, struct problem *p)
{
	struct manifest m = {0};
	AUTO(plan_release) struct plan x = {.g = g, .request = request, .m = &m, .p = p};
	int rc;

	x.rounds = request->rounds ? request->rounds : PLAN_ROUNDS_DEFAULT;
	if (x.rounds > PLAN_ROUNDS_MAX)
		return problem_set(p, ERR_INVALID, "%u rounds are too many; there may be %d",
		    x.rounds, PLAN_ROUNDS_MAX);
	plan_view(&x);
	plan_choose(&x);
	plan_components(&x);
	rc = plan_order(&x);
	if (rc == 0)
		rc = plan_unroll(&x);
	if (rc < 0) {
		manifest_release(&m);
		return rc;
	}
	set_durations(&m);
	*ret_manifest = m;
	return 0;
}
