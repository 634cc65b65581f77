/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whole requests, framing included, through the door that the network uses: a socket, the HTTP
 * server, the interface. The first byte says into pieces of which size the rest is cut. However it
 * is cut, the same requests must be found in it, and nothing may be left behind.
 */
#include <errno.h>
#include <event2/event.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "api_host.h"
#include "net/http/http_internal.h"
#include "net/loop/loop_internal.h"
#include "server/http/http_door.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define TURNS_MAX 100000
#define PIECES_MAX 300
#define IDLE_TURNS 3 /* so many in which nothing came: there is nothing more */

static struct loop *loop;
static struct http_server *server;
static char path[64];
static size_t presented; /* requests that reached the interface */

static void on_request(struct http_request *r, void *arg)
{
	presented++;
	http_door_request(r, host.api);
}

static void forget_socket(void)
{
	unlink(path);
}

static void start(void)
{
	struct problem p = {0};

	host_start(&http_door_io);
	loop = loop_new();
	server = http_server_new(loop, NULL, on_request, NULL);
	snprintf(path, sizeof path, "/tmp/reeve-fuzz-http-%d", getpid());
	MUST(http_listen_unix(server, path, 0600, &p) == 0);
	atexit(forget_socket);
}

static int dial(void)
{
	struct sockaddr_un sun = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	snprintf(sun.sun_path, sizeof sun.sun_path, "%s", path);
	MUST(fd >= 0 && connect(fd, (struct sockaddr *)&sun, sizeof sun) == 0);
	return fd;
}

static bool hear(int fd, struct buf *answers)
{
	char piece[65536];
	ssize_t n;
	bool any = false;

	while ((n = recv(fd, piece, sizeof piece, MSG_DONTWAIT)) > 0) {
		buf_add(answers, piece, (size_t)n);
		any = true;
	}
	return any;
}

/* Turns of the loop until nothing more comes of what was sent. */
static void settle(int fd, struct buf *answers)
{
	int idle = 0;

	for (int i = 0; idle < IDLE_TURNS; i++) {
		size_t before = presented;

		MUST(i < TURNS_MAX);
		event_base_loop(loop_base(loop), EVLOOP_NONBLOCK);
		idle = hear(fd, answers) || presented != before ? 0 : idle + 1;
	}
}

/* Time passes: waits expire, and streams say that they are still there. */
static void grow_old(int fd, struct buf *answers)
{
	for (int i = 0; i < 4; i++) {
		host_fire();
		settle(fd, answers);
	}
}

static void say(int fd, const uint8_t *p, size_t n, struct buf *answers)
{
	ssize_t sent;

	for (int i = 0; n > 0; i++) {
		MUST(i < TURNS_MAX);
		sent = send(fd, p, n, MSG_NOSIGNAL | MSG_DONTWAIT);
		if (sent < 0 && errno != EAGAIN)
			return; /* it has closed: the rest does not count */
		if (sent > 0) {
			p += sent;
			n -= (size_t)sent;
		}
		settle(fd, answers);
	}
}

/* The requests that reached the interface, of all that a client says in one connection. */
static size_t converse(const uint8_t *p, size_t n, size_t piece, struct buf *answers)
{
	int fd = dial();

	presented = 0;
	settle(fd, answers);
	for (size_t i = 0; i < n; i += piece)
		say(fd, p + i, n - i < piece ? n - i : piece, answers);
	grow_old(fd, answers);
	shutdown(fd, SHUT_WR);
	settle(fd, answers);
	close(fd);
	for (int i = 0; http_connections(server) > 0; i++) {
		MUST(i < 1000); /* whatever it said, its place is free again */
		event_base_loop(loop_base(loop), EVLOOP_NONBLOCK);
	}
	for (int i = 0; i < HOST_TIMERS; i++)
		MUST(!host.timers[i]);
	return presented;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct buf whole = {0}, cut = {0};
	size_t n;

	if (size < 2)
		return 0;
	if (!server)
		start();
	n = converse(data + 1, size - 1, size, &whole);
	MUST(whole.n == 0 || str_starts(buf_str(&whole), "HTTP/1.1 "));
	if (data[0] && (size_t)data[0] < size && size / data[0] < PIECES_MAX)
		MUST(converse(data + 1, size - 1, data[0], &cut) == n);
	buf_release(&whole);
	buf_release(&cut);
	return 0;
}
