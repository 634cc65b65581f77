/* SPDX-License-Identifier: Apache-2.0 */
/* Routes in the interface: where the instances of services are, and which of them want traffic. */
#ifndef API_ROUTES_H
#define API_ROUTES_H

#include "api/frame/call.h"
#include "service/routes/routes.h"

/* The service with its instances that run, in the arena. False: there is none, or it is not of the
 * domain that the query names. */
bool routes_of(const struct call *c, rid id, struct arena *a, struct route_service *ret_service);
/* "412-18fa3b": the place in the changes. A tag means what it says only to this process: one that
 * was told before a crash may be given anew to something else. */
void routes_place(const struct call *c, uint64_t tag, struct buf *b);
/* 0: not of this process, so everything must be told anew. */
uint64_t routes_place_in(const struct call *c, struct str text);

call_fn routes_get, routes_prometheus; /* routes_state.c */
call_fn routes_stream;                 /* routes_stream.c */

#endif
