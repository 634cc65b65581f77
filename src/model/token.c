/* SPDX-License-Identifier: Apache-2.0 */
#include "model/token.h"

#include <string.h>
#include <strings.h>

#include "model/lines.h"

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

const char *const role_abouts[N_ROLES] = {
#define X(id, name, about) [ROLE_##id] = about,
    RIGHT_TABLE(X)
#undef X
        [ROLE_JOIN] = "admit workers, and nothing else",
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

struct token_row *token_row_copy(struct arena *a, const struct token_row *r)
{
	struct token_row *t = arena_memdup(a, r, sizeof *r);

	t->name = arena_str(a, r->name);
	t->queues = arena_str(a, r->queues);
	t->labels = arena_str(a, r->labels);
	t->zone = arena_str(a, r->zone);
	t->hash = arena_str(a, r->hash);
	t->creator = arena_str(a, r->creator);
	return t;
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
