/* SPDX-License-Identifier: Apache-2.0 */
/* Sockets that the server was handed at its start, in place of those it would open itself. */
#ifndef SERVER_SOCKETS_H
#define SERVER_SOCKETS_H

#include "config/config.h"
#include "net/loop/passed.h"

enum socket_use { SOCKET_API_TCP, SOCKET_API_UNIX, SOCKET_LINK };

struct sockets {
	struct passed all[PASSED_MAX];
	size_t n;
};

/* Anybody may have chosen the address: what others can reach needs a token here as well. */
int sockets_take(const struct config *c, struct sockets *ret, struct problem *ret_problem);
/* The next one for that use after `at` (NULL: the first); NULL: there is none. */
const struct passed *sockets_next(
    const struct sockets *s, enum socket_use use, const struct passed *at);

#endif
