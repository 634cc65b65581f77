/* SPDX-License-Identifier: Apache-2.0 */
#include "server/workers/join.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/secret.h"
#include "base/world/clock.h"
#include "model/limits.h"
#include "server/http/token_crypto.h"

#define PASSES 64 /* kept at a time; who is forgotten is looked at again */
#define WRONG 64  /* the same for those who are to be told that their secret is none */
#define KEY_TEXT 128

/* Somebody whose token was found good. One that was good for one use is bound to its user's key. */
struct pass {
	rid token;
	bool used_up;
	unsigned char mac[TOKEN_MAC_BYTES];
	char key[KEY_TEXT];
	char *zone, *name;
};

struct join {
	struct engine *engine;
	struct readers *readers;
	struct token_key key;
	struct pass passes[PASSES];
	size_t next;
	/* What did not fit: its bearer has been sent away to dial again, and hears of it then. To
	 * guess is no cheaper for that: another secret is another look, one at a time as ever. */
	unsigned char wrong[WRONG][TOKEN_MAC_BYTES];
	size_t n_wrong;
	bool busy; /* one look at a time */
	/* what is being looked at */
	struct {
		struct pass pass;
		char *hash, *secret, *shard;
		bool once, fits;
	} look;
};

void join_write_down(
    struct join *j, struct str actor, struct str claimed, struct str shard, const char *why)
{
	struct event ev = {.kind = EV_REFUSED, .actor = actor};

	if (!core_is_open(engine_core(j->engine)))
		return;
	ev.refused.subject = STR("join");
	ev.refused.why = str_of(why);
	ev.refused.token = claimed;
	ev.refused.worker = shard;
	engine_step(j->engine, &ev);
}

static void pass_release(struct pass *p)
{
	free(p->zone);
	free(p->name);
	*p = (struct pass){0};
}

static void keep_pass(struct join *j)
{
	struct pass *p = &j->passes[j->next++ % PASSES];

	pass_release(p);
	*p = j->look.pass;
	j->look.pass = (struct pass){0};
}

static void look_over(struct join *j)
{
	pass_release(&j->look.pass);
	free(j->look.hash);
	free(j->look.shard);
	if (j->look.secret)
		explicit_bzero(j->look.secret, strlen(j->look.secret));
	free(j->look.secret);
	j->look.hash = j->look.secret = j->look.shard = NULL;
	j->busy = false;
}

/* The token was used up, durably: only now it lets somebody in, and nobody else. */
static void used(const struct reply *r, void *arg)
{
	struct join *j = arg;

	if (r->code == 0) {
		j->look.pass.used_up = true;
		keep_pass(j);
	}
	look_over(j);
}

static void use_up(struct join *j)
{
	struct event ev = {.kind = EV_DO, .object = {.kind = KIND_TOKEN, .verb = TOKEN_USE}};
	char actor[sizeof "worker:" + NAME_MAX_BYTES];

	snprintf(actor, sizeof actor, "worker:%s", j->look.shard);
	ev.actor = str_of(actor);
	ev.object.id = j->look.pass.token;
	ev.object.reason = str_of(j->look.shard);
	engine_command(j->engine, &ev, used, j);
}

static void refuse_wrong(struct join *j, struct str name, struct str shard)
{
	join_write_down(j, STR("unknown"), name, shard, "this is not the secret of this token");
}

static bool is_known_wrong(const struct join *j, struct str token)
{
	unsigned char mac[TOKEN_MAC_BYTES];

	token_mac(&j->key, token, mac);
	for (size_t i = 0; i < WRONG && i < j->n_wrong; i++)
		if (secret_equal((struct str){(char *)mac, sizeof mac},
		        (struct str){(const char *)j->wrong[i], sizeof mac}))
			return true;
	return false;
}

static void looked(void *arg)
{
	struct join *j = arg;

	if (!j->look.fits) {
		memcpy(j->wrong[j->n_wrong++ % WRONG], j->look.pass.mac, TOKEN_MAC_BYTES);
		refuse_wrong(j, str_of(j->look.pass.name), str_of(j->look.shard));
		look_over(j);
	} else if (!core_is_open(engine_core(j->engine))) {
		look_over(j);
	} else if (j->look.once) {
		use_up(j);
	} else {
		keep_pass(j);
		look_over(j);
	}
}

static void look(struct store_reader *r, void *arg)
{
	struct join *j = arg;

	j->look.fits = token_fits(str_of(j->look.hash), str_of(j->look.secret));
}

static void begin_look(struct join *j, const struct token_row *t, struct str token,
    struct str secret, struct str shard, struct str key)
{
	struct pass *p = &j->look.pass;

	j->busy = true;
	p->token = t->id;
	token_mac(&j->key, token, p->mac);
	snprintf(p->key, sizeof p->key, STR_FMT, STR_ARG(key));
	p->zone = t->zone.p ? xstrndup(t->zone.p, t->zone.n) : NULL;
	p->name = xstrndup(t->name.p, t->name.n);
	j->look.shard = xstrndup(shard.p, shard.n);
	j->look.hash = xstrndup(t->hash.p, t->hash.n);
	j->look.secret = xstrndup(secret.p, secret.n);
	j->look.once = t->once;
	j->look.fits = false;
	readers_run(j->readers, false, look, looked, j);
}

static const struct token_row *good_row(struct join *j, rid id)
{
	const struct token_row *t = core_token(engine_core(j->engine), id);

	return t && t->role == ROLE_JOIN && token_admits(t, clock_wall_ms()) ? t : NULL;
}

static const struct pass *find_pass(struct join *j, struct str token, struct str key)
{
	unsigned char mac[TOKEN_MAC_BYTES];

	token_mac(&j->key, token, mac);
	for (size_t i = 0; i < PASSES; i++) {
		const struct pass *p = &j->passes[i];

		if (p->key[0] &&
		    secret_equal((struct str){(char *)mac, sizeof mac},
		        (struct str){(const char *)p->mac, sizeof mac}) &&
		    (p->used_up ? str_is(key, p->key) : good_row(j, p->token) != NULL))
			return p;
	}
	return NULL;
}

/* Has this very worker joined before? */
static bool is_member(struct join *j, struct str shard, struct str key, struct str *ret_zone)
{
	const struct core *c = engine_core(j->engine);
	rid id = core_find(c, KIND_WORKER, shard);
	struct worker_view v;

	if (!id || !core_worker(c, id, 0, &v) || v.state == WORKER_MUST_DIE || !key.n ||
	    !str_eq(v.row->facts.key, key))
		return false;
	*ret_zone = v.row->facts.zone;
	return true;
}

static const char *why_not(const struct token_row *t)
{
	if (!t)
		return "there is no such join token, or no more: it was revoked or used up";
	if (t->role != ROLE_JOIN)
		return "this token does not admit workers";
	return t->damaged ? "this token is damaged in the store" : "this token has expired";
}

/* By what is known of the token that it names. */
static enum join_answer refuse(struct join *j, rid id, struct str shard)
{
	const struct token_row *t = id ? core_token(engine_core(j->engine), id) : NULL;

	join_write_down(j, STR("unknown"), t ? t->name : STR_NULL, shard, why_not(t));
	return JOIN_NO;
}

enum join_answer join_ask(struct join *j, struct str token, struct str shard, struct str key,
    struct join_terms *ret_terms)
{
	const struct token_row *t;
	const struct pass *p;
	struct str id_text, secret;
	rid id = 0;

	*ret_terms = (struct join_terms){0};
	if (!token_split(token, &id_text, &secret) || key.n >= KEY_TEXT)
		return JOIN_NO;
	if (!core_is_open(engine_core(j->engine)))
		return JOIN_LATER;
	if (is_member(j, shard, key, &ret_terms->zone))
		return JOIN_YES;
	if ((p = find_pass(j, token, key))) {
		*ret_terms = (struct join_terms){str_of(p->zone), str_of(p->name), p->token};
		return JOIN_YES;
	}
	t = id_parse(engine_ids(j->engine), id_text, &id) && id ? good_row(j, id) : NULL;
	if (!t)
		return refuse(j, id, shard);
	if (is_known_wrong(j, token)) {
		refuse_wrong(j, t->name, shard);
		return JOIN_NO;
	}
	if (!j->busy)
		begin_look(j, t, token, secret, shard, key);
	return JOIN_LATER;
}

struct join *join_new(struct engine *e, struct readers *r)
{
	struct join *j = xcalloc(1, sizeof *j);

	j->engine = e;
	j->readers = r;
	token_random(j->key.bytes, sizeof j->key.bytes);
	return j;
}

void join_free(struct join *j)
{
	if (!j)
		return;
	look_over(j);
	for (size_t i = 0; i < PASSES; i++)
		pass_release(&j->passes[i]);
	free(j);
}
