/* SPDX-License-Identifier: Apache-2.0 */
/*
 * TZif files (RFC 8536, and version 4 of RFC 9636). Nothing in them is trusted: every count is held
 * against the file's length before anything is allocated, every index against its table.
 *
 *	header, 32-bit block                                    version 1
 *	header, 32-bit block, header, 64-bit block, \n TZ \n    versions 2 to 4; the first block is
 *skipped
 */
#include <string.h>

#include "cron/zone/zone_internal.h"

#define HEADER_BYTES 44
#define TYPE_BYTES 6
#define TRANSITIONS_MAX 4096
#define TYPES_MAX 256 /* an index has one byte */

struct tzif_header {
	char version; /* 0 is version 1 */
	uint32_t n_ut, n_std, n_leaps, n_times, n_types, n_chars;
};

/* Where the tables of a block lie; all inside the file. */
struct tzif_block {
	struct tzif_header h;
	size_t time_bytes; /* of a time: 4 or 8 */
	const uint8_t *times, *indexes, *types, *chars, *leaps;
	const uint8_t *end;
};

static int damaged(struct problem *p, const char *what)
{
	problem_set(p, ERR_INVALID, "the zone file is damaged: %s", what);
	problem_hint(p, "install the tzdata package again");
	return ERR_INVALID;
}

static uint32_t read_u32(const uint8_t *p)
{
	return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static int64_t read_time(const uint8_t *p, size_t bytes)
{
	if (bytes == 4)
		return (int32_t)read_u32(p);
	return (int64_t)((uint64_t)read_u32(p) << 32 | read_u32(p + 4));
}

static int read_header(
    const uint8_t *at, const uint8_t *end, struct tzif_header *ret_header, struct problem *p)
{
	struct tzif_header *h = ret_header;

	if ((size_t)(end - at) < HEADER_BYTES)
		return damaged(p, "it ends inside a header");
	if (memcmp(at, "TZif", 4) != 0) {
		problem_set(
		    p, ERR_INVALID, "this is no zone file: it does not begin with \"TZif\"");
		problem_hint(p, "zone files are those that zic makes, as in /usr/share/zoneinfo");
		return ERR_INVALID;
	}
	h->version = (char)at[4];
	if (h->version != 0 && (h->version < '2' || h->version > '4'))
		return problem_set(p, ERR_INVALID,
		    "the zone file has version byte %u; versions 1 to 4 are known", at[4]);
	h->n_ut = read_u32(at + 20);
	h->n_std = read_u32(at + 24);
	h->n_leaps = read_u32(at + 28);
	h->n_times = read_u32(at + 32);
	h->n_types = read_u32(at + 36);
	h->n_chars = read_u32(at + 40);
	return 0;
}

/* 32-bit counts times less than 16: no overflow in 64 bits. */
static uint64_t block_bytes(const struct tzif_header *h, uint64_t time_bytes)
{
	return h->n_times * (time_bytes + 1) + h->n_types * (uint64_t)TYPE_BYTES + h->n_chars +
	       h->n_leaps * (time_bytes + 4) + h->n_std + h->n_ut;
}

static int find_block(const uint8_t *at, const uint8_t *end, size_t time_bytes,
    struct tzif_block *ret_block, struct problem *p)
{
	struct tzif_block *b = ret_block;
	int rc = read_header(at, end, &b->h, p);

	if (rc < 0)
		return rc;
	at += HEADER_BYTES;
	if (block_bytes(&b->h, time_bytes) > (uint64_t)(end - at))
		return damaged(p, "its tables are longer than the file");
	b->time_bytes = time_bytes;
	b->times = at;
	b->indexes = b->times + b->h.n_times * time_bytes;
	b->types = b->indexes + b->h.n_times;
	b->chars = b->types + b->h.n_types * TYPE_BYTES;
	b->leaps = b->chars + b->h.n_chars;
	b->end = at + block_bytes(&b->h, time_bytes);
	return 0;
}

static int check_counts(const struct tzif_header *h, struct problem *p)
{
	if (h->n_leaps) {
		problem_set(p, ERR_INVALID,
		    "the zone file counts leap seconds (\"right/\"), but the system's clock does "
		    "not");
		problem_hint(p, "use the file of the same name without \"right/\"");
		return ERR_INVALID;
	}
	if (h->n_times > TRANSITIONS_MAX)
		return problem_set(p, ERR_INVALID,
		    "the zone file lists %u transitions; at most %d are taken", h->n_times,
		    TRANSITIONS_MAX);
	if (h->n_types < 1 || h->n_types > TYPES_MAX)
		return damaged(p, "it has no local time types, or more than 256");
	if ((h->n_ut && h->n_ut != h->n_types) || (h->n_std && h->n_std != h->n_types))
		return damaged(p, "its indicators are not as many as its local time types");
	return 0;
}

static int read_abbrev(
    const struct tzif_block *b, uint8_t index, char ret_abbrev[CRON_ABBREV_MAX], struct problem *p)
{
	size_t n = 0, room = index < b->h.n_chars ? b->h.n_chars - index : 0;
	const uint8_t *text = b->chars + index;

	while (n < room && n < CRON_ABBREV_MAX && text[n] > ' ' && text[n] < 0x7f)
		n++;
	if (n == 0 || n == room || n == CRON_ABBREV_MAX || text[n] != 0)
		return damaged(p, "an abbreviation is empty, too long, or not plain text");
	memcpy(ret_abbrev, text, n + 1);
	return 0;
}

static int read_types(const struct tzif_block *b, struct cron_zone *z, struct problem *p)
{
	for (uint32_t i = 0; i < b->h.n_types; i++) {
		const uint8_t *at = b->types + (size_t)i * TYPE_BYTES;
		struct zone_type *type = &z->types[i];
		int rc;

		type->offset = (int32_t)read_u32(at);
		if (type->offset < -CRON_OFFSET_MAX || type->offset > CRON_OFFSET_MAX)
			return damaged(p, "an offset from UTC is more than 26 hours");
		if (at[4] > 1)
			return damaged(p, "a daylight saving mark is neither 0 nor 1");
		type->dst = at[4];
		rc = read_abbrev(b, at[5], type->abbrev, p);
		if (rc < 0)
			return rc;
	}
	return 0;
}

static int read_transitions(const struct tzif_block *b, struct cron_zone *z, struct problem *p)
{
	for (uint32_t i = 0; i < z->n; i++) {
		z->at[i] = read_time(b->times + i * b->time_bytes, b->time_bytes);
		z->type_after[i] = b->indexes[i];
		if (i > 0 && z->at[i] <= z->at[i - 1])
			return damaged(p, "its transitions are not in order");
		if (z->type_after[i] >= b->h.n_types)
			return damaged(
			    p, "a transition leads to a local time type that is not there");
	}
	return 0;
}

/* An empty footer says that the last type holds for ever. */
static int read_footer(
    const uint8_t *at, const uint8_t *end, struct cron_zone *z, struct problem *p)
{
	const uint8_t *stop;
	struct str tz;
	int rc;

	if (at == end || *at != '\n')
		return damaged(p, "its last line is missing");
	at++;
	stop = memchr(at, '\n', (size_t)(end - at));
	if (!stop)
		return damaged(p, "its last line has no end");
	tz = (struct str){(const char *)at, (size_t)(stop - at)};
	if (tz.n == 0)
		return 0;
	rc = zone_rule_parse(tz, &z->rule, p);
	z->has_rule = rc == 0;
	return rc;
}

static int read_zone(
    const struct tzif_block *b, const uint8_t *end, struct cron_zone *z, struct problem *p)
{
	int rc = read_types(b, z, p);

	if (rc == 0)
		rc = read_transitions(b, z, p);
	if (rc == 0 && b->h.version)
		rc = read_footer(b->end, end, z, p);
	return rc;
}

int cron_zone_tzif(const void *bytes, size_t n, struct cron_zone **ret_zone, struct problem *p)
{
	const uint8_t *begin = bytes, *end = begin + n;
	struct tzif_block b;
	struct cron_zone *z;
	int rc;

	if (n > CRON_TZIF_MAX)
		return problem_set(
		    p, ERR_INVALID, "the zone file has more than %d bytes", CRON_TZIF_MAX);
	rc = find_block(begin, end, 4, &b, p);
	if (rc == 0 && b.h.version)
		rc = find_block(b.end, end, 8, &b, p);
	if (rc == 0)
		rc = check_counts(&b.h, p);
	if (rc < 0)
		return rc;
	z = zone_alloc(b.h.n_times, b.h.n_types);
	rc = read_zone(&b, end, z, p);
	if (rc < 0)
		cron_zone_free(z);
	else
		*ret_zone = z;
	return rc;
}
