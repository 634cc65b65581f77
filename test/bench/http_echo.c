/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The HTTP server alone, answering every request with its own body, to be driven by any load
 * generator: what is measured is the price of a request before anybody does anything with it.
 * Usage: http_echo [now|later] (later: answers from deferred work, as after a group commit).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "net/http/http.h"

struct bench {
	struct loop_deferred *deferred;
	struct http_request *waiting[65536];
	size_t n;
	bool later;
};

static void answer(struct http_request *r)
{
	http_reply(r, 200, "application/json", http_body(r));
}

static void on_deferred(void *arg)
{
	struct bench *b = arg;

	for (size_t i = 0; i < b->n; i++)
		answer(b->waiting[i]);
	b->n = 0;
}

static void on_request(struct http_request *r, void *arg)
{
	struct bench *b = arg;

	if (!b->later) {
		answer(r);
		return;
	}
	b->waiting[b->n++] = r;
	loop_deferred_arm(b->deferred);
}

static void on_signal(int signo, void *arg)
{
	loop_stop(arg);
}

int main(int argc, char **argv)
{
	struct loop *loop = loop_new();
	struct bench *b = xcalloc(1, sizeof *b);
	struct problem p = {0};
	int port;
	struct http_server *s = http_server_new(loop, NULL, on_request, b);
	struct loop_signal *sig = loop_signal_new(loop, 15, on_signal, loop);

	b->later = argc > 1 && strcmp(argv[1], "later") == 0;
	b->deferred = loop_deferred_new(loop, on_deferred, b);
	if (http_listen_tcp(s, "127.0.0.1:0", NULL, &port, &p) != 0) {
		fprintf(stderr, "%s\n", p.what);
		return 1;
	}
	printf("%d\n", port);
	fflush(stdout);
	loop_run(loop);
	http_server_free(s);
	loop_signal_free(sig);
	loop_deferred_free(b->deferred);
	loop_free(loop);
	free(b);
	return 0;
}
