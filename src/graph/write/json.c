/* SPDX-License-Identifier: Apache-2.0 */
/* A plan as JSON: a job a line, so that two plans can be compared by their lines. */
#include <stdlib.h>

#include "base/mem.h"
#include "graph/limits.h"
#include "graph/write/json_text.h"
#include "graph/write/report.h"

/* A name is written very often: in pieces, without a copy. */
static void add_job_name(const struct report *r, uint32_t job, struct buf *out)
{
	buf_add_char(out, '"');
	report_job_name(r, job, out); /* names hold nothing that JSON escapes */
	buf_add_char(out, '"');
}

static void add_why(const struct report *r, uint8_t why, struct buf *out)
{
	const char *words[4];
	size_t n = report_why(r, why, words);

	json_key(out, "why");
	for (size_t i = 0; i < n; i++) {
		buf_add_cstr(out, i ? ",\"" : "[\"");
		buf_add_cstr(out, words[i]);
		buf_add_char(out, '"');
	}
	buf_add_char(out, ']');
}

static void add_needs(const struct report *r, uint32_t job, struct buf *out)
{
	const struct dag *d = r->dag;

	json_key(out, "needs");
	buf_add_char(out, '[');
	for (uint32_t e = d->first[job]; e < d->first[job + 1]; e++) {
		buf_add_cstr(out, e > d->first[job] ? ",{\"job\":" : "{\"job\":");
		add_job_name(r, d->needs[e], out);
		if (r->manifest)
			add_why(r, d->why[e], out);
		else
			json_key_text(out, "after", str_of(after_name(d->why[e])));
		buf_add_char(out, '}');
	}
	buf_add_char(out, ']');
}

static void add_job_externals(const struct report *r, uint32_t job, struct buf *out)
{
	const struct manifest *m = r->manifest;

	json_key(out, "externals");
	buf_add_char(out, '[');
	for (uint32_t e = m->outside_first[job]; e < m->outside_first[job + 1]; e++) {
		buf_add_cstr(out, e > m->outside_first[job] ? ",{" : "{");
		json_key_text(out, "package", m->texts[m->outside[e]]);
		add_why(r, m->outside_why[e], out);
		buf_add_char(out, '}');
	}
	buf_add_char(out, ']');
}

static void add_targets(const struct package *k, struct buf *out)
{
	struct str rest = str_of(k->targets), word;

	if (rest.n == 0)
		return;
	json_key(out, "targets");
	buf_add_char(out, '[');
	while (rest.n && str_next(&rest, ',', &word)) {
		json_next(out);
		json_text(out, word);
	}
	buf_add_char(out, ']');
}

static void add_package(const struct report *r, uint32_t job, struct buf *out)
{
	const struct manifest *m = r->manifest;
	const struct package *k = m->packages[m->jobs[job].node];

	json_key_text(out, "package", m->texts[m->jobs[job].node]);
	if (k) {
		json_key_text(out, "ident", str_of(k->ident));
		add_targets(k, out);
	}
	json_key_i64(out, "round", m->jobs[job].round);
}

static void add_element(const struct report *r, uint32_t element, struct buf *out)
{
	const struct job *job = &r->jobs->list->jobs[r->jobs->elements[element].job];

	json_key_text(out, "job", job->name);
	if (job->n_axes == 0)
		return;
	json_key(out, "values");
	buf_add_char(out, '{');
	for (uint32_t i = 0; i < job->n_axes; i++)
		json_key_text(out, job->axes[i].name.p, job_element_value(r->jobs, element, i));
	buf_add_char(out, '}');
	if (job->throttle)
		json_key_i64(out, "throttle", job->throttle);
}

static void add_job(const struct report *r, uint32_t job, struct buf *out)
{
	buf_add_cstr(out, "\n    {\"name\":");
	add_job_name(r, job, out);
	if (r->manifest)
		add_package(r, job, out);
	else
		add_element(r, job, out);
	json_key_i64(out, "level", r->measures.level[job]);
	if (report_has_durations(r))
		json_key_i64(out, "duration_ms", r->dag->duration[job]);
	add_needs(r, job, out);
	if (r->manifest)
		add_job_externals(r, job, out);
	buf_add_char(out, '}');
}

static void member(struct buf *out, const char *name)
{
	json_next(out);
	buf_add_cstr(out, "\n  \"");
	buf_add_cstr(out, name);
	buf_add_cstr(out, "\": ");
}

static void member_i64(struct buf *out, const char *name, int64_t n)
{
	member(out, name);
	buf_add_i64(out, n);
}

static void member_nodes(
    struct buf *out, const char *name, const struct manifest *m, const uint32_t *nodes, size_t n)
{
	member(out, name);
	buf_add_char(out, '[');
	for (size_t i = 0; i < n; i++) {
		json_next(out);
		json_text(out, m->texts[nodes[i]]);
	}
	buf_add_char(out, ']');
}

static void add_left_out(const struct manifest *m, const struct left_out *l, struct buf *out)
{
	bool direct = l->through == l->node;

	json_next(out);
	buf_add_cstr(out, "\n    {");
	json_key_text(out, "package", m->texts[l->node]);
	json_key_text(out, "how", str_of(direct ? "direct" : "indirect"));
	if (!direct) {
		json_key_text(out, "through", m->texts[l->through]);
		json_key_text(out, "root", m->texts[l->root]);
	}
	json_key_text(out, "reason", m->reasons[l->root]);
	buf_add_char(out, '}');
}

static void add_component(const struct report *r, const struct component *c, struct buf *out)
{
	json_next(out);
	buf_add_cstr(out, "\n    {");
	json_key_i64(out, "size", c->n);
	json_key_i64(out, "rounds", r->rounds);
	json_key(out, "order");
	buf_add_char(out, '[');
	for (uint32_t i = 0; i < c->n; i++) {
		json_next(out);
		json_text(out, r->manifest->texts[c->members[i]]);
	}
	buf_add_cstr(out, "]}");
}

static void add_manifest(const struct report *r, struct buf *out)
{
	const struct manifest *m = r->manifest;
	size_t n;
	uint32_t *externals = report_externals(m, &n);

	member_nodes(out, "externals", m, externals, n);
	free(externals);
	member_nodes(out, "unknown", m, m->unknown, m->n_unknown);
	member(out, "left_out");
	buf_add_char(out, '[');
	for (uint32_t i = 0; i < m->n_left_out; i++)
		add_left_out(m, &m->left_out[i], out);
	buf_add_char(out, ']');
	member(out, "components");
	buf_add_char(out, '[');
	for (uint32_t i = 0; i < m->n_components; i++)
		add_component(r, &m->components[i], out);
	buf_add_char(out, ']');
}

/* An edge with several reasons counts for each of them. */
static void add_edges(const struct report *r, struct buf *out)
{
	const struct dag *d = r->dag;
	uint32_t n = d->n ? d->first[d->n] : 0, counts[8] = {0};
	const char *words[4];

	for (uint32_t e = 0; e < n; e++)
		for (int bit = 0; bit < 8; bit++)
			counts[bit] += d->why[e] >> bit & 1;
	member(out, "edges");
	buf_add_char(out, '{');
	json_key_i64(out, "total", n);
	for (int bit = 0; bit < (r->manifest ? 4 : 3); bit++) {
		report_why(r, (uint8_t)(1 << bit), words);
		json_key_i64(out, words[0], counts[bit]);
	}
	buf_add_char(out, '}');
}

static void add_path(const struct report *r, struct buf *out)
{
	member(out, "critical_path");
	buf_add_char(out, '{');
	json_key_i64(out, "length", r->measures.critical);
	json_key(out, "jobs");
	buf_add_char(out, '[');
	for (uint32_t i = 0; i < r->measures.n_path; i++) {
		json_next(out);
		add_job_name(r, r->measures.path[i], out);
	}
	buf_add_cstr(out, "]}");
}

static void add_makespans(const struct report *r, struct buf *out)
{
	member(out, "makespans");
	buf_add_char(out, '[');
	for (size_t i = 0; i < r->n_workers; i++) {
		uint32_t w = r->workers[i];

		json_next(out);
		buf_add_cstr(out, "\n    {");
		json_key_i64(out, "workers", w);
		json_key_i64(
		    out, "oldest_first", dag_makespan(r->dag, &r->measures, w, PICK_OLDEST));
		json_key_i64(
		    out, "longest_path_first", dag_makespan(r->dag, &r->measures, w, PICK_LONGEST));
		buf_add_char(out, '}');
	}
	buf_add_char(out, ']');
}

static void add_measures(const struct report *r, struct buf *out)
{
	member_i64(out, "longest_chain", r->measures.longest_chain);
	member_i64(out, "widest_level", r->measures.widest_level);
	member_i64(out, "ready_at_once", r->measures.at_once);
	member(out, "unit");
	buf_add_cstr(out, report_has_durations(r) ? "\"ms\"" : "\"job\"");
	member_i64(out, "total", r->measures.total);
	add_path(r, out);
	add_makespans(r, out);
}

void report_json(const struct report *r, struct buf *out)
{
	buf_add_char(out, '{');
	member(out, "form");
	buf_add_cstr(out, r->manifest ? "\"packages\"" : "\"jobs\"");
	if (r->manifest)
		member_i64(out, "rounds", r->rounds);
	member_i64(out, "n_jobs", r->dag->n);
	add_edges(r, out);
	add_measures(r, out);
	if (r->manifest)
		add_manifest(r, out);
	member(out, "jobs");
	buf_add_char(out, '[');
	for (uint32_t i = 0; i < r->dag->n; i++) {
		json_next(out);
		add_job(r, i, out);
	}
	buf_add_cstr(out, "]\n}\n");
}
