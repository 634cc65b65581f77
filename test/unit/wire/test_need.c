/* SPDX-License-Identifier: Apache-2.0 */
/* Needs as people write them, and what is refused with which words. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "wire/json/need.h"

static struct arena arena;

static const char *read(const char *json, struct problem *p)
{
	json_t *v = json_loads(json, JSON_DECODE_ANY, NULL);
	struct str need;
	int rc;

	assert_non_null(v);
	rc = need_in(v, "need", &arena, &need, p);
	json_decref(v);
	return rc ? NULL : need.p ? need.p : "";
}

static void assert_need(const char *json, const char *want)
{
	struct problem p = {0};
	const char *got = read(json, &p);

	if (!got)
		fail_msg("%s: %s", json, p.what);
	assert_string_equal(got, want);
}

static void assert_refused(const char *json, const char *what)
{
	struct problem p = {0};

	assert_null(read(json, &p));
	assert_int_equal(p.code, ERR_INVALID);
	if (!strstr(p.what, what))
		fail_msg("%s: %s", json, p.what);
	assert_true(p.field[0]);
}

static void test_texts_and_objects_are_one(void **state)
{
	const char *want =
	    "+zone=a\n-disk=hdd\n@x86_64-linux\ncpu=1500\ngpu=1\nmemory=8589934592\n";

	assert_need(
	    "\"memory=8G,cpu=1.5,gpu=1,label.zone=a,not.disk=hdd,target=x86_64-linux\"", want);
	assert_need("{\"memory\":\"8G\",\"cpu\":1.5,\"resources\":{\"gpu\":1},\"labels\":{\"zone\":"
	            "\"a\"},\"not_labels\":{\"disk\":\"hdd\"},\"target\":\"x86_64-linux\"}",
	    want);
	assert_need("null", "");
	assert_need("\"\"", "");
	assert_need("{}", "");
	assert_need("\"cpu=0.005\"", "cpu=5\n");
	assert_need("{\"cpu\":2}", "cpu=2000\n");
	assert_need("{\"memory\":4096}", "memory=4096\n");
	assert_need("\"label.note=a=b\"", "+note=a=b\n");
	assert_need("\"throttle.db=4,gpu=1,throttle.cpu=1\"", "%cpu=1\n%db=4\ngpu=1\n");
	assert_need("{\"throttles\":{\"db\":4,\"cpu\":1},\"resources\":{\"gpu\":1}}",
	    "%cpu=1\n%db=4\ngpu=1\n");
	assert_need("{\"throttles\":{}}", "");
}

static void test_what_is_wrong_is_said(void **state)
{
	assert_refused("\"memory=8X\"", "\"8X\" is not an amount");
	assert_refused("\"memory=-1\"", "\"-1\" is not an amount");
	assert_refused("\"gpu=0\"", "\"gpu\" needs nothing");
	assert_refused("\"gpu=1.5\"", "\"1.5\" is not an amount");
	assert_refused("\"cpu=1.2345\"", "\"1.2345\" is not an amount");
	assert_refused("\"cpu=2.\"", "\"2.\" is not an amount");
	assert_refused("\"gpu=1,gpu=2\"", "\"gpu\" is given twice");
	assert_refused("\"gpu\"", "\"gpu\" is not name=value");
	assert_refused("\"g pu=1\"", "\"g pu\" is not the name of a resource");
	assert_refused("\"memory=99999999999999999999\"", "is not an amount");
	assert_refused("\"target=a,target=b\"", "\"b\" is a second target");
	assert_refused("\"label.=x\"", "is not a label");
	assert_refused("{\"resources\":{\"cpu\":1}}", "\"cpu\" is no resource of its own");
	assert_refused("{\"cpus\":1}", "cpus");
	assert_refused("{\"cpu\":true}", "cpu");
	assert_refused("{\"cpu\":-1}", "\"-1\" is not an amount");
	assert_refused("{\"memory\":1e300}", "memory");
	assert_refused("\"throttle.db=0\"", "\"0\" is not how many may run at once");
	assert_refused("\"throttle.db=\"", "\"\" is not how many may run at once");
	assert_refused("\"throttle.=1\"", "\"\" is not the key of a throttle");
	assert_refused("\"throttle.d b=1\"", "\"d b\" is not the key of a throttle");
	assert_refused("\"throttle.db=1,throttle.db=2\"", "\"db\" is given twice");
	assert_refused("{\"throttles\":{\"db\":\"4\"}}", "throttles");
	assert_refused("{\"throttles\":{\"db\":-4}}", "\"-4\" is not how many");
	assert_refused("{\"throttles\":{\"d\\nb\":4}}", "is not the key of a throttle");
	assert_refused("{\"throttles\":[1]}", "throttles");
	assert_refused("[]", "need");
	assert_refused("7", "need");
}

static void test_too_many_are_refused(void **state)
{
	AUTO(buf_release) struct buf text = {0};

	buf_add_char(&text, '"');
	for (int i = 0; i <= RESOURCES_MAX; i++)
		buf_printf(&text, "%sr%d=1", i ? "," : "", i);
	buf_add_char(&text, '"');
	assert_refused(text.p, "one resource too many");
	buf_reset(&text);
	buf_add_char(&text, '"');
	for (int i = 0; i <= NEED_LABELS_MAX; i++)
		buf_printf(&text, "%slabel.k%d=1", i ? "," : "", i);
	buf_add_char(&text, '"');
	assert_refused(text.p, "one label too many");
	buf_reset(&text);
	buf_add_char(&text, '"');
	for (int i = 0; i <= THROTTLES_MAX; i++)
		buf_printf(&text, "%sthrottle.k%d=1", i ? "," : "", i);
	buf_add_char(&text, '"');
	assert_refused(text.p, "one throttle too many");
}

static void assert_merged(const char *queue, const char *task, const char *want)
{
	struct str got = need_merge(&arena, str_of(queue), str_of(task));

	if (!str_is(got, want))
		fail_msg("%.*s, not %s", (int)got.n, got.p, want);
}

static void test_throttles_beside_the_rest(void **state)
{
	assert_merged("%db=4\ncpu=1000\n", "gpu=1\n", "%db=4\ncpu=1000\ngpu=1\n");
	assert_merged("%db=4\n", "%db=2\n%web=1\n", "%db=2\n%web=1\n");
	assert_merged("cpu=5\n", "%cpu=2\n", "%cpu=2\ncpu=5\n");
	assert_false(need_asks_worker(STR_NULL));
	assert_false(need_asks_worker(STR("%db=4\n%web=1\n")));
	assert_true(need_asks_worker(STR("%db=4\n+zone=a\n")));
	assert_int_equal(amount_of(STR("%db=4\n"), STR("db")), -1);
	assert_int_equal(throttle_of(STR("%db=4\ndb=1\n"), STR("db")), 4);
}

static void test_offers_are_checked(void **state)
{
	assert_true(offer_is_valid(STR_NULL));
	assert_true(offer_is_valid(STR("cpu=8000\ngpu=0\nmemory=1\n")));
	assert_false(offer_is_valid(STR("memory=1\ncpu=8000\n")));
	assert_false(offer_is_valid(STR("cpu=1\ncpu=2\n")));
	assert_false(offer_is_valid(STR("cpu=-1\n")));
	assert_false(offer_is_valid(STR("cpu=9007199254740993\n")));
	assert_false(offer_is_valid(STR("cpu\n")));
	assert_false(offer_is_valid(STR("+zone=a\n")));
	assert_false(offer_is_valid(STR("%db=4\n")));
}

static void assert_shown(const char *name, int64_t n, const char *want)
{
	AUTO(buf_release) struct buf b = {0};

	amount_add(&b, str_of(name), n);
	assert_string_equal(b.p, want);
}

static void test_amounts_for_people(void **state)
{
	assert_shown("cpu", 2000, "2");
	assert_shown("cpu", 1500, "1.5");
	assert_shown("cpu", 5, "0.005");
	assert_shown("cpu", 0, "0");
	assert_shown("memory", INT64_C(8) << 30, "8 GiB");
	assert_shown("memory", (INT64_C(3) << 30) + (INT64_C(1) << 29), "3.5 GiB");
	assert_shown("disk", 1023, "1023 B");
	assert_shown("disk", 0, "0 B");
	assert_shown("memory", -(INT64_C(1) << 30), "-1 GiB");
	assert_shown("gpu", 3, "3");
}

static int teardown(void **state)
{
	arena_release(&arena);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_texts_and_objects_are_one),
	    cmocka_unit_test(test_what_is_wrong_is_said),
	    cmocka_unit_test(test_too_many_are_refused),
	    cmocka_unit_test(test_throttles_beside_the_rest),
	    cmocka_unit_test(test_offers_are_checked),
	    cmocka_unit_test(test_amounts_for_people),
	};

	return cmocka_run_group_tests(tests, NULL, teardown);
}
