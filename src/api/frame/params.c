/* SPDX-License-Identifier: Apache-2.0 */
/* What a request carries in its path, query and body, read with clear errors. */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "api/frame/call.h"
#include "model/limits.h"
#include "wire/json/fields.h"

#define PAGE_DEFAULT 100
#define PAGE_MAX 1000
#define HASH_LONG (1u << 20)

static bool bad_query(struct call *c, enum query q, const char *expected)
{
	struct str v = c->query[q];

	problem_set(&c->problem, ERR_INVALID, "\"%s\" is \"%.*s\"; %s is expected",
	    query_infos[q].name, v.n > 64 ? 64 : (int)v.n, v.p, expected);
	problem_field(&c->problem, query_infos[q].name);
	call_problem(c);
	return false;
}

bool call_bool(struct call *c, enum query q, bool *ret)
{
	struct str v = c->query[q];

	*ret = v.p && (v.n == 0 || str_is(v, "true") || str_is(v, "1") || str_is(v, "yes"));
	if (!v.p || *ret || str_is(v, "false") || str_is(v, "0") || str_is(v, "no"))
		return true;
	return bad_query(c, q, "true or false");
}

bool call_int(struct call *c, enum query q, int64_t min, int64_t max, int64_t *ret)
{
	char expected[80];

	if (!c->query[q].p || str_to_i64(c->query[q], min, max, ret))
		return true;
	if (max == INT64_MAX)
		snprintf(expected, sizeof expected, "a number from %lld on", (long long)min);
	else
		snprintf(expected, sizeof expected, "a number between %lld and %lld",
		    (long long)min, (long long)max);
	return bad_query(c, q, expected);
}

bool call_duration(struct call *c, enum query q, int64_t *ret_ms)
{
	if (!c->query[q].p)
		return true;
	if (str_to_duration_ms(c->query[q], ret_ms) && *ret_ms <= DURATION_MAX_MS)
		return true;
	return bad_query(c, q, "a duration such as 30s or 5m");
}

bool call_limit(struct call *c, uint32_t *ret_limit)
{
	int64_t limit = PAGE_DEFAULT;

	if (!call_int(c, Q_LIMIT, 1, PAGE_MAX, &limit))
		return false;
	*ret_limit = (uint32_t)limit;
	return true;
}

bool call_page(struct call *c, rid *ret_cursor, uint32_t *ret_limit)
{
	*ret_cursor = 0;
	if (!call_limit(c, ret_limit))
		return false;
	if (!c->query[Q_CURSOR].p)
		return true;
	if (id_parse(c->host->ids, c->query[Q_CURSOR], ret_cursor) && *ret_cursor)
		return true;
	return bad_query(c, Q_CURSOR, "the `next` of an earlier page");
}

int find_id(const struct api *a, struct str text, const char *field, rid *ret_id, struct problem *p)
{
	bool shaped = id_parse(a->host.ids, text, ret_id);

	if (shaped && *ret_id)
		return 0;
	if (shaped)
		problem_set(p, ERR_NOT_FOUND, "the id %.24s is not of this installation", text.p);
	else
		problem_set(p, ERR_INVALID, "\"%.*s\" is not an id", text.n > 64 ? 64 : (int)text.n,
		    text.p ? text.p : "");
	problem_hint(p, "ids have 24 hex digits and come from this server");
	return problem_field(p, field);
}

bool call_path_id(struct call *c, rid *ret_id)
{
	if (find_id(c->api, c->arg, "id", ret_id, &c->problem) == 0)
		return true;
	/* what the path names is not there, whatever its shape */
	c->problem.code = ERR_NOT_FOUND;
	call_problem(c);
	return false;
}

bool media_is(struct str type, const char *name)
{
	struct str bare;

	str_next(&type, ';', &bare);
	while (bare.n && bare.p[bare.n - 1] == ' ')
		bare.n--;
	return bare.n == strlen(name) && strncasecmp(bare.p, name, bare.n) == 0;
}

bool call_body(struct call *c, json_t **ret_object)
{
	struct problem *p = &c->problem;

	if (c->req.body.n == 0) {
		*ret_object = json_object();
		return true;
	}
	if (c->req.content_type.p && !media_is(c->req.content_type, "application/json")) {
		problem_set(p, ERR_MEDIA, "the content type is \"%.*s\"",
		    c->req.content_type.n > 64 ? 64 : (int)c->req.content_type.n,
		    c->req.content_type.p);
		problem_hint(p, "send JSON with \"Content-Type: application/json\"");
	} else if (c->req.body.n > CALL_BODY_MAX) {
		problem_set(p, ERR_TOO_LARGE, "the body has %zu bytes; at most %u are allowed",
		    c->req.body.n, CALL_BODY_MAX);
	} else if (call_parsed(c, c->req.body, ret_object, p) == 0) {
		if (json_is_object(*ret_object))
			return true;
		problem_set(p, ERR_INVALID, "the body must be a JSON object");
		json_decref(*ret_object);
	}
	call_problem(c);
	return false;
}

bool call_fields(struct call *c, const struct fields_in *r, const struct field *fields)
{
	json_t *body;
	int rc;

	if (!call_body(c, &body))
		return false;
	rc = fields_read(r, fields, body, "");
	json_decref(body);
	if (rc)
		call_problem(c);
	return !rc;
}

void call_location(struct call *c, const char *folder, rid id)
{
	const char *base = c->api->opt.base_path;
	char text[ID_TEXT], path[256];

	snprintf(path, sizeof path, "%s%s%s", base ? base : "", folder,
	    id_format(c->host->ids, id, text));
	call_header(c, "Location", path);
}

struct str call_actor(struct call *c)
{
	if (c->who.name.p)
		return c->who.name;
	if (c->req.is_unix)
		return arena_strf(&c->arena, "uid=%u", c->req.uid);
	return STR("unknown");
}

static uint64_t hash_words(uint64_t h, const char *p, size_t n)
{
	uint64_t word;

	for (size_t i = 0; i + 8 <= n; i += 8) {
		memcpy(&word, p + i, 8);
		h = (h ^ word) * 0x100000001b3ull;
		h ^= h >> 32;
	}
	return h;
}

/* FNV-1a over everything that makes two requests the same one. */
static uint64_t hash_more(uint64_t h, struct str s)
{
	for (size_t i = 0; i < s.n; i++)
		h = (h ^ (unsigned char)s.p[i]) * 0x100000001b3ull;
	return (h ^ 0xff) * 0x100000001b3ull; /* so that "ab","c" is not "a","bc" */
}

static uint64_t hash_head(const struct api_request *r)
{
	uint64_t h = hash_more(0xcbf29ce484222325ull, str_of(method_names[r->method]));

	h = hash_more(h, r->path);
	for (size_t i = 0; i < r->n_params; i++) {
		h = hash_more(h, r->params[i].key);
		h = hash_more(h, r->params[i].value);
	}
	return h;
}

/* A long body eight bytes at a time, and as far as it has been read: it must not hold the loop. */
void call_hash(struct call *c, size_t upto)
{
	struct str body = c->req.body;
	size_t n;

	if (!c->req.idempotency_key.p || body.n <= HASH_LONG)
		return;
	if (!c->hashed)
		c->hash = hash_head(&c->req);
	n = upto > c->hashed ? (upto - c->hashed) & ~(size_t)7 : 0;
	c->hash = hash_words(c->hash, body.p + c->hashed, n);
	c->hashed += n;
}

uint64_t call_fingerprint(struct call *c)
{
	struct str rest = c->req.body;

	if (rest.n <= HASH_LONG)
		return hash_more(hash_head(&c->req), rest);
	call_hash(c, rest.n);
	rest.p += c->hashed;
	rest.n -= c->hashed;
	return hash_more(c->hash, rest);
}
