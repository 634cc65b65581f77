/* SPDX-License-Identifier: Apache-2.0 */
/* The link's codec: what is sent arrives whole, and nothing out of bounds gets through. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "model/limits.h"
#include "model/queue.h"
#include "wire/link.h"
#include "wire/text.h"

static struct arena arena;
static struct buf out;

static int setup(void **state)
{
	arena_reset(&arena);
	buf_reset(&out);
	return 0;
}

static void assert_str(struct str got, const char *want)
{
	assert_int_equal(got.n, strlen(want));
	assert_memory_equal(got.p, want, got.n);
}

static int to_server(const struct link_to_server *m, struct link_to_server *ret)
{
	buf_reset(&out);
	link_encode_to_server(m, &arena, &out);
	return link_decode_to_server(buf_str(&out), &arena, ret, NULL);
}

static int to_worker(const struct link_to_worker *m, struct link_to_worker *ret)
{
	buf_reset(&out);
	link_encode_to_worker(m, &arena, &out);
	return link_decode_to_worker(buf_str(&out), &arena, ret, NULL);
}

static struct link_hello good_hello(void)
{
	return (struct link_hello){
	    .protocol = LINK_PROTOCOL,
	    .join_token = STR("secret"),
	    .facts = {.shard = STR("w1"),
	        .instance = 77,
	        .started_ms = 5,
	        .lock = STR("machine:/var/lib/reeve"),
	        .host = STR("host"),
	        .labels = STR("b=2\na=1\n"),
	        .plugins = STR("command\nnoop\n"),
	        .maxthreads = 3},
	};
}

static void test_hello(void **state)
{
	struct link_task_ref refs[] = {{1, 2, false, 0}, {3, 4, true, 9}};
	struct link_hello h = good_hello();
	struct link_to_server in = {.hello = &h}, got;

	h.tasks = refs;
	h.n_tasks = 2;
	assert_int_equal(to_server(&in, &got), 0);
	assert_non_null(got.hello);
	assert_str(got.hello->facts.shard, "w1");
	assert_str(got.hello->facts.labels, "a=1\nb=2\n");
	assert_str(got.hello->facts.plugins, "command\nnoop\n");
	assert_null(got.hello->facts.zone.p);
	assert_int_equal(got.hello->facts.maxthreads, 3);
	assert_str(got.hello->join_token, "secret");
	assert_int_equal(got.hello->n_tasks, 2);
	assert_memory_equal(&got.hello->tasks[1].task, &refs[1].task, sizeof refs[1].task);
	assert_true(got.hello->tasks[1].ended);
	assert_int_equal(got.hello->tasks[1].started_ms, 9);
}

static void test_bad_hellos(void **state)
{
	struct link_hello h = good_hello();
	struct link_to_server in = {.hello = &h}, got;
	struct link_task_ref ref = {0, 1, false, 0};
	char longer[NAME_MAX_BYTES + 2] = {0};

	memset(longer, 'x', NAME_MAX_BYTES + 1);
	assert_int_equal(to_server(&in, &got), 0);
#define BAD(member, value)  \
	h = good_hello();   \
	h.member = (value); \
	assert_int_equal(to_server(&in, &got), ERR_PROTOCOL)
	BAD(protocol, 2);
	BAD(facts.shard, STR(""));
	BAD(facts.shard, STR("a\nb"));
	BAD(facts.shard, STR("\xff"));
	BAD(facts.shard, str_of(longer));
	BAD(facts.instance, 0);
	BAD(facts.labels, STR("noequals\n"));
	BAD(facts.labels, STR("=value\n"));
	BAD(facts.plugins, str_of(longer));
	BAD(facts.maxthreads, -2);
#undef BAD
	h = good_hello();
	h.tasks = &ref;
	h.n_tasks = 1;
	assert_int_equal(to_server(&in, &got), ERR_PROTOCOL);
}

static struct link_ended good_ended(void)
{
	return (struct link_ended){
	    .task = 9,
	    .token = 8,
	    .status = TASK_FAILED,
	    .exit_code = 3,
	    .reason = STR("exit code 3"),
	    .started_ms = 10,
	    .ended_ms = 20,
	    .output_where = OUTPUT_INLINE,
	    .output = {{"a\0b", 3}, {NULL, 0}},
	    .output_bytes = {3, 0},
	    .output_dropped = {0, 7},
	};
}

static void test_reports(void **state)
{
	struct link_started s = {1, 2, 3, 4};
	struct link_ended e = good_ended();
	struct output_row o = {5, 6, STDERR, OUTPUT_CHUNK_BYTES, 4, 0, {"\0\1\2\3", 4}};
	struct link_to_server in = {.has_beat = true,
	                          .beat = 99,
	                          .leaving = true,
	                          .started = &s,
	                          .n_started = 1,
	                          .output = &o,
	                          .n_output = 1,
	                          .ended = &e,
	                          .n_ended = 1},
	                      got;

	assert_int_equal(to_server(&in, &got), 0);
	assert_true(got.has_beat && got.leaving && got.beat == 99 && !got.hello);
	assert_int_equal(got.started[0].pid, 4);
	assert_int_equal(got.output[0].offset, OUTPUT_CHUNK_BYTES);
	assert_memory_equal(got.output[0].data.p, "\0\1\2\3", 4);
	assert_int_equal(got.ended[0].exit_code, 3);
	assert_int_equal(got.ended[0].output[STDOUT].n, 3);
	assert_memory_equal(got.ended[0].output[STDOUT].p, "a\0b", 3);
	assert_null(got.ended[0].output[STDERR].p);
	assert_int_equal(got.ended[0].output_dropped[STDERR], 7);
	assert_str(got.ended[0].reason, "exit code 3");
}

static void test_bad_reports(void **state)
{
	struct link_ended e;
	struct output_row o;
	struct link_to_server in = {.ended = &e, .n_ended = 1}, got;

#define BAD(member, value)  \
	e = good_ended();   \
	e.member = (value); \
	assert_int_equal(to_server(&in, &got), ERR_PROTOCOL)
	BAD(task, 0);
	BAD(task, 1ull << 60);
	BAD(token, 0);
	BAD(status, TASK_QUEUED);
	BAD(status, 0);
	BAD(exit_code, 256);
	BAD(signal, -1);
	BAD(ended_ms, 0);
	BAD(output_where, 3);
	BAD(output_dropped[0], -1);
#undef BAD
	in = (struct link_to_server){.output = &o, .n_output = 1};
#define BAD(member, value)                                           \
	o = (struct output_row){5, 6, STDERR, 0, 4, 0, {"1234", 4}}; \
	o.member = (value);                                          \
	assert_int_equal(to_server(&in, &got), ERR_PROTOCOL)
	BAD(stream, 2);
	BAD(offset, 1);
	BAD(offset, -OUTPUT_CHUNK_BYTES);
	BAD(raw_bytes, 3);
	BAD(raw_bytes, 0);
	BAD(raw_bytes, OUTPUT_CHUNK_BYTES + 1);
	BAD(codec, 2);
	BAD(data, STR_NULL);
#undef BAD
}

/* Text is for people: it is made fit to be shown, and cut where it is too long. */
static void test_text(void **state)
{
	struct link_ended e = good_ended();
	struct link_to_server in = {.ended = &e, .n_ended = 1}, got;
	char longer[REASON_MAX_BYTES + 10];

	e.reason = STR("a\nb\xff");
	assert_int_equal(to_server(&in, &got), 0);
	assert_str(got.ended[0].reason, "a b?");
	memset(longer, 'x', sizeof longer);
	memcpy(longer + REASON_MAX_BYTES - 1, "\xc3\xa4", 2);
	e.reason = (struct str){longer, sizeof longer};
	assert_int_equal(to_server(&in, &got), 0);
	assert_int_equal(got.ended[0].reason.n, REASON_MAX_BYTES - 1);
	assert_true(text_is_name(STR("gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9f\x8e\x89"), 99));
	assert_false(text_is_name(STR("\xc0\x80"), 99));
	assert_false(text_is_name(STR("\xed\xa0\x80"), 99));
	assert_false(text_is_name(STR("\xe2\x82"), 99));
	assert_false(text_is_name(STR_NULL, 99));
}

static struct link_run good_run(void)
{
	return (struct link_run){1, 2, 1, 3, STR("q"), STR("command"), STR("{}"),
	    STR("{\"A\":\"b\"}"), 1000, 4096, OUTPUT_MODE_CHUNKS, true};
}

static void test_orders(void **state)
{
	struct link_welcome w = {7, {{1, 2, 3, 4, 5}}, 15000, 565000, -1};
	struct link_refused refused = {STR("no"), true};
	struct link_run run = good_run();
	struct link_kill kill = {3, 4, STR("cancelled"), true};
	struct link_ended_ack ea = {5, 6};
	struct link_output_ack oa = {7, 8, STDOUT, 65536, true};
	struct link_to_worker in = {&w, &refused, true, true, 12, 44, &ea, &oa, &run, &kill, 1, 1,
	                          1, 1},
	                      got;

	assert_int_equal(to_worker(&in, &got), 0);
	assert_memory_equal(got.welcome->ids.installation, w.ids.installation, 5);
	assert_int_equal(got.welcome->lose_after_ms, 565000);
	assert_true(got.refused->die && got.has_settings && got.has_beat_ack);
	assert_int_equal(got.maxthreads, 12);
	assert_int_equal(got.beat_ack, 44);
	assert_str(got.run[0].env, "{\"A\":\"b\"}");
	assert_int_equal(got.run[0].output_mode, OUTPUT_MODE_CHUNKS);
	assert_true(got.run[0].exit_codes);
	assert_str(got.kill[0].reason, "cancelled");
	assert_true(got.kill[0].forget && got.output_ack[0].refused);
	assert_int_equal(got.ended_ack[0].token, 6);
	assert_int_equal(got.output_ack[0].end, 65536);
}

static void test_bad_orders(void **state)
{
	struct link_welcome w = {7, {{1, 2, 3, 4, 5}}, 15000, 15000, -1};
	struct link_run run;
	struct link_to_worker in = {.welcome = &w}, got;

	assert_int_equal(to_worker(&in, &got), ERR_PROTOCOL); /* would be lost at once */
	in = (struct link_to_worker){.run = &run, .n_run = 1};
#define BAD(member, value)    \
	run = good_run();     \
	run.member = (value); \
	assert_int_equal(to_worker(&in, &got), ERR_PROTOCOL)
	BAD(attempt, 0);
	BAD(queue, STR("a\tb"));
	BAD(plugin, STR(""));
	BAD(timeout_ms, -1);
	BAD(output_mode, N_OUTPUT_MODES);
	BAD(output_max, -1);
#undef BAD
}

/* Flipped, cut and invented bytes: an answer, never a crash (the sanitizers look on). */
static void test_garbage(void **state)
{
	struct rng rng = {42};
	struct link_ended e = good_ended();
	struct link_hello h = good_hello();
	struct link_to_server in = {.hello = &h, .ended = &e, .n_ended = 1}, got;
	struct link_to_worker other;
	struct problem p = {0};

	link_encode_to_server(&in, &arena, &out);
	for (int i = 0; i < 20000; i++) {
		char copy[512];
		size_t n = rng_below(&rng, out.n + 1);

		assert_true(out.n < sizeof copy);
		memcpy(copy, out.p, out.n);
		for (uint64_t flips = rng_below(&rng, 4); flips > 0; flips--)
			copy[rng_below(&rng, out.n)] = (char)rng_next(&rng);
		link_decode_to_server((struct str){copy, n}, &arena, &got, &p);
		link_decode_to_worker((struct str){copy, n}, &arena, &other, &p);
		arena_reset(&arena);
	}
	assert_int_equal(link_decode_to_server(STR("\xff\xff"), &arena, &got, &p), ERR_PROTOCOL);
	assert_int_equal(p.code, ERR_PROTOCOL);
	assert_non_null(strstr(p.what, "encoding"));
	assert_int_equal(link_decode_to_server(STR(""), &arena, &got, &p), 0); /* no parts */
}

static int teardown(void **state)
{
	arena_release(&arena);
	buf_release(&out);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup(test_hello, setup),
	    cmocka_unit_test_setup(test_bad_hellos, setup),
	    cmocka_unit_test_setup(test_reports, setup),
	    cmocka_unit_test_setup(test_bad_reports, setup),
	    cmocka_unit_test_setup(test_text, setup),
	    cmocka_unit_test_setup(test_orders, setup),
	    cmocka_unit_test_setup(test_bad_orders, setup),
	    cmocka_unit_test_setup(test_garbage, setup),
	};

	return cmocka_run_group_tests(tests, NULL, teardown);
}
