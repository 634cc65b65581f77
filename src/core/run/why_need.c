/* SPDX-License-Identifier: Apache-2.0 */
/* What of a task's need cannot be had now, in numbers: on which workers, and of how much. */
#include "core/state.h"
#include "model/lines.h"

struct matching { /* who is where the task must be */
	int serving, silent, there;
	struct buf unmet; /* every line that somebody does not fulfil */
};

static bool serves(const struct core *c, const struct worker *w, const struct queue *q)
{
	return w->link && !worker_unserved(c, w, q);
}

static bool is_there(const struct worker *w, struct str need)
{
	const struct worker_facts *f = &w->row.facts;

	return (f->offer.n || !need_asks_worker(need)) &&
	       !need_unmet(need, f->target, f->zone, f->labels).p;
}

/* One worker lacks the label, another is of another target: both have to be known. */
static void note_unmet(struct matching *m, struct str need, const struct worker_facts *f)
{
	struct str line;

	while (lines_next(&need, &line))
		if (need_unmet(line, f->target, f->zone, f->labels).p &&
		    !lines_has(buf_str(&m->unmet), line))
			lines_add(&m->unmet, line);
}

static struct matching survey(const struct core *c, const struct queue *q, struct str need)
{
	struct matching m = {0};
	struct worker *w;

	EACH_OBJECT(w, c, KIND_WORKER)
	{
		const struct worker_facts *f = &w->row.facts;

		if (!serves(c, w, q))
			continue;
		m.serving++;
		m.silent += !f->offer.n;
		m.there += is_there(w, need);
		if (f->offer.n)
			note_unmet(&m, need, f);
	}
	return m;
}

static bool why_common(struct why_answer *an, const struct amount *a, const struct common *of)
{
	const struct holding *h = &of->held;
	bool is_short = h->total - h->used < a->n;

	if (is_short)
		*why_add(an, a->n > h->total ? WHY_RESOURCE_TOO_MUCH : WHY_RESOURCE_SHORT) =
		    (struct facts){.other = a->name,
		        .needs = a->n,
		        .freest = h->total - h->used,
		        .total = h->total};
	return is_short;
}

/* Of one thing counted: what the workers have that are where the task must be. If none is there,
 * it is worth a word when none anywhere is large enough. */
static bool why_amount(struct why_answer *an, const struct core *c, const struct queue *q,
    struct str need, const struct amount *a, bool anywhere)
{
	struct facts f = {.other = a->name, .needs = a->n, .freest = INT64_MIN};
	int64_t largest = 0;
	struct worker *w;

	EACH_OBJECT(w, c, KIND_WORKER)
	{
		int64_t total, left;

		if (!serves(c, w, q) || (anywhere ? !w->row.facts.offer.n : !is_there(w, need)))
			continue;
		total = amount_of(w->row.facts.offer, a->name);
		total = total < 0 ? 0 : total;
		left = holding_free(&w->holdings, a->name);
		f.n++;
		f.total += total;
		largest = total > largest ? total : largest;
		f.freest = left > f.freest ? left : f.freest;
	}
	if (f.freest >= a->n || !f.n || (anywhere && largest >= a->n))
		return false;
	if (largest < a->n)
		f.freest = largest;
	*why_add(an, largest < a->n ? WHY_NEED_TOO_MUCH : WHY_NEED_SHORT) = f;
	return true;
}

static bool has_all(const struct core *c, const struct worker *w, struct str need)
{
	struct amount a;

	while (amount_next(&need, &a))
		if (!common_find(c, a.name) && holding_free(&w->holdings, a.name) < a.n)
			return false;
	return true;
}

static void why_throttles(struct why_answer *an, const struct core *c, struct str need)
{
	struct amount at;

	while (throttle_next(&need, &at)) {
		const struct common *of = throttle_find(c, at.name);
		bool is_array = str_starts(at.name, THROTTLE_ARRAY);

		if (of && of->held.used >= at.n)
			*why_add(an, is_array ? WHY_THROTTLED_ARRAY : WHY_THROTTLED) =
			    (struct facts){.other = at.name, .n = of->held.used, .of = at.n};
	}
}

/* Each by itself is there: on one worker all of it, or kept for somebody? */
static void why_together(
    struct why_answer *an, const struct core *c, const struct queue *q, struct str need, int there)
{
	const struct worker *kept = NULL;
	struct worker *w;

	EACH_OBJECT(w, c, KIND_WORKER)
	{
		if (!serves(c, w, q) || !is_there(w, need) || !has_all(c, w, need))
			continue;
		if (!w->reserved_for)
			return;
		kept = w;
	}
	if (kept)
		why_add(an, WHY_NEED_KEPT)->name = kept->row.facts.shard;
	else
		why_add(an, WHY_NEED_TOGETHER)->n = there;
}

static void why_unmatched(struct why_answer *an, const struct matching *m)
{
	if (m->unmet.n)
		*why_add(an, WHY_NEED_PLACE) = (struct facts){
		    .other = lines_sorted(an->a, buf_str(&m->unmet)), .n = m->serving};
	if (m->silent)
		*why_add(an, WHY_NEED_NO_OFFERS) = (struct facts){.n = m->silent, .of = m->serving};
}

void why_need(
    struct why_answer *an, const struct core *c, const struct queue *q, const struct task_row *row)
{
	struct str need = need_merge(an->a, q->row.need, row->spec.need), rest = need;
	struct matching m = need_asks_worker(need) ? survey(c, q, need) : (struct matching){0};
	bool is_short = false;
	struct amount a;

	why_throttles(an, c, need);
	while (amount_next(&rest, &a)) {
		const struct common *of = common_find(c, a.name);

		if (of)
			why_common(an, &a, of);
		else if (m.serving)
			is_short |= why_amount(an, c, q, need, &a, !m.there);
	}
	if (m.serving && !m.there)
		why_unmatched(an, &m);
	else if (m.there && !is_short)
		why_together(an, c, q, need, m.there);
	buf_release(&m.unmet);
}
