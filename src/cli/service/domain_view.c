/* SPDX-License-Identifier: Apache-2.0 */
/* Domains for people: in a list, and all about one. */
#include "base/mem.h"
#include "cli/service/services.h"

static char *fresh_words(const struct cli *c, const json_t *domain)
{
	char until[TIME_TEXT_MAX];

	if (!jb(domain, "fresh"))
		return xstrdup("no");
	if (!jhas(domain, "fresh_until"))
		return xstrdup("for ever");
	return xasprintf("yes, it ends %s", jago(domain, "fresh_until", until));
}

static const struct heading columns[] = {
    {"DOMAIN", HEADING_STRETCH | HEADING_NAME, {SHOWN_TEXT, "name"}},
    {"FRESH", 0, {.words = fresh_words}},
    {"TTL", HEADING_RIGHT, {SHOWN_SPAN, "ttl_ms", "for ever"}},
    {"SERVICES", HEADING_RIGHT, {SHOWN_COUNT, "services"}},
    {"CHANGED", HEADING_RIGHT, {SHOWN_AGO, "mtime"}},
};

const struct listing domain_list = {.columns = columns,
    .n_columns = N_OF(columns),
    .most = 1000000,
    .none = "there are no domains: nothing is ever stopped as surplus",
    .none_such = "there is no such domain"};

static const struct fact facts[] = {
    {"domain", {SHOWN_TEXT, "name"}},
    {"id", {SHOWN_TEXT, "id"}},
    {"fresh", {.words = fresh_words}},
    {"time to live", {SHOWN_SPAN, "ttl_ms", "for ever"}},
    {"services", {SHOWN_COUNT, "services"}},
    {"made", {SHOWN_TIME, "ctime"}},
    {"changed", {SHOWN_TIME, "mtime"}},
};

const struct view domain_view = {facts, N_OF(facts)};
