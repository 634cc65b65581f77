/* SPDX-License-Identifier: Apache-2.0 */
/* Links over plain TCP: both ends, or one end and a raw socket, on one loop. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/mem.h"
#include "client.h"
#include "net/link/link.h"

struct end {
	struct world *w;
	struct link *link;
	char why[256];
	char got[64]; /* the payloads, joined by '|' */
	size_t frames, bytes, drains;
	bool opened, closed;
	bool echo, pause_on_frame, close_on_frame;
};

struct world {
	struct loop *loop;
	struct link_listener *listener;
	struct loop_timer *watchdog;
	struct end server, client;
	char address[32];
	size_t stop_at_frames; /* of the client */
	int stop_at_closes, closes;
};

static void on_open(struct link *l, void *arg)
{
	struct end *e = arg;

	assert_false(e->opened);
	e->opened = true;
}

static void on_frame(struct link *l, struct str payload, void *arg)
{
	struct end *e = arg;

	assert_false(e->closed);
	e->frames++;
	e->bytes += payload.n;
	if (payload.n < 16 && strlen(e->got) + payload.n + 2 < sizeof e->got) {
		strncat(e->got, payload.p, payload.n);
		strcat(e->got, "|");
	}
	if (e->echo)
		link_send(l, payload);
	if (e->pause_on_frame) {
		link_pause(l, true);
		loop_stop(e->w->loop);
	}
	if (e->close_on_frame)
		link_close(l, "enough");
	if (e == &e->w->client && e->frames == e->w->stop_at_frames)
		loop_stop(e->w->loop);
}

static void on_close(struct link *l, const char *why, void *arg)
{
	struct end *e = arg;

	assert_false(e->closed);
	e->closed = true;
	snprintf(e->why, sizeof e->why, "%s", why);
	e->link = NULL;
	if (++e->w->closes == e->w->stop_at_closes)
		loop_stop(e->w->loop);
}

static void on_drain(struct link *l, void *arg)
{
	struct end *e = arg;

	e->drains++;
	loop_stop(e->w->loop);
}

static const struct link_events events = {on_open, on_frame, on_close, on_drain, NULL};

static void *on_accept(struct link *l, const char *peer, void *arg)
{
	struct world *w = arg;

	assert_memory_equal(peer, "127.0.0.1:", 10);
	assert_string_equal(peer, link_peer(l));
	assert_true(link_is_local(l));
	w->server.link = l;
	return &w->server;
}

static void on_watchdog(void *arg)
{
	fail_msg("nothing happened for a minute");
}

static void world_init(struct world *w, const struct link_options *o)
{
	struct problem p = {0};

	memset(w, 0, sizeof *w);
	w->server.w = w->client.w = w;
	w->loop = loop_new();
	w->watchdog = loop_timer_new(w->loop, on_watchdog, NULL);
	loop_timer_set(w->watchdog, 60000);
	w->listener = link_listen(w->loop, "127.0.0.1:0", NULL, o, &events, on_accept, w, &p);
	assert_non_null(w->listener);
	snprintf(w->address, sizeof w->address, "127.0.0.1:%d", link_listener_port(w->listener));
}

static void world_release(struct world *w)
{
	w->closes = 0;
	w->stop_at_closes = !!w->server.link + !!w->client.link;
	if (w->server.link)
		link_close(w->server.link, "test over");
	if (w->client.link)
		link_close(w->client.link, "test over");
	if (w->stop_at_closes)
		loop_run(w->loop);
	link_listener_free(w->listener);
	loop_timer_free(w->watchdog);
	loop_free(w->loop);
}

static void dial(struct world *w, const struct link_options *o)
{
	w->client.link = link_dial(w->loop, w->address, NULL, o, &events, &w->client);
}

static void test_round_trip(void **state)
{
	struct world w;
	char *big = xcalloc(1, 300000);

	world_init(&w, NULL);
	w.server.echo = true;
	dial(&w, NULL);
	link_send(w.client.link, STR("early")); /* before there is a connection */
	link_send(w.client.link, STR(""));
	link_send(w.client.link, (struct str){big, 300000});
	link_send(w.client.link, STR("last"));
	w.stop_at_frames = 4;
	loop_run(w.loop);
	assert_true(w.client.opened);
	assert_false(w.server.opened);
	assert_string_equal(w.server.got, "early||last|");
	assert_string_equal(w.client.got, "early||last|");
	assert_int_equal(w.client.bytes, 300009);
	world_release(&w);
	free(big);
}

static void test_many_small_frames(void **state)
{
	struct world w;

	world_init(&w, NULL);
	w.server.echo = true;
	dial(&w, NULL);
	for (int i = 0; i < 50000; i++)
		link_send(w.client.link, STR("0123456789012345678"));
	w.stop_at_frames = 50000;
	loop_run(w.loop);
	assert_int_equal(w.client.bytes, 50000 * 19);
	world_release(&w);
}

struct dribble {
	int fd;
	const char *bytes;
	size_t n, at;
	struct loop_timer *timer;
};

static void send_one_byte(void *arg)
{
	struct dribble *d = arg;

	assert_int_equal(send(d->fd, d->bytes + d->at++, 1, MSG_NOSIGNAL), 1);
	if (d->at < d->n)
		loop_timer_set(d->timer, 1);
	else
		close(d->fd);
}

static void test_partial_frames_and_a_lost_peer(void **state)
{
	struct world w;
	struct dribble d = {.bytes = "\0\0\0\3abc\0\0\0\1d\0\0\0\7half", .n = 20};

	world_init(&w, NULL);
	d.fd = client_connect(link_listener_port(w.listener));
	d.timer = loop_timer_new(w.loop, send_one_byte, &d);
	loop_timer_set(d.timer, 1);
	w.stop_at_closes = 1;
	loop_run(w.loop);
	assert_string_equal(w.server.got, "abc|d|");
	assert_non_null(strstr(w.server.why, "link lost"));
	loop_timer_free(d.timer);
	world_release(&w);
}

static void test_oversized_frame(void **state)
{
	struct world w;
	struct link_options o = {.frame_max = 100};

	world_init(&w, &o);
	dial(&w, NULL);
	link_send(w.client.link, STR("fits"));
	link_send(w.client.link, (struct str){(char[101]){0}, 101});
	w.stop_at_closes = 2;
	loop_run(w.loop);
	assert_string_equal(w.server.got, "fits|");
	assert_non_null(strstr(w.server.why, "frame of 101 bytes"));
	assert_non_null(strstr(w.client.why, "link lost"));
	world_release(&w);
}

static void test_first_frame_limit(void **state)
{
	struct world w;
	struct link_options o = {.first_ms = 30};
	int fd;

	world_init(&w, &o);
	fd = client_connect(link_listener_port(w.listener));
	client_send(fd, "\0\0", 2);
	w.stop_at_closes = 1;
	loop_run(w.loop);
	assert_non_null(strstr(w.server.why, "no frame within 30 ms"));
	close(fd);
	world_release(&w);
}

static void test_refused_and_unparsable(void **state)
{
	struct world w;

	world_init(&w, NULL);
	link_listener_free(w.listener);
	w.listener = NULL;
	w.stop_at_closes = 1;
	dial(&w, NULL);
	loop_run(w.loop);
	assert_false(w.client.opened);
	assert_non_null(strstr(w.client.why, "refused"));
	memset(&w.client, 0, sizeof w.client);
	w.client.w = &w;
	w.closes = 0;
	w.client.link = link_dial(w.loop, "nonsense", NULL, NULL, &events, &w.client);
	assert_false(w.client.closed); /* never at once */
	loop_run(w.loop);
	assert_non_null(strstr(w.client.why, "host:port"));
	world_release(&w);
}

/* The name is not even well formed, so no name server is asked; but a thread is. */
static void test_unknown_names(void **state)
{
	struct world w;

	world_init(&w, NULL);
	w.stop_at_closes = 1;
	w.client.link = link_dial(w.loop, "a..b:1", NULL, NULL, &events, &w.client);
	loop_run(w.loop);
	assert_non_null(strstr(w.client.why, "can not find a..b"));
	memset(&w.client, 0, sizeof w.client);
	w.client.w = &w;
	w.closes = 0;
	w.client.link = link_dial(w.loop, "a..c:1", NULL, NULL, &events, &w.client);
	link_close(w.client.link, "changed my mind"); /* while the question is under way */
	loop_run(w.loop);
	assert_string_equal(w.client.why, "changed my mind");
	world_release(&w);
}

static void test_close_from_a_frame_flushes(void **state)
{
	struct world w;

	world_init(&w, NULL);
	w.server.echo = w.server.close_on_frame = true;
	dial(&w, NULL);
	link_send(w.client.link, STR("one"));
	link_send(w.client.link, STR("two"));
	w.stop_at_closes = 2;
	loop_run(w.loop);
	assert_string_equal(w.server.got, "one|");
	assert_string_equal(w.server.why, "enough");
	assert_string_equal(w.client.got, "one|");
	world_release(&w);
}

static void test_pause_holds_frames_back(void **state)
{
	struct world w;

	world_init(&w, NULL);
	w.server.echo = w.server.pause_on_frame = true;
	dial(&w, NULL);
	link_send(w.client.link, STR("one"));
	link_send(w.client.link, STR("two"));
	loop_run(w.loop);
	assert_string_equal(w.server.got, "one|");
	w.server.pause_on_frame = false;
	link_pause(w.server.link, false);
	w.stop_at_frames = 2;
	loop_run(w.loop);
	assert_string_equal(w.server.got, "one|two|");
	world_release(&w);
}

static void test_send_limit_and_drain(void **state)
{
	struct world w;
	struct link_options o = {.send_max = 1 << 20};
	char *block = xcalloc(1, 600000);

	world_init(&w, NULL);
	dial(&w, &o);
	link_send(w.client.link, (struct str){block, 600000});
	assert_true(link_pending(w.client.link) > 600000);
	loop_run(w.loop);
	assert_int_equal(w.client.drains, 1);
	w.stop_at_closes = 2;
	link_send(w.client.link, (struct str){block, 600000});
	link_send(w.client.link, (struct str){block, 600000});
	loop_run(w.loop);
	assert_non_null(strstr(w.client.why, "does not read"));
	world_release(&w);
	free(block);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_round_trip),
	    cmocka_unit_test(test_many_small_frames),
	    cmocka_unit_test(test_partial_frames_and_a_lost_peer),
	    cmocka_unit_test(test_oversized_frame),
	    cmocka_unit_test(test_first_frame_limit),
	    cmocka_unit_test(test_refused_and_unparsable),
	    cmocka_unit_test(test_unknown_names),
	    cmocka_unit_test(test_close_from_a_frame_flushes),
	    cmocka_unit_test(test_pause_holds_frames_back),
	    cmocka_unit_test(test_send_limit_and_drain),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
