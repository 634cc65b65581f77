/* SPDX-License-Identifier: Apache-2.0 */
/* Files to place out of arbitrary bytes: nothing is overcommitted, and everything is told. */
#include "base/mem.h"
#include "service/file/place_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define WORK_MAX 3000 /* more only takes longer */

static void check_workers(const struct place_file *f, const struct place_report *r)
{
	for (uint32_t i = 0; i < f->n_workers; i++) {
		const struct place_worker *w = auction_worker(r->auction, i);

		MUST(f->n_runs || w->starting == w->reserved[PLACE_INSTANCES]);
		for (int k = 0; k < N_PLACE_RESOURCES; k++)
			MUST(f->n_runs || w->reserved[k] <= w->total[k]);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct place_file f = {0};
	struct place_report r;
	struct problem p = {0};
	struct buf json = {0};
	int rc = place_file_read((struct str){(const char *)data, size}, &f, &p);

	if (rc < 0) {
		MUST(rc == p.code && p.what[0]);
		return 0;
	}
	if (f.n_work <= WORK_MAX) {
		place_file_run(&f, &r);
		MUST(r.n == f.n_work && r.n_placed <= r.n);
		check_workers(&f, &r);
		place_report_json(&r, &json);
		place_report_release(&r);
	}
	buf_release(&json);
	place_file_release(&f);
	return 0;
}
