/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The control connection: one request, one reply, on a blocking socket. Only what our own server
 * sends must be understood: a status line and Content-Length.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/mem.h"
#include "bench/internal.h"

#define REPLY_MAX ((size_t)64 << 20)
#define HEAD_MAX ((size_t)64 << 10)

int connect_unix(const char *path)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (strlen(path) >= sizeof a.sun_path) {
		close(fd);
		errno = ENAMETOOLONG;
		return -1;
	}
	memcpy(a.sun_path, path, strlen(path) + 1);
	if (fd >= 0 && connect(fd, (struct sockaddr *)&a, sizeof a) == 0)
		return fd;
	if (fd >= 0)
		close(fd);
	return -1;
}

int connect_tcp(int port)
{
	struct sockaddr_in a = {.sin_family = AF_INET,
	    .sin_port = htons((uint16_t)port),
	    .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), one = 1;

	if (fd >= 0 && connect(fd, (struct sockaddr *)&a, sizeof a) == 0) {
		setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
		return fd;
	}
	if (fd >= 0)
		close(fd);
	return -1;
}

void http_request(
    struct buf *out, const char *method, const char *path, const char *type, struct str body)
{
	http_request_as(out, NULL, method, path, type, body);
}

void http_request_as(struct buf *out, const char *token, const char *method, const char *path,
    const char *type, struct str body)
{
	buf_printf(out, "%s %s HTTP/1.1\r\nHost: localhost\r\n", method, path);
	if (token)
		buf_printf(out, "Authorization: Bearer %s\r\n", token);
	if (body.p)
		buf_printf(out, "Content-Type: %s\r\nContent-Length: %zu\r\n", type, body.n);
	buf_add_cstr(out, "\r\n");
	buf_add_str(out, body);
}

static int send_all(int fd, struct str s)
{
	while (s.n > 0) {
		ssize_t n = send(fd, s.p, s.n, MSG_NOSIGNAL);

		if (n <= 0)
			return ERR_IO;
		s.p += n;
		s.n -= (size_t)n;
	}
	return 0;
}

/* The head's end and the body's length, once both are known; 0: read on. */
static int parse_head(const struct buf *in, size_t *ret_head, size_t *ret_body)
{
	char *end = in->n ? memmem(in->p, in->n, "\r\n\r\n", 4) : NULL, *length;

	if (!end)
		return in->n > HEAD_MAX ? ERR_PROTOCOL : 0;
	*end = 0;
	length = strcasestr(in->p, "\ncontent-length:");
	*end = '\r';
	*ret_head = (size_t)(end - in->p) + 4;
	*ret_body = length ? strtoull(length + 16, NULL, 10) : 0;
	return *ret_body > REPLY_MAX ? ERR_PROTOCOL : 1;
}

int http_raw(int fd, struct str request, struct buf *body, int *ret_status)
{
	size_t head = 0, length = 0;
	int r = send_all(fd, request);

	buf_reset(body);
	while (r == 0) {
		ssize_t n;

		buf_reserve(body, 65536);
		n = recv(fd, body->p + body->n, 65535, 0);
		if (n <= 0)
			return ERR_IO;
		body->n += (size_t)n;
		r = parse_head(body, &head, &length);
	}
	while (r == 1 && body->n < head + length) {
		ssize_t n;

		buf_reserve(body, head + length - body->n + 1);
		n = recv(fd, body->p + body->n, head + length - body->n, 0);
		if (n <= 0)
			return ERR_IO;
		body->n += (size_t)n;
	}
	if (r < 0 || sscanf(body->p, "HTTP/1.%*c %d", ret_status) != 1)
		return ERR_PROTOCOL;
	memmove(body->p, body->p + head, length);
	body->n = length;
	body->p[length] = 0;
	return 0;
}

static int refused(
    struct bench *b, const char *method, const char *path, int status, const struct buf *body)
{
	return problem_set(&b->problem, ERR_PROTOCOL, "%s %s answered %d: %.200s", method, path,
	    status, body->p ? body->p : "");
}

int http_call(
    struct bench *b, const char *method, const char *path, const char *body, json_t **ret_json)
{
	AUTO(buf_release) struct buf request = {0}, reply = {0};
	int status = 0, r = ERR_IO;

	if (b->stand.fd < 0)
		b->stand.fd = connect_unix(b->stand.socket);
	http_request(&request, method, path, "application/json", str_of(body));
	if (b->stand.fd >= 0)
		r = http_raw(b->stand.fd, buf_str(&request), &reply, &status);
	if (r < 0 && b->stand.fd >= 0) {
		close(b->stand.fd);
		b->stand.fd = -1;
	}
	if (r < 0)
		return problem_set(&b->problem, ERR_UNREACHABLE, "%s %s: %s", method, path,
		    bench_interrupted() ? "interrupted" : strerror(errno));
	if (status >= 300)
		return refused(b, method, path, status, &reply);
	if (ret_json)
		*ret_json = json_loadb(reply.p, reply.n, JSON_ALLOW_NUL, NULL);
	return 0;
}
