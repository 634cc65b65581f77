/* SPDX-License-Identifier: Apache-2.0 */
/* Tokens: kept, found, revoked. Whether a secret fits is for others to say. */
#include "core/state.h"

#include <stdlib.h>
#include <string.h>

#include "base/timefmt.h"
#include "model/lines.h"

struct token {
	struct object object;
	struct token_row row; /* the row's strings are owned, in `strings` */
	char *strings;
};

static void load(struct core *c, const void *row)
{
	struct token *t = xcalloc(1, sizeof *t);

	t->row = *(const struct token_row *)row;
	row_own(&token_table, &t->row, &t->strings);
	object_add(c, &t->object, KIND_TOKEN, t->row.id, t->row.name);
}

static void forget(struct core *c, struct token *t)
{
	object_del(c, &t->object);
	free(t->strings);
	free(t);
}

static void release(struct core *c)
{
	struct token *t;

	while ((t = object_first(c, KIND_TOKEN)))
		forget(c, t);
}

const struct token_row *core_token(const struct core *c, rid id)
{
	struct token *t = object_find(c, KIND_TOKEN, id);

	return t ? &t->row : NULL;
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

static int create(
    struct core *c, const struct event *ev, rid id, struct reply *r, struct effects *out)
{
	struct token_row row = *(const struct token_row *)ev->object.row;
	struct arena *a = &out->batch.arena;

	row.id = id;
	row.ctime_ms = c->now_ms;
	row.creator = ev->actor;
	load(c, &row);
	batch_put(&out->batch, &token_table, row_new(a, &token_table, &row));
	object_audit(
	    c, object_find(c, KIND_TOKEN, id), OBJECT_CREATED, ev->actor, words_of(a, &row), out);
	return 0;
}

static void drop(struct core *c, struct object *o, const char *what, const struct event *ev,
    struct str detail, struct effects *out)
{
	batch_delete(&out->batch, &token_table, o->id);
	audit_object(c, what, o, ev->actor, detail, out);
	forget(c, (struct token *)o);
}

static int revoke(
    struct core *c, struct object *o, const struct event *ev, struct reply *r, struct effects *out)
{
	drop(c, o, token_kind.events[OBJECT_DELETED], ev, STR_NULL, out);
	return 0;
}

static int use(
    struct core *c, struct object *o, const struct event *ev, struct reply *r, struct effects *out)
{
	drop(
	    c, o, "token.used", ev, detail_of(&out->batch.arena, "worker", ev->object.reason), out);
	return 0;
}

const struct object_kind token_kind = {
    .table = &token_table,
    .events = {[OBJECT_CREATED] = "token.created", [OBJECT_DELETED] = "token.revoked"},
    .max = TOKENS_MAX,
    .full = "revoke those that nobody uses",
    .taken = HINT_REVOKE,
    .load = load,
    .create = create,
    .remove = revoke,
    .act = use,
    .release = release,
};
