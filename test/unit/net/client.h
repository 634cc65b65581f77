/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A server on a loop of its own thread, and the plainest possible client: blocking sockets with a
 * limit, so that a test which would hang fails instead.
 */
#ifndef TEST_NET_CLIENT_H
#define TEST_NET_CLIENT_H

#include <pthread.h>

#include "base/str.h"
#include "net/http/http.h"

struct served {
	struct loop *loop;
	struct http_server *server;
	pthread_t thread;
	int port;
	char socket_path[64];
};

void served_start(
    struct served *s, const struct http_options *o, struct tls *tls, http_handler *fn, void *arg);
void served_stop(struct served *s);
/* Runs fn(arg) on the server's thread and waits for it. */
void served_call(struct served *s, loop_fn *fn, void *arg);

int client_connect(int port);
int client_connect_unix(const char *path);
void client_send(int fd, const char *bytes, size_t n);
void client_send_text(int fd, const char *text);
/* Reads until `b` holds `needle` (true) or the peer closes (false). */
bool client_read_until(int fd, struct buf *b, const char *needle);
/* One answer: head, then as many bytes as Content-Length says. The status, or 0 on a close. */
int client_read_answer(int fd, struct buf *ret_head, struct buf *ret_body);
/* Waits until the peer has closed; false after the limit. */
bool client_wait_closed(int fd);
int client_ask(int port, const char *request, struct buf *ret_body);
/* Polls fn(arg) until true; false after ten seconds. */
bool wait_until(bool (*fn)(void *arg), void *arg);

#endif
