/* SPDX-License-Identifier: Apache-2.0 */
/* One table of members: what it takes, what it shows, and what it says of itself. */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "api/frame/fields_out.h"
#include "base/mem.h"
#include "model/limits.h"
#include "model/objects/queue.h"
#include "model/rows/row.h"
#include "wire/json/fields.h"

#define NOW_MS 1000000

struct thing {
	struct str name, note, secret;
	int32_t limit, on, way;
	int64_t wait_ms, shift_s, at_ms, seen;
};

static const char *const ways[] = {"up", "down", "round"};
#define F(name, kind, member, bits, ...) \
	FIELD(name, kind, thing, member, .flags = (bits)__VA_OPT__(, ) __VA_ARGS__)
static const struct field fields[] = {
    F("name", FIELD_OBJECT_NAME, name, FIELD_BOTH | FIELD_NEEDED),
    F("note", FIELD_TEXT, note, FIELD_BOTH | FIELD_NULL, .max = 5, .about = "a word or two"),
    F("secret", FIELD_STRINGS, secret, FIELD_SHOWN | FIELD_SECRET),
    F("limit", FIELD_I32, limit, FIELD_BOTH | FIELD_NULL | FIELD_NEGATIVE_NONE, .max = 9),
    F("on", FIELD_BOOL, on, FIELD_BOTH),
    F("way", FIELD_CHOICE, way, FIELD_BOTH, .names = ways, .n_names = 3, .usual = "up"),
    F("wait", FIELD_DURATION, wait_ms, FIELD_BOTH | FIELD_NULL_GIVEN),
    F("shift", FIELD_SECONDS, shift_s, FIELD_BOTH, .max = 2 * 86400),
    F("at", FIELD_TIME, at_ms, FIELD_BOTH | FIELD_NULL),
    F("seen", FIELD_I64, seen, FIELD_SHOWN),
    FIELD_FOUND("found", FIELD_TEXT, 0, NULL),
    FIELD_TOLD("told", 0, NULL, "{\"type\":\"object\"}"),
    {NULL},
};

static int read_text(const char *text, struct thing *t, struct arena *a, struct problem *p)
{
	const struct fields_in r = {.arena = a, .into = t, .problem = p, .now_ms = NOW_MS};
	json_t *v;
	int rc;

	assert_int_equal(json_in_parse(str_of(text), &v, p), 0);
	rc = fields_read(&r, fields, v, "");
	json_decref(v);
	return rc;
}

static void test_reads(void **state)
{
	AUTO(arena_release) struct arena a = {0};
	struct thing t = {.wait_ms = 7};
	struct problem p = {0};

	assert_int_equal(
	    read_text("{\"name\":\"n\",\"note\":\"five!\",\"limit\":9,\"on\":true,"
	              "\"way\":\"down\",\"wait\":\"2s\",\"shift\":\"1m\",\"at\":\"1s\","
	              "\"told\":{}}",
	        &t, &a, &p),
	    0);
	assert_true(str_is(t.name, "n") && str_is(t.note, "five!"));
	assert_int_equal(t.limit, 9);
	assert_int_equal(t.on, 1);
	assert_int_equal(t.way, 1);
	assert_int_equal(t.wait_ms, 2000);
	assert_int_equal(t.shift_s, 60);
	assert_int_equal(t.at_ms, NOW_MS + 1000);
	assert_int_equal(
	    read_text("{\"note\":null,\"limit\":null,\"wait\":null,\"at\":null}", &t, &a, &p), 0);
	assert_null(t.note.p);
	assert_int_equal(t.limit, -1);
	assert_int_equal(t.wait_ms, 0);
	assert_int_equal(t.at_ms, 0);
	/* 1970 is not nothing */
	assert_int_equal(read_text("{\"at\":\"1970-01-01T00:00:00Z\"}", &t, &a, &p), 0);
	assert_int_equal(t.at_ms, -1);
}

static void test_refuses(void **state)
{
	static const struct {
		const char *text, *field;
	} wrong[] = {{"{\"name\":\"a/b\"}", "name"}, {"{\"name\":null}", "name"},
	    {"{\"note\":\"sixsix\"}", "note"}, {"{\"limit\":10}", "limit"},
	    {"{\"limit\":-1}", "limit"}, {"{\"on\":1}", "on"}, {"{\"on\":null}", "on"},
	    {"{\"way\":\"dow\"}", "way"}, {"{\"way\":null}", "way"}, {"{\"wait\":\"x\"}", "wait"},
	    {"{\"shift\":\"1ms\"}", "shift"}, {"{\"shift\":\"3d\"}", "shift"},
	    {"{\"at\":true}", "at"}, {"{\"seen\":1}", "seen"}, {"{\"found\":\"x\"}", "found"},
	    {"{\"secret\":{}}", "secret"}, {"{\"nam\":\"x\"}", "nam"}};
	AUTO(arena_release) struct arena a = {0};

	for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
		struct problem p = {0};
		struct thing t = {0};

		assert_int_equal(read_text(wrong[i].text, &t, &a, &p), ERR_INVALID);
		assert_string_equal(p.field, wrong[i].field);
	}
}

static void test_notes_what_was_given(void **state)
{
	AUTO(arena_release) struct arena a = {0};
	struct queue_row row = {0};
	struct problem p = {0};
	uint64_t given = 0;
	const struct fields_in r = {
	    .arena = &a, .into = &row, .problem = &p, .row = &queue_table, .given = &given};
	json_t *v = json_pack("{s:i, s:n}", "threads", 4, "timeout");

	assert_int_equal(fields_read(&r, queue_fields, v, ""), 0);
	assert_true(given == (ROW_BIT(queue_table, queue_row, threads) |
	                         ROW_BIT(queue_table, queue_row, timeout_ms)));
	json_decref(v);
}

static void put_found(struct buf *b, const void *arg)
{
	jw_str(b, str_of(arg));
}

static void shown_is(const struct thing *t, bool full, const char *expected)
{
	static const struct field_out own[] = {{"found", put_found}, {NULL}};
	const struct showing s = {NULL, t, own, "here", full};
	AUTO(buf_release) struct buf b = {0};

	jw_open(&b, '{');
	fields_write(&b, &s, fields);
	jw_close(&b, '}');
	buf_add_char(&b, 0);
	assert_string_equal(b.p, expected);
}

static void test_shows(void **state)
{
	struct thing t = {.name = STR("n"), .limit = -1, .secret = STR("{\"k\":\"v\"}")};

	shown_is(&t, false,
	    "{\"name\":\"n\",\"note\":null,\"secret\":{},\"limit\":null,\"on\":false,\"way\":"
	    "\"up\","
	    "\"wait_ms\":0,\"shift_ms\":0,\"at\":null,\"seen\":0,\"found\":\"here\"}");
	t.limit = 0;
	t.shift_s = 60;
	t.at_ms = 1000;
	t.note = STR("x");
	shown_is(&t, true,
	    "{\"name\":\"n\",\"note\":\"x\",\"secret\":{\"k\":\"v\"},\"limit\":0,\"on\":false,"
	    "\"way\":\"up\",\"wait_ms\":0,\"shift_ms\":60000,\"at\":\"1970-01-01T00:00:01.000Z\","
	    "\"seen\":0,\"found\":\"here\"}");
}

static void schema_is(enum shape shape, const char *expected)
{
	AUTO(buf_release) struct buf b = {0};
	struct problem p = {0};
	json_t *is, *should;

	fields_schema(&b, fields, shape, NULL);
	assert_int_equal(json_in_parse(buf_str(&b), &is, &p), 0);
	assert_int_equal(json_in_parse(str_of(expected), &should, &p), 0);
	assert_true(json_equal(is, should));
	json_decref(is);
	json_decref(should);
}

#define INT "{\"type\":\"integer\"}"
#define TEXTS "\"type\":[\"string\",\"number\",\"null\"]"
#define DURATION "{\"$ref\":\"#/components/schemas/Duration\"}"
static void test_says_what_it_is(void **state)
{
	schema_is(SHAPE_SHOWN,
	    "{\"type\":\"object\",\"properties\":{\"name\":{\"type\":\"string\"},\"note\":{"
	    "\"description\":\"a word or two\",\"type\":[\"string\",\"null\"]},\"secret\":{"
	    "\"type\":\"object\",\"additionalProperties\":{\"type\":\"string\"}},"
	    "\"limit\":{\"type\":[\"integer\",\"null\"]},\"on\":{\"type\":\"boolean\"},"
	    "\"way\":{\"enum\":[\"up\",\"down\",\"round\"]},\"wait_ms\":" INT ",\"shift_ms\":" INT
	    ",\"at\":{\"oneOf\":[{\"$ref\":\"#/components/schemas/Time\"},{\"type\":\"null\"}]},"
	    "\"seen\":" INT ",\"found\":{\"type\":\"string\"}},\"required\":[\"name\",\"note\","
	    "\"secret\",\"limit\",\"on\",\"way\",\"wait_ms\",\"shift_ms\",\"at\",\"seen\","
	    "\"found\"]}");
	schema_is(SHAPE_CREATE,
	    "{\"type\":\"object\",\"properties\":{\"name\":{\"type\":\"string\",\"minLength\":1,"
	    "\"maxLength\":128},\"note\":{\"description\":\"a word or two\",\"type\":[\"string\","
	    "\"null\"],\"maxLength\":5},\"limit\":{\"type\":[\"integer\",\"null\"],\"minimum\":0,"
	    "\"maximum\":9},\"on\":{\"type\":\"boolean\"},\"way\":{\"enum\":[\"up\",\"down\","
	    "\"round\"],\"default\":\"up\"},\"wait\":{\"oneOf\":[" DURATION
	    ",{\"type\":\"null\"}]},"
	    "\"shift\":" DURATION ",\"at\":{" TEXTS "},\"told\":{\"type\":\"object\"}},"
	    "\"required\":[\"name\"],\"additionalProperties\":false}");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_reads),
	    cmocka_unit_test(test_refuses),
	    cmocka_unit_test(test_notes_what_was_given),
	    cmocka_unit_test(test_shows),
	    cmocka_unit_test(test_says_what_it_is),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
