/* SPDX-License-Identifier: Apache-2.0 */
/* Files to plan out of arbitrary bytes: what is read can be planned, told and drawn. */
#include "base/mem.h"
#include "graph/file/file.h"
#include "graph/write/report.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const uint32_t workers[] = {1, 3};

static void check_problem(int rc, const struct problem *p)
{
	MUST(rc < 0 && rc == p->code && p->what[0]);
}

/* Every need is a job, each once; of a manifest one that was made before. */
static void check_dag(const struct dag *d, bool sorted)
{
	for (uint32_t j = 0; j < d->n; j++)
		for (uint32_t e = d->first[j]; e < d->first[j + 1]; e++) {
			MUST(d->needs[e] < d->n && d->why[e]);
			MUST(!sorted || d->needs[e] < j);
			MUST(e == d->first[j] || d->needs[e] > d->needs[e - 1]);
		}
}

static void check_report(struct report *r)
{
	struct buf json = {0}, dot = {0};
	struct problem p;

	report_json(r, &json);
	MUST(report_dot(r, &dot, &p) == 0);
	MUST(r->measures.n_path <= r->dag->n);
	buf_release(&json);
	buf_release(&dot);
	report_release(r);
}

static void plan_packages(const struct plan_file *f)
{
	struct manifest m = {0};
	struct report r;
	struct problem p = {0};
	int rc = plan_file_manifest(f, f->rounds > 4 ? 4 : 0, &m, &p);

	if (rc < 0) {
		check_problem(rc, &p);
		return;
	}
	check_dag(&m.dag, true);
	report_of_manifest(&m, 3, workers, 2, &r);
	check_report(&r);
	manifest_release(&m);
}

static void plan_jobs(const struct plan_file *f)
{
	struct job_plan j = {0};
	struct report r;
	struct problem p = {0};
	int rc = job_plan_make(&f->jobs, &j, &p);

	if (rc < 0) {
		check_problem(rc, &p);
		return;
	}
	check_dag(&j.dag, false);
	report_of_jobs(&j, workers, 2, &r);
	if (j.dag.n < 1000)
		check_report(&r);
	else
		report_release(&r);
	job_plan_release(&j);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct plan_file f = {0};
	struct problem p = {0};
	int rc = plan_file_read((struct str){(const char *)data, size}, &f, &p);

	if (rc < 0) {
		check_problem(rc, &p);
		return 0;
	}
	if (f.has_packages)
		plan_packages(&f);
	else
		plan_jobs(&f);
	plan_file_release(&f);
	return 0;
}
