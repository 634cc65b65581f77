/* SPDX-License-Identifier: Apache-2.0 */
/* How a link begins: knock, proof and hello arrive whole, and nothing out of bounds gets through.
 */
#include "link_parts.h"

#include <string.h>

#include "model/limits.h"

static void test_hello(void **state)
{
	struct link_held refs[] = {
	    {1, 2, false, 0}, {3, 4, true, 9, .receipt = {{7, 8, [15] = 9}}}};
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
	assert_int_equal(got.hello->facts.start, 6);
	assert_int_equal(got.hello->n_tasks, 2);
	assert_memory_equal(&got.hello->tasks[1].task, &refs[1].task, sizeof refs[1].task);
	assert_true(got.hello->tasks[1].ended);
	assert_int_equal(got.hello->tasks[1].started_ms, 9);
	assert_false(receipt_is_given(&got.hello->tasks[0].receipt));
	assert_memory_equal(&got.hello->tasks[1].receipt, &refs[1].receipt, RECEIPT_BYTES);
	assert_true(got.hello->drops_receipts);
	assert_set(&got.hello->set, &h.set);
	h.set = (struct set_id){0};
	h.drops_receipts = false;
	assert_int_equal(to_server(&in, &got), 0);
	assert_set(&got.hello->set, &h.set);
	assert_false(got.hello->drops_receipts);
}

/* A receipt of another length is none. */
static void test_receipt_lengths(void **state)
{
	struct link_held ref = {1, 2, .receipt = {{'r', 'e', 'c', 'e', 'i', 'p', 't'}}};
	struct link_hello h = good_hello();
	struct link_to_server in = {.hello = &h}, got;
	struct buf b = {0};
	char *at;

	h.tasks = &ref;
	h.n_tasks = 1;
	link_encode_to_server(&in, &arena, &b);
	assert_int_equal(link_decode_to_server(buf_str(&b), &arena, &got, NULL), 0);
	at = memmem(b.p, b.n, "\x2a\x10receipt", 9);
	assert_non_null(at);
	at[1] = 14; /* the two bytes left are a field of their own */
	memcpy(at + 16, "\x20\x01", 2);
	assert_int_equal(link_decode_to_server(buf_str(&b), &arena, &got, NULL), ERR_PROTOCOL);
	at[1] = 0;
	memset(at + 2, 0x20, 16); /* so many times field 4 */
	assert_int_equal(link_decode_to_server(buf_str(&b), &arena, &got, NULL), 0);
	assert_false(receipt_is_given(&got.hello->tasks[0].receipt));
	buf_release(&b);
}

static void test_bad_hellos(void **state)
{
	struct link_hello h = good_hello();
	struct link_to_server in = {.hello = &h}, got;
	struct link_held ref = {0, 1, false, 0};
	char longer[NAME_MAX_BYTES + 2] = {0};

	memset(longer, 'x', NAME_MAX_BYTES + 1);
	assert_int_equal(to_server(&in, &got), 0);
#define BAD(member, value)  \
	h = good_hello();   \
	h.member = (value); \
	assert_int_equal(to_server(&in, &got), ERR_PROTOCOL)
	BAD(protocol, 1);
	BAD(facts.shard, STR(""));
	BAD(facts.shard, STR("a\nb"));
	BAD(facts.shard, STR("\xff"));
	BAD(facts.shard, str_of(longer));
	BAD(facts.instance, 0);
	BAD(facts.start, 0);
	BAD(facts.start, START_MAX + 1);
	BAD(dial, 0);
	BAD(dial, DIAL_MAX + 1);
	BAD(dial, INT64_MAX);
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

static void test_knock(void **state)
{
	struct link_knock k = good_knock();
	struct link_to_server in = {.knock = &k}, got;

	assert_int_equal(to_server(&in, &got), 0);
	assert_str(got.knock->join_token, "secret");
	assert_str(got.knock->shard, "w1");
	assert_int_equal(got.knock->instance, 7);
	assert_true(str_eq(got.knock->key, k.key) && str_eq(got.knock->signature, k.signature));
#define BAD(member, value)  \
	k = good_knock();   \
	k.member = (value); \
	assert_int_equal(to_server(&in, &got), ERR_PROTOCOL)
	BAD(protocol, LINK_PROTOCOL - 1);
	BAD(shard, STR(""));
	BAD(shard, STR("a\nb"));
	BAD(instance, 0);
	BAD(join_token, STR("a\tb"));
	BAD(key.n, LINK_KEY_BYTES - 1);
	BAD(signature.n, 0);
#undef BAD
}

/* Another worker, another process of it or another connection: another proof. */
static void test_proof(void **state)
{
	static const char a[LINK_NONCE_BYTES] = "a", b[LINK_NONCE_BYTES] = "b";
	const struct str nonces[] = {{a, sizeof a}, {b, sizeof b}};
	struct buf all[8] = {0};

	for (unsigned i = 0; i < 8; i++)
		link_proof(nonces[i & 1], 7 + (i >> 1 & 1), i & 4 ? STR("w1") : STR("w2"), &all[i]);
	for (unsigned i = 0; i < 8; i++)
		for (unsigned k = 0; k < i; k++)
			assert_false(str_eq(buf_str(&all[i]), buf_str(&all[k])));
	for (unsigned i = 0; i < 8; i++)
		buf_release(&all[i]);
}

/* A worker of another version is told so, even when nothing else of its hello can be read. */
static void test_other_version(void **state)
{
	struct link_hello h = good_hello();
	struct link_to_server in = {.hello = &h}, got;
	struct problem p = {0};

	h.protocol = 300;
	buf_reset(&out);
	link_encode_to_server(&in, &arena, &out);
	assert_int_equal(link_decode_to_server(buf_str(&out), &arena, &got, &p), ERR_PROTOCOL);
	assert_non_null(strstr(p.what, "version 300"));
	assert_non_null(strstr(p.what, "the server version 3"));
	assert_non_null(strstr(p.what, "update the older one"));
	p = (struct problem){0};
	assert_int_equal(
	    link_decode_to_server(STR("\x0a\x02\x08\x01"), &arena, &got, &p), ERR_PROTOCOL);
	assert_non_null(strstr(p.what, "version 1 "));
	assert_int_equal(
	    link_decode_to_server(STR("\x42\x02\x08\x09"), &arena, &got, &p), ERR_PROTOCOL);
	assert_non_null(strstr(p.what, "version 9 "));
	assert_int_equal(
	    link_decode_to_server(STR("\x0a\x02\x08\x02"), &arena, &got, &p), ERR_PROTOCOL);
	assert_non_null(strstr(p.what, "version 2 "));
	assert_int_equal(
	    link_decode_to_server(STR("\x0a\x02\x08\x03"), &arena, &got, &p), ERR_PROTOCOL);
	assert_non_null(strstr(p.what, "encoding"));
	assert_int_equal(
	    link_decode_to_server(STR("\x0a\x02\x08\xff"), &arena, &got, &p), ERR_PROTOCOL);
	assert_non_null(strstr(p.what, "encoding"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup(test_hello, setup),
	    cmocka_unit_test_setup(test_receipt_lengths, setup),
	    cmocka_unit_test_setup(test_bad_hellos, setup),
	    cmocka_unit_test_setup(test_knock, setup),
	    cmocka_unit_test_setup(test_proof, setup),
	    cmocka_unit_test_setup(test_other_version, setup),
	};

	return cmocka_run_group_tests(tests, NULL, teardown);
}
