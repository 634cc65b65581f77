/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The caller of a request. A secret is held against its hash on a reader's thread, one at a time,
 * in a short line of which each token may take only a part: a flood of wrong ones costs others a
 * moment at most. A token that was found good is known by a keyed hash from then on, until it is
 * gone.
 */
#include <stdlib.h>
#include <string.h>

#include "api/frame/call.h"
#include "base/secret.h"

#define CHECKS_AT_ONCE 1
#define LINE_MAX 64
#define LINE_OF_ONE_MAX 8 /* for one and the same token */

void access_init(struct access *x)
{
	TAILQ_INIT(&x->line);
}

void access_release(struct access *x)
{
	free(x->known);
}

/* More than its bearer is told: he may be guessing. */
static const char *why_not_good(struct call *c, const struct token_row *t)
{
	if (t->damaged)
		return "this token is damaged in the store";
	if (token_has_expired(t, c->host->wall_ms(c->host->arg)))
		return "this token has expired";
	return t->role == ROLE_JOIN ? "this token only admits workers"
	                            : "this is not the secret of this token";
}

void access_write_down(struct call *c, const struct problem *p)
{
	struct event ev = {.kind = EV_REFUSED, .actor = call_actor(c)};
	const struct token_row *claimed;

	if (!core_is_open(c->host->core))
		return;
	claimed = c->who.name.p || !c->shown ? NULL : core_token(c->host->core, c->shown);
	ev.refused.subject = c->route ? str_of(c->route->name) : STR("nothing");
	ev.refused.why = str_of(claimed ? why_not_good(c, claimed) : p->what);
	ev.refused.token = claimed ? claimed->name : STR_NULL;
	c->host->tell(c->host->arg, &ev);
}

void access_refuse(struct call *c)
{
	access_write_down(c, &c->problem);
	call_problem(c);
}

static enum admission unknown(struct call *c)
{
	call_header(c, "WWW-Authenticate", "Bearer realm=\"reeve\"");
	problem_set(&c->problem, ERR_UNAUTHORIZED,
	    c->req.authorization.p ? "the token is not a good one"
	                           : "this address is served only with a token");
	problem_hint(&c->problem,
	    "send it as \"Authorization: Bearer TOKEN\"; the server's own is in "
	    "the file \"token\" of its state directory, reeve token create makes others");
	access_refuse(c);
	return REFUSED;
}

static enum admission stranger_on_socket(struct call *c)
{
	problem_set(&c->problem, ERR_DENIED, "uid %u may not use this socket", c->req.uid);
	problem_hint(&c->problem, "run as root or as the server's user (uid %u), or show a token",
	    c->api->opt.server_uid);
	access_refuse(c);
	return REFUSED;
}

static struct known_token *find_known(struct access *x, rid token)
{
	for (size_t i = 0; i < x->n_known; i++)
		if (x->known[i].token == token)
			return &x->known[i];
	return NULL;
}

static bool is_known(struct call *c, rid token)
{
	const struct known_token *k = find_known(&c->api->access, token);
	unsigned char mac[SECRET_MAC_BYTES];

	if (!k)
		return false;
	c->host->secret_mac(c->host->arg, bearer_of(c->req.authorization), mac);
	return secret_equal((struct str){(const char *)mac, sizeof mac},
	    (struct str){(const char *)k->mac, sizeof mac});
}

static void remember(struct call *c, rid token)
{
	struct access *x = &c->api->access;
	struct known_token *k = find_known(x, token);

	if (!k) {
		GROW(x->known, x->cap_known, x->n_known + 1);
		k = &x->known[x->n_known++];
		k->token = token;
	}
	c->host->secret_mac(c->host->arg, bearer_of(c->req.authorization), k->mac);
}

static void forget_gone(struct api *a)
{
	struct access *x = &a->access;

	for (size_t i = x->n_known; i-- > 0;)
		if (!core_token(a->host.core, x->known[i].token))
			x->known[i] = x->known[--x->n_known];
}

static const struct token_row *token_of(struct call *c, rid id)
{
	const struct token_row *t = core_token(c->host->core, id);

	if (!t || t->role == ROLE_JOIN || !token_admits(t, c->host->wall_ms(c->host->arg)))
		return NULL;
	return t;
}

static void expire_later(struct call *c, const struct token_row *t);

/* The clock may have been set meanwhile: then it has not expired yet. */
static void on_expiry(void *arg)
{
	struct call *c = arg;
	const struct token_row *t = token_of(c, c->who.token);

	c->expiry = NULL;
	if (t)
		expire_later(c, t);
	else
		access_sweep(c->api);
}

/* For what goes on for long: streams, and those who wait. */
static void expire_later(struct call *c, const struct token_row *t)
{
	int64_t left = t->expires_ms - c->host->wall_ms(c->host->arg);

	if (t->expires_ms)
		c->expiry = c->host->timer(c->host->arg, left > 0 ? left + 1 : 1, on_expiry, c);
}

static enum admission admit(struct call *c, const struct token_row *t)
{
	c->who = (struct principal){
	    .name = arena_strf(&c->arena, "token:" STR_FMT, STR_ARG(t->name)),
	    .role = t->role,
	    .token = t->id,
	    .limit = token_is_limited(t) ? row_new(&c->arena, &token_table, t) : NULL,
	};
	expire_later(c, t);
	return ADMITTED;
}

/* One secret against one hash, off the loop. Lives in the arena of a call that is held. */
struct checking {
	struct call *c;
	const struct api_host *host;
	rid token;
	struct str hash, secret;
	bool fits;
};

static void check_next(struct api *a);

static void check_work(struct store_reader *r, void *arg)
{
	struct checking *k = arg;

	k->fits = k->host->secret_fits(k->hash, k->secret);
}

static void check_done(void *arg)
{
	struct checking *k = arg;
	struct call *c = k->c;
	struct api *a = c->api;
	const struct token_row *t = k->fits ? token_of(c, k->token) : NULL;
	bool over = c->over;

	a->access.n_checking--;
	if (t && !over)
		remember(c, k->token);
	call_unhold(c);
	if (!over && t && admit(c, t) == ADMITTED)
		call_go_on(c);
	else if (!over)
		unknown(c);
	check_next(a);
}

static void check_start(struct call *c, const struct token_row *t)
{
	struct checking *k = arena_zalloc(&c->arena, sizeof *k);
	struct str id;

	k->c = c;
	k->host = c->host;
	k->token = t->id;
	k->hash = arena_str(&c->arena, t->hash);
	token_split(bearer_of(c->req.authorization), &id, &k->secret);
	k->secret = arena_str(&c->arena, k->secret);
	call_hold(c);
	c->api->access.n_checking++;
	c->host->read(c->host->arg, false, check_work, check_done, k);
}

static void leave_line(struct call *c)
{
	TAILQ_REMOVE(&c->api->access.line, c, in_line);
	c->api->access.n_line--;
	c->on_over = NULL;
}

static void check_next(struct api *a)
{
	struct call *c;
	const struct token_row *t;

	while (a->access.n_checking < CHECKS_AT_ONCE && (c = TAILQ_FIRST(&a->access.line))) {
		leave_line(c);
		t = token_of(c, c->shown);
		if (!t)
			unknown(c);
		else if (is_known(c, t->id) && admit(c, t) == ADMITTED)
			call_go_on(c);
		else
			check_start(c, t);
	}
}

static enum admission line_is_full(struct call *c)
{
	call_fail(c, ERR_BUSY, "too many tokens are being looked at");
	return REFUSED;
}

static enum admission stand_in_line(struct call *c, rid token)
{
	struct access *x = &c->api->access;
	struct call *other;
	int same = 0;

	TAILQ_FOREACH (other, &x->line, in_line)
		same += other->shown == token;
	if (x->n_line >= LINE_MAX || same >= LINE_OF_ONE_MAX)
		return line_is_full(c);
	TAILQ_INSERT_TAIL(&x->line, c, in_line);
	x->n_line++;
	c->on_over = leave_line;
	return LATER;
}

/* A token of the store: known already, or to be looked at. */
static enum admission by_token(struct call *c)
{
	const struct token_row *t;
	struct str id, secret;
	rid token;

	if (!token_split(bearer_of(c->req.authorization), &id, &secret) ||
	    !id_parse(c->host->ids, id, &token) || !token)
		return unknown(c);
	if (!core_is_open(c->host->core)) {
		call_fail(c, ERR_BUSY, "the server is still loading its tokens");
		return REFUSED;
	}
	c->shown = token;
	t = token_of(c, token);
	if (!t)
		return unknown(c);
	if (is_known(c, token))
		return admit(c, t);
	if (c->api->access.n_checking >= CHECKS_AT_ONCE)
		return stand_in_line(c, token);
	check_start(c, t);
	return LATER;
}

enum admission access_identify(struct call *c)
{
	const struct api_options *o = &c->api->opt;

	if (c->req.is_unix && (c->req.uid == 0 || c->req.uid == o->server_uid)) {
		c->who = (struct principal){
		    arena_strf(&c->arena, "uid=%u", c->req.uid), ROLE_ADMIN, 0, NULL};
		return ADMITTED;
	}
	if (secret_equal(bearer_of(c->req.authorization), str_of(o->token))) {
		c->who = (struct principal){STR("token:file"), ROLE_ADMIN, 0, NULL};
		return ADMITTED;
	}
	if (c->req.is_unix && !c->req.authorization.p)
		return stranger_on_socket(c);
	return by_token(c);
}

bool access_is_over(struct call *c)
{
	if (!c->who.token || token_of(c, c->who.token))
		return false;
	if (c->streaming)
		call_stream_end(c);
	else
		unknown(c);
	return true;
}

/* A reader may be using what belongs to a call: then it is sent away afterwards. */
static bool is_at_rest(const struct call *c)
{
	return !c->over && (c->streaming || c->pending == 0) && c->who.token;
}

/* What a call does when it ends may end others: from the start again after each. */
void access_sweep(struct api *a)
{
	struct call *c;

	forget_gone(a);
	do {
		TAILQ_FOREACH (c, &a->calls, link)
			if (is_at_rest(c) && access_is_over(c))
				break;
	} while (c);
}

bool access_sees(const struct call *c, enum right needed)
{
	return role_may(c->who.role, needed);
}

bool access_may(struct call *c, enum right needed)
{
	if (!access_sees(c, needed)) {
		problem_set(&c->problem, ERR_DENIED, "%.64s has the role %s, and this takes %s",
		    c->who.name.p, role_names[c->who.role], right_names[needed]);
		problem_hint(&c->problem, "reeve token create --role %s makes a token that may",
		    right_names[needed]);
	} else if (c->who.limit && !(c->route->flags & ROUTE_SCOPED)) {
		problem_set(&c->problem, ERR_DENIED,
		    "%.64s is limited to queues or labels, and this is about all of them",
		    c->who.name.p);
		problem_hint(&c->problem, "use a token without limits");
	} else {
		return true;
	}
	access_refuse(c);
	return false;
}
