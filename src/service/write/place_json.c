/* SPDX-License-Identifier: Apache-2.0 */
/* Decisions of placement, as JSON: in the order of the decisions, one a line. */
#include <stdlib.h>

#include "base/mem.h"
#include "graph/write/json_text.h"
#include "service/file/place_file.h"
#include "service/write/write.h"

/* The same reason is found and written once. */
struct reasons {
	struct names keys; /* shape and zone */
	struct str *texts;
	size_t cap;
	struct arena arena;
};

static void reasons_release(struct reasons *r)
{
	names_release(&r->keys);
	arena_release(&r->arena);
	free(r->texts);
}

static void add_figures(struct buf *b, const struct place_error *e)
{
	json_key(b, "short");
	buf_add_char(b, '[');
	for (int r = 0; r < N_PLACE_RESOURCES; r++)
		if (e->short_of >> r & 1) {
			json_next(b);
			json_text(b, str_of(place_resource_names[r]));
		}
	buf_add_char(b, ']');
	json_key_i64(b, "workers_that_would_do", e->n_workers);
	json_key(b, "figures");
	buf_add_char(b, '{');
	for (int r = 0; r < N_PLACE_RESOURCES; r++) {
		const struct place_figures *f = &e->figures[r];

		if (!(e->short_of >> r & 1))
			continue;
		json_key(b, place_resource_names[r]);
		buf_add_char(b, '{');
		json_key_i64(b, "wanted", f->wanted);
		json_key_i64(b, "freest", f->freest);
		json_key_i64(b, "largest", f->largest);
		json_key_i64(b, "total", f->total);
		json_key_i64(b, "reserved", f->reserved);
		if (f->used >= 0)
			json_key_i64(b, "used", f->used);
		buf_add_char(b, '}');
	}
	buf_add_char(b, '}');
}

/* The members of a failure, from code on. */
static void reason_write(
    const struct place_report *r, const struct place_work *w, uint32_t zone, struct buf *b)
{
	AUTO(buf_release) struct buf text = {0};
	struct place_error e;

	auction_explain(r->auction, w->shape, zone, &e, &text);
	json_key_text(b, "code", str_of(place_code_names[e.code]));
	json_key_text(b, "error", buf_str(&text));
	if (e.code == PLACE_NO_ROOM || e.code == PLACE_TOO_LARGE)
		add_figures(b, &e);
}

static struct str reason_of(
    const struct place_report *r, struct reasons *known, const struct place_work *w, uint32_t zone)
{
	AUTO(buf_release) struct buf b = {0};
	size_t had = known->keys.n;
	uint32_t n;

	buf_printf(&b, "%u/%u", w->shape, zone);
	n = names_put(&known->keys, buf_str(&b));
	if (n == had) {
		buf_reset(&b);
		buf_add_char(&b, '{');
		reason_write(r, w, zone, &b);
		GROW(known->texts, known->cap, n + 1);
		known->texts[n] =
		    arena_str(&known->arena, (struct str){b.p + 1, b.n - 1}); /* without the { */
	}
	return known->texts[n];
}

static void add_placed(const struct place_report *r, const struct place_result *x, struct buf *b)
{
	const struct place_worker *w = auction_worker(r->auction, x->worker);

	json_key_text(b, "worker", w->name);
	json_key_text(b, "zone", w->zone);
	json_key(b, "score");
	json_score(b, x->score);
	json_key_i64(b, "colocated", x->colocated);
	json_key_i64(b, "zone_had", x->zone_had);
}

static void add_failed(
    const struct place_report *r, struct reasons *known, uint32_t i, struct buf *b)
{
	const struct place_result *x = &r->results[i];

	if (x->zone_must != NO_ZONE)
		json_key_text(b, "zone", auction_zone_name(r->auction, x->zone_must));
	if (x->code == PLACE_STARTS) {
		json_key_text(b, "code", str_of(place_code_names[x->code]));
		json_key(b, "error");
		buf_printf(b,
		    "\"waiting to start instance: reached in-flight start limit; %u of %u starts "
		    "are under way\"",
		    auction_starting(r->auction), r->file->config.starts_max);
		return;
	}
	json_next(b);
	buf_add_str(b, reason_of(r, known, &r->work[i], x->zone_must));
}

static void add_work(const struct place_report *r, struct buf *b)
{
	AUTO(reasons_release) struct reasons known = {0};

	json_key(b, "work");
	buf_add_char(b, '[');
	for (uint32_t k = 0; k < r->n; k++) {
		uint32_t i = r->order[k];
		const struct place_work *w = &r->work[i];

		json_next(b);
		buf_add_cstr(b, "\n  {");
		if (w->service == NO_SERVICE) {
			json_key_text(b, "task", r->file->entries[r->entry_of[i]].task);
		} else {
			json_key_text(b, "service", r->services[w->service]);
			json_key_i64(b, "index", w->index);
		}
		if (r->results[i].worker == NO_WORKER)
			add_failed(r, &known, i, b);
		else
			add_placed(r, &r->results[i], b);
		buf_add_char(b, '}');
	}
	buf_add_cstr(b, "\n]");
}

static void add_worker(const struct place_worker *w, struct buf *b)
{
	json_key_text(b, "name", w->name);
	json_key_text(b, "zone", w->zone);
	json_key_text(b, "state", str_of(place_worker_state_names[w->state]));
	for (int r = 0; r < N_PLACE_RESOURCES; r++) {
		json_key(b, place_resource_names[r]);
		buf_add_char(b, '{');
		json_key_i64(b, "total", w->total[r]);
		json_key_i64(b, "reserved", w->reserved[r]);
		if (w->used[r] >= 0)
			json_key_i64(b, "used", w->used[r]);
		buf_add_char(b, '}');
	}
	json_key_i64(b, "starting", w->starting);
	json_key_i64(b, "tasks", w->tasks);
}

void place_report_json(const struct place_report *r, struct buf *b)
{
	buf_add_char(b, '{');
	json_key_i64(b, "placed", r->n_placed);
	json_key_i64(b, "failed", r->n - r->n_placed);
	add_work(r, b);
	json_key(b, "workers");
	buf_add_char(b, '[');
	for (uint32_t i = 0; i < auction_workers(r->auction); i++) {
		json_next(b);
		buf_add_cstr(b, "\n  {");
		add_worker(auction_worker(r->auction, i), b);
		buf_add_char(b, '}');
	}
	buf_add_cstr(b, "\n]}\n");
}
