/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a worker and a piece of work weigh: whole numbers, so that every machine finds the same. A
 * score is the mean of three parts (memory, disk, instances), reserved and wanted apart; here it is
 * kept as their sum.
 */
#include "service/place/internal.h"

#define PART_MAX (1000 * SCORE_ONE) /* of a worker that holds far more than it offers */
#define LARGE 43 /* bits: above it, amounts are divided before they are multiplied */
#define SHIFT 16

static int64_t amount_part(int64_t amount, int64_t total)
{
	int64_t part;

	if (amount <= 0)
		return 0;
	if ((amount | total) >> LARGE) {
		amount >>= SHIFT;
		total >>= SHIFT;
	}
	if (total <= 0)
		return PART_MAX;
	part = amount * SCORE_ONE / total;
	return part < PART_MAX ? part : PART_MAX;
}

int64_t amounts_parts(const int64_t *amount, const int64_t *total)
{
	return amount_part(amount[PLACE_MEMORY], total[PLACE_MEMORY]) +
	       amount_part(amount[PLACE_DISK], total[PLACE_DISK]) +
	       amount_part(amount[PLACE_INSTANCES], total[PLACE_INSTANCES]);
}

static int64_t plain_load(const struct auction *a, const struct place_worker *w)
{
	return amounts_parts(w->reserved, w->total) + 3 * a->config.starting_weight * w->starting;
}

int64_t worker_load(const struct auction *a, const struct place_worker *w)
{
	return plain_load(a, w) + 3 * a->config.bin_pack_weight * w->rank;
}

int64_t worker_task_load(const struct auction *a, const struct place_worker *w)
{
	return ((int64_t)w->tasks << TASK_SHIFT) + plain_load(a, w);
}
