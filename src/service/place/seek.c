/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The best worker of a tree: fewest instances of the service, then the lowest score, then the
 * lowest number. A part of the tree is left out when nothing in it has the room, or when even the
 * best it could hold is no better than what is found.
 */
#include "service/place/internal.h"

static bool has_room(const struct node_of_tree *v, const int64_t *amount)
{
	for (int r = 0; r < N_PLACE_RESOURCES; r++)
		if (v->free[r] < amount[r])
			return false;
	return true;
}

static int64_t load_of(const struct seek *q, const struct node_of_tree *v)
{
	return q->is_task ? v->task_load : v->load;
}

static bool is_better(const struct seek *q, uint32_t colocated, int64_t score, uint32_t worker)
{
	if (q->worker == NO_WORKER)
		return true;
	if (colocated != q->colocated)
		return colocated < q->colocated;
	return score != q->score ? score < q->score : worker < q->worker;
}

static void look_at(struct seek *q, uint32_t worker, int64_t score)
{
	uint32_t colocated = q->is_task ? 0 : q->a->now->marks[worker].n;

	if (!is_better(q, colocated, score, worker))
		return;
	q->colocated = colocated;
	q->score = score;
	q->worker = worker;
}

/* What the best of a part could have; of a leaf, what it has. */
static int64_t bound_of(const struct seek *q, const struct tree *t, uint32_t i)
{
	return load_of(q, &t->nodes[i]) + amounts_parts(q->amount, t->fixed[i].largest);
}

static bool could_be_better(const struct seek *q, const struct tree *t, uint32_t i, int64_t bound)
{
	return is_better(q, q->floor, bound, t->fixed[i].first);
}

/* Into the more promising half first. As deep as the logarithm of the number of workers. */
static void seek_in(struct seek *q, const struct tree *t, uint32_t i, int64_t bound)
{
	int64_t bounds[2];
	unsigned first;

	if (!could_be_better(q, t, i, bound))
		return;
	if (i >= t->cap) {
		look_at(q, t->workers[i - t->cap], bound);
		return;
	}
	for (unsigned k = 0; k < 2; k++)
		bounds[k] = has_room(&t->nodes[2 * i + k], q->amount) ? bound_of(q, t, 2 * i + k)
		                                                      : INT64_MAX;
	first = bounds[1] < bounds[0];
	if (bounds[first] < INT64_MAX)
		seek_in(q, t, 2 * i + first, bounds[first]);
	if (bounds[!first] < INT64_MAX)
		seek_in(q, t, 2 * i + !first, bounds[!first]);
}

void tree_seek(struct seek *q, const struct forest *f, uint32_t zone)
{
	const struct tree *t = &f->trees[zone];

	if (t->n == 0 || !has_room(&t->nodes[1], q->amount))
		return;
	q->floor = q->is_task ? 0 : q->a->now->zones[zone].floor;
	seek_in(q, t, 1, bound_of(q, t, 1));
}
