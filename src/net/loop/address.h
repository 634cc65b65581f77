/* SPDX-License-Identifier: Apache-2.0 */
/* "host:port" in and out, loopback or not, and a listening socket from one. */
#ifndef NET_ADDRESS_H
#define NET_ADDRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>

#include "base/err.h"

struct address {
	char host[256]; /* without brackets; empty: any */
	char port[8];
};

/* "host:port", "[v6]:port", ":port" and "*:port". */
int address_parse(const char *text, struct address *ret_a, struct problem *ret_problem);
bool address_is_loopback(const struct sockaddr *sa);                       /* unix sockets too */
void address_host(const struct sockaddr *sa, char *ret_text, size_t size); /* no port */
void address_text(const struct sockaddr *sa, char *ret_text, size_t size);
/* A bound, listening, non-blocking socket with TCP_NODELAY (accepted ones inherit it). */
int address_listen(const char *text, int *ret_fd, int *ret_port, struct problem *ret_problem);
int address_port(int fd); /* the port that a socket is bound to; 0: none */

#endif
