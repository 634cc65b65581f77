/* SPDX-License-Identifier: Apache-2.0 */
/* /openapi.json, written from the tables that serve the requests: it cannot lag behind them. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "api/frame/call.h"

static void add_ref(struct buf *b, const char *kind, const char *name)
{
	jw_open(b, '{');
	jw_key(b, "$ref");
	buf_printf(b, "\"#/components/%s/%s\"", kind, name);
	jw_close(b, '}');
}

static void add_parameter(
    struct buf *b, const char *name, const char *in, const char *about, const char *schema)
{
	jw_open(b, '{');
	jw_mcstr(b, "name", name);
	jw_mcstr(b, "in", in);
	if (strcmp(in, "path") == 0)
		jw_mbool(b, "required", true);
	jw_mcstr(b, "description", about);
	jw_key(b, "schema");
	jw_raw(b, str_of(schema));
	jw_close(b, '}');
}

static void add_path_parameter(struct buf *b, const char *open)
{
	char name[32], about[64];

	snprintf(name, sizeof name, "%.*s", (int)strcspn(open + 1, "}"), open + 1);
	snprintf(about, sizeof about, "name or id of the %s", name);
	if (strcmp(name, "id") == 0)
		add_parameter(
		    b, name, "path", "id of the task", "{\"$ref\":\"#/components/schemas/Id\"}");
	else
		add_parameter(b, name, "path", about, "{\"type\":\"string\"}");
}

static void add_parameters(struct buf *b, const struct route *r)
{
	jw_key(b, "parameters");
	jw_open(b, '[');
	for (const char *at = strchr(r->pattern, '{'); at; at = strchr(at + 1, '{'))
		add_path_parameter(b, at);
	for (int q = 0; q < N_QUERY; q++)
		if (r->query & Q(q))
			add_parameter(b, query_infos[q].name, "query", query_infos[q].about,
			    query_infos[q].schema);
	if (r->method == API_POST)
		add_parameter(b, "Idempotency-Key", "header",
		    "the same key with the same request is answered as the first time, for 24 "
		    "hours",
		    "{\"type\":\"string\",\"minLength\":1,\"maxLength\":256}");
	if (r->flags & ROUTE_IF_MATCH)
		add_parameter(b, "If-Match", "header", "change it only at this version: its ETag",
		    "{\"type\":\"string\"}");
	if (r->flags & ROUTE_ETAG)
		add_parameter(b, "If-None-Match", "header", "answer 304 if it still has this ETag",
		    "{\"type\":\"string\"}");
	if (strcmp(r->pattern, "/v1/events") == 0)
		add_parameter(b, "Last-Event-ID", "header", "resume the stream after this event",
		    "{\"type\":\"string\"}");
	jw_close(b, ']');
}

static void add_media(struct buf *b, const char *type, const char *schema)
{
	jw_key(b, type);
	jw_open(b, '{');
	jw_key(b, "schema");
	if (schema)
		add_ref(b, "schemas", schema);
	else
		jw_raw(b, strchr(type, '/') && strstr(type, "json") ? STR("{\"type\":\"object\"}")
		                                                    : STR("{\"type\":\"string\"}"));
	jw_close(b, '}');
}

static void add_request(struct buf *b, const struct route *r)
{
	if (!r->request)
		return;
	jw_key(b, "requestBody");
	jw_open(b, '{');
	jw_mbool(b, "required", r->request_needed);
	jw_key(b, "content");
	jw_open(b, '{');
	if (r->flags & ROUTE_BULK) {
		jw_key(b, "application/json");
		buf_printf(b,
		    "{\"schema\":{\"oneOf\":[{\"$ref\":\"#/components/schemas/%s\"},"
		    "{\"type\":\"array\",\"items\":{\"$ref\":\"#/components/schemas/%s\"}}]}}",
		    r->request, r->request);
		add_media(b, "application/x-ndjson", NULL);
	} else if (strchr(r->request, '/')) {
		add_media(b, r->request, NULL);
	} else {
		add_media(b, "application/json", r->request);
		if (r->flags & ROUTE_YAML)
			add_media(b, "application/yaml", r->request);
	}
	jw_close(b, '}');
	jw_close(b, '}');
}

static void add_response(struct buf *b, const struct route *r, int status, const char *schema)
{
	char code[8];

	snprintf(code, sizeof code, "%d", status);
	jw_key(b, code);
	jw_open(b, '{');
	jw_mcstr(b, "description",
	    status == 201   ? "Made"
	    : status == 204 ? "Done"
	    : status == 304 ? "Not changed"
	                    : "As asked");
	if (schema) {
		jw_key(b, "content");
		jw_open(b, '{');
		if (strchr(schema, '/'))
			add_media(b, schema, NULL);
		else
			add_media(b, "application/json", schema);
		if (strcmp(r->pattern, "/v1/events") == 0)
			add_media(b, "text/event-stream", NULL);
		jw_close(b, '}');
	}
	jw_close(b, '}');
}

/* Two kinds of success only where a submit has them: one task (201), or many or a twin (200). */
static void add_responses(struct buf *b, const struct route *r)
{
	jw_key(b, "responses");
	jw_open(b, '{');
	for (int i = 0; i < 2 && r->success[i]; i++)
		add_response(b, r, r->success[i],
		    r->flags & ROUTE_BULK && r->success[i] == 201 ? "Task" : r->response);
	if (r->flags & ROUTE_ETAG)
		add_response(b, r, 304, NULL);
	jw_key(b, "default");
	add_ref(b, "responses", "Problem");
	jw_close(b, '}');
}

/* What the table says of the operation, in words. */
static void add_description(struct buf *b, const struct route *r)
{
	AUTO(buf_release) struct buf text = {0};

	buf_printf(&text, "%s%s", r->summary, strchr(r->summary, '?') ? "" : ".");
	if (r->right == RIGHT_NONE)
		buf_printf(&text, " Asks for no token.");
	else
		buf_printf(&text, " Needs a token with the role `%s` or a higher one.",
		    right_names[r->right]);
	if (r->right != RIGHT_NONE && r->flags & ROUTE_SCOPED)
		buf_printf(&text, " With a token that has limits it reaches what these cover.");
	else if (r->right != RIGHT_NONE)
		buf_printf(&text, " Closed to tokens that have limits.");
	if (r->query & Q(Q_CURSOR))
		buf_printf(&text, " A page at a time: give `next` of the last one as `cursor`.");
	if (r->flags & ROUTE_ETAG)
		buf_printf(&text, " Sends an ETag, honours If-None-Match.");
	if (r->flags & ROUTE_IF_MATCH)
		buf_printf(&text, " With If-Match only that version is changed.");
	if (r->flags & ROUTE_EARLY)
		buf_printf(&text, " Answers while the server is still starting.");
	jw_key(b, "description");
	jw_str(b, buf_str(&text));
}

static void add_operation(struct buf *b, const struct route *r)
{
	char method[8];
	size_t n = strlen(method_names[r->method]);

	for (size_t i = 0; i <= n; i++)
		method[i] = (char)tolower((unsigned char)method_names[r->method][i]);
	jw_key(b, method);
	jw_open(b, '{');
	jw_mcstr(b, "operationId", r->name);
	jw_key(b, "tags");
	jw_open(b, '[');
	jw_str(b, str_of(r->tag));
	jw_close(b, ']');
	jw_mcstr(b, "summary", r->summary);
	add_description(b, r);
	jw_mcstr(b, "x-reeve-right", right_names[r->right]);
	jw_mbool(b, "x-reeve-limits", r->flags & ROUTE_SCOPED);
	if (r->right == RIGHT_NONE) {
		jw_key(b, "security");
		jw_raw(b, STR("[]"));
	}
	add_parameters(b, r);
	add_request(b, r);
	add_responses(b, r);
	jw_close(b, '}');
}

static bool seen_before(size_t i)
{
	for (size_t k = 0; k < i; k++)
		if (strcmp(route_at(k)->pattern, route_at(i)->pattern) == 0)
			return true;
	return false;
}

static void add_paths(struct buf *b)
{
	const struct route *r, *other;

	jw_key(b, "paths");
	jw_open(b, '{');
	for (size_t i = 0; (r = route_at(i)); i++) {
		if (seen_before(i))
			continue;
		jw_key(b, r->pattern);
		jw_open(b, '{');
		for (size_t k = i; (other = route_at(k)); k++)
			if (strcmp(other->pattern, r->pattern) == 0)
				add_operation(b, other);
		jw_close(b, '}');
	}
	jw_close(b, '}');
}

static void add_tags(struct buf *b)
{
	const struct section *p;

	jw_key(b, "tags");
	jw_open(b, '[');
	for (size_t i = 0; (p = section_at(i)); i++) {
		if (!p->tag)
			continue;
		jw_open(b, '{');
		jw_mcstr(b, "name", p->tag);
		jw_close(b, '}');
	}
	jw_close(b, ']');
}

static void add_page(struct buf *b, const char *of)
{
	jw_raw(b, STR("{\"type\":\"object\",\"properties\":{\"items\":{"
	              "\"description\":\"one page of them\",\"type\":\"array\","
	              "\"items\":"));
	add_ref(b, "schemas", of);
	buf_add_cstr(b,
	    "},\"next\":{\"description\":\"the parameter `cursor` for the next page; null: "
	    "this is the last\",\"type\":[\"string\",\"null\"]}},"
	    "\"required\":[\"items\",\"next\"]}");
}

static void add_schemas(struct buf *b, const struct schema *list, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		jw_key(b, list[i].name);
		if (list[i].fields)
			fields_schema(b, list[i].fields, list[i].shape, list[i].about);
		else if (list[i].page_of)
			add_page(b, list[i].page_of);
		else
			jw_raw(b, str_of(list[i].json));
	}
}

static void add_components(struct buf *b)
{
	const struct section *p;

	jw_key(b, "components");
	jw_open(b, '{');
	jw_key(b, "schemas");
	jw_open(b, '{');
	for (size_t i = 0; (p = section_at(i)); i++)
		add_schemas(b, p->schemas, p->n_schemas);
	jw_close(b, '}');
	jw_key(b, "responses");
	jw_raw(b, STR("{\"Problem\":{\"description\":\"What was wrong, and what to do about it\","
	              "\"content\":{\"application/problem+json\":{\"schema\":"
	              "{\"$ref\":\"#/components/schemas/Problem\"}}}}}"));
	jw_key(b, "securitySchemes");
	jw_raw(b, STR("{\"token\":{\"type\":\"http\",\"scheme\":\"bearer\","
	              "\"description\":\"not asked for on the unix socket of root and of the "
	              "server's own user; x-reeve-right is the right that a token's role must "
	              "have, x-reeve-limits says whether limited ones may use it\"}}"));
	jw_close(b, '}');
}

void api_openapi(struct buf *out)
{
	jw_open(out, '{');
	jw_mcstr(out, "openapi", "3.1.0");
	jw_key(out, "info");
	jw_open(out, '{');
	jw_mcstr(out, "title", "Reeve");
	jw_mcstr(out, "version", REEVE_VERSION);
	jw_mcstr(out, "description", "Runs work on many machines and never loses track of it.");
	jw_key(out, "license");
	jw_raw(out, STR("{\"name\":\"Apache-2.0\",\"identifier\":\"Apache-2.0\"}"));
	jw_close(out, '}');
	jw_key(out, "servers");
	jw_raw(out, STR("[{\"url\":\"/\"}]"));
	jw_key(out, "security");
	jw_raw(out, STR("[{},{\"token\":[]}]"));
	add_tags(out);
	add_paths(out);
	add_components(out);
	jw_close(out, '}');
}
