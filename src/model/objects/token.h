/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tokens and what they allow. A role is a place in a row of rights, each of which holds those
 * before it; beside that a token may be limited to queues and labels. What a token's bearer shows
 * is "rv_ID_SECRET"; the store has a hash of the secret only.
 */
#ifndef MODEL_TOKEN_H
#define MODEL_TOKEN_H

#include "model/id.h"
#include "model/rows/field.h"

#define TOKEN_QUEUES_MAX 16
#define TOKEN_LABELS_MAX 8
#define TOKENS_MAX 1000
#define TOKEN_SECRET_BYTES 32 /* random; twice as many hex digits */
#define TOKEN_HASH_MAX_BYTES 256
#define TOKEN_PREFIX "rv_"

/* name, what it may do */
#define RIGHT_TABLE(X)                                                          \
	X(READ, "read",                                                         \
	    "see tasks, queues, schedules, workers and events, but no output, " \
	    "commands or parameters")                                           \
	X(LOGS, "logs", "and those, too")                                       \
	X(SUBMIT, "submit", "and submit tasks")                                 \
	X(OPERATE, "operate",                                                   \
	    "and cancel, retry and hold them, pause queues, make and "          \
	    "change schedules, set and stop workers")                           \
	X(ADMIN, "admin", "everything: queues, workers and tokens too")

/* What a request needs. RIGHT_NONE: nothing, and nobody is asked who he is. */
enum right {
	RIGHT_NONE,
#define X(id, name, about) RIGHT_##id,
	RIGHT_TABLE(X)
#undef X
	    N_RIGHTS,
};

/* A role is named after the most that it may; `join` only admits workers. */
enum token_role {
#define X(id, name, about) ROLE_##id = RIGHT_##id,
	RIGHT_TABLE(X)
#undef X
	    ROLE_JOIN = N_RIGHTS,
	N_ROLES,
};

struct token_row {
	rid id;
	struct str name;
	int32_t role;
	int32_t once;       /* join: of use for one worker only */
	struct str queues;  /* "name\n" lines; NULL: all */
	struct str labels;  /* "key=value\n" lines that a task must have; NULL: any */
	struct str zone;    /* join: only workers of this one; NULL: any */
	struct str hash;    /* of the secret, as its maker wrote it: "$argon2id$…" */
	struct str creator; /* who made it */
	int64_t ctime_ms;
	int64_t expires_ms; /* 0: never */
	bool damaged;       /* what it says is not certain; not stored */
};

extern const struct row_table token_table; /* model/rows/row.h */
extern const struct field token_fields[];

extern const char *const right_names[N_RIGHTS]; /* [RIGHT_NONE] is "none" */
extern const char *const role_names[N_ROLES];   /* [0] is NULL */
int role_parse(struct str name); /* an enum token_role; 0: there is none of that name */

bool role_may(int role, enum right needed);
bool token_is_limited(const struct token_row *t);
bool token_has_expired(const struct token_row *t, int64_t now_ms);
/* May anybody come in with it who knows its secret? */
bool token_admits(const struct token_row *t, int64_t now_ms);
/* Within the token's limits: a task of this queue with these labels, there or to be submitted. */
bool token_covers(const struct token_row *t, struct str queue, struct str labels);

/*
 * "rv_ID_SECRET" taken apart: ID as text (24 hex digits), SECRET as it stands. False: it does not
 * have that shape. Looks at every byte of it whatever it holds.
 */
bool token_split(struct str text, struct str *ret_id, struct str *ret_secret);
/* "Bearer TOKEN" → TOKEN; NULL when it is something else. */
struct str bearer_of(struct str authorization);

#endif
