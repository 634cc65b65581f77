/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a job of a series is built from, as a digest: its task, its queue's environment, and the
 * digests of all that it needs. Who has the same digest may be taken as it was built in an earlier
 * group of the series, if that is wished.
 */
#ifndef API_REUSE_H
#define API_REUSE_H

#include "api/groups/draft/draft.h"
#include "api/groups/weigh.h"

/* Of a draft whose queues are known, on a reader's thread. */
void reuse_digest(struct draft *d);
/* same: what weigh_group() has found of each job. */
void reuse_take(struct draft *d, const struct same_build *same, struct store_reader *r);

#endif
