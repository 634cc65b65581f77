/* SPDX-License-Identifier: Apache-2.0 */
#include "link_parts.h"

#include <string.h>

struct arena arena;
struct buf out;

int setup(void **state)
{
	arena_reset(&arena);
	buf_reset(&out);
	return 0;
}

void assert_str(struct str got, const char *want)
{
	assert_int_equal(got.n, strlen(want));
	assert_memory_equal(got.p, want, got.n);
}

int to_server(const struct link_to_server *m, struct link_to_server *ret)
{
	buf_reset(&out);
	link_encode_to_server(m, &arena, &out);
	return link_decode_to_server(buf_str(&out), &arena, ret, NULL);
}

int to_worker(const struct link_to_worker *m, struct link_to_worker *ret)
{
	buf_reset(&out);
	link_encode_to_worker(m, &arena, &out);
	return link_decode_to_worker(buf_str(&out), &arena, ret, NULL);
}

struct link_hello good_hello(void)
{
	return (struct link_hello){
	    .protocol = LINK_PROTOCOL,
	    .facts = {.shard = STR("w1"),
	        .instance = 77,
	        .started_ms = 5,
	        .start = 6,
	        .lock = STR("machine:/var/lib/reeve"),
	        .host = STR("host"),
	        .labels = STR("b=2\na=1\n"),
	        .plugins = STR("command\nnoop\n"),
	        .maxthreads = 3},
	    .set = {0xfeedull << 48, 12, {~0ull, 5, 3}},
	    .dial = 4,
	    .drops_receipts = true,
	};
}

void assert_set(const struct set_id *got, const struct set_id *want)
{
	assert_true(got->server == want->server && got->version == want->version);
	assert_true(set_hash_eq(&got->hash, &want->hash));
}

struct link_knock good_knock(void)
{
	static const char key[LINK_KEY_BYTES], signature[LINK_SIGNATURE_BYTES];

	return (struct link_knock){.protocol = LINK_PROTOCOL,
	    .join_token = STR("secret"),
	    .shard = STR("w1"),
	    .instance = 7,
	    .key = {key, sizeof key},
	    .signature = {signature, sizeof signature}};
}

struct link_ended good_ended(void)
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
	    .usage = {1000, 0, 5 << 20, 1, true},
	    .result = {"r\0\n", 3},
	};
}

int teardown(void **state)
{
	arena_release(&arena);
	buf_release(&out);
	return 0;
}
