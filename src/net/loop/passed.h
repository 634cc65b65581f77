/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sockets that listen already, opened by whoever started us: systemd's protocol of LISTEN_PID,
 * LISTEN_FDS and LISTEN_FDNAMES.
 */
#ifndef NET_PASSED_H
#define NET_PASSED_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

#define PASSED_MAX 16

struct passed {
	int fd; /* does not block, closed on exec */
	bool is_unix;
	bool is_loopback;  /* unix sockets too */
	char name[32];     /* the unit's FileDescriptorName= */
	char address[128]; /* "127.0.0.1:7400", or the path */
};

/*
 * ret has room for PASSED_MAX; none is no error, and neither are those of another process. What
 * the environment says of them is removed from it. Whatever is no listening stream socket is an
 * error: the unit is wrong, and its sockets must not be left to nobody.
 */
int passed_take(struct passed *ret, size_t *ret_n, struct problem *ret_problem);

#endif
