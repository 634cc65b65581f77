/* SPDX-License-Identifier: Apache-2.0 */
/* What all accepted links together may cost: strangers are few, unfinished input has one limit. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "client.h"
#include "net/link/link.h"

#define LINKS 8

struct guest {
	struct link *link; /* NULL: gone */
	size_t frames;
	bool admit; /* with its first frame */
	char why[256];
};

static struct loop *loop;
static struct link_listener *listener;
static struct guest guests[LINKS];
static int fds[LINKS];
static size_t n_guests, n_fds, frames, closes;
static size_t wait_guests, wait_frames, wait_closes;

static void look(void)
{
	if (n_guests >= wait_guests && frames >= wait_frames && closes >= wait_closes)
		loop_stop(loop);
}

static void on_frame(struct link *l, struct str payload, void *arg)
{
	struct guest *g = arg;

	g->frames++;
	frames++;
	if (g->admit)
		link_admit(l);
	look();
}

static void on_close(struct link *l, const char *why, void *arg)
{
	struct guest *g = arg;

	g->link = NULL;
	snprintf(g->why, sizeof g->why, "%s", why);
	closes++;
	look();
}

static void *on_accept(struct link *l, const char *peer, void *arg)
{
	struct guest *g = &guests[n_guests++];

	g->link = l;
	look();
	return g;
}

static void on_watchdog(void *arg)
{
	fail_msg("nothing happened for a minute");
}

static void wait_for(size_t some_guests, size_t some_frames, size_t some_closes)
{
	struct loop_timer *watchdog = loop_timer_new(loop, on_watchdog, NULL);

	loop_timer_set(watchdog, 60000);
	wait_guests = some_guests;
	wait_frames = some_frames;
	wait_closes = some_closes;
	if (n_guests < wait_guests || frames < wait_frames || closes < wait_closes)
		loop_run(loop);
	loop_timer_free(watchdog);
}

static void open_with(const struct link_options *o)
{
	static const struct link_events events = {.on_frame = on_frame, .on_close = on_close};
	struct problem p = {0};

	memset(guests, 0, sizeof guests);
	n_guests = n_fds = frames = closes = 0;
	loop = loop_new();
	listener = link_listen(loop, "127.0.0.1:0", NULL, o, &events, on_accept, NULL, &p);
	assert_non_null(listener);
}

static int come(void)
{
	fds[n_fds] = client_connect(link_listener_port(listener));
	wait_for(n_fds + 1, 0, 0);
	return fds[n_fds++];
}

static void shut(void)
{
	link_listener_free(listener); /* before its links: they live on */
	for (size_t i = 0; i < n_fds; i++)
		close(fds[i]);
	wait_for(0, 0, n_guests);
	loop_free(loop);
}

static void test_the_oldest_stranger_makes_room(void **state)
{
	struct link_options o = {.strangers_max = 2};

	open_with(&o);
	guests[0].admit = true;
	client_send(come(), "\0\0\0\1x", 5);
	wait_for(1, 1, 0); /* it was let in, and does not count */
	come();
	come();
	assert_int_equal(closes, 0);
	come();
	wait_for(4, 0, 1);
	assert_non_null(strstr(guests[1].why, "more than 2 connections"));
	assert_true(guests[0].link && guests[2].link && guests[3].link);
	shut();
}

static void test_strangers_send_small_frames(void **state)
{
	struct link_options o = {.stranger_frame = 10, .frame_max = 100};
	char frame[54] = {0, 0, 0, 50};

	open_with(&o);
	guests[1].admit = true;
	client_send(come(), frame, sizeof frame);
	wait_for(1, 0, 1);
	assert_non_null(strstr(guests[0].why, "at most 10 are allowed"));
	client_send(come(), "\0\0\0\1x", 5);
	wait_for(2, 1, 1);
	client_send(fds[1], frame, sizeof frame);
	wait_for(2, 2, 1);
	frame[3] = 101;
	client_send(fds[1], frame, sizeof frame);
	wait_for(2, 2, 2);
	assert_non_null(strstr(guests[1].why, "at most 100 are allowed"));
	shut();
}

/* What was read as a whole frame does not count any more. */
static void test_the_greediest_is_closed(void **state)
{
	struct link_options o = {.buffered_max = 5000};
	static char part[3004] = {0, 0, 0x40};

	open_with(&o);
	for (int i = 0; i < 3; i++)
		come();
	for (int i = 0; i < 10; i++) {
		client_send(fds[0], "\0\0\2\0", 4);
		client_send(fds[0], (char[512]){0}, 512);
		wait_for(3, (size_t)i + 1, 0);
	}
	client_send(fds[1], part, 2000);
	client_send(fds[2], part, 3004);
	client_send(fds[1], (char[1500]){0}, 1500);
	wait_for(3, 0, 1);
	assert_true(guests[0].link != NULL);
	assert_true(!guests[1].link != !guests[2].link);
	assert_non_null(
	    strstr(guests[1].link ? guests[2].why : guests[1].why, "more than 5000 bytes"));
	/* there is room again */
	client_send(fds[0], "\0\0\0\1x", 5);
	wait_for(3, 11, 1);
	assert_int_equal(closes, 1);
	shut();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_the_oldest_stranger_makes_room),
	    cmocka_unit_test(test_strangers_send_small_frames),
	    cmocka_unit_test(test_the_greediest_is_closed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
