/* SPDX-License-Identifier: Apache-2.0 */
#include "keeper/talk.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/world/memory_file.h"

#define INLINE_MAX                                                                    \
	(64u << 10) /* longer ones travel as a file in memory, as one more descriptor \
	             */
#define SOCKET_BYTES (4 << 20)
#define KIND_INLINE 'i'
#define KIND_FILE 'f'

struct talk_packet {
	struct talk_packet *next;
	int fds[KEEPER_FDS_MAX + 1];
	int n_fds;
	size_t n;
	char bytes[]; /* the kind first */
};

void talk_init(struct talk *t, int fd)
{
	int bytes = SOCKET_BYTES;

	*t = (struct talk){.fd = fd};
	t->last = &t->first;
	if (fd < 0)
		return;
	fcntl(fd, F_SETFL, O_NONBLOCK);
	if (setsockopt(fd, SOL_SOCKET, SO_SNDBUFFORCE, &bytes, sizeof bytes) < 0)
		setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &bytes, sizeof bytes);
}

static void packet_free(struct talk_packet *p)
{
	for (int i = 0; i < p->n_fds; i++)
		close(p->fds[i]);
	free(p);
}

void talk_close(struct talk *t)
{
	struct talk_packet *p;

	while ((p = t->first)) {
		t->first = p->next;
		packet_free(p);
	}
	t->last = &t->first;
	if (t->fd >= 0)
		close(t->fd);
	t->fd = -1;
	buf_release(&t->in);
}

/* 1: sent; 0: not now; -1: the other side is gone. */
static int send_now(struct talk *t, const char *bytes, size_t n, const int *fds, int n_fds)
{
	char space[CMSG_SPACE(sizeof(int) * (KEEPER_FDS_MAX + 1))] = {0};
	struct iovec part = {(char *)bytes, n};
	struct msghdr m = {.msg_iov = &part, .msg_iovlen = 1};
	struct cmsghdr *c;
	ssize_t r;

	if (n_fds > 0) {
		m.msg_control = space;
		m.msg_controllen = CMSG_SPACE(sizeof(int) * (size_t)n_fds);
		c = CMSG_FIRSTHDR(&m);
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(sizeof(int) * (size_t)n_fds);
		memcpy(CMSG_DATA(c), fds, sizeof(int) * (size_t)n_fds);
	}
	do
		r = sendmsg(t->fd, &m, MSG_NOSIGNAL | MSG_DONTWAIT);
	while (r < 0 && errno == EINTR);
	if (r >= 0)
		return 1;
	/* too many descriptors under way is a matter of time, too */
	return errno == EAGAIN || errno == ENOBUFS || errno == ETOOMANYREFS ? 0 : -1;
}

static struct talk_packet *packet_new(char kind, struct str message)
{
	struct talk_packet *p = xmalloc(sizeof *p + 1 + message.n);

	p->next = NULL;
	p->n_fds = 0;
	p->n = 1 + message.n;
	p->bytes[0] = kind;
	if (message.n)
		memcpy(p->bytes + 1, message.p, message.n);
	return p;
}

static bool give_fds(struct talk_packet *p, const int *fds, int n_fds)
{
	for (int i = 0; i < n_fds; i++) {
		int copy = fcntl(fds[i], F_DUPFD_CLOEXEC, 3);

		if (copy < 0)
			return false;
		p->fds[p->n_fds++] = copy;
	}
	return true;
}

static bool put_in_line(struct talk *t, struct talk_packet *p, const int *fds, int n_fds)
{
	if (!give_fds(p, fds, n_fds)) {
		packet_free(p);
		return false;
	}
	*t->last = p;
	t->last = &p->next;
	return true;
}

static bool send_file(struct talk *t, struct str message, const int *fds, int n_fds)
{
	struct talk_packet *p = packet_new(KIND_FILE, STR_NULL);
	int all[KEEPER_FDS_MAX + 1], file = memory_file("reeve-message", message);
	bool ok = file >= 0;

	if (n_fds)
		memcpy(all, fds, sizeof(int) * (size_t)n_fds);
	all[n_fds] = file;
	if (ok)
		ok = put_in_line(t, p, all, n_fds + 1);
	else
		packet_free(p);
	if (file >= 0)
		close(file);
	return ok && talk_flush(t);
}

bool talk_send(struct talk *t, struct str message, const int *fds, int n_fds)
{
	struct talk_packet *p;
	int sent = 0;

	if (t->fd < 0 || n_fds > KEEPER_FDS_MAX)
		return false;
	if (message.n > INLINE_MAX)
		return send_file(t, message, fds, n_fds);
	p = packet_new(KIND_INLINE, message);
	if (!t->first)
		sent = send_now(t, p->bytes, p->n, fds, n_fds);
	if (sent == 0)
		return put_in_line(t, p, fds, n_fds);
	packet_free(p);
	return sent > 0;
}

bool talk_flush(struct talk *t)
{
	struct talk_packet *p;

	while (t->fd >= 0 && (p = t->first)) {
		int sent = send_now(t, p->bytes, p->n, p->fds, p->n_fds);

		if (sent <= 0)
			return sent == 0;
		t->first = p->next;
		if (!t->first)
			t->last = &t->first;
		packet_free(p);
	}
	return t->fd >= 0;
}

bool talk_is_waiting(const struct talk *t)
{
	return t->first != NULL;
}

static void drop_fds(int *fds, int *n_fds)
{
	for (int i = 0; i < *n_fds; i++)
		close(fds[i]);
	*n_fds = 0;
}

static bool take_fds(struct msghdr *m, int *fds, int *ret_n_fds)
{
	bool ok = !(m->msg_flags & (MSG_CTRUNC | MSG_TRUNC));

	for (struct cmsghdr *c = CMSG_FIRSTHDR(m); c; c = CMSG_NXTHDR(m, c)) {
		size_t n = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);

		if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
			continue;
		for (size_t i = 0; i < n; i++) {
			int fd;

			memcpy(&fd, CMSG_DATA(c) + i * sizeof fd, sizeof fd);
			if (*ret_n_fds <= KEEPER_FDS_MAX)
				fds[(*ret_n_fds)++] = fd;
			else
				close(fd);
		}
	}
	return ok;
}

/* The file's owner may still write to it: what we work on is our own copy. */
static bool read_file(struct talk *t, int fd)
{
	struct stat st;
	ssize_t n;

	buf_reset(&t->in);
	if (fstat(fd, &st) < 0 || st.st_size <= 0 || st.st_size > KEEPER_MESSAGE_MAX)
		return false;
	buf_reserve(&t->in, (size_t)st.st_size);
	n = pread(fd, t->in.p, (size_t)st.st_size, 0);
	if (n != st.st_size)
		return false;
	t->in.n = (size_t)n;
	return true;
}

static bool unwrap(struct talk *t, size_t n, int *fds, int *n_fds)
{
	bool ok = false;

	t->in.n = n;
	if (t->in.p[0] == KIND_INLINE && *n_fds <= KEEPER_FDS_MAX) {
		t->in.n = n - 1;
		memmove(t->in.p, t->in.p + 1, n - 1);
		return true;
	}
	if (t->in.p[0] == KIND_FILE && *n_fds > 0) {
		ok = read_file(t, fds[--*n_fds]);
		close(fds[*n_fds]);
	}
	return ok;
}

/* A peer that closes with something unread resets the connection: what was sent before is there
 * still. */
static ssize_t receive(int fd, struct msghdr *m)
{
	size_t control = m->msg_controllen;
	ssize_t n;
	int resets = 0;

	do {
		m->msg_controllen = control;
		n = recvmsg(fd, m, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	} while (n < 0 && (errno == EINTR || (errno == ECONNRESET && resets++ == 0)));
	return n;
}

int talk_recv(struct talk *t, int *ret_fds, int *ret_n_fds)
{
	char space[CMSG_SPACE(sizeof(int) * (KEEPER_FDS_MAX + 1))];
	int fds[KEEPER_FDS_MAX + 1];
	struct iovec part;
	struct msghdr m = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = space};
	ssize_t n;

	*ret_n_fds = 0;
	m.msg_controllen = sizeof space;
	buf_reset(&t->in);
	buf_reserve(&t->in, INLINE_MAX + 1);
	part = (struct iovec){t->in.p, INLINE_MAX + 1};
	n = receive(t->fd, &m);
	if (n < 0 && errno == EAGAIN)
		return 0;
	if (n <= 0)
		return -1;
	if (!take_fds(&m, fds, ret_n_fds) || !unwrap(t, (size_t)n, fds, ret_n_fds)) {
		drop_fds(fds, ret_n_fds);
		return -1;
	}
	memcpy(ret_fds, fds, sizeof(int) * (size_t)*ret_n_fds);
	return 1;
}
