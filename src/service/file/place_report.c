/* SPDX-License-Identifier: Apache-2.0 */
/* A file of workers and work through the auction: everything is numbered by name first. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "service/file/place_file.h"

struct numbering {
	struct str name;
	uint32_t was;
};

static int by_name(const void *a, const void *b)
{
	return str_cmp(((const struct numbering *)a)->name, ((const struct numbering *)b)->name);
}

/* ret_number[i]: the place of names[i] in their order. */
static uint32_t *number_by_name(const struct names *names)
{
	struct numbering *v = xcalloc(names->n + 1, sizeof *v);
	uint32_t *ret = xcalloc(names->n + 1, sizeof *ret);

	for (uint32_t i = 0; i < names->n; i++)
		v[i] = (struct numbering){names->texts[i], i};
	qsort(v, names->n, sizeof *v, by_name);
	for (uint32_t i = 0; i < names->n; i++)
		ret[v[i].was] = i;
	free(v);
	return ret;
}

static void auction_make(
    struct place_report *r, const uint32_t *service_number, const uint32_t *worker_number)
{
	const struct place_file *f = r->file;
	struct place_worker *workers = xcalloc(f->n_workers + 1, sizeof *workers);

	for (uint32_t i = 0; i < f->n_workers; i++)
		workers[worker_number[i]] = f->workers[i];
	r->services = xcalloc(f->services.n + 1, sizeof *r->services);
	for (uint32_t i = 0; i < f->services.n; i++)
		r->services[service_number[i]] = f->services.texts[i];
	r->auction =
	    auction_new(&f->config, workers, f->n_workers, r->services, (uint32_t)f->services.n);
	free(workers);
	for (size_t i = 0; i < f->n_runs; i++) {
		const struct place_run *run = &f->runs[i];
		uint32_t shape = auction_shape(r->auction, run->amount, &(struct place_want){0});

		auction_hold(r->auction, worker_number[run->worker],
		    run->service == NO_SERVICE ? NO_SERVICE : service_number[run->service], shape,
		    run->count, run->starting);
	}
}

/* Tasks among each other by their names. */
static void work_make(struct place_report *r, const uint32_t *service_number)
{
	const struct place_file *f = r->file;
	uint32_t *task_number = number_by_name(&f->tasks), task = 0;

	for (uint32_t i = 0; i < f->n_entries; i++) {
		const struct place_entry *e = &f->entries[i];
		uint32_t shape = auction_shape(r->auction, e->amount, &e->want);
		bool is_task = e->service == NO_SERVICE;

		for (uint32_t k = 0; k < e->n; k++) {
			struct place_work *w = &r->work[r->n];

			r->entry_of[r->n++] = i;
			w->shape = shape;
			w->service = is_task ? NO_SERVICE : service_number[e->service];
			w->index = is_task ? task_number[task++] : e->indexes ? e->indexes[k] : k;
		}
	}
	free(task_number);
}

void place_file_run(const struct place_file *f, struct place_report *ret_report)
{
	struct place_report r = {.file = f};
	uint32_t *service_number = number_by_name(&f->services);
	uint32_t *worker_number = number_by_name(&f->worker_names);

	r.work = xcalloc(f->n_work + 1, sizeof *r.work);
	r.entry_of = xcalloc(f->n_work + 1, sizeof *r.entry_of);
	r.results = xcalloc(f->n_work + 1, sizeof *r.results);
	r.order = xcalloc(f->n_work + 1, sizeof *r.order);
	auction_make(&r, service_number, worker_number);
	work_make(&r, service_number);
	auction_run(r.auction, r.work, r.n, r.results, r.order);
	for (uint32_t i = 0; i < r.n; i++)
		r.n_placed += r.results[i].worker != NO_WORKER;
	free(service_number);
	free(worker_number);
	*ret_report = r;
}

void place_report_release(struct place_report *r)
{
	auction_free(r->auction);
	free(r->services);
	free(r->work);
	free(r->entry_of);
	free(r->results);
	free(r->order);
	*r = (struct place_report){0};
}
