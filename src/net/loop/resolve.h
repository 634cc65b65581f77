/* SPDX-License-Identifier: Apache-2.0 */
/* Names to addresses without holding up the loop. */
#ifndef NET_RESOLVE_H
#define NET_RESOLVE_H

#include "net/loop/address.h"
#include "net/loop/loop.h"

struct addrinfo;
struct resolve;

/* `list` is the callee's (freeaddrinfo), NULL on failure with `why`. Called once, from the loop. */
typedef void resolve_fn(struct addrinfo *list, const char *why, void *arg);

/* The handle is valid until fn is called or resolve_cancel(). */
struct resolve *resolve_start(
    struct loop *loop, const struct address *a, resolve_fn *fn, void *arg);
void resolve_cancel(struct resolve *r); /* fn will not be called */

#endif
