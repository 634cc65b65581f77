/* SPDX-License-Identifier: Apache-2.0 */
/* The tests' server thread and client sockets. */
#include "client.h"

#include <arpa/inet.h>
#include <poll.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/mem.h"

static void *serve(void *arg)
{
	struct served *s = arg;

	loop_run(s->loop);
	return NULL;
}

void served_start(
    struct served *s, const struct http_options *o, struct tls *tls, http_handler *fn, void *arg)
{
	struct problem p = {0};

	memset(s, 0, sizeof *s);
	s->loop = loop_new();
	s->server = http_server_new(s->loop, o, fn, arg);
	MUST(http_listen_tcp(s->server, "127.0.0.1:0", tls, &s->port, &p) == 0);
	snprintf(s->socket_path, sizeof s->socket_path, "/tmp/reeve-http-%d", getpid());
	MUST(http_listen_unix(s->server, s->socket_path, 0600, &p) == 0);
	MUST(pthread_create(&s->thread, NULL, serve, s) == 0);
}

static void stop(void *arg)
{
	struct served *s = arg;

	http_server_free(s->server);
	loop_stop(s->loop);
}

void served_stop(struct served *s)
{
	loop_post(s->loop, stop, s);
	pthread_join(s->thread, NULL);
	loop_free(s->loop);
}

struct call {
	loop_fn *fn;
	void *arg;
	sem_t done;
};

static void run_call(void *arg)
{
	struct call *c = arg;

	c->fn(c->arg);
	sem_post(&c->done);
}

void served_call(struct served *s, loop_fn *fn, void *arg)
{
	struct call c = {fn, arg};

	sem_init(&c.done, 0, 0);
	loop_post(s->loop, run_call, &c);
	sem_wait(&c.done);
	sem_destroy(&c.done);
}

static int connect_to(const struct sockaddr *sa, socklen_t n)
{
	struct timeval limit = {10, 0};
	int fd = socket(sa->sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);

	MUST(fd >= 0 && connect(fd, sa, n) == 0);
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
	return fd;
}

int client_connect(int port)
{
	struct sockaddr_in sin = {.sin_family = AF_INET,
	    .sin_port = htons((uint16_t)port),
	    .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};

	return connect_to((struct sockaddr *)&sin, sizeof sin);
}

int client_connect_unix(const char *path)
{
	struct sockaddr_un sun = {.sun_family = AF_UNIX};

	snprintf(sun.sun_path, sizeof sun.sun_path, "%s", path);
	return connect_to((struct sockaddr *)&sun, sizeof sun);
}

void client_send(int fd, const char *bytes, size_t n)
{
	while (n > 0) {
		ssize_t sent = send(fd, bytes, n, MSG_NOSIGNAL);

		if (sent <= 0)
			return; /* the test sees it in the answer */
		bytes += sent;
		n -= (size_t)sent;
	}
}

void client_send_text(int fd, const char *text)
{
	client_send(fd, text, strlen(text));
}

bool client_read_until(int fd, struct buf *b, const char *needle)
{
	char piece[4096];
	ssize_t n;

	for (;;) {
		if (b->p && memmem(b->p, b->n, needle, strlen(needle)))
			return true;
		n = recv(fd, piece, sizeof piece, 0);
		if (n <= 0)
			return false;
		buf_add(b, piece, (size_t)n);
	}
}

int client_read_answer(int fd, struct buf *ret_head, struct buf *ret_body)
{
	const char *length;
	size_t want = 0;
	char c;

	buf_reset(ret_head);
	buf_reset(ret_body);
	while (ret_head->n < 4 || memcmp(ret_head->p + ret_head->n - 4, "\r\n\r\n", 4) != 0) {
		if (recv(fd, &c, 1, 0) != 1)
			return 0;
		buf_add_char(ret_head, c);
	}
	length = strcasestr(ret_head->p, "\r\nContent-Length: ");
	if (length)
		want = strtoul(length + 18, NULL, 10);
	while (ret_body->n < want) {
		if (recv(fd, &c, 1, 0) != 1)
			return 0;
		buf_add_char(ret_body, c);
	}
	return atoi(ret_head->p + 9);
}

bool client_wait_closed(int fd)
{
	char piece[4096];
	struct pollfd p = {.fd = fd, .events = POLLIN};
	ssize_t n;

	for (;;) {
		if (poll(&p, 1, 10000) != 1)
			return false;
		n = recv(fd, piece, sizeof piece, 0);
		if (n <= 0)
			return true;
	}
}

int client_ask(int port, const char *request, struct buf *ret_body)
{
	struct buf head = {0};
	int fd = client_connect(port), status;

	client_send_text(fd, request);
	status = client_read_answer(fd, &head, ret_body);
	buf_release(&head);
	close(fd);
	return status;
}

bool wait_until(bool (*fn)(void *arg), void *arg)
{
	for (int i = 0; i < 2000; i++) {
		if (fn(arg))
			return true;
		usleep(5000);
	}
	return false;
}
