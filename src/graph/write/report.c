/* SPDX-License-Identifier: Apache-2.0 */
#include "graph/write/report.h"

#include <stdlib.h>

#include "base/mem.h"

void report_of_manifest(const struct manifest *m, uint32_t rounds, const uint32_t *workers,
    size_t n_workers, struct report *ret_report)
{
	*ret_report = (struct report){.manifest = m,
	    .dag = &m->dag,
	    .workers = workers,
	    .n_workers = n_workers,
	    .rounds = rounds};
	dag_measure(&m->dag, &ret_report->measures);
}

void report_of_jobs(
    const struct job_plan *j, const uint32_t *workers, size_t n_workers, struct report *ret_report)
{
	*ret_report =
	    (struct report){.jobs = j, .dag = &j->dag, .workers = workers, .n_workers = n_workers};
	dag_measure(&j->dag, &ret_report->measures);
}

void report_release(struct report *r)
{
	measures_release(&r->measures);
	*r = (struct report){0};
}

void report_job_name(const struct report *r, uint32_t job, struct buf *out)
{
	const struct manifest *m = r->manifest;

	if (!m) {
		job_element_name(r->jobs, job, out);
		return;
	}
	buf_add_str(out, m->texts[m->jobs[job].node]);
	buf_add_char(out, '#');
	buf_add_u64(out, m->jobs[job].round);
}

bool report_has_durations(const struct report *r)
{
	return r->manifest ? r->manifest->has_durations : r->jobs->has_durations;
}

size_t report_why(const struct report *r, uint8_t why, const char *ret_words[4])
{
	static const struct {
		uint8_t bit;
		const char *word;
	} words[] = {{DEP_RUNTIME, "runtime"}, {DEP_BUILD, "build"}, {DEP_STRONG, "strong"},
	    {WHY_ORDER, "order"}};
	size_t n = 0;

	if (!r->manifest) {
		ret_words[n++] = after_name(why);
		return n;
	}
	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (why & words[i].bit)
			ret_words[n++] = words[i].word;
	return n;
}

uint32_t *report_externals(const struct manifest *m, size_t *ret_n)
{
	uint8_t *seen = xcalloc((size_t)m->n_nodes + 1, 1);
	uint32_t *all = xcalloc((size_t)m->n_nodes + 1, sizeof *all);
	size_t n = 0;

	for (uint32_t e = 0; m->dag.n && e < m->outside_first[m->dag.n]; e++)
		seen[m->outside[e]] = 1;
	for (uint32_t i = 0; i < m->n_nodes; i++)
		if (seen[i])
			all[n++] = i;
	free(seen);
	*ret_n = n;
	return all;
}
