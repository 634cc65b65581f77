/* SPDX-License-Identifier: Apache-2.0 */
/* A plan for Graphviz, without what is implied: unreduced, the layout of a real plan never ends. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "graph/write/report.h"

static void add_name(const struct report *r, uint32_t job, struct buf *out)
{
	buf_add_char(out, '"');
	report_job_name(r, job, out); /* names hold no quote and no backslash */
	buf_add_char(out, '"');
}

/* By job: it is on the critical path, before this one; UINT32_MAX: it is not, or is the last. */
static uint32_t *path_next(const struct report *r, uint8_t *on_path)
{
	uint32_t *next = xmalloc(((size_t)r->dag->n + 1) * sizeof *next);

	memset(next, 0xff, ((size_t)r->dag->n + 1) * sizeof *next);
	for (uint32_t i = 0; i < r->measures.n_path; i++) {
		on_path[r->measures.path[i]] = 1;
		if (i + 1 < r->measures.n_path)
			next[r->measures.path[i]] = r->measures.path[i + 1];
	}
	return next;
}

static const char *edge_style(const struct report *r, uint8_t why)
{
	if (r->manifest)
		return why == WHY_ORDER ? "style=dashed" : "style=solid";
	return why == AFTER_FAILURE ? "style=dashed,color=red"
	       : why == AFTER_END   ? "style=dashed"
	                            : "style=solid";
}

static void add_edge(
    const struct report *r, uint32_t from, uint32_t to, uint8_t why, bool marked, struct buf *out)
{
	const char *words[4];
	size_t n = report_why(r, why, words);

	buf_add_cstr(out, "\t");
	add_name(r, from, out);
	buf_add_cstr(out, " -> ");
	add_name(r, to, out);
	buf_printf(out, " [%s%s,tooltip=\"", edge_style(r, why), marked ? ",penwidth=3" : "");
	for (size_t i = 0; i < n; i++)
		buf_printf(out, "%s%s", i ? ", " : "", words[i]);
	buf_add_cstr(out, "\"];\n");
}

int report_dot(const struct report *r, struct buf *out, struct problem *p)
{
	const struct dag *d = r->dag;
	uint8_t *keep = dag_reduce(d, r->manifest ? 0xff : AFTER_SUCCESS), *on_path;
	uint32_t *next;

	if (!keep) {
		problem_set(p, ERR_TOO_LARGE, "%u jobs with %u dependencies are too many to draw",
		    d->n, d->first[d->n]);
		return problem_hint(p, "-o json and -o table have no such limit");
	}
	on_path = xcalloc((size_t)d->n + 1, 1);
	next = path_next(r, on_path);
	buf_add_cstr(
	    out, "digraph plan {\n\trankdir=LR;\n\tnode [shape=box,fontname=\"sans-serif\"];\n");
	for (uint32_t j = 0; j < d->n; j++) {
		buf_add_cstr(out, "\t");
		add_name(r, j, out);
		buf_add_cstr(out, on_path[j] ? " [penwidth=3];\n" : ";\n");
	}
	for (uint32_t j = 0; j < d->n; j++)
		for (uint32_t e = d->first[j]; e < d->first[j + 1]; e++)
			if (keep[e])
				add_edge(r, d->needs[e], j, d->why[e], next[d->needs[e]] == j, out);
	buf_add_cstr(out, "}\n");
	free(keep);
	free(on_path);
	free(next);
	return 0;
}
