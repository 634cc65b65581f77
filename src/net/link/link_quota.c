/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What all accepted links together may cost. Who has not been let in yet is a stranger: there are
 * at most so many of them, and the one who has waited longest makes room, for an honest one is let
 * in at once. Input of all links that is not a whole frame yet has one limit; beyond it the
 * greediest goes.
 */
#include "net/link/link_internal.h"

void quota_init(struct link_quota *q, const struct link_options *o)
{
	q->strangers_max = o->strangers_max;
	q->buffered_max = o->buffered_max;
	TAILQ_INIT(&q->strangers);
	LIST_INIT(&q->all);
}

void quota_enter(struct link_quota *q, struct link *l)
{
	l->quota = q;
	l->is_stranger = true;
	TAILQ_INSERT_TAIL(&q->strangers, l, stranger_entry);
	LIST_INSERT_HEAD(&q->all, l, quota_entry);
	if (++q->n_strangers > q->strangers_max && q->strangers_max)
		link_fail(TAILQ_FIRST(&q->strangers),
		    "more than %zu connections have not been let in yet; the oldest makes room",
		    q->strangers_max);
}

void quota_admit(struct link *l)
{
	if (!l->quota || !l->is_stranger)
		return;
	l->is_stranger = false;
	l->quota->n_strangers--;
	TAILQ_REMOVE(&l->quota->strangers, l, stranger_entry);
}

/* The link's input counts no more: the link is closing, and will be freed from the loop. */
void quota_leave(struct link *l)
{
	struct link_quota *q = l->quota;

	if (!q)
		return;
	quota_admit(l);
	LIST_REMOVE(l, quota_entry);
	q->buffered -= l->buffered;
	l->quota = NULL;
}

static struct link *greediest(struct link_quota *q)
{
	struct link *l, *most = LIST_FIRST(&q->all);

	LIST_FOREACH (l, &q->all, quota_entry)
		if (l->buffered > most->buffered)
			most = l;
	return most;
}

void quota_count(struct link *l, size_t buffered)
{
	struct link_quota *q = l->quota;

	if (!q)
		return;
	q->buffered += buffered - l->buffered;
	l->buffered = buffered;
	if (q->buffered_max && q->buffered > q->buffered_max)
		link_fail(greediest(q),
		    "unfinished frames of all links together have more than %zu bytes, and this "
		    "one has most of them",
		    q->buffered_max);
}

/* The links live on, without it. */
void quota_release(struct link_quota *q)
{
	struct link *l;

	while ((l = LIST_FIRST(&q->all)))
		quota_leave(l);
}
