/* SPDX-License-Identifier: Apache-2.0 */
/* What the brain asks of the store: run on a reader's thread, answered with an event. */
#ifndef SERVER_ENGINE_READ_H
#define SERVER_ENGINE_READ_H

#include "core/core.h"
#include "server/engine/readers.h"

typedef void engine_read_fn(struct event *ev, void *arg);

/* *ask is copied. The event's memory lasts for the call. */
void engine_read(struct readers *r, const struct read_ask *ask, engine_read_fn *fn, void *arg);

#endif
