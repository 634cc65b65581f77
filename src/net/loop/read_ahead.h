/* SPDX-License-Identifier: Apache-2.0 */
/* Larger reads than libevent's own. */
#ifndef NET_READ_AHEAD_H
#define NET_READ_AHEAD_H

#include <stdbool.h>

struct evbuffer;
struct evbuffer_cb_info;

/*
 * To be called from the callback on a plain socket's input buffer, at its start. *busy is the
 * caller's mark that such a call is under way: what is read here comes through the callback too.
 */
void read_ahead(struct evbuffer *b, const struct evbuffer_cb_info *info, int fd, bool *busy);

#endif
