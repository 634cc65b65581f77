/* SPDX-License-Identifier: Apache-2.0 */
/* A plan of packages as the tasks, names and needs of a group: every job is done in the same way.
 */
#include <stdio.h>
#include <string.h>

#include "api/frame/json_out.h"
#include "api/groups/draft/draft.h"
#include "base/mem.h"
#include "model/objects/group_graph.h"
#include "wire/json/json_in.h"
#include "wire/json/need.h"

#define LEFT_OUT_SHOWN 1000
#define LEFT_OUT_BYTES (LEFT_OUT_MAX_BYTES - GRAPH_CHUNK_BYTES) /* one more may begin */
#define N_VALUES 4

struct building {
	struct draft *d;
	const struct manifest *m;
	struct task_in in;
	struct buf name;    /* scratch */
	struct str target;  /* of the job before, */
	struct str as_need; /* and what that is as a need */
};

/* Without one of these an edge is there for the order. */
#define REASONS (DEP_RUNTIME | DEP_BUILD | DEP_STRONG)

static void put_edges(struct draft *d, const struct dag *g)
{
	struct group_edge *to = (struct group_edge *)d->group.edges;

	for (uint32_t job = 0; job < g->n; job++)
		for (uint32_t i = g->first[job]; i < g->first[job + 1]; i++)
			*to++ = (struct group_edge){
			    job, g->needs[i], EDGE_SUCCESS, g->why[i] & REASONS};
}

static void put_one(struct buf *b, const struct manifest *m, const struct left_out *l)
{
	bool direct = l->through == l->node;

	jw_open(b, '{');
	jw_mstr(b, "package", m->texts[l->node]);
	jw_mcstr(b, "how", direct ? "direct" : "indirect");
	jw_mstr_null(b, "through", direct ? STR_NULL : m->texts[l->through]);
	jw_mstr_null(b, "root", direct ? STR_NULL : m->texts[l->root]);
	jw_mstr(b, "reason", m->reasons[l->root]);
	if (l->is_touched)
		jw_mbool(b, "touched", true);
	jw_close(b, '}');
}

/* As many as are told, and kept. Returns how many there are of that sort. */
static size_t put_some(struct draft *d, const struct manifest *m, bool touched, size_t *shown)
{
	size_t n = 0;

	for (uint32_t i = 0; i < m->n_left_out; i++) {
		if (m->left_out[i].is_touched != touched)
			continue;
		n++;
		if (*shown < LEFT_OUT_SHOWN && d->left_out.n < LEFT_OUT_BYTES) {
			put_one(&d->left_out, m, &m->left_out[i]);
			++*shown;
		}
	}
	return n;
}

static struct str in_words(struct draft *d, const struct manifest *m)
{
	const struct left_out *first = &m->left_out[0];
	uint32_t n = m->n_left_out;

	while (d->n_touched_out && !first->is_touched)
		first++;
	return arena_strf(&d->arena, "%u package%s left out, %s" STR_FMT ": " STR_FMT, n,
	    n == 1 ? " was" : "s were", n == 1 ? "" : "the first is ",
	    STR_ARG(m->texts[first->node]), STR_ARG(m->reasons[first->root]));
}

/* What somebody has named comes first: it is told whatever else there is. */
static void put_left_out(struct draft *d, const struct manifest *m)
{
	size_t shown = 0;

	d->n_left_out = m->n_left_out;
	if (!m->n_left_out)
		return;
	d->n_touched_out = put_some(d, m, true, &shown);
	put_some(d, m, false, &shown);
	d->group.left_out = arena_strf(&d->arena,
	    "{\"n_left_out\":%zu,\"n_touched\":%zu,\"left_out\":[" STR_FMT "]}", d->n_left_out,
	    d->n_touched_out, STR_ARG(buf_str(&d->left_out)));
	d->group.left_out_why = in_words(d, m);
}

/* Of a package that is built for one platform: what it is built for is where it is built. */
static int target_need(struct building *k, const struct package *p, struct str *ret_need)
{
	const char *target = p && p->targets && !strchr(p->targets, ',') ? p->targets : NULL;
	json_t *need;
	int rc;

	if (!target || str_is(k->target, target)) {
		*ret_need = target ? k->as_need : STR_NULL;
		return 0;
	}
	need = json_pack("{s:s}", "target", target);
	rc = need_in(need, "targets", &k->d->arena, &k->as_need, &k->d->problem);
	json_decref(need);
	k->target = arena_str(&k->d->arena, str_of(target));
	*ret_need = k->as_need;
	return rc;
}

static int name_job(struct building *k, uint32_t job, struct str *ret_name)
{
	struct str text = k->m->texts[k->m->jobs[job].node];

	buf_reset(&k->name);
	buf_printf(&k->name, STR_FMT "#%u", STR_ARG(text), k->m->jobs[job].round);
	*ret_name = arena_str(&k->d->arena, buf_str(&k->name));
	if (k->name.n <= JOB_NAME_MAX_BYTES)
		return 0;
	return problem_set(
	    &k->d->problem, ERR_TOO_LARGE, "a job's name has at most %d bytes", JOB_NAME_MAX_BYTES);
}

static int put_job(struct building *k, uint32_t job)
{
	const struct manifest_job *j = &k->m->jobs[job];
	const struct package *p = k->m->packages[j->node];
	char round[16];
	struct draft_element e = {.n_values = N_VALUES};
	json_t *said;
	int rc = name_job(k, job, &e.name);

	if (!rc)
		rc = target_need(k, p, &e.need);
	if (rc)
		return draft_problem(k->d, 0, e.name);
	snprintf(round, sizeof round, "%u", j->round);
	e.values = (struct draft_value[N_VALUES]){
	    {STR("package"), k->m->texts[j->node], STR("REEVE_PACKAGE")},
	    /* of one that nobody has uploaded, its name is all that is known */
	    {STR("ident"), p && p->ident ? str_of(p->ident) : k->m->texts[j->node],
	        p && p->ident ? STR("REEVE_IDENT") : STR("")},
	    {STR("round"), str_of(round), STR("REEVE_ROUND")},
	    {STR("job"), e.name, STR("")},
	};
	said = json_deep_copy(k->d->job);
	rc = draft_task(k->d, &k->in, said, &e);
	json_decref(said);
	return rc;
}

static void put_weights(struct draft *d, const struct manifest *m)
{
	uint32_t *to;

	if (!m->has_durations)
		return;
	to = arena_alloc(&d->arena, ((size_t)m->dag.n + 1) * sizeof *to);
	for (uint32_t i = 0; i < m->dag.n; i++) {
		int64_t ms = dag_duration(&m->dag, i);

		to[i] = ms < UINT32_MAX ? (uint32_t)ms : UINT32_MAX;
	}
	d->group.weights = to;
}

/* A build that is there already is a part of the input: of those that are built here, what they are
 * built from is. */
static void put_outside(struct draft *d, const struct manifest *m)
{
	AUTO(buf_release) struct buf b = {0};
	struct str *to;

	if (!d->group.series.n || !m->outside_first)
		return;
	d->outside = to = arena_zalloc(&d->arena, ((size_t)m->dag.n + 1) * sizeof *to);
	for (uint32_t job = 0; job < m->dag.n; job++) {
		buf_reset(&b);
		for (uint32_t i = m->outside_first[job]; i < m->outside_first[job + 1]; i++) {
			uint32_t node = m->outside[i];
			const struct package *p = m->packages[node];

			buf_add_str(&b, p && p->ident ? str_of(p->ident) : m->texts[node]);
			buf_add_char(&b, '\n');
		}
		to[job] = arena_str(&d->arena, buf_str(&b));
	}
}

int draft_manifest(struct draft *d, const struct manifest *m)
{
	struct building k = {.d = d, .m = m, .in = {.arena = &d->arena, .now_ms = d->now_ms}};
	int rc = draft_begin(d, m->dag.n, m->dag.first ? m->dag.first[m->dag.n] : 0);

	if (!rc && !d->job) {
		problem_set(&d->problem, ERR_INVALID, "nothing says how a package is built");
		problem_hint(
		    &d->problem, "give \"job\": {\"command\": [\"build\", \"{package}\"]}");
		rc = problem_field(&d->problem, "job");
	}
	if (rc)
		return rc;
	put_edges(d, &m->dag);
	put_weights(d, m);
	put_left_out(d, m);
	put_outside(d, m);
	for (uint32_t i = 0; i < m->dag.n && !rc; i++)
		rc = put_job(&k, i);
	buf_release(&k.name);
	buf_release(&k.in.text);
	return rc;
}
