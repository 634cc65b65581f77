/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One look at a long runner over the network: does it accept a connection (tcp), does it answer
 * GET with 2xx or 3xx (http)? Nothing blocks and no name is looked up: a host is a numeric address
 * or "localhost" (127.0.0.1, then ::1).
 */
#ifndef WORKER_PROBE_H
#define WORKER_PROBE_H

#include "model/run/settings.h"
#include "net/loop/loop.h"

#define PROBE_HEADER_MAX 8192

struct probe;

typedef void probe_done_fn(bool ok, const char *why, void *arg);

/*
 * `done` comes exactly once, from the loop and never from inside this call, unless the probe is
 * cancelled before; the probe is freed by then. `why` is NULL when ok and lives as long as the
 * call. It takes at most timeout_ms. Of `c` nothing is needed any more after this call.
 */
struct probe *probe_start(
    struct loop *l, const struct run_check *c, probe_done_fn *done, void *arg);
void probe_cancel(struct probe *p); /* NULL is fine */

/*
 * The header of a reply, as far as it has come. 1: it is whole, *ret_status is final; 0: more is
 * needed; -1: this is no HTTP, *ret_why says why. Interim replies (1xx) are passed over.
 */
int probe_scan(struct str header, int *ret_status, const char **ret_why);

#endif
