/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the service manager hears of us, where there is one: sd_notify's protocol, datagrams to
 * $NOTIFY_SOCKET. Nothing here waits: a manager that does not read is told again later, and only
 * what holds by then.
 */
#ifndef NET_NOTIFY_H
#define NET_NOTIFY_H

#include "net/loop/loop.h"

struct notify;

/* NULL: nobody wants to hear. Every function below takes that, and does nothing. */
struct notify *notify_new(struct loop *l);
void notify_free(struct notify *n);

/* From here on the loop says that it turns, at twice the pace of $WATCHDOG_USEC. */
void notify_ready(struct notify *n);
void notify_reloading(struct notify *n); /* until notify_ready() */
void notify_stopping(struct notify *n);
/* One sentence for people, shown beside the state. */
void notify_status(struct notify *n, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
