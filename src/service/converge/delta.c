/* SPDX-License-Identifier: Apache-2.0 */
#include "service/converge/delta.h"

#include <stdlib.h>

#include "base/mem.h"

void delta_release(struct delta *d)
{
	free(d->start);
	free(d->stop);
	*d = (struct delta){0};
}

static void start_until(struct delta *d, uint32_t from, uint32_t until)
{
	for (; from < until; from++) {
		GROW(d->start, d->start_cap, d->n_start + 1);
		d->start[d->n_start++] = from;
	}
}

void delta_of(uint32_t wanted, const struct instance *records, size_t n, struct delta *ret_delta)
{
	struct delta d = {0};
	uint32_t next = 0;

	for (size_t i = 0; i < n; i++) {
		uint32_t index = records[i].index;

		if (records[i].presence != PRESENCE_ORDINARY)
			continue;
		if (index >= wanted) {
			GROW(d.stop, d.stop_cap, d.n_stop + 1);
			d.stop[d.n_stop++] = index;
			continue;
		}
		start_until(&d, next, index);
		next = index + 1;
	}
	start_until(&d, next, wanted);
	*ret_delta = d;
}
