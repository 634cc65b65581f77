/* SPDX-License-Identifier: Apache-2.0 */
/* What services want to hear of workers, for the rooms that know of it first. */
#ifndef CORE_SERVICE_WORKER_H
#define CORE_SERVICE_WORKER_H

#include <stdbool.h>

#include "model/id.h"

struct core;
struct effects;
struct event;
struct link_held;
struct worker;

/* A worker's health, its facts, its drain, or what its tasks hold has changed. */
void services_see_worker(struct core *c, struct worker *w);
/* There may be more room than before, somewhere. */
void services_room(struct core *c);
/* The worker is removed, and has no tasks. */
void services_forget_worker(struct core *c, struct worker *w);
/* The worker holds a start of which no task is known: that may be an instance's. True: it is one
 * now. */
bool services_adopt(
    struct core *c, struct worker *w, const struct link_held *held, struct effects *out);

/* Nobody wants the logs of that task any more, as far as services go. */
bool services_may_prune(const struct core *c, rid task);

#endif
