/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Packets with descriptors over a unix socket, never waiting: what the other side cannot take now
 * is kept in line. Used by both sides.
 */
#ifndef KEEPER_TALK_H
#define KEEPER_TALK_H

#include <stdbool.h>

#include "base/str.h"
#include "wire/link/keeper.h"

struct talk_packet;

struct talk {
	int fd; /* SOCK_SEQPACKET; -1: none */
	struct talk_packet *first, **last;
	struct buf in; /* the message that was received last */
};

void talk_init(struct talk *t, int fd);
void talk_close(struct talk *t);
/* Descriptors stay the caller's. False: the other side is gone. */
bool talk_send(struct talk *t, struct str message, const int *fds, int n_fds);
bool talk_flush(struct talk *t);
bool talk_is_waiting(const struct talk *t); /* something is in line: flush when writable */
/* 1: t->in and fds[KEEPER_FDS_MAX] hold one; 0: nothing now; -1: the other side is gone. */
int talk_recv(struct talk *t, int *fds, int *ret_n_fds);

#endif
