/* SPDX-License-Identifier: Apache-2.0 */
/* Frames that nobody honest would make: bombs, hidden bytes, endless parts and plain garbage. */
#include "link_parts.h"

#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "base/mem.h"
#include "base/rng.h"
#include "model/limits.h"

/* One frame unpacks to a bounded amount, however well it was compressed. */
static void test_output_bombs(void **state)
{
	static char zeros[OUTPUT_CHUNK_BYTES], packed[1024];
	size_t n = ZSTD_compress(packed, sizeof packed, zeros, sizeof zeros, 1);
	struct output_row o[257];
	struct link_to_server in = {.output = o, .n_output = 256}, got;

	assert_false(ZSTD_isError(n));
	for (size_t i = 0; i < 257; i++)
		o[i] = (struct output_row){5, 6, STDOUT, (int64_t)i * OUTPUT_CHUNK_BYTES,
		    OUTPUT_CHUNK_BYTES, 1, {packed, n}};
	assert_int_equal(to_server(&in, &got), 0);
	in.n_output = 257;
	assert_int_equal(to_server(&in, &got), ERR_PROTOCOL);
	in.n_output = 1;
	o[0].raw_bytes--; /* it says less than it holds */
	assert_int_equal(to_server(&in, &got), ERR_PROTOCOL);
}

/* The byte behind "secret" in a frame becomes NUL: the rest must not silently be gone. */
static void assert_nul_refused(const char *text, bool from_worker)
{
	char *at = memmem(out.p, out.n, text, strlen(text));
	struct link_to_server to;
	struct link_to_worker from;

	assert_non_null(at);
	at[1] = 0;
	assert_int_equal(from_worker ? link_decode_to_server(buf_str(&out), &arena, &to, NULL)
	                             : link_decode_to_worker(buf_str(&out), &arena, &from, NULL),
	    ERR_PROTOCOL);
}

static void test_nul_in_strings(void **state)
{
	static const char *const texts[] = {"w1", "machine", "host", "a=1", "command"};
	struct link_hello h = good_hello();
	struct link_knock k = good_knock();
	struct link_ended e = good_ended();
	struct link_refused r = {.reason = STR("reason")};
	struct link_to_server in = {.hello = &h}, got;
	struct link_to_worker out_there = {.refused = &r}, back;

	for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
		assert_int_equal(to_server(&in, &got), 0);
		assert_nul_refused(texts[i], true);
	}
	in = (struct link_to_server){.knock = &k};
	assert_int_equal(to_server(&in, &got), 0);
	assert_nul_refused("secret", true);
	in = (struct link_to_server){.ended = &e, .n_ended = 1};
	assert_int_equal(to_server(&in, &got), 0);
	assert_nul_refused("exit code", true);
	assert_int_equal(to_worker(&out_there, &back), 0);
	assert_nul_refused("reason", false);
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

/* Refused before they are made something of: the arena has nothing but what it had. */
static void assert_refused_unread(struct str frame)
{
	struct link_to_server got;
	struct problem p = {0};
	size_t before = arena.total;

	assert_int_equal(link_decode_to_server(frame, &arena, &got, &p), ERR_PROTOCOL);
	assert_non_null(strstr(p.what, "the number of its parts"));
	assert_int_equal(arena.total, before);
}

static void test_parts_are_bounded(void **state)
{
	size_t n = LINK_PARTS_MAX;
	struct link_started *s = xcalloc(n + 1, sizeof *s);
	struct link_to_server m = {.n_started = n, .started = s}, got;

	for (size_t i = 0; i <= n; i++)
		s[i] = (struct link_started){i + 1, 1, 1, 1};
	assert_int_equal(to_server(&m, &got), 0);
	assert_int_equal(got.n_started, n);
	m.n_started++;
	buf_reset(&out);
	link_encode_to_server(&m, &arena, &out);
	assert_refused_unread(buf_str(&out));
	free(s);
}

static void test_tasks_of_a_hello_are_bounded(void **state)
{
	size_t n = LINK_HELLO_TASKS_MAX;
	struct link_held *refs = xcalloc(4 * n, sizeof *refs);
	struct link_hello h = good_hello();
	struct link_to_server m = {.hello = &h}, got;

	for (size_t i = 0; i < 4 * n; i++)
		refs[i] = (struct link_held){.task = i + 1, .token = 1, .started_ms = 9};
	h.tasks = refs;
	h.n_tasks = n;
	for (size_t i = 0; i < n; i++)
		refs[i] = (struct link_held){i + 1, 1, true, 9, .receipt = {{1}}};
	assert_int_equal(to_server(&m, &got), 0);
	assert_int_equal(got.hello->n_tasks, n);
	h.n_tasks = n + 1;
	assert_int_equal(to_server(&m, &got), ERR_PROTOCOL);
	h.n_tasks = 4 * n;
	buf_reset(&out);
	link_encode_to_server(&m, &arena, &out);
	assert_refused_unread(buf_str(&out));
	free(refs);
}

/* Fields that nobody knows, too: the decoder would keep each of them. */
static void test_fields_are_bounded(void **state)
{
	struct buf frame = {0}, inner = {0};

	for (size_t i = 0; i <= LINK_PARTS_MAX; i++)
		buf_add(&frame, "\x78\x01", 2); /* field 15 = 1 */
	assert_refused_unread(buf_str(&frame));
	buf_reset(&frame);
	for (size_t i = 0; i < LINK_FIELDS_MAX; i++)
		buf_add(&inner, "\x78\x01", 2);
	buf_add(&frame, "\x12\x80\xea\x30", 4); /* one start of 800,000 bytes */
	buf_add(&frame, inner.p, inner.n);
	assert_refused_unread(buf_str(&frame));
	buf_release(&frame);
	buf_release(&inner);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup(test_output_bombs, setup),
	    cmocka_unit_test_setup(test_nul_in_strings, setup),
	    cmocka_unit_test_setup(test_parts_are_bounded, setup),
	    cmocka_unit_test_setup(test_tasks_of_a_hello_are_bounded, setup),
	    cmocka_unit_test_setup(test_fields_are_bounded, setup),
	    cmocka_unit_test_setup(test_garbage, setup),
	};

	return cmocka_run_group_tests(tests, NULL, teardown);
}
