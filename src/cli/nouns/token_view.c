/* SPDX-License-Identifier: Apache-2.0 */
/* Tokens for people: what they allow, and until when; never their secrets. */
#include "base/mem.h"
#include "cli/nouns/noun.h"

static char *role_words(const struct cli *c, const json_t *token)
{
	return xasprintf("%s%s", jb(token, "damaged") ? "damaged" : js(token, "role"),
	    jb(token, "once") ? " (once)" : "");
}

static char *queues_words(const struct cli *c, const json_t *token)
{
	static const struct value queues = {SHOWN_NAMES, "queues", "all"};

	return jb(token, "damaged") ? xstrdup("none") : value_text(c, &queues, token);
}

static char *expires_words(const struct cli *c, const json_t *token)
{
	static const struct value expires = {SHOWN_AGO, "expires", "never"};

	return jb(token, "expired") ? xstrdup("expired") : value_text(c, &expires, token);
}

static const struct heading columns[] = {
    {"NAME", 0, {SHOWN_TEXT, "name"}},
    {"ROLE", 0, {.words = role_words}},
    {"QUEUES", HEADING_STRETCH, {.words = queues_words}},
    {"LABELS", HEADING_STRETCH, {SHOWN_PAIRS, "labels"}},
    {"ZONE", 0, {SHOWN_TEXT, "zone"}},
    {"EXPIRES", 0, {.words = expires_words}},
    {"CREATED", 0, {SHOWN_AGO, "created"}},
    {"BY", HEADING_WIDE, {SHOWN_TEXT, "creator"}},
    {"ID", HEADING_WIDE, {SHOWN_TEXT, "id"}},
};

const struct listing token_list = {.columns = columns,
    .n_columns = N_OF(columns),
    .most = 1000000,
    .none = "there are no tokens but the server's own; `reeve token create` makes one"};
