/* SPDX-License-Identifier: Apache-2.0 */
/* Many messages of one batch in one frame: what may be merged, and what must not get lost in it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "server/workers/parcel.h"

static struct parcel parcel;
static struct arena arena;
static struct buf out;
static const struct id_space ids = {{1, 2, 3, 4, 5}};

static int teardown(void **state)
{
	parcel_release(&parcel);
	arena_release(&arena);
	buf_release(&out);
	return 0;
}

static struct link_to_worker sent(void)
{
	struct link_to_worker m, frame = parcel_frame(&parcel, &ids);

	buf_reset(&out);
	link_encode_to_worker(&frame, &arena, &out);
	parcel_clear(&parcel);
	assert_int_equal(link_decode_to_worker(buf_str(&out), &arena, &m, NULL), 0);
	return m;
}

static struct message beat_ack(uint64_t number, enum worker_state state, uint64_t check)
{
	struct message m = {.kind = MSG_BEAT_ACK};

	m.beat_ack.number = number;
	m.beat_ack.news = (struct link_news){state, {7, check, {1, 2, 3}}, check};
	return m;
}

/* Mere news after an answer: the answer stays, the news are the last. */
static void test_news(void **state)
{
	struct message a = beat_ack(5, WORKER_UNHEALTHY, 1), b = beat_ack(0, WORKER_HEALTHY, 2);
	struct link_to_worker m;

	parcel_add(&parcel, &a);
	parcel_add(&parcel, &b);
	m = sent();
	assert_int_equal(m.beat_ack.number, 5);
	assert_int_equal(m.beat_ack.news.state, WORKER_HEALTHY);
	assert_int_equal(m.beat_ack.news.check, 2);
	assert_int_equal(m.beat_ack.news.set.version, 2);
	parcel_add(&parcel, &b); /* nothing of the last frame is left */
	m = sent();
	assert_int_equal(m.beat_ack.number, 0);
	assert_false(sent().has_beat_ack);
}

static void test_refused(void **state)
{
	struct message die = {.kind = MSG_REFUSED, .refused = {.die = true, .restart = true}};
	struct message mild = {.kind = MSG_REFUSED, .refused = {.reason = STR("not now")}};
	struct link_to_worker m;

	parcel_add(&parcel, &die);
	parcel_add(&parcel, &mild);
	m = sent();
	assert_true(m.refused && m.refused->die && m.refused->restart);
	parcel_add(&parcel, &mild);
	parcel_add(&parcel, &die);
	assert_true(sent().refused->die);
	assert_null(sent().refused);
}

static void test_what_to_do_about_a_refusal_is_said_with_it(void **state)
{
	struct message m = {
	    .kind = MSG_REFUSED, .refused.reason = STR("no more"), .hint = HINT_WHEN_LOST};

	for (int i = 0; i < 2; i++) {
		parcel_add(&parcel, &m);
		assert_string_equal(parcel_frame(&parcel, &(struct id_space){0}).refused->reason.p,
		    "no more (reeve worker ls says when)");
		parcel_clear(&parcel);
	}
}

static void test_settings(void **state)
{
	struct message leave = {
	    .kind = MSG_SETTINGS, .settings = {.maxthreads = 3, .leave = true, .restart = true}};
	struct message more = {.kind = MSG_SETTINGS, .settings = {.maxthreads = 9}};
	struct link_to_worker m;

	parcel_add(&parcel, &leave);
	parcel_add(&parcel, &more);
	m = sent();
	assert_true(m.settings.leave && m.settings.restart && m.settings.maxthreads == 9);
	parcel_add(&parcel, &more);
	assert_false(sent().settings.leave);
}

static void test_questions(void **state)
{
	static struct run_ref refs[LINK_NOTIFY_MAX + 5];
	struct message ask = {.kind = MSG_NOTIFY}, check = {.kind = MSG_CHECK};
	struct link_to_worker m;

	for (size_t i = 0; i < LINK_NOTIFY_MAX + 5; i++)
		refs[i] = (struct run_ref){i + 1, 2};
	ask.notify.seq = 8;
	ask.notify.refs = refs;
	ask.notify.n_refs = 2;
	parcel_add(&parcel, &ask);
	ask.notify.seq = 9;
	ask.notify.n_refs =
	    LINK_NOTIFY_MAX + 5; /* more than a frame may ask: the rest another time */
	parcel_add(&parcel, &ask);
	for (uint64_t i = 1; i <= 3; i++) {
		check.check.number = i;
		check.check.beat = 10 * i;
		parcel_add(&parcel, &check);
	}
	m = sent();
	assert_int_equal(m.n_notify, 2);
	assert_true(m.notify[0].seq == 8 && m.notify[0].n_refs == 2);
	assert_int_equal(m.notify[0].refs[1].task, 2);
	assert_true(m.notify[1].seq == 9 && m.notify[1].n_refs == LINK_NOTIFY_MAX);
	assert_true(m.has_check && m.check.number == 3 && m.check.beat == 30);
	m = sent();
	assert_true(m.n_notify == 0 && !m.has_check);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_news),
	    cmocka_unit_test(test_refused),
	    cmocka_unit_test(test_what_to_do_about_a_refusal_is_said_with_it),
	    cmocka_unit_test(test_settings),
	    cmocka_unit_test(test_questions),
	};

	return cmocka_run_group_tests(tests, NULL, teardown);
}
