/* SPDX-License-Identifier: Apache-2.0 */
/* Tokens: made with a secret that is shown once, listed, revoked. */
#include <stdio.h>
#include <string.h>

#include "api/frame/shapes.h"
#include "api/objects/resource.h"
#include "api/objects/show.h"
#include "model/limits.h"
#include "model/lines.h"
#include "wire/json/fields.h"

struct token_shown {
	const struct api *a;
	const struct token_row *t;
};

static void put_expired(struct buf *b, const void *arg)
{
	const struct token_shown *s = arg;

	jw_bool(b, token_has_expired(s->t, s->a->host.wall_ms(s->a->host.arg)));
}

static const struct field_out found[] = {{"expired", put_expired}, {NULL}};

/* Leaves the object open. */
static void show_token(struct buf *b, const struct api *a, const struct token_row *t)
{
	const struct token_shown shown = {a, t};
	const struct showing s = {a->host.ids, t, found, &shown, true};

	jw_open(b, '{');
	fields_write(b, &s, token_fields);
}

static void token_show(struct call *c, rid id)
{
	show_token(&c->out, c->api, core_token(c->host->core, id));
	jw_close(&c->out, '}');
}

/* Making one. */

struct making {
	struct call *c;
	struct token_row row;
	char secret[2 * TOKEN_SECRET_BYTES + 1];
	char hash[TOKEN_HASH_MAX_BYTES];
	bool hashed;
};

static int set_role(json_t *v, const char *field, void *arg, struct problem *p)
{
	struct making *m = arg;
	struct str text;
	const char *near;

	if (json_in_str(v, field, NAME_MAX_BYTES, &text, p))
		return ERR_INVALID;
	m->row.role = role_parse(text);
	if (m->row.role)
		return 0;
	near = str_nearest(text, role_names + 1, N_ROLES - 1);
	problem_set(p, ERR_INVALID, "\"%.*s\" is not a role", (int)text.n, text.p);
	if (near)
		problem_hint(p, "did you mean \"%s\"?", near);
	else
		problem_hint(p, "roles are read, logs, submit, operate, admin and join");
	return problem_field(p, field);
}

static int too_many(const char *field, int most, struct problem *p)
{
	problem_set(p, ERR_INVALID, "\"%s\" holds more than %d", field, most);
	return problem_field(p, field);
}

/* A script that computes a list and finds nothing does not mean everything. */
static int no_limit(const char *field, struct problem *p)
{
	problem_set(p, ERR_INVALID, "\"%s\" is empty, which would limit nothing", field);
	problem_hint(p, "leave it out for a token without this limit");
	return problem_field(p, field);
}

static int set_queues(json_t *v, const char *field, void *arg, struct problem *p)
{
	struct making *m = arg;
	struct buf lines = {0};
	struct str name;
	json_t *one;
	size_t i;
	int rc = 0;

	if (!json_is_array(v))
		return json_in_wrong(v, field, "an array of names", p);
	if (json_array_size(v) == 0)
		return no_limit(field, p);
	if (json_array_size(v) > TOKEN_QUEUES_MAX)
		return too_many(field, TOKEN_QUEUES_MAX, p);
	json_array_foreach(v, i, one)
	{
		rc = json_in_str(one, field, NAME_MAX_BYTES, &name, p);
		if (!rc)
			rc = name_check(name, field, p);
		if (rc)
			break;
		lines_add(&lines, name);
	}
	if (!rc && lines.n)
		m->row.queues = lines_sorted(&m->c->arena, buf_str(&lines));
	buf_release(&lines);
	return rc;
}

static int set_labels(json_t *v, const char *field, void *arg, struct problem *p)
{
	struct making *m = arg;
	struct buf lines = {0};
	struct str value;
	const char *key;
	json_t *one;
	int rc = 0;

	if (json_in_object(v, field, p))
		return ERR_INVALID;
	if (json_object_size(v) == 0)
		return no_limit(field, p);
	if (json_object_size(v) > TOKEN_LABELS_MAX)
		return too_many(field, TOKEN_LABELS_MAX, p);
	json_object_foreach(v, key, one)
	{
		rc = json_in_str(one, field, LABEL_MAX_BYTES, &value, p);
		if (!rc && (!*key || strpbrk(key, "=\n") || memchr(value.p, '\n', value.n)))
			rc = json_in_wrong(one, field, "a key and a value", p);
		if (rc)
			break;
		lines_add(&lines, arena_strf(&m->c->arena, "%s=" STR_FMT, key, STR_ARG(value)));
	}
	if (!rc && lines.n)
		m->row.labels = lines_sorted(&m->c->arena, buf_str(&lines));
	buf_release(&lines);
	return rc;
}

static const struct json_member own[] = {
    {"role", set_role}, {"queues", set_queues}, {"labels", set_labels}, {NULL}};

static int check(const struct token_row *t, int64_t now_ms, struct problem *p)
{
	bool join = t->role == ROLE_JOIN;

	if (str_is(t->name, "file")) {
		problem_set(p, ERR_INVALID, "the name \"file\" is that of the server's own token");
		return problem_field(p, "name");
	}
	if (t->expires_ms && t->expires_ms <= now_ms) {
		problem_set(p, ERR_INVALID, "\"expires\" lies in the past");
		return problem_field(p, "expires");
	}
	if (!t->name.p || !t->role) {
		problem_set(p, ERR_INVALID, "a token needs a \"name\" and a \"role\"");
		return problem_field(p, t->name.p ? "role" : "name");
	}
	if (join && token_is_limited(t))
		return problem_set(p, ERR_INVALID, "a join token has no queues and no labels");
	if (!join && (t->once || t->zone.p))
		return problem_set(p, ERR_INVALID, "only a join token has \"once\" and \"zone\"");
	return 0;
}

static void draw_secret(struct making *m)
{
	unsigned char bytes[TOKEN_SECRET_BYTES];

	m->c->host->secret_random(bytes, sizeof bytes);
	for (size_t i = 0; i < sizeof bytes; i++)
		snprintf(m->secret + 2 * i, 3, "%02x", bytes[i]);
	explicit_bzero(bytes, sizeof bytes);
}

static void forget_secret(struct call *c)
{
	struct making *m = c->state;

	explicit_bzero(m->secret, sizeof m->secret);
}

static void token_made(struct call *c, const struct reply *r)
{
	struct making *m = c->state;
	const struct token_row *t = r->code ? NULL : core_token(c->host->core, r->id);
	char id[ID_TEXT];

	if (call_refused(c, r))
		return;
	if (!t) {
		call_fail(c, ERR_NOT_FOUND, "the token was revoked in the meantime");
		return;
	}
	call_location(c, "/v1/tokens/", r->id);
	call_header(c, "Cache-Control", "no-store");
	show_token(&c->out, c->api, t);
	jw_key(&c->out, "token");
	if (r->replayed) /* the first answer had it, and nobody has kept it */
		jw_null(&c->out);
	else
		buf_printf(&c->out, "\"" TOKEN_PREFIX "%s_%s\"", id_format(c->host->ids, r->id, id),
		    m->secret);
	jw_close(&c->out, '}');
	call_json(c, 201);
}

static void make_hash(struct store_reader *r, void *arg)
{
	struct call *c = arg;
	struct making *m = c->state;

	m->hashed = c->host->secret_hash(str_of(m->secret), m->hash, sizeof m->hash);
}

static void hash_made(struct call *c)
{
	struct making *m = c->state;
	struct event ev = {.kind = EV_CREATE, .object.kind = KIND_TOKEN};

	if (!m->hashed) {
		call_fail(c, ERR_BUSY, "there is not enough memory for a hash at the moment");
		return;
	}
	m->row.hash = str_of(m->hash);
	ev.object.row = &m->row;
	call_command(c, &ev, token_made);
}

static void tokens_create(struct call *c)
{
	struct making *m = call_state(c, sizeof *m);
	const struct fields_in r = {.arena = &c->arena,
	    .into = &m->row,
	    .problem = &c->problem,
	    .now_ms = c->host->wall_ms(c->host->arg),
	    .own = own,
	    .arg = m};

	m->c = c;
	if (!call_fields(c, &r, token_fields))
		return;
	if (check(&m->row, r.now_ms, &c->problem)) {
		call_problem(c);
		return;
	}
	draw_secret(m);
	c->on_free = forget_secret;
	call_read(c, make_hash, hash_made);
}

static const struct route routes[] = {
    {API_GET, "/v1/tokens", resource_list, "listTokens", "tokens", "List tokens", PAGE, NULL, false,
        "TokenList", {200}, 0, RIGHT_ADMIN},
    {API_POST, "/v1/tokens", tokens_create, "createToken", "tokens",
        "Make a token; its secret is shown this once", 0, "TokenCreate", true, "TokenMade", {201},
        0, RIGHT_ADMIN},
    {API_GET, "/v1/tokens/{token}", resource_get, "getToken", "tokens", "One token", 0, NULL, false,
        "Token", {200}, 0, RIGHT_ADMIN},
    {API_DELETE, "/v1/tokens/{token}", resource_delete, "revokeToken", "tokens",
        "Revoke it: from now on it is not a good one", 0, NULL, false, NULL, {204}, 0, RIGHT_ADMIN},
};

static const struct field secret_shape[] = {
    FIELD_FOUND(
        "token", FIELD_TEXT, NONE, "what its bearer shows; null when the request was repeated"),
    {NULL},
};

static const struct schema schemas[] = {
    {"Token", .fields = token_fields},
    {"TokenSecret", .fields = secret_shape},
    {"TokenMade", "{\"allOf\":[" REF("Token") "," REF("TokenSecret") "]}"},
    {"TokenList", .page_of = "Token"},
    {"TokenCreate", .fields = token_fields, .shape = SHAPE_CREATE},
};

static const struct resource resource = {.kind = KIND_TOKEN, .show = token_show, .gone = "revoked"};

const struct section token_section = {
    .tag = "tokens", SECTION_ROUTES(routes), SECTION_SCHEMAS(schemas), .resource = &resource};
