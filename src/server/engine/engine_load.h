/* SPDX-License-Identifier: Apache-2.0 */
/* Start: the store's rows become the brain's first events. */
#ifndef SERVER_ENGINE_LOAD_H
#define SERVER_ENGINE_LOAD_H

#include "core/core.h"
#include "server/engine/time_zones.h"
#include "server/workers/receipts.h"
#include "store/store.h"

int engine_load(struct store *s, struct core *c, struct time_zones *zones, struct effects *out,
    struct id_space *ret_ids, struct receipt_key *ret_key, struct problem *ret_problem);

#endif
