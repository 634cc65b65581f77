/* SPDX-License-Identifier: Apache-2.0 */
/* Tokens: kept, found, revoked. Whether a secret fits is for others to say. */
#include "core/internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/timefmt.h"
#include "model/lines.h"

int token_id_cmp(const struct token *x, const struct token *y)
{
	return x->row->id < y->row->id ? -1 : x->row->id > y->row->id;
}

RB_GENERATE(token_ids, token, by_id, token_id_cmp)

static struct token *find(const struct core *c, rid id)
{
	struct token_row row = {.id = id};
	struct token probe = {.row = &row};

	return RB_FIND(token_ids, (struct token_ids *)&c->tokens, &probe);
}

void token_load(struct core *c, const struct token_row *row)
{
	struct token *t = xcalloc(1, sizeof *t);

	t->row = row_new(&t->arena, &token_table, row);
	RB_INSERT(token_ids, &c->tokens, t);
	c->n_tokens++;
}

static void drop(struct core *c, struct token *t)
{
	RB_REMOVE(token_ids, &c->tokens, t);
	c->n_tokens--;
	arena_release(&t->arena);
	free(t);
}

void tokens_release(struct core *c)
{
	struct token *t;

	while ((t = RB_MIN(token_ids, &c->tokens)))
		drop(c, t);
}

const struct token_row *core_token(const struct core *c, rid id)
{
	struct token *t = find(c, id);

	return t ? t->row : NULL;
}

const struct token_row *core_token_next(const struct core *c, rid after)
{
	struct token_row row = {.id = after + 1};
	struct token probe = {.row = &row};
	struct token *t = RB_NFIND(token_ids, (struct token_ids *)&c->tokens, &probe);

	return t ? t->row : NULL;
}

const struct token_row *core_token_by_name(const struct core *c, struct str name)
{
	const struct token_row *t = NULL;

	while ((t = core_token_next(c, t ? t->id : 0)))
		if (str_eq(t->name, name))
			return t;
	return NULL;
}

static void add_queues(struct buf *b, struct str queues)
{
	struct str one;

	if (!queues.n)
		return;
	for (const char *before = ",\"queues\":["; lines_next(&queues, &one); before = ",") {
		buf_add_cstr(b, before);
		detail_add_str(b, one);
	}
	buf_add_char(b, ']');
}

static void add_labels(struct buf *b, struct str labels)
{
	struct str one;

	if (!labels.n)
		return;
	for (const char *before = ",\"labels\":{"; lines_next(&labels, &one); before = ",") {
		const char *equals = memchr(one.p, '=', one.n);
		size_t n = equals ? (size_t)(equals - one.p) : one.n;

		buf_add_cstr(b, before);
		detail_add_str(b, (struct str){one.p, n});
		buf_add_char(b, ':');
		detail_add_str(b, equals ? (struct str){equals + 1, one.n - n - 1} : STR(""));
	}
	buf_add_char(b, '}');
}

/* What it allows, whom and for how long: the row itself is gone when it is revoked. */
static struct str words_of(struct arena *a, const struct token_row *row)
{
	char time[TIME_TEXT_MAX];
	struct buf b = {0};
	struct str kept;

	buf_printf(&b, "{\"role\":\"%s\"", role_names[row->role]);
	add_queues(&b, row->queues);
	add_labels(&b, row->labels);
	if (row->zone.n) {
		buf_add_cstr(&b, ",\"zone\":");
		detail_add_str(&b, row->zone);
	}
	if (row->once)
		buf_add_cstr(&b, ",\"once\":true");
	if (row->expires_ms)
		buf_printf(&b, ",\"expires\":\"%s\"", time_format_ms(row->expires_ms, time));
	buf_add_char(&b, '}');
	kept = arena_str(a, buf_str(&b));
	buf_release(&b);
	return kept;
}

static int create(struct core *c, const struct event *ev, struct reply *r, struct effects *out)
{
	struct token_row row = *ev->token.row;
	struct arena *a = &out->batch.arena;

	if (core_token_by_name(c, row.name)) {
		problem_set(r->problem, ERR_CONFLICT, "there is a token \"" STR_FMT "\" already",
		    STR_ARG(row.name));
		return problem_hint(r->problem, "revoke it, or choose another name");
	}
	if (c->n_tokens >= TOKENS_MAX) {
		problem_set(r->problem, ERR_CONFLICT, "there are %d tokens already", TOKENS_MAX);
		return problem_hint(r->problem, "revoke those that nobody uses");
	}
	r->id = row.id = c->last_id = id_next(c->last_id, c->now_ms);
	row.ctime_ms = c->now_ms;
	row.creator = ev->actor;
	token_load(c, &row);
	batch_put(&out->batch, &token_table, row_new(a, &token_table, &row));
	audit(c, "token.created", row.name, 0, 0, ev->actor, words_of(a, &row), out);
	return 0;
}

static int revoke(struct core *c, const struct event *ev, struct reply *r, struct effects *out)
{
	struct token *t = find(c, ev->token.id);

	if (!t)
		return problem_set(r->problem, ERR_NOT_FOUND, "there is no such token any more");
	r->id = t->row->id;
	batch_delete(&out->batch, &token_table, t->row->id);
	audit(c, ev->token.used ? "token.used" : "token.revoked", t->row->name, 0, 0, ev->actor,
	    detail_of(&out->batch.arena, "worker", ev->token.worker), out);
	drop(c, t);
	return 0;
}

int run_token_command(struct core *c, const struct event *ev, struct reply *r, struct effects *out)
{
	if (ev->kind == EV_TOKEN_CREATE)
		return create(c, ev, r, out);
	return revoke(c, ev, r, out);
}
