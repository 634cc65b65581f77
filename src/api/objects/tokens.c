/* SPDX-License-Identifier: Apache-2.0 */
/* Tokens: made with a secret that is shown once, listed, revoked. */
#include <stdio.h>
#include <string.h>

#include "api/objects/resource.h"
#include "api/objects/show.h"
#include "model/limits.h"
#include "model/lines.h"
#include "wire/json_in.h"

static void show_token(struct buf *b, const struct api *a, const struct token_row *t)
{
	jw_open(b, '{');
	jw_mid_null(b, "id", a->host.ids, t->id);
	jw_mstr(b, "name", t->name);
	jw_mcstr(b, "role", role_names[t->role]);
	jw_mlines(b, "queues", t->queues);
	jw_mlabels(b, "labels", t->labels);
	jw_mbool(b, "once", t->once);
	jw_mstr_null(b, "zone", t->zone);
	jw_mtime_null(b, "created", t->ctime_ms);
	jw_mstr(b, "creator", t->creator);
	jw_mtime_null(b, "expires", t->expires_ms);
	jw_mbool(b, "expired", token_has_expired(t, a->host.wall_ms(a->host.arg)));
	jw_mbool(b, "damaged", t->damaged);
}

void tokens_list(struct call *c)
{
	const struct token_row *t = NULL;
	uint32_t limit;
	rid at;

	if (!call_page(c, &at, &limit))
		return;
	jw_open(&c->out, '{');
	jw_key(&c->out, "items");
	jw_open(&c->out, '[');
	while (limit-- > 0 &&
	       (t = core_token(c->host->core, core_next(c->host->core, KIND_TOKEN, at)))) {
		at = t->id;
		show_token(&c->out, c->api, t);
		jw_close(&c->out, '}');
	}
	show_page_end(
	    c, t && core_token(c->host->core, core_next(c->host->core, KIND_TOKEN, at)) ? at : 0);
}

static const struct token_row *path_token(struct call *c)
{
	const struct token_row *t =
	    core_token(c->host->core, core_find(c->host->core, KIND_TOKEN, c->arg));
	rid id;

	if (!t && id_parse(c->host->ids, c->arg, &id) && id)
		t = core_token(c->host->core, id);
	if (t)
		return t;
	problem_set(&c->problem, ERR_NOT_FOUND, "there is no token \"%.*s\"",
	    c->arg.n > NAME_MAX_BYTES ? NAME_MAX_BYTES : (int)c->arg.n, c->arg.p);
	problem_hint(&c->problem, "reeve token ls shows the tokens");
	call_problem(c);
	return NULL;
}

void tokens_get(struct call *c)
{
	const struct token_row *t = path_token(c);

	if (!t)
		return;
	show_token(&c->out, c->api, t);
	jw_close(&c->out, '}');
	call_json(c, 200);
}

void tokens_revoke(struct call *c)
{
	const struct token_row *t = path_token(c);
	struct event ev = {.kind = EV_DELETE, .object.kind = KIND_TOKEN};

	if (!t)
		return;
	ev.object.id = t->id;
	call_command(c, &ev, resource_gone);
}

/* Making one. */

struct making {
	struct call *c;
	struct token_row row;
	char secret[2 * TOKEN_SECRET_BYTES + 1];
	char hash[TOKEN_HASH_MAX_BYTES];
	bool hashed;
};

static int set_name(json_t *v, const char *field, void *arg, struct problem *p)
{
	struct making *m = arg;

	if (json_in_str(v, field, NAME_MAX_BYTES, &m->row.name, p))
		return ERR_INVALID;
	m->row.name = arena_str(&m->c->arena, m->row.name);
	if (str_is(m->row.name, "file")) {
		problem_set(p, ERR_INVALID, "the name \"file\" is that of the server's own token");
		return problem_field(p, field);
	}
	return name_check(m->row.name, field, p);
}

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

/* Whoever computes a list and finds nothing does not mean everything. */
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

static int set_zone(json_t *v, const char *field, void *arg, struct problem *p)
{
	struct making *m = arg;

	if (json_is_null(v))
		return 0;
	if (json_in_str(v, field, NAME_MAX_BYTES, &m->row.zone, p))
		return ERR_INVALID;
	m->row.zone = arena_str(&m->c->arena, m->row.zone);
	return name_check(m->row.zone, field, p);
}

static int set_once(json_t *v, const char *field, void *arg, struct problem *p)
{
	struct making *m = arg;
	bool once = false;
	int rc = json_in_bool(v, field, &once, p);

	m->row.once = once;
	return rc;
}

static int set_expires(json_t *v, const char *field, void *arg, struct problem *p)
{
	struct making *m = arg;
	int64_t now = m->c->host->wall_ms(m->c->host->arg);

	if (json_is_null(v))
		return 0;
	if (json_in_time(v, field, now, 1, &m->row.expires_ms, p))
		return ERR_INVALID;
	if (m->row.expires_ms > now)
		return 0;
	problem_set(p, ERR_INVALID, "\"%s\" lies in the past", field);
	return problem_field(p, field);
}

static const struct json_member members[] = {{"name", set_name}, {"role", set_role},
    {"queues", set_queues}, {"labels", set_labels}, {"once", set_once}, {"zone", set_zone},
    {"expires", set_expires}};

static int check(const struct token_row *t, struct problem *p)
{
	bool join = t->role == ROLE_JOIN;

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

void tokens_create(struct call *c)
{
	struct making *m = call_state(c, sizeof *m);
	json_t *body;
	int rc;

	m->c = c;
	if (!call_body(c, &body))
		return;
	rc = json_in_members(body, "", members, sizeof members / sizeof members[0], m, &c->problem);
	json_decref(body);
	if (rc || check(&m->row, &c->problem)) {
		call_problem(c);
		return;
	}
	draw_secret(m);
	c->on_free = forget_secret;
	call_read(c, make_hash, hash_made);
}
