/* SPDX-License-Identifier: Apache-2.0 */
/* Why something has no place: what no worker is, or what every worker lacks, in numbers. */
#include <string.h>

#include "service/place/internal.h"

struct asking {
	const struct auction *a;
	const struct work_shape *shape;
	const struct place_want *want;
	uint32_t zone; /* NO_ZONE: any */
	struct place_error *e;
	struct buf *text;
};

/* "512 MiB", "1.5", "3" */
static void place_amount_text(enum place_resource r, int64_t n, struct buf *out)
{
	static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
	int64_t one = 1;
	int u = 0;

	if (r == PLACE_INSTANCES) {
		buf_add_i64(out, n);
		return;
	}
	if (r == PLACE_CPU) {
		buf_printf(out, n % 1000 ? "%lld.%03lld" : "%lld", (long long)(n / 1000),
		    (long long)(n % 1000));
		return;
	}
	while (u < 5 && n >= one * 1024) {
		one *= 1024;
		u++;
	}
	buf_add_i64(out, n / one);
	if (n % one * 10 / one)
		buf_printf(out, ".%lld", (long long)(n % one * 10 / one));
	buf_printf(out, " %s", units[u]);
}

/* "a=1, b=2" */
static void add_list(struct buf *out, struct str lines)
{
	struct str line;

	for (bool first = true; lines.n && str_next(&lines, '\n', &line); first = false)
		buf_printf(out, "%s" STR_FMT, first ? "" : ", ", STR_ARG(line));
}

static bool is_many(struct str lines)
{
	return lines.n && memchr(lines.p, '\n', lines.n) != lines.p + lines.n - 1;
}

static bool is_target(const struct asking *q, const struct place_worker *w)
{
	return q->want->target.n == 0 || str_eq(q->want->target, w->target);
}

/* How many workers pass so many of the tests, in the order in which they are told. */
enum { PASS_TARGET, PASS_LABELS, PASS_TAGS, PASS_ZONE, PASS_TALKS, PASS_TAKES, N_PASSES };

static void count_passes(const struct asking *q, uint32_t n[N_PASSES])
{
	for (uint32_t i = 0; i < q->a->n_workers; i++) {
		const struct place_worker *w = &q->a->workers[i];
		const bool passes[N_PASSES] = {
		    [PASS_TARGET] = is_target(q, w),
		    [PASS_LABELS] = want_has_labels(q->want, w),
		    [PASS_TAGS] = want_has_tags(q->want, w),
		    [PASS_ZONE] = q->zone == NO_ZONE || q->zone == w->zone_number,
		    [PASS_TALKS] = w->state != PLACE_SILENT,
		    [PASS_TAKES] = w->state == PLACE_READY,
		};

		for (int p = 0; p < N_PASSES && passes[p]; p++)
			n[p]++;
	}
}

static void say_labels(const struct asking *q)
{
	struct str rest = q->want->labels, label;

	while (rest.n && str_next(&rest, '\n', &label)) {
		bool is_there = false;

		for (uint32_t i = 0; i < q->a->n_workers && !is_there; i++)
			is_there = is_target(q, &q->a->workers[i]) &&
			           lines_have(q->a->workers[i].labels, label);
		if (!is_there) {
			buf_printf(q->text, "no worker with label " STR_FMT, STR_ARG(label));
			return;
		}
	}
	if (q->want->without.n) {
		buf_add_cstr(
		    q->text, "every worker that would do has a label that is not wanted: ");
		add_list(q->text, q->want->without);
		return;
	}
	buf_add_cstr(q->text, "no worker with all of the labels ");
	add_list(q->text, q->want->labels);
}

static void say_tags(const struct asking *q)
{
	if (q->want->tags.n == 0) {
		q->e->code = PLACE_KEPT;
		buf_add_cstr(q->text,
		    "every worker that would do is kept for work with a placement "
		    "tag, and this has none");
		return;
	}
	buf_printf(q->text, "no worker with placement tag%s ", is_many(q->want->tags) ? "s" : "");
	add_list(q->text, q->want->tags);
}

static bool say_who_is_missing(const struct asking *q)
{
	uint32_t n[N_PASSES] = {0};

	count_passes(q, n);
	q->e->n_workers = n[PASS_TAKES];
	if (q->a->n_workers == 0) {
		q->e->code = PLACE_NO_WORKER;
		buf_add_cstr(q->text, "there is no worker");
	} else if (n[PASS_TARGET] == 0) {
		q->e->code = PLACE_NO_TARGET;
		buf_printf(q->text, "no worker with target " STR_FMT, STR_ARG(q->want->target));
	} else if (n[PASS_LABELS] == 0) {
		q->e->code = PLACE_NO_LABEL;
		say_labels(q);
	} else if (n[PASS_TAGS] == 0) {
		q->e->code = PLACE_NO_TAG;
		say_tags(q);
	} else if (n[PASS_ZONE] == 0) {
		q->e->code = PLACE_NOT_IN_ZONE;
		buf_printf(q->text,
		    "no worker that would do is in zone " STR_FMT ", where it must be",
		    STR_ARG(q->a->zones[q->zone]));
	} else if (n[PASS_TALKS] == 0) {
		q->e->code = PLACE_UNREACHABLE;
		buf_add_cstr(q->text, "unable to communicate with any worker that would do");
	} else if (n[PASS_TAKES] == 0) {
		q->e->code = PLACE_DRAINED;
		buf_add_cstr(q->text, "every worker that would do is being drained");
	} else {
		return false;
	}
	return true;
}

static void figures_add(struct asking *q, const struct place_worker *w)
{
	for (int r = 0; r < N_PLACE_RESOURCES; r++) {
		struct place_figures *f = &q->e->figures[r];
		int64_t free = worker_room(w, (enum place_resource)r);

		if (free >= f->wanted)
			q->e->short_of &= ~(1u << r);
		if (free > f->freest)
			f->freest = free;
		if (w->total[r] > f->largest)
			f->largest = w->total[r];
		f->total += w->total[r];
		f->reserved += w->reserved[r];
		f->used = f->used < 0 || w->used[r] < 0 ? -1 : f->used + w->used[r];
	}
}

static void figures_sum(struct asking *q)
{
	q->e->short_of = (1u << N_PLACE_RESOURCES) - 1;
	for (int r = 0; r < N_PLACE_RESOURCES; r++)
		q->e->figures[r] = (struct place_figures){.wanted = q->shape->amount[r]};
	for (uint32_t i = 0; i < q->a->n_workers; i++) {
		const struct place_worker *w = &q->a->workers[i];

		if (w->state == PLACE_READY && want_fits(q->want, w) &&
		    (q->zone == NO_ZONE || q->zone == w->zone_number))
			figures_add(q, w);
	}
}

static void add_amount(const struct asking *q, const char *before, int r, int64_t n)
{
	buf_add_cstr(q->text, before);
	place_amount_text((enum place_resource)r, n, q->text);
}

/* "memory: 8 GiB wanted, 1 GiB is free at most; 15 GiB of 16 GiB reserved, 6 GiB used" */
static void say_figures(const struct asking *q, int r)
{
	const struct place_figures *f = &q->e->figures[r];

	buf_printf(q->text, "; %s: ", place_resource_names[r]);
	add_amount(q, "", r, f->wanted);
	if (f->wanted > f->largest)
		add_amount(q, " wanted, no worker offers more than ", r, f->largest);
	else
		add_amount(q, " wanted, no worker has more free than ", r, f->freest);
	add_amount(q, "; ", r, f->reserved);
	add_amount(q, " of ", r, f->total);
	buf_add_cstr(q->text, " reserved");
	if (f->used >= 0) {
		add_amount(q, ", ", r, f->used);
		buf_add_cstr(q->text, " used");
	}
}

static void say_what_is_short(struct asking *q)
{
	static const enum place_resource by_letter[] = {
	    PLACE_CPU, PLACE_DISK, PLACE_INSTANCES, PLACE_MEMORY};
	const char *before = ": ";

	figures_sum(q);
	q->e->code = PLACE_NO_ROOM;
	buf_add_cstr(q->text, "insufficient resources");
	for (int i = 0; i < N_PLACE_RESOURCES; i++)
		if (q->e->short_of >> by_letter[i] & 1) {
			const struct place_figures *f = &q->e->figures[by_letter[i]];

			buf_printf(q->text, "%s%s", before, place_resource_names[by_letter[i]]);
			before = ", ";
			if (f->wanted > f->largest)
				q->e->code = PLACE_TOO_LARGE;
		}
	if (q->zone != NO_ZONE)
		buf_printf(q->text, " in zone " STR_FMT ", where it must be",
		    STR_ARG(q->a->zones[q->zone]));
	for (int i = 0; i < N_PLACE_RESOURCES; i++)
		if (q->e->short_of >> by_letter[i] & 1)
			say_figures(q, by_letter[i]);
}

void auction_explain(const struct auction *a, uint32_t shape, uint32_t zone,
    struct place_error *ret_error, struct buf *text)
{
	struct asking q = {.a = a, .zone = zone, .e = ret_error, .text = text};

	*ret_error = (struct place_error){0};
	q.shape = &a->shapes[shape];
	q.want = &a->wants[q.shape->want];
	if (!say_who_is_missing(&q))
		say_what_is_short(&q);
}
