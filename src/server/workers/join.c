/* SPDX-License-Identifier: Apache-2.0 */
#include "server/workers/join.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/secret.h"
#include "server/http/token_crypto.h"

#define PASSES 64 /* kept at a time; who is forgotten is looked at again */
#define KEY_TEXT 128

/* Somebody whose token was found good. One that was good for one use is bound to its user's key. */
struct pass {
	rid token; /* 0: it was used up */
	unsigned char mac[TOKEN_MAC_BYTES];
	char key[KEY_TEXT];
	char *zone;
};

struct join {
	struct engine *engine;
	struct readers *readers;
	struct token_key key;
	struct pass passes[PASSES];
	size_t next;
	bool busy; /* one look at a time */
	/* what is being looked at */
	struct {
		struct pass pass;
		char *hash, *secret;
		bool once, fits;
	} look;
};

static void pass_release(struct pass *p)
{
	free(p->zone);
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
	if (j->look.secret)
		explicit_bzero(j->look.secret, strlen(j->look.secret));
	free(j->look.secret);
	j->look.hash = j->look.secret = NULL;
	j->busy = false;
}

/* It was used up, durably: only now it lets somebody in, and nobody else. */
static void used(const struct reply *r, void *arg)
{
	struct join *j = arg;

	if (r->code == 0) {
		j->look.pass.token = 0;
		keep_pass(j);
	}
	look_over(j);
}

static void looked(void *arg)
{
	struct join *j = arg;
	struct event ev = {.kind = EV_TOKEN_REVOKE, .actor = STR("worker")};

	if (!j->look.fits || !core_is_open(engine_core(j->engine))) {
		look_over(j);
	} else if (j->look.once) {
		ev.token.id = j->look.pass.token;
		ev.token.used = true;
		engine_command(j->engine, &ev, used, j);
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

static void begin_look(
    struct join *j, const struct token_row *t, struct str token, struct str secret, struct str key)
{
	struct pass *p = &j->look.pass;

	j->busy = true;
	p->token = t->id;
	token_mac(&j->key, token, p->mac);
	snprintf(p->key, sizeof p->key, STR_FMT, STR_ARG(key));
	p->zone = t->zone.p ? xstrndup(t->zone.p, t->zone.n) : NULL;
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
		    (p->token ? good_row(j, p->token) != NULL : str_is(key, p->key)))
			return p;
	}
	return NULL;
}

/* Has this very worker joined before? */
static bool is_member(struct join *j, struct str shard, struct str key, struct str *ret_zone)
{
	const struct core *c = engine_core(j->engine);
	rid id = core_worker_by_name(c, shard);
	struct worker_view v;

	if (!id || !core_worker(c, id, 0, &v) || v.state == WORKER_MUST_DIE || !key.n ||
	    !str_eq(v.row->facts.key, key))
		return false;
	*ret_zone = v.row->facts.zone;
	return true;
}

enum join_answer join_ask(
    struct join *j, struct str token, struct str shard, struct str key, struct str *ret_zone)
{
	const struct token_row *t;
	const struct pass *p;
	struct str id_text, secret;
	rid id;

	*ret_zone = STR_NULL;
	if (!token_split(token, &id_text, &secret) || key.n >= KEY_TEXT)
		return JOIN_NO;
	if (!core_is_open(engine_core(j->engine)))
		return JOIN_LATER;
	if (is_member(j, shard, key, ret_zone))
		return JOIN_YES;
	if ((p = find_pass(j, token, key))) {
		*ret_zone = str_of(p->zone);
		return JOIN_YES;
	}
	t = id_parse(engine_ids(j->engine), id_text, &id) && id ? good_row(j, id) : NULL;
	if (!t)
		return JOIN_NO;
	if (!j->busy)
		begin_look(j, t, token, secret, key);
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
