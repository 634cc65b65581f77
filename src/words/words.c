/* SPDX-License-Identifier: Apache-2.0 */
/* Sentences with slots for facts, and how each fact is written. */
#include "words/words.h"

#include <string.h>

#include "base/mem.h"
#include "base/timefmt.h"
#include "model/lines.h"
#include "model/task/need.h"

static void add_name(struct buf *b, const struct facts *f)
{
	buf_add_str(b, f->name);
}

static void add_typed(struct buf *b, const struct facts *f)
{
	buf_add_typed(b, f->name);
}

static void add_job(struct buf *b, const struct facts *f)
{
	if (f->job.n)
		buf_add_str(b, f->job);
	else
		buf_printf(b, "task " STR_FMT, STR_ARG(f->other));
}

/* Of which group goes before it. */
static void add_job_typed(struct buf *b, const struct facts *f)
{
	AUTO(buf_release) struct buf name = {0};

	if (f->job.n)
		buf_printf(&name, STR_FMT "/" STR_FMT, STR_ARG(f->name), STR_ARG(f->job));
	else
		buf_add_str(&name, f->other);
	buf_add_typed(b, buf_str(&name));
}

static void add_other(struct buf *b, const struct facts *f)
{
	buf_add_str(b, f->other);
}

static void add_reason(struct buf *b, const struct facts *f)
{
	buf_add_str(b, f->reason);
}

static void add_task(struct buf *b, const struct facts *f)
{
	buf_add_str(b, f->task);
}

static void add_n(struct buf *b, const struct facts *f)
{
	buf_add_i64(b, f->n);
}

static void add_of(struct buf *b, const struct facts *f)
{
	buf_add_i64(b, f->of);
}

static void add_one_more(struct buf *b, const struct facts *f)
{
	buf_add_i64(b, f->of + 1);
}

/* The plural of what there are n of. */
static void add_s(struct buf *b, const struct facts *f)
{
	buf_add_cstr(b, f->n == 1 ? "" : "s");
}

static void add_in(struct buf *b, const struct facts *f)
{
	char text[TIME_TEXT_MAX];

	buf_add_cstr(b, time_human_ms(f->in_ms, text));
}

static void add_at(struct buf *b, const struct facts *f)
{
	char text[TIME_TEXT_MAX];

	buf_add_cstr(b, time_format_ms(f->at_ms, text));
}

static void add_order(struct buf *b, const struct facts *f)
{
	buf_add_cstr(b, queue_order_names[f->order]);
}

static void add_workers(struct buf *b, const struct facts *f)
{
	buf_printf(b, "%lld of %lld worker%s the queue %s", (long long)f->n, (long long)f->of,
	    f->of == 1 ? " that serves" : "s that serve", f->n == 1 ? "is" : "are");
}

static void add_unserved(struct buf *b, const struct facts *f)
{
	static const char *const words[N_UNSERVED] = {
	    [UNSERVED_PLUGIN] = "does not allow the plugin",
	    [UNSERVED_ACTIVE] = "serves only its activequeues",
	    [UNSERVED_IGNORED] = "has the queue among its ignorequeues"};

	for (size_t i = 0; i < N_UNSERVED - 1 && f->unserved[i].n; i++)
		buf_printf(
		    b, "%s%d %s", i ? ", " : "", f->unserved[i].n, words[f->unserved[i].why]);
}

static void add_needs(struct buf *b, const struct facts *f)
{
	amount_add(b, f->other, f->needs);
}

static void add_freest(struct buf *b, const struct facts *f)
{
	amount_add(b, f->other, f->freest);
}

static void add_total(struct buf *b, const struct facts *f)
{
	amount_add(b, f->other, f->total);
}

/* Lines of a need that say where: model/task/need.h. */
static void add_place(struct buf *b, const struct facts *f)
{
	struct str rest = f->other, line;

	for (bool first = true; lines_next(&rest, &line); first = false)
		buf_printf(b, "%s%s" STR_FMT, first ? "" : " and ",
		    line.p[0] == '+'   ? "the label "
		    : line.p[0] == '-' ? "one without the label "
		                       : "the target ",
		    STR_ARG(((struct str){line.p + 1, line.n - 1})));
}

static const struct {
	const char *key;
	void (*add)(struct buf *b, const struct facts *f);
} table[] = {
    {"name", add_name},           /* of what it is about */
    {"typed", add_typed},         /* the same, quoted for a shell where it must be */
    {"other", add_other},         /* the second name */
    {"job", add_job},             /* the second name, of a job */
    {"job typed", add_job_typed}, /* the same with its group, for a shell */
    {"reason", add_reason},       /* what somebody said */
    {"task", add_task},           /* the id of the one that waits */
    {"n", add_n},                 /* so many */
    {"s", add_s},                 /* of them: the plural's ending */
    {"of", add_of},               /* of so many */
    {"one more", add_one_more},   /* than those */
    {"in", add_in},               /* time left */
    {"at", add_at},               /* and until when */
    {"order", add_order},         /* the queue's */
    {"workers", add_workers},     /* n of those that serve the queue are */
    {"needs", add_needs},         /* so much of the second name's, */
    {"freest", add_freest},       /* and how much one worker has free, */
    {"total", add_total},         /* and all together have */
    {"place", add_place},         /* the second name: where it must run */
    {"unserved", add_unserved},   /* why workers do not serve it */
};

static void add_fact(struct buf *b, struct str key, const struct facts *f)
{
	size_t i = 0;

	while (i < sizeof table / sizeof table[0] && !str_is(key, table[i].key))
		i++;
	MUST(i < sizeof table / sizeof table[0]);
	table[i].add(b, f);
}

/* What stands between the braces; of {before|fact} nothing where the fact is empty. */
static void add_slot(struct buf *b, struct str slot, const struct facts *f)
{
	size_t begin = b->n, at;
	const char *bar = memchr(slot.p, '|', slot.n);
	struct str before = {slot.p, bar ? (size_t)(bar - slot.p) : 0};
	size_t skip = bar ? before.n + 1 : 0;

	buf_add_str(b, before);
	at = b->n;
	add_fact(b, (struct str){slot.p + skip, slot.n - skip}, f);
	if (b->n == at)
		b->n = begin;
}

struct str words_fill(struct arena *a, const char *sentence, const struct facts *f)
{
	AUTO(buf_release) struct buf b = {0};

	for (const char *p = sentence; *p; p++) {
		const char *end = *p == '{' ? strchr(p, '}') : NULL;

		if (!end) {
			buf_add_char(&b, *p);
			continue;
		}
		add_slot(&b, (struct str){p + 1, (size_t)(end - p - 1)}, f);
		p = end;
	}
	return arena_str(a, buf_str(&b));
}
