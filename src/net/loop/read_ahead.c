/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libevent reads four kilobytes per turn of the loop, whatever it is told, and a busy turn may take
 * a millisecond. When they came full, more is waiting: fetch it inside the buffer's callback, where
 * the buffer is open for input, in larger pieces. What ends or fails is left for libevent to find.
 */
#include "net/loop/read_ahead.h"

#include <event2/buffer.h>
#include <sys/socket.h>

#define LIBEVENT_READ 4096
#define PIECE 65536
#define PIECES 4 /* then it is the others' turn */

void read_ahead(struct evbuffer *b, const struct evbuffer_cb_info *info, int fd, bool *busy)
{
	struct evbuffer_iovec v;
	ssize_t n;

	if (info->n_added != LIBEVENT_READ || *busy)
		return;
	*busy = true;
	for (int i = 0; i < PIECES; i++) {
		if (evbuffer_reserve_space(b, PIECE, &v, 1) != 1)
			break;
		n = recv(fd, v.iov_base, v.iov_len, MSG_DONTWAIT);
		if (n <= 0)
			break;
		v.iov_len = (size_t)n;
		evbuffer_commit_space(b, &v, 1);
		if (n < PIECE)
			break;
	}
	*busy = false;
}
