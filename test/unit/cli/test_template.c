/* SPDX-License-Identifier: Apache-2.0 */
/* Templates: what they write, what they refuse to write, and what of the routes they see. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "cli/routes/routes.h"
#include "service/routes/routes.h"

#define N_OF_(array) (sizeof(array) / sizeof(array)[0])

#define DATA                                                                              \
	"{\"s\": {\"name\": \"web\", \"odd\": \"a b;\\\"{'$x\\\\\", \"line\": \"a\\nb\"," \
	" \"n\": 7, \"half\": 0.5, \"none\": null, \"no\": false, \"empty\": \"\"},"      \
	" \"list\": [1, 2, 3], \"nothing\": [], \"map\": {\"k\": \"v\", \"k2\": \"v2\"}," \
	" \"hosts\": [\"a.example\", \"-bad\", \"10.0.0.1\", \"::1\", \"a_b\", \"\", 5]," \
	" \"hi\": \"J\\u00fcrgen\", \"c1\": \"\\u0085\", \"cents\": \"100$\"}"

static const struct {
	const char *template, *out;
} plays[] = {
    {"", ""},
    {"plain { text } 100 %", "plain { text } 100 %"},
    {"{{s.name}}-{{s.n}}-{{s.half}}-{{s.no}}", "web-7-0.5-false"},
    {"{{ s.none | default \"x\" }}{{nowhere.at.all | default 3}}{{s.name|default \"y\"}}", "x3web"},
    {"{{\"{{\"|default \"\"}}", NULL},
    {"{{target text}}{{\"{{\"}} and {{\"}}\"}}", "{{ and }}"},
    /* loops */
    {"{{for x in list}}{{x}},{{end}}", "1,2,3,"},
    {"{{for i, x in list}}{{i}}={{x}} {{end}}", "0=1 1=2 2=3 "},
    {"{{for k, v in map}}{{k}}={{v}};{{end}}", "k=v;k2=v2;"},
    {"{{for x in list}}{{x}}{{if not loop.last}}, {{end}}{{end}}", "1, 2, 3"},
    {"{{for x in list}}{{for y in list}}{{if loop.first}}{{loop.n}}{{x}} {{end}}{{end}}{{end}}",
        "11 12 13 "},
    {"{{for x in nothing}}no{{end}}{{for x in nowhere}}no{{end}}", ""},
    {"{{list.1}}{{list.7 | default \"-\"}}", "2-"},
    /* conditions */
    {"{{if s.name}}1{{end}}{{if s.no}}2{{end}}{{if s.empty}}3{{end}}{{if s.none}}4{{end}}{{if "
     "s.n}}5"
     "{{end}}{{if nothing}}6{{end}}{{if map}}7{{end}}",
        "157"},
    {"{{if s.name == \"web\"}}a{{end}}{{if s.name != \"web\"}}b{{end}}{{if s.n == 7}}c{{end}}"
     "{{if s.n == \"7\"}}d{{end}}{{if s.no == false}}e{{end}}{{if s.none == nowhere}}f{{end}}",
        "acef"},
    {"{{if s.no}}a{{else if s.empty}}b{{else if s.n}}c{{else}}d{{end}}", "c"},
    {"{{if s.no}}a{{else if s.empty}}b{{else}}d{{end}}", "d"},
    {"{{if s.n and not s.no}}a{{end}}{{if s.no or s.empty or s.n}}b{{end}}{{if s.n and "
     "s.no}}c{{end}}",
        "ab"},
    {"{{for h in hosts}}{{if h is host}}{{h}} {{end}}{{end}}", "a.example 10.0.0.1 ::1 "},
    {"{{for h in hosts}}{{if h is name}}{{h}} {{end}}{{end}}", "a.example -bad 10.0.0.1 a_b "},
    {"{{if s.n is number and s.n is port and s.name is text and list is list and map is "
     "map}}a{{end}}",
        "a"},
    {"{{if \"/a/b\" is path}}a{{end}}{{if \"a/b\" is path}}b{{end}}{{if \"/a b\" is path}}c{{end}}",
        "a"},
    /* lines with nothing but a tag are none */
    {"a\n{{if s.n}}\nb\n  {{end}}  \nc\n", "a\nb\nc\n"},
    {"{{# a\nlong\nremark }}\na\n", "a\n"},
    {"{{for x in list}}\n- {{x}}\n{{end}}\n", "- 1\n- 2\n- 3\n"},
    {"{{if s.n}}a{{end}}\nb\n", "a\nb\n"},
    {"a {{if s.n}}\nb\n{{end}}c", "a \nb\nc"},
    {"{{s.n}}\nb", "7\nb"},
    {"{{if s.n}} {{end}}\nx", " \nx"},
    /* into what it is written */
    {"{{s.odd | id}} {{s.name|id}}", "a_20b_3B_22_7B_27_24x_5C web"},
    {"{{target haproxy}}x {{s.odd | quote}}", "x 'a b;\"{'\\''$x\\'"},
    {"{{target nginx}}x {{cents.none | default \"a \\\"b\\\" \\\\\" | quote}};",
        "x \"a \\\"b\\\" \\\\\";"},
    {"{{target json}}{{s.odd}} {{list}} {{s.none | default \"\"}} {{hi}}",
        "\"a b;\\\"{'$x\\\\\" [1,2,3] \"\" \"J\\u00FCrgen\""},
    {"{{target text}}{{s.odd}} {{hi}}", "a b;\"{'$x\\ J\xc3\xbcrgen"},
    {"{{if s.n}}{{target text}}{{s.odd}}{{end}}{{s.name}}", "a b;\"{'$x\\web"},
    {"{{for h in hosts}}{{if h is host}}{{h | host}} {{end}}{{end}}", "a.example 10.0.0.1 [::1] "},
};

static char *render(const char *text, const char *data, struct problem *p)
{
	AUTO(json_drop) json_t *j = json_loads(data, 0, NULL);
	struct template t;
	struct buf out = {0};
	int rc;

	assert_non_null(j);
	if (template_parse(str_of(text), &t, p) < 0)
		return NULL;
	rc = template_run(&t, j, &out, p);
	template_release(&t);
	if (rc == 0)
		return buf_take(&out);
	assert_true(out.n == 0);
	buf_release(&out);
	return NULL;
}

static void test_plays(void **state)
{
	for (size_t i = 0; i < N_OF_(plays); i++) {
		struct problem p = {0};
		AUTO(free_cstr) char *out = render(plays[i].template, DATA, &p);

		if (!plays[i].out != !out || (out && strcmp(out, plays[i].out)))
			fail_msg("%s: %s%s", plays[i].template, out ? out : "", p.what);
	}
}

static const struct {
	const char *template, *says;
} refused[] = {
    {"a\nb {{s.odd}}", "line 2 of the template: s.odd has a character that cannot stand bare"},
    {"{{target haproxy}}{{s.odd}}", "cannot stand bare"},
    {"{{target nginx}}{{s.odd}}", "cannot stand bare"},
    {"{{s.empty}}", "cannot stand bare"},
    {"{{hi}}", "cannot stand bare"},
    {"{{target nginx}}{{s.odd | quote}}", "has a $, which nginx cannot have"},
    {"{{target haproxy}}{{s.line | quote}}", "has a control character"},
    {"{{target nginx}}{{s.line | quote}}", "has a control character"},
    {"{{target text}}{{s.line}}", "has a control character"},
    {"{{target text}}{{c1}}", "has a control character"},
    {"{{target nginx}}x{{s.name | quote}}", "is quoted inside a word"},
    {"{{s.name | quote}}", "that is for haproxy and nginx"},
    {"{{s.odd | host}}", "is no name of a host"},
    {"{{s.none}}", "s.none is not there"},
    {"{{list}}", "list is a list"},
    {"{{map}}", "map is a map"},
    {"\n\n{{for x in s.name}}{{end}}",
        "line 3 of the template: s.name is neither a list nor a map"},
    {"{{for x in list}}\n{{for x in list}}\n{{nowhere}}\n{{end}}\n{{end}}", "line 3"},
    {"{{if s.n}}\n{{else}}\n{{else}}\n{{end}}",
        "line 3 of the template: there is an {{else}} before"},
    {"a\n{{if s.n}}\nb", "line 2 of the template: this has no {{end}}"},
    {"a\n{{end}}", "line 2 of the template: there is nothing to end"},
    {"{{else}}", "this else has no if"},
    {"{{for x in list}}{{else}}{{end}}", "a loop has no {{else}}"},
    {"{{a\n}}", "not closed in its line"},
    {"{{\"}}", "not closed in its line"},
    {"{{# a", "not closed"},
    {"{{}}", "a value is missing"},
    {"{{a b}}", "b stands where the tag should end"},
    {"{{a;b}}", "this cannot be read: ;b"},
    {"{{a..b}}", "two points side by side"},
    {"{{a.}}", "ends with a point"},
    {"{{a.b.c.d.e.f.g.h.i}}", "more than 8 names"},
    {"{{a | raw}}", "there is no filter raw"},
    {"{{a | id | quote}}", "one of id, quote and host"},
    {"{{if a is good}}{{end}}", "there is no test good"},
    {"{{target xml}}", "there is no target xml"},
    {"{{if a and b or c}}{{end}}", "and and or do not stand in one condition"},
    {"{{for a.b in c}}{{end}}", "a loop is {{for NAME in LIST}}"},
    {"{{for a}}{{end}}", "a loop is {{for NAME in LIST}}"},
    {"{{if a}}{{end now}}", "stands where the tag should end"},
};

static void test_refused(void **state)
{
	for (size_t i = 0; i < N_OF_(refused); i++) {
		struct problem p = {0};
		AUTO(free_cstr) char *out = render(refused[i].template, DATA, &p);

		if (out || !strstr(p.what, refused[i].says))
			fail_msg("%s: %s%s", refused[i].template, out ? out : "", p.what);
	}
}

/* Of a tag only: what stands behind it is no part of the error, nor behind the template's end. */
static void test_what_cannot_be_read_ends_with_its_tag(void **state)
{
	struct problem p = {0};

	assert_null(render("{{a;b}} and so on", DATA, &p));
	assert_string_equal(p.what, "line 1 of the template: this cannot be read: ;b");
}

/* Too much of anything is refused in a moment. */
static void test_bounds(void **state)
{
	struct problem p = {0};
	struct buf deep = {0}, wide = {0}, large = {0};

	for (int i = 0; i < 17; i++)
		buf_add_cstr(&deep, "{{if a}}");
	assert_null(render(deep.p, "{}", &p));
	assert_non_null(strstr(p.what, "nested more than 16 deep"));
	for (int i = 0; i < 20000; i++)
		buf_add_cstr(&deep, "{{else if a}}");
	assert_null(render(deep.p, "{}", &p));
	buf_add_cstr(&wide, "[0");
	for (int i = 0; i < 600; i++)
		buf_add_cstr(&wide, ",0");
	AUTO(free_cstr) char *data = xasprintf("{\"l\": %s]}", wide.p);
	assert_null(
	    render("{{for a in l}}{{for b in l}}{{for c in l}}.{{end}}{{end}}{{end}}", data, &p));
	assert_non_null(strstr(p.what, "this takes more than 20000000 steps"));
	buf_add_cstr(&large, "{{for a in l}}{{for b in l}}");
	for (int i = 0; i < 1000; i++)
		buf_add_char(&large, 'x');
	buf_add_cstr(&large, "{{end}}{{end}}");
	assert_null(render(large.p, data, &p));
	assert_non_null(strstr(p.what, "this makes more than 67108864 bytes"));
	buf_release(&deep);
	buf_release(&wide);
	buf_release(&large);
}

/* --- the state --- */

#define SERVICE(rest) "{\"services\": [{\"name\": \"web\", " rest "}]}"
#define ONE(rest) SERVICE("\"instances\": [{\"index\": 0, " rest "}]")

static const struct {
	const char *text, *says;
} bad_states[] = {
    {"", "is no JSON"},
    {"[]", "an object with a list services"},
    {"{\"services\": [7]}", "entry 0 of services must be an object with a name"},
    {"{\"services\": [{\"name\": \"a\\nb\"}]}", "entry 0 of services"},
    {"{\"services\": [{\"name\": \"a\"}, {\"name\": \"a\"}]}", "service a is there twice"},
    {"{\"services\": [], \"services\": []}", "is no JSON"},
    {SERVICE("\"instances\": {}"), "service web: instances must be a list"},
    {SERVICE("\"instances\": [{}]"), "service web: index must be a whole number"},
    {ONE("\"ports\": [0]"), "ports must be whole numbers from 1 to 65535"},
    {ONE("\"ports\": \"80\""), "ports must be a list"},
    {ONE("\"ready\": \"yes\""), "ready must be true or false"},
    {ONE("\"presence\": \"gone\""), "presence must be ordinary, evacuating or suspect"},
    {ONE("\"address\": \"unix:/tmp/x\""), "address must be an IP address or the name of a host"},
    {ONE("\"address\": \"a b\""), "address must be"},
    {SERVICE("\"instances\": [{\"index\": 1}, {\"index\": 1}]"),
        "index 1 has two ordinary instances"},
    {SERVICE("\"tag\": -1"), "tag must be a whole number"},
};

static void test_bad_states(void **state)
{
	for (size_t i = 0; i < N_OF_(bad_states); i++) {
		struct problem p = {0};
		json_t *j = NULL;

		assert_true(routes_state_read(str_of(bad_states[i].text), &j, &p) < 0);
		if (!strstr(p.what, bad_states[i].says))
			fail_msg("%s: %s", bad_states[i].text, p.what);
	}
}

/* Presences and readiness of the instances of one index, and which of them traffic goes to. */
static const struct {
	const char *instances; /* as "o+ e-": ordinary and ready, evacuating and not; x: stopping */
	const char *routed;    /* their letters */
} routings[] = {
    {"o+", "o"},
    {"o-", ""},
    {"o+x", ""},
    {"o+ e+", "o"},
    {"o- e+", "e"},
    {"e+", "e"},
    {"e-", ""},
    {"o- e+x", ""},
    {"o+x e+", "e"},
    {"o+ s+", "o"},
    {"o- s+", "s"},
    {"o- e+ s+", "es"},
};

static size_t make_instances(const char *text, struct route_instance *v)
{
	static const int32_t ports[] = {31000, 31001};
	size_t n = 0;

	for (const char *c = text; *c; c++)
		if (strchr("oes", *c))
			v[n++] = (struct route_instance){.index = 4,
			    .presence = *c == 'o'   ? PRESENCE_ORDINARY
			                : *c == 'e' ? PRESENCE_EVACUATING
			                            : PRESENCE_SUSPECT,
			    .address = STR("fd00::7"),
			    .ports = ports,
			    .n_ports = 2,
			    .tag = 12};
		else if (*c == '+')
			v[n - 1].is_ready = true;
		else if (*c == 'x')
			v[n - 1].is_stopping = true;
	return n;
}

/* The server's JSON is what the renderer reads, and both route the same. */
static void test_who_is_routed(void **state)
{
	for (size_t k = 0; k < N_OF_(routings); k++) {
		struct route_instance v[4];
		struct route_service s = {.name = STR("web"),
		    .domain = STR("apps"),
		    .routes = STR("[{\"host\":\"a.b\"}]"),
		    .labels = STR("team=x y\n"),
		    .tag = 12,
		    .instances = v,
		    .n = make_instances(routings[k].instances, v)};
		struct buf json = {0}, is = {0};
		struct problem p = {0};
		json_t *j = NULL, *one, *web;
		size_t i;

		buf_add_cstr(&json, "{\"tag\":12,\"services\":[");
		route_service_json(&s, &json);
		buf_add_cstr(&json, "]}");
		buf_add_cstr(&is, "");
		if (routes_state_read(buf_str(&json), &j, &p) < 0)
			fail_msg("%s: %s", json.p, p.what);
		web = json_array_get(json_object_get(j, "services"), 0);
		json_array_foreach(json_object_get(web, "instances"), i, one)
		{
			bool routed = json_is_true(json_object_get(one, "routed"));

			assert_int_equal(routed, route_is_routed(&s, i));
			if (routed)
				buf_add_char(
				    &is, json_string_value(json_object_get(one, "presence"))[0]);
		}
		assert_int_equal(json_array_size(json_object_get(web, "routed")), is.n);
		if (strcmp(is.n ? is.p : "", routings[k].routed))
			fail_msg("%s: %s", routings[k].instances, is.p);
		json_decref(j);
		buf_release(&json);
		buf_release(&is);
	}
}

static void test_prometheus(void **state)
{
	struct route_instance v[4];
	struct route_service s = {.name = STR("web"),
	    .domain = STR("apps"),
	    .labels = STR("team-1=x\n"),
	    .instances = v,
	    .n = make_instances("o+ e-", v)};
	struct buf b = {0};

	v[1].n_ports = 0; /* nothing to ask there */
	v[0].worker = STR("w1");
	v[0].revision = 3;
	buf_add_char(&b, '[');
	route_prometheus_json(&s, &b);
	buf_add_char(&b, ']');
	assert_string_equal(b.p,
	    "[{\"targets\":[\"[fd00::7]:31000\"],\"labels\":{\"__meta_reeve_service\":\"web\","
	    "\"__meta_reeve_domain\":\"apps\",\"__meta_reeve_index\":\"4\",\"__meta_reeve_port\":"
	    "\"0\","
	    "\"__meta_reeve_presence\":\"ordinary\",\"__meta_reeve_ready\":\"true\","
	    "\"__meta_reeve_revision\":\"3\",\"__meta_reeve_worker\":\"w1\","
	    "\"__meta_reeve_label_team_1\":\"x\"}},"
	    "{\"targets\":[\"[fd00::7]:31001\"],\"labels\":{\"__meta_reeve_service\":\"web\","
	    "\"__meta_reeve_domain\":\"apps\",\"__meta_reeve_index\":\"4\",\"__meta_reeve_port\":"
	    "\"1\","
	    "\"__meta_reeve_presence\":\"ordinary\",\"__meta_reeve_ready\":\"true\","
	    "\"__meta_reeve_revision\":\"3\",\"__meta_reeve_worker\":\"w1\","
	    "\"__meta_reeve_label_team_1\":\"x\"}}]");
	buf_release(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_plays),
	    cmocka_unit_test(test_refused),
	    cmocka_unit_test(test_what_cannot_be_read_ends_with_its_tag),
	    cmocka_unit_test(test_bounds),
	    cmocka_unit_test(test_bad_states),
	    cmocka_unit_test(test_who_is_routed),
	    cmocka_unit_test(test_prometheus),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
