/* SPDX-License-Identifier: Apache-2.0 */
#include "model/objects/token.h"

#include <string.h>
#include <strings.h>

#include "model/lines.h"
#include "model/rows/row.h"

#define ID_DIGITS 24

const char *const right_names[N_RIGHTS] = {[RIGHT_NONE] = "none",
#define X(id, name, about) [RIGHT_##id] = name,
    RIGHT_TABLE(X)
#undef X
};

const char *const role_names[N_ROLES] = {
#define X(id, name, about) [ROLE_##id] = name,
    RIGHT_TABLE(X)
#undef X
        [ROLE_JOIN] = "join",
};

int role_parse(struct str name)
{
	for (int r = 1; r < N_ROLES; r++)
		if (str_is(name, role_names[r]))
			return r;
	return 0;
}

bool role_may(int role, enum right needed)
{
	return role > RIGHT_NONE && role < N_RIGHTS && role >= (int)needed;
}

bool token_is_limited(const struct token_row *t)
{
	return t->queues.n || t->labels.n;
}

bool token_has_expired(const struct token_row *t, int64_t now_ms)
{
	return t->expires_ms && t->expires_ms <= now_ms;
}

bool token_admits(const struct token_row *t, int64_t now_ms)
{
	return !t->damaged && !token_has_expired(t, now_ms);
}

bool token_covers(const struct token_row *t, struct str queue, struct str labels)
{
	struct str rest = t->labels, one;

	if (t->queues.n && !lines_has(t->queues, queue))
		return false;
	while (lines_next(&rest, &one))
		if (!lines_has(labels, one))
			return false;
	return true;
}

static bool are_hex(struct str s)
{
	bool all = true;

	for (size_t i = 0; i < s.n; i++)
		all &= (s.p[i] >= '0' && s.p[i] <= '9') || (s.p[i] >= 'a' && s.p[i] <= 'f');
	return all;
}

bool token_split(struct str text, struct str *ret_id, struct str *ret_secret)
{
	const size_t before = sizeof TOKEN_PREFIX - 1;

	if (text.n != before + ID_DIGITS + 1 + 2 * TOKEN_SECRET_BYTES ||
	    memcmp(text.p, TOKEN_PREFIX, before) != 0 || text.p[before + ID_DIGITS] != '_')
		return false;
	*ret_id = (struct str){text.p + before, ID_DIGITS};
	*ret_secret = (struct str){text.p + before + ID_DIGITS + 1, 2 * TOKEN_SECRET_BYTES};
	return are_hex(*ret_id) && are_hex(*ret_secret);
}

struct str bearer_of(struct str authorization)
{
	if (authorization.n < 7 || strncasecmp(authorization.p, "Bearer ", 7) != 0)
		return STR_NULL;
	return (struct str){authorization.p + 7, authorization.n - 7};
}

#define A(kind, name, field) COLUMN_OF(token_row, kind, name, field, 0)
static const struct column token_columns[] = {
    A(I64, "id", id),
    COLUMN_OF(token_row, TEXT, "name", name, COLUMN_NAME),
    A(I32, "role", role),
    A(I32, "once", once),
    A(TEXT, "queues", queues),
    A(TEXT, "labels", labels),
    A(TEXT, "zone", zone),
    A(TEXT, "hash", hash),
    A(TEXT, "creator", creator),
    A(I64, "ctime_ms", ctime_ms),
    A(I64, "expires_ms", expires_ms),
    COLUMN_SUM_OF("sum", 0),
};

#define F(name, kind, member, bits, text, ...)                \
	FIELD(name, kind, token_row, member, .flags = (bits), \
	    .about = text __VA_OPT__(, ) __VA_ARGS__)
const struct field token_fields[] = {
    F("id", FIELD_ID, id, FIELD_SHOWN, "its id"),
    F("name", FIELD_OBJECT_NAME, name, FIELD_BOTH | FIELD_NEEDED,
        "its name, which no other token has"),
    F("role", FIELD_CHOICE, role, FIELD_BOTH | FIELD_NEEDED | FIELD_NULL_SHOWN,
        "what its bearer may do; join only admits workers", .names = role_names,
        .n_names = N_ROLES),
    F("queues", FIELD_LINES, queues, FIELD_BOTH, "only in these; none: in all",
        .max = TOKEN_QUEUES_MAX),
    F("labels", FIELD_LABELS, labels, FIELD_BOTH, "only tasks that have all of these",
        .max = TOKEN_LABELS_MAX),
    F("once", FIELD_BOOL, once, FIELD_BOTH, "of a join token: for one worker only"),
    F("zone", FIELD_OBJECT_NAME, zone, FIELD_BOTH | FIELD_NULL,
        "of a join token: only workers of this one"),
    F("created", FIELD_TIME, ctime_ms, FIELD_SHOWN, "when it was made"),
    F("creator", FIELD_TEXT, creator, FIELD_SHOWN, "who made it"),
    F("expires", FIELD_TIME, expires_ms, FIELD_BOTH | FIELD_NULL,
        "a time, or so long from now; null: never"),
    FIELD_FOUND("expired", FIELD_BOOL, 0, "its time is over: it admits nobody"),
    F("damaged", FIELD_BOOL, damaged, FIELD_SHOWN, "what it says is not certain: it admits nobody"),
    {NULL},
};

/* One whose rights are not certain admits nobody. It is there to be seen, and revoked. */
static void quarantine(void *row, const struct quarantine_facts *f)
{
	struct token_row *t = row;

	*t = (struct token_row){.id = t->id,
	    .name = f->name,
	    .creator = STR(""),
	    .ctime_ms = quarantine_time_ms(f, t->ctime_ms),
	    .damaged = true};
}

const struct row_table token_table = {
    ROW_TABLE(TABLE_TOKEN, "token", token_row, token_columns),
    .n_key = 1,
    .has_id = true,
    .is_loaded = true,
    .quarantine = quarantine,
    .quarantined = "admits nobody: make another",
};
