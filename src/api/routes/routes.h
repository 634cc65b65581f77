/* SPDX-License-Identifier: Apache-2.0 */
/* Routes in the interface: where the instances of services are, and which of them want traffic. */
#ifndef API_ROUTES_H
#define API_ROUTES_H

#include "api/frame/call.h"
#include "service/routes/routes.h"

/*
 * A piece of a service, in the arena: a service may have very many instances, and what is written
 * at once is bounded. All of an index is in one piece.
 */
struct route_part {
	struct route_service service; /* with some of its instances that run */
	int64_t next; /* the index where the next piece begins; -1: this is the last */
};
/*
 * From index 0 on with all that is said of the service; later only its name and instances. False:
 * there is none, or it is not of the domain that the query names.
 */
bool routes_part(
    const struct call *c, rid id, int64_t from, struct arena *a, struct route_part *ret_part);
/* "412-18fa3b": the place in the changes. A tag means what it says only to this process: one that
 * was told before a crash may be given anew to something else. */
void routes_place(const struct call *c, uint64_t tag, struct buf *b);
/* 0: not of this process, so everything must be told anew. */
uint64_t routes_place_in(const struct call *c, struct str text);

call_fn routes_get, routes_prometheus; /* routes_state.c */
call_fn routes_stream;                 /* routes_stream.c */

#endif
