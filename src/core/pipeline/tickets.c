/* SPDX-License-Identifier: Apache-2.0 */
#include "core/pipeline/tickets.h"

#include <stdlib.h>

#include "base/mem.h"

struct ticket {
	uint64_t number;
	ticket_fn *fn;
	void *arg;
	TAILQ_ENTRY(ticket) in_line;
};

void tickets_init(struct tickets *t)
{
	*t = (struct tickets){0};
	TAILQ_INIT(&t->waiting);
}

static struct ticket *take_out(struct tickets *t, uint64_t number)
{
	struct ticket *k = idmap_del(&t->by_number, number);

	if (k)
		TAILQ_REMOVE(&t->waiting, k, in_line);
	return k;
}

void tickets_release(struct tickets *t)
{
	struct ticket *k;

	while ((k = TAILQ_FIRST(&t->waiting)))
		free(take_out(t, k->number));
	idmap_release(&t->by_number);
}

uint64_t tickets_take(struct tickets *t, ticket_fn *fn, void *arg)
{
	struct ticket *k = xmalloc(sizeof *k);

	*k = (struct ticket){.number = ++t->last, .fn = fn, .arg = arg};
	idmap_put(&t->by_number, k->number, k);
	TAILQ_INSERT_TAIL(&t->waiting, k, in_line);
	return k->number;
}

static void call(struct ticket *k, const struct reply *r)
{
	k->fn(r, k->arg);
	free(k);
}

void tickets_answer(struct tickets *t, const struct reply *r)
{
	struct ticket *k = take_out(t, r->ticket);

	if (k)
		call(k, r);
}

void tickets_answer_all(struct tickets *t, const struct reply *r)
{
	uint64_t last = t->last; /* who asks again meanwhile is not among them */
	struct ticket *k;

	while ((k = TAILQ_FIRST(&t->waiting)) && k->number <= last)
		call(take_out(t, k->number), r);
}
