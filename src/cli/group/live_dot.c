/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A running group for Graphviz, without what is implied. A state is a colour, a shape and a word,
 * so that none of them alone has to tell it.
 */
#include <stdlib.h>

#include "base/mem.h"
#include "cli/group/live.h"
#include "cli/output/output.h"
#include "graph/jobs/jobs.h"

static const struct {
	const char *shape, *style, *fill;
} looks[] = {
    [JOB_PENDING] = {"box", "filled,dashed", "#ffffff"},
    [JOB_SCHEDULABLE] = {"box", "filled", "#ffffff"},
    [JOB_ELIGIBLE] = {"box", "filled,rounded", "#fff3c4"},
    [JOB_DISPATCHED] = {"cds", "filled", "#bcdcff"},
    [JOB_BUILT] = {"ellipse", "filled", "#c8efc8"},
    [JOB_FAILED] = {"octagon", "filled", "#ffb3ab"},
    [JOB_DEPENDENCY_FAILED] = {"box", "filled,dotted", "#e4e4e4"},
    [JOB_LOST] = {"diamond", "filled", "#ffd9a0"},
    [JOB_CANCEL_PENDING] = {"invtrapezium", "filled", "#e3d3f5"},
    [JOB_CANCEL_COMPLETE] = {"invtrapezium", "filled,dashed", "#e4e4e4"},
    [JOB_GONE] = {"plaintext", "filled", "#f4f4f4"},
};

/* Names hold no quote, no backslash and no line break; whatever else says so is not believed. */
static void add_text(struct buf *out, const char *text)
{
	for (; *text; text++)
		if (*text == '"' || *text == '\\')
			buf_printf(out, "\\%c", *text);
		else
			buf_add_char(out, (unsigned char)*text < ' ' || *text == 127 ? '?' : *text);
}

static void add_took(const struct live *l, uint32_t job, struct buf *out)
{
	char text[TIME_TEXT_MAX];

	if (l->started[job] && l->ended[job] >= l->started[job])
		buf_printf(out, " %s", time_human_ms(l->ended[job] - l->started[job], text));
}

static void add_job(const struct live *l, const struct forecast *f, uint32_t job, struct buf *out)
{
	int s = l->states[job];

	buf_printf(out, "\tj%u [label=\"", job);
	add_text(out, live_name(l, job));
	buf_printf(out, "\\n%s", job_state_word(s));
	add_took(l, job, out);
	buf_printf(out, "\",shape=%s,style=\"%s\",fillcolor=\"%s\"%s];\n", looks[s].shape,
	    looks[s].style, looks[s].fill, f->critical[job] ? ",penwidth=3" : "");
}

static const char *edge_style(const struct live *l, uint32_t e)
{
	if (l->dag.why[e] == AFTER_FAILURE)
		return "style=dashed,color=red";
	return l->dag.why[e] == AFTER_END || (l->is_planned && !l->reasons[e]) ? "style=dashed"
	                                                                       : "style=solid";
}

static void add_edge(
    const struct live *l, const struct forecast *f, uint32_t job, uint32_t e, struct buf *out)
{
	uint32_t need = l->dag.needs[e];

	buf_printf(out, "\tj%u -> j%u [%s%s,tooltip=\"after %s\"];\n", need, job, edge_style(l, e),
	    f->critical[job] && f->critical[need] ? ",penwidth=3" : "",
	    after_name((enum after)l->dag.why[e]));
}

int live_dot(const struct live *l, const struct forecast *f, struct buf *out, struct problem *p)
{
	uint8_t *keep = dag_reduce(&l->dag, AFTER_SUCCESS);

	if (!keep) {
		problem_set(p, ERR_TOO_LARGE, "%u jobs with %u needs are too many to draw", l->n,
		    l->dag.first[l->n]);
		return problem_hint(p, "-o json has no such limit");
	}
	buf_add_cstr(out, "digraph group {\n\trankdir=LR;\n\tlabel=\"");
	add_text(out, js(l->group, "name"));
	buf_add_cstr(out, ": ");
	add_text(out, js(l->group, "state"));
	buf_add_cstr(out, "\";\n\tnode [fontname=\"sans-serif\"];\n");
	for (uint32_t j = 0; j < l->n; j++)
		add_job(l, f, j, out);
	for (uint32_t j = 0; j < l->n; j++)
		for (uint32_t e = l->dag.first[j]; e < l->dag.first[j + 1]; e++)
			if (keep[e])
				add_edge(l, f, j, e, out);
	buf_add_cstr(out, "}\n");
	free(keep);
	return 0;
}
