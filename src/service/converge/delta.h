/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The difference between what is desired of a service and what is recorded: indexes to start and
 * to stop, holes and surplus together. The state of a record means nothing here, and only ordinary
 * records count. A change that a person asks for uses it as it is; convergence stops surplus only
 * in fresh domains.
 */
#ifndef SERVICE_CONVERGE_DELTA_H
#define SERVICE_CONVERGE_DELTA_H

#include "service/life/instance.h"

struct delta {
	uint32_t *start, *stop; /* indexes, rising */
	size_t n_start, n_stop, start_cap, stop_cap;
};

/* The records are of one service, by index and presence. */
void delta_of(uint32_t wanted, const struct instance *records, size_t n, struct delta *ret_delta);
void delta_release(struct delta *d);

#endif
