/* SPDX-License-Identifier: Apache-2.0 */
#include "wire/json/checks.h"

#include <stdio.h>
#include <string.h>

#include "model/limits.h"
#include "model/run/settings.h"

#define HOST_MOST 253
#define WORDS_MOST 1024
#define WORD_MOST (64u << 10)
#define INTERVAL_LEAST_MS 100
#define GIVEN_PORT "$PORT"

static int read_command(const struct fields_in *r, json_t *v, const char *place)
{
	struct run_check *c = r->into;
	struct field_list words;

	if (fields_read_list(r, v, place, WORDS_MOST, WORD_MOST, &words))
		return ERR_INVALID;
	if (words.n == 0 || words.items[0].n == 0)
		return fields_refuse(r, place, "names no program");
	c->kind = CHECK_COMMAND;
	c->command = words.items;
	c->n_command = words.n;
	return 0;
}

/* "$PORT" and "$PORT0" are the first one, as in the environment. */
static bool is_given_port(struct str s, int64_t *ret_index)
{
	size_t n = strlen(GIVEN_PORT);

	if (!str_starts(s, GIVEN_PORT))
		return false;
	*ret_index = 0;
	return s.n == n || str_to_i64((struct str){s.p + n, s.n - n}, 0, PORTS_MAX - 1, ret_index);
}

static int read_given_port(const struct fields_in *r, struct str s, const char *place, int32_t *ret)
{
	int64_t index;

	if (!is_given_port(s, &index)) {
		fields_refuse(r, place, "is neither a port nor the name of a given one");
		return problem_hint(
		    r->problem, "write a number such as 8080, or \"$PORT\", \"$PORT1\", …");
	}
	*ret = (int32_t)index + 1;
	return 0;
}

static int read_port(const struct fields_in *r, json_t *v, const char *place, enum check_kind kind)
{
	struct run_check *c = r->into;
	struct str s = {json_string_value(v), json_string_length(v)};
	int64_t port = 0;
	int32_t given = 0;

	if (s.p ? read_given_port(r, s, place, &given)
	        : json_in_int(v, place, 1, 65535, &port, r->problem))
		return ERR_INVALID;
	c->kind = kind;
	c->port = (int32_t)port;
	c->given_port = given;
	return 0;
}

static int read_tcp(const struct fields_in *r, json_t *v, const char *place)
{
	return read_port(r, v, place, CHECK_TCP);
}

static int read_http(const struct fields_in *r, json_t *v, const char *place)
{
	return read_port(r, v, place, CHECK_HTTP);
}

static int read_url_path(const struct fields_in *r, json_t *v, const char *place)
{
	struct run_check *c = r->into;
	struct str s;

	if (json_in_str(v, place, WORDS_MOST, &s, r->problem))
		return ERR_INVALID;
	for (size_t i = 0; i < s.n; i++)
		if (s.p[i] <= ' ' || s.p[i] >= 0x7f || s.p[i] == '#')
			s.n = 0;
	if (s.n == 0 || s.p[0] != '/')
		return fields_refuse(r, place, "must begin with / and hold neither blanks nor #");
	c->path = arena_str(r->arena, s);
	return 0;
}

static int read_host(const struct fields_in *r, json_t *v, const char *place)
{
	struct run_check *c = r->into;
	struct str s;

	if (json_in_str(v, place, HOST_MOST, &s, r->problem))
		return ERR_INVALID;
	for (size_t i = 0; i < s.n; i++)
		if (s.p[i] <= ' ' || s.p[i] >= 0x7f || strchr("/\\\"#?@", s.p[i]))
			s.n = 0;
	if (s.n == 0)
		return fields_refuse(r, place, "is not the name or address of a host");
	c->host = arena_str(r->arena, s);
	return 0;
}

#define F(name, kind, member, text, ...) \
	FIELD(name, kind, run_check, member, .about = text __VA_OPT__(, ) __VA_ARGS__)
#define OTHER(label, member, fn, text, json)                                                      \
	{                                                                                         \
		.name = label, .kind = FIELD_OTHER, .offset = offsetof(struct run_check, member), \
		.size = sizeof(((struct run_check *)0)->member), .read = fn, .about = text,       \
		.schema = json                                                                    \
	}
#define PORT "{\"type\":[\"integer\",\"string\"]}"
#define TEXT_OR_NULL "{\"type\":[\"string\",\"null\"]}"
/* Where to look, and for how long. */
#define WAYS                                                                                    \
	OTHER("command", command, read_command, "it is well when this program ends with 0",     \
	    "{\"type\":\"array\",\"items\":{\"type\":\"string\"}}"),                            \
	    OTHER("tcp", port, read_tcp, "it is well when this port takes connections", PORT),  \
	    OTHER("http", port, read_http,                                                      \
	        "it is well when this port answers with a status of 200 to 399", PORT),         \
	    OTHER("path", path, read_url_path, "of the request; / unless given", TEXT_OR_NULL), \
	    OTHER("host", host, read_host, "where the port is; this machine unless given",      \
	        TEXT_OR_NULL),                                                                  \
	    F("timeout", FIELD_DURATION, timeout_ms, "a look that takes longer has failed",     \
	        .min = 1)
#define START_TIMEOUT \
	F("start_timeout", FIELD_DURATION, start_timeout_ms, "how long it may take to be up")
#define EVERY(label, member, text) F(label, FIELD_DURATION, member, text, .min = INTERVAL_LEAST_MS)
#define GOOD_ROW(text) F("healthy_after", FIELD_I32, healthy_after, text, .min = 1, .max = 1000)
#define BAD_ROW(text) F("unhealthy_after", FIELD_I32, unhealthy_after, text, .min = 1, .max = 1000)
#define END          \
	{            \
		NULL \
	}

const struct field run_check_fields[] = {
    WAYS,
    START_TIMEOUT,
    EVERY("start_interval", start_interval_ms, "between looks until it is healthy"),
    EVERY("interval", interval_ms, "between looks"),
    GOOD_ROW("so many good looks in a row make it healthy"),
    BAD_ROW("so many bad looks in a row make it unhealthy"),
    END,
};

const struct field run_startup_fields[] = {
    WAYS,
    START_TIMEOUT,
    EVERY("interval", start_interval_ms, "between looks until it is up"),
    GOOD_ROW("it is up after so many good looks in a row"),
    END,
};

const struct field run_liveness_fields[] = {
    WAYS,
    EVERY("interval", interval_ms, "between looks"),
    BAD_ROW("it is ended after so many bad looks in a row"),
    END,
};

const struct field run_readiness_fields[] = {
    WAYS,
    EVERY("interval", interval_ms, "between looks"),
    GOOD_ROW("it is ready after so many good looks in a row"),
    BAD_ROW("it is not after so many bad ones"),
    END,
};

static int wrong_ways(const struct fields_in *r, const char *place)
{
	fields_refuse(r, place, "wants one of command, tcp and http");
	return problem_hint(
	    r->problem, "as {\"http\": 8080, \"path\": \"/health\"}, or null for no check");
}

/* Exactly one way to look, either here or in what is there already. */
static int read_one(
    const struct fields_in *r, const struct field *table, json_t *v, const char *place)
{
	static const char *const ways[] = {"command", "tcp", "http"};
	struct run_check *c = r->into;
	int given = 0;

	for (int i = 0; i < 3; i++) {
		const json_t *way = json_object_get(v, ways[i]);

		given += !way ? 0 : json_is_null(way) ? 2 : 1;
	}
	if (given > 1 || (given == 0 && json_is_object(v) && c->kind == CHECK_NONE))
		return wrong_ways(r, place);
	if (fields_read(r, table, v, place))
		return ERR_INVALID;
	if (c->kind != CHECK_HTTP && json_object_get(v, "path"))
		return fields_refuse(r, place, "has a path, which only http has");
	if (c->kind == CHECK_COMMAND && json_object_get(v, "host"))
		return fields_refuse(r, place, "has a host, which a command does not need");
	if (!c->host.p)
		c->host = STR("127.0.0.1");
	if (!c->path.p)
		c->path = STR("/");
	return 0;
}

/* The same reader, of one check within the settings. */
static struct fields_in inside(const struct fields_in *r, size_t offset)
{
	struct fields_in in = *r;

	in.into = (char *)r->into + offset;
	in.defaults = (const char *)r->defaults + offset;
	return in;
}

int check_read(const struct fields_in *r, json_t *v, const char *place)
{
	struct fields_in in = inside(r, offsetof(struct run_settings, check));

	return read_one(&in, run_check_fields, v, place);
}

static const struct {
	const char *name;
	size_t offset;
	const struct field *table;
} parts[] = {
    {"startup", offsetof(struct run_settings, checks.startup), run_startup_fields},
    {"liveness", offsetof(struct run_settings, checks.liveness), run_liveness_fields},
    {"readiness", offsetof(struct run_settings, checks.readiness), run_readiness_fields},
};
#define N_PARTS (sizeof parts / sizeof parts[0])

static int unknown_part(const struct fields_in *r, const char *key, const char *place)
{
	const char *names[N_PARTS];

	for (size_t i = 0; i < N_PARTS; i++)
		names[i] = parts[i].name;
	return json_in_unknown(key, place, names, N_PARTS, r->problem);
}

static int read_part(const struct fields_in *r, size_t i, json_t *v, const char *place)
{
	struct fields_in in = inside(r, parts[i].offset);
	char at[64];

	snprintf(at, sizeof at, "%s.%s", place, parts[i].name);
	if (json_is_null(v)) {
		memcpy(in.into, in.defaults, sizeof(struct run_check));
		return 0;
	}
	return read_one(&in, parts[i].table, v, at);
}

int checks_read(const struct fields_in *r, json_t *v, const char *place)
{
	const char *key;
	json_t *part;
	int rc = json_in_object(v, place, r->problem);

	json_object_foreach(v, key, part)
	{
		size_t i = 0;

		while (i < N_PARTS && strcmp(parts[i].name, key) != 0)
			i++;
		if (!rc)
			rc = i == N_PARTS ? unknown_part(r, key, place)
			                  : read_part(r, i, part, place);
	}
	return rc;
}
