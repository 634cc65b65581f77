/* SPDX-License-Identifier: Apache-2.0 */
/* The link's codec: what is sent arrives whole, and nothing out of bounds gets through. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/rng.h"
#include "model/limits.h"
#include "model/queue.h"
#include "model/settings.h"
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

static void assert_set(const struct set_id *got, const struct set_id *want)
{
	assert_true(got->server == want->server && got->version == want->version);
	assert_true(set_hash_eq(&got->hash, &want->hash));
}

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

static struct link_knock good_knock(void)
{
	static const char key[LINK_KEY_BYTES], signature[LINK_SIGNATURE_BYTES];

	return (struct link_knock){.protocol = LINK_PROTOCOL,
	    .join_token = STR("secret"),
	    .shard = STR("w1"),
	    .instance = 7,
	    .key = {key, sizeof key},
	    .signature = {signature, sizeof signature}};
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
	    .usage = {1000, 0, 5 << 20, 1, true},
	    .result = {"r\0\n", 3},
	};
}

/* Whoever is of another version is told so, even when nothing else of its hello can be read. */
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

static void test_reports(void **state)
{
	struct link_started s = {1, 2, 3, 4};
	struct link_ended e = good_ended();
	struct output_row o = {5, 6, STDERR, OUTPUT_CHUNK_BYTES, 4, 0, {"\0\1\2\3", 4}};
	struct link_to_server in = {.started = &s,
	                          .n_started = 1,
	                          .output = &o,
	                          .n_output = 1,
	                          .ended = &e,
	                          .n_ended = 1},
	                      got;

	assert_int_equal(to_server(&in, &got), 0);
	assert_true(!got.has_beat && !got.hello && !got.clock.p);
	assert_int_equal(got.started[0].pid, 4);
	assert_int_equal(got.output[0].offset, OUTPUT_CHUNK_BYTES);
	assert_memory_equal(got.output[0].data.p, "\0\1\2\3", 4);
	assert_int_equal(got.ended[0].exit_code, 3);
	assert_int_equal(got.ended[0].output[STDOUT].n, 3);
	assert_memory_equal(got.ended[0].output[STDOUT].p, "a\0b", 3);
	assert_null(got.ended[0].output[STDERR].p);
	assert_int_equal(got.ended[0].output_dropped[STDERR], 7);
	assert_str(got.ended[0].reason, "exit code 3");
	assert_memory_equal(&got.ended[0].usage, &e.usage, sizeof e.usage);
	assert_int_equal(got.ended[0].result.n, 3);
	assert_memory_equal(got.ended[0].result.p, "r\0\n", 3);
	e.usage = (struct usage){0};
	e.result = STR_NULL;
	assert_int_equal(to_server(&in, &got), 0);
	assert_false(got.ended[0].usage.known);
	assert_null(got.ended[0].result.p);
}

static void test_largest_result(void **state)
{
	AUTO(free_cstr) char *text = xcalloc(1, RESULT_FILE_MAX + 1);
	struct link_ended e = good_ended();
	struct link_to_server in = {.ended = &e, .n_ended = 1}, got;

	e.result = (struct str){text, RESULT_FILE_MAX};
	assert_int_equal(to_server(&in, &got), 0);
	assert_int_equal(got.ended[0].result.n, RESULT_FILE_MAX);
	e.result.n++;
	assert_int_equal(to_server(&in, &got), ERR_PROTOCOL);
}

static void test_health_reports(void **state)
{
	struct link_checked c[] = {{7, true, STR_NULL}, {8, false, STR("exec: no")}};
	struct link_held held[] = {{1, 2, false, 9}, {3, 4, true, 0}}, absent = {5, 6, false, 0};
	struct link_notified n = {11, held, &absent, 2, 1};
	struct link_to_server in = {.clock = {"\0c", 2},
	                          .has_beat = true,
	                          .beat = {99, true, WORKER_HEALTHY, {1, 2, {3, 4, 5}}},
	                          .checked = c,
	                          .n_checked = 2,
	                          .notified = &n,
	                          .n_notified = 1},
	                      got;

	assert_int_equal(to_server(&in, &got), 0);
	assert_true(got.has_beat && got.beat.leaving && got.beat.number == 99);
	assert_int_equal(got.beat.own, WORKER_HEALTHY);
	assert_set(&got.beat.set, &in.beat.set);
	assert_int_equal(got.n_checked, 2);
	assert_true(got.checked[0].ok && got.checked[0].number == 7 && !got.checked[0].reason.p);
	assert_false(got.checked[1].ok);
	assert_str(got.checked[1].reason, "exec: no");
	assert_int_equal(got.notified[0].seq, 11);
	assert_int_equal(got.notified[0].n_held, 2);
	assert_true(got.notified[0].held[1].ended && got.notified[0].held[0].started_ms == 9);
	assert_int_equal(got.notified[0].n_absent, 1);
	assert_int_equal(got.notified[0].absent[0].token, 6);
	assert_int_equal(got.clock.n, 2);
	assert_memory_equal(got.clock.p, "\0c", 2);
}

static void test_bad_health_reports(void **state)
{
	static struct link_held many[LINK_NOTIFY_MAX + 1];
	static char clock[LINK_CLOCK_MAX + 1];
	struct link_checked c = {0, true, STR_NULL};
	struct link_notified n = {0};
	struct link_to_server in = {.checked = &c, .n_checked = 1}, got;

	for (size_t i = 0; i <= LINK_NOTIFY_MAX; i++)
		many[i] = (struct link_held){i + 1, 1, false, 0};
	assert_int_equal(to_server(&in, &got), ERR_PROTOCOL);
	in = (struct link_to_server){.notified = &n, .n_notified = 1};
	assert_int_equal(to_server(&in, &got), ERR_PROTOCOL);
	n = (struct link_notified){1, many, many, LINK_NOTIFY_MAX, LINK_NOTIFY_MAX};
	assert_int_equal(to_server(&in, &got), 0);
	n.n_absent++;
	assert_int_equal(to_server(&in, &got), ERR_PROTOCOL);
	n.n_absent = 1;
	many[0].token = 0;
	assert_int_equal(to_server(&in, &got), ERR_PROTOCOL);
	in = (struct link_to_server){.has_beat = true, .beat = {1, false, N_WORKER_STATES, {0}}};
	assert_int_equal(to_server(&in, &got), ERR_PROTOCOL);
	in.beat.own = WORKER_NEW;
	assert_int_equal(to_server(&in, &got), 0);
	in.beat.number = 0;
	assert_int_equal(to_server(&in, &got), ERR_PROTOCOL);
	in = (struct link_to_server){.clock = {clock, LINK_CLOCK_MAX}};
	assert_int_equal(to_server(&in, &got), 0);
	in.clock.n++;
	assert_int_equal(to_server(&in, &got), ERR_PROTOCOL);
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
	BAD(usage.user_us, -1);
	BAD(usage.system_us, -1);
	BAD(usage.peak_memory, -1);
	BAD(usage.oom_kills, -1);
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
	BAD(codec, 1); /* "1234" is nothing that can be unpacked */
	BAD(data, STR_NULL);
#undef BAD
}

/* What nobody can have measured is cut: adding to it must not overflow. */
static void test_absurd_numbers(void **state)
{
	struct link_ended e = good_ended();
	struct link_to_server in = {.ended = &e, .n_ended = 1}, got;

	e.usage = (struct usage){INT64_MAX, INT64_MAX, INT64_MAX, 3, true};
	e.output_bytes[STDOUT] = e.output_dropped[STDERR] = INT64_MAX;
	assert_int_equal(to_server(&in, &got), 0);
	assert_true(got.ended[0].usage.user_us == 1LL << 53);
	assert_true(got.ended[0].usage.system_us == 1LL << 53);
	assert_true(got.ended[0].usage.peak_memory == 1LL << 53);
	assert_true(got.ended[0].output_bytes[STDOUT] == 1LL << 53);
	assert_true(got.ended[0].output_dropped[STDERR] == 1LL << 53);
}

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
	    STR("{\"A\":\"b\"}"), STR("{\"nice\":5}"), 1000, 4096, OUTPUT_MODE_CHUNKS, true, 65, 3,
	    {{1, [15] = 2}}};
}

static struct link_welcome good_welcome(void)
{
	return (struct link_welcome){.worker = 7,
	    .ids = {{1, 2, 3, 4, 5}},
	    .server = 0xabcull << 50,
	    .timeouts = {15000, 60000, 60001, 60002, 500000, 5000, 5001},
	    .news = {WORKER_UNHEALTHY, {9, 8, {7, 6, 5}}, 0},
	    .notify_seq = 21,
	    .maxthreads = -1};
}

static void test_orders(void **state)
{
	static const char challenge[LINK_NONCE_BYTES] = "n";
	struct link_welcome w = good_welcome();
	struct link_refused refused = {STR("no"), true, true};
	struct link_run run = good_run();
	struct link_kill kill = {3, 4, STR("cancelled"), true};
	struct run_ref ea = {5, 6};
	struct link_output_ack oa = {7, 8, STDOUT, 65536, true};
	struct run_ref refs[] = {{1, 2}, {3, 4}};
	struct link_notify notify[] = {{22, refs, 2}, {23, refs, 1}};
	struct link_to_worker in = {{"clock", 5}, {challenge, sizeof challenge}, &w, &refused, true,
	                          true, true, {12, true, true},
	                          {44, {WORKER_HEALTHY, {9, 10, {1, 2, 3}}, 6}}, &ea, &oa, &run,
	                          &kill, notify, {31, 43}, 1, 1, 1, 1, 2},
	                      got;

	assert_int_equal(to_worker(&in, &got), 0);
	assert_true(str_eq(got.challenge, in.challenge));
	assert_memory_equal(got.welcome->ids.installation, w.ids.installation, 5);
	assert_memory_equal(&got.welcome->timeouts, &w.timeouts, sizeof w.timeouts);
	assert_true(got.welcome->server == w.server && got.welcome->notify_seq == 21);
	assert_int_equal(got.welcome->news.state, WORKER_UNHEALTHY);
	assert_set(&got.welcome->news.set, &w.news.set);
	assert_true(got.refused->die && got.refused->restart && got.has_settings);
	assert_true(got.has_beat_ack && got.has_check);
	assert_int_equal(got.settings.maxthreads, 12);
	assert_true(got.settings.leave && got.settings.restart);
	assert_int_equal(got.beat_ack.number, 44);
	assert_int_equal(got.beat_ack.news.state, WORKER_HEALTHY);
	assert_int_equal(got.beat_ack.news.check, 6);
	assert_set(&got.beat_ack.news.set, &in.beat_ack.news.set);
	assert_true(got.check.number == 31 && got.check.beat == 43);
	assert_int_equal(got.n_notify, 2);
	assert_true(got.notify[0].seq == 22 && got.notify[0].n_refs == 2);
	assert_int_equal(got.notify[0].refs[1].token, 4);
	assert_true(got.run[0].number == 65 && got.run[0].notify_seq == 3);
	assert_str(got.clock, "clock");
	assert_str(got.run[0].env, "{\"A\":\"b\"}");
	assert_str(got.run[0].run_settings, "{\"nice\":5}");
	assert_int_equal(got.run[0].output_mode, OUTPUT_MODE_CHUNKS);
	assert_true(got.run[0].exit_codes);
	assert_memory_equal(&got.run[0].receipt, &run.receipt, RECEIPT_BYTES);
	assert_str(got.kill[0].reason, "cancelled");
	assert_true(got.kill[0].forget && got.output_ack[0].refused);
	assert_int_equal(got.ended_ack[0].token, 6);
	assert_int_equal(got.output_ack[0].end, 65536);
}

static void test_bad_orders(void **state)
{
	struct link_run run;
	struct link_to_worker in = {.run = &run, .n_run = 1}, got;

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
	BAD(number, 0);
#undef BAD
}

static void test_bad_welcomes(void **state)
{
	struct link_welcome w;
	struct link_to_worker in = {.welcome = &w}, got;

#define BAD(member, value)  \
	w = good_welcome(); \
	w.member = (value); \
	assert_int_equal(to_worker(&in, &got), ERR_PROTOCOL)
	BAD(worker, 0);
	BAD(server, 0);
	BAD(maxthreads, -2);
	BAD(timeouts.heartbeat_ms, 0);
	BAD(timeouts.heartbeat_grace_ms, -1);
	BAD(timeouts.check_period_ms, 0);
	BAD(timeouts.check_grace_ms, INT64_MIN);
	BAD(timeouts.lose_after_ms, 0);
	BAD(timeouts.lose_after_ms, INT64_MAX);
	BAD(timeouts.margin_ms, 400LL * 86400 * 1000);
	BAD(timeouts.kill_wait_ms, -5);
	BAD(news.state, N_WORKER_STATES);
#undef BAD
}

static void test_bad_questions(void **state)
{
	static struct run_ref many[LINK_NOTIFY_MAX + 1];
	struct link_notify n = {1, many, LINK_NOTIFY_MAX};
	struct link_to_worker in = {.notify = &n, .n_notify = 1}, got;

	for (size_t i = 0; i <= LINK_NOTIFY_MAX; i++)
		many[i] = (struct run_ref){i + 1, 1};
	assert_int_equal(to_worker(&in, &got), 0);
	n.n_refs++;
	assert_int_equal(to_worker(&in, &got), ERR_PROTOCOL);
	n = (struct link_notify){0, many, 1};
	assert_int_equal(to_worker(&in, &got), ERR_PROTOCOL);
	n.seq = 1;
	many[0].task = 0;
	assert_int_equal(to_worker(&in, &got), ERR_PROTOCOL);
	in = (struct link_to_worker){.has_check = true};
	assert_int_equal(to_worker(&in, &got), ERR_PROTOCOL);
	in = (struct link_to_worker){.has_beat_ack = true};
	in.beat_ack.news.state = N_WORKER_STATES;
	assert_int_equal(to_worker(&in, &got), ERR_PROTOCOL);
	in.beat_ack.news.state = WORKER_NEW;
	assert_int_equal(to_worker(&in, &got), 0);
	assert_int_equal(got.beat_ack.number, 0);
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
	    cmocka_unit_test_setup(test_hello, setup),
	    cmocka_unit_test_setup(test_receipt_lengths, setup),
	    cmocka_unit_test_setup(test_bad_hellos, setup),
	    cmocka_unit_test_setup(test_knock, setup),
	    cmocka_unit_test_setup(test_proof, setup),
	    cmocka_unit_test_setup(test_other_version, setup),
	    cmocka_unit_test_setup(test_reports, setup),
	    cmocka_unit_test_setup(test_largest_result, setup),
	    cmocka_unit_test_setup(test_bad_reports, setup),
	    cmocka_unit_test_setup(test_absurd_numbers, setup),
	    cmocka_unit_test_setup(test_output_bombs, setup),
	    cmocka_unit_test_setup(test_nul_in_strings, setup),
	    cmocka_unit_test_setup(test_health_reports, setup),
	    cmocka_unit_test_setup(test_bad_health_reports, setup),
	    cmocka_unit_test_setup(test_text, setup),
	    cmocka_unit_test_setup(test_orders, setup),
	    cmocka_unit_test_setup(test_bad_orders, setup),
	    cmocka_unit_test_setup(test_bad_welcomes, setup),
	    cmocka_unit_test_setup(test_bad_questions, setup),
	    cmocka_unit_test_setup(test_parts_are_bounded, setup),
	    cmocka_unit_test_setup(test_tasks_of_a_hello_are_bounded, setup),
	    cmocka_unit_test_setup(test_fields_are_bounded, setup),
	    cmocka_unit_test_setup(test_garbage, setup),
	};

	return cmocka_run_group_tests(tests, NULL, teardown);
}
