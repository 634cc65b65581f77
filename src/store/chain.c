/* SPDX-License-Identifier: Apache-2.0 */
#include "store/chain.h"

#include <openssl/evp.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"

/* What is hashed begins with this: another encoding would have another word. */
#define ENCODING "reeve audit 1\n"

static void add_number(struct buf *b, uint64_t n)
{
	unsigned char bytes[8];

	for (int i = 0; i < 8; i++)
		bytes[i] = (unsigned char)(n >> (56 - 8 * i));
	buf_add(b, (const char *)bytes, sizeof bytes);
}

/* A text's length first, so that no two rows are spelt alike. None is not the empty text. */
static void add_text(struct buf *b, struct str s)
{
	add_number(b, s.p ? (uint64_t)s.n : UINT64_MAX);
	if (s.n)
		buf_add(b, s.p, s.n);
}

void chain_hash(const struct chain_end *before, const struct event_row *e,
    unsigned char ret_hash[CHAIN_HASH_BYTES])
{
	AUTO(buf_release) struct buf b = {0};

	buf_add_cstr(&b, ENCODING);
	add_number(&b, before->seq);
	buf_add(&b, (const char *)before->hash, CHAIN_HASH_BYTES);
	add_number(&b, e->seq);
	add_number(&b, (uint64_t)e->time_ms);
	add_text(&b, e->kind);
	add_text(&b, e->subject);
	add_text(&b, e->actor);
	add_text(&b, e->detail);
	MUST(EVP_Digest(b.p, b.n, ret_hash, NULL, EVP_sha256(), NULL) == 1);
}

void chain_link(struct chain_end *head, struct event_row *e)
{
	unsigned char hash[CHAIN_HASH_BYTES];

	chain_hash(head, e, hash);
	e->prev = head->seq;
	head->seq = e->seq;
	memcpy(head->hash, hash, sizeof hash);
	e->hash = (struct str){(const char *)head->hash, sizeof hash};
}

void chain_expire(struct chain_end *anchor, const struct event_row *e)
{
	if (e->hash.n != CHAIN_HASH_BYTES)
		return;
	anchor->seq = e->seq;
	memcpy(anchor->hash, e->hash.p, CHAIN_HASH_BYTES);
}

bool event_stays(const struct event_row *e, int64_t before_ms, int64_t newest_ms)
{
	return e->time_ms >= before_ms && (e->time_ms <= newest_ms || newest_ms < before_ms);
}

/* -- "SEQ:HASH", as people keep it */

const char *chain_end_format(const struct chain_end *end, char ret_text[CHAIN_END_TEXT])
{
	int n = snprintf(ret_text, CHAIN_END_TEXT, "%llu:", (unsigned long long)end->seq);

	for (int i = 0; i < CHAIN_HASH_BYTES; i++)
		n += snprintf(ret_text + n, CHAIN_END_TEXT - (size_t)n, "%02x", end->hash[i]);
	return ret_text;
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

bool chain_end_parse(struct str text, struct chain_end *ret_end)
{
	const char *colon = text.n ? memchr(text.p, ':', text.n) : NULL;
	struct str seq = {text.p, colon ? (size_t)(colon - text.p) : 0};
	int64_t n = 0;

	if (!colon || text.n - seq.n != 1 + 2 * CHAIN_HASH_BYTES ||
	    !str_to_i64(seq, 1, INT64_MAX, &n))
		return false;
	ret_end->seq = (uint64_t)n;
	for (int i = 0; i < CHAIN_HASH_BYTES; i++) {
		int high = hex_digit(colon[1 + 2 * i]), low = hex_digit(colon[2 + 2 * i]);

		if (high < 0 || low < 0)
			return false;
		ret_end->hash[i] = (unsigned char)(high << 4 | low);
	}
	return true;
}
