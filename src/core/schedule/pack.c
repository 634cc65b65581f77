/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A schedule's row in few bytes: most of its numbers are zero or small, and its strings are short.
 * Numbers are zigzag varints, strings have their length plus one before them (0: NULL). The name
 * and the items are not in here: the schedule has them itself.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "core/schedule/schedule.h"

struct packer {
	uint8_t *at; /* NULL: only reading */
	const uint8_t *from;
	struct arena *arena; /* reading: where strings go; NULL: they stay where they are */
};

static void put_number(struct packer *p, int64_t n)
{
	uint64_t z = ((uint64_t)n << 1) ^ (uint64_t)(n >> 63);

	for (; z >= 0x80; z >>= 7)
		*p->at++ = (uint8_t)(z | 0x80);
	*p->at++ = (uint8_t)z;
}

static int64_t take_number(struct packer *p)
{
	uint64_t z = 0;

	for (int shift = 0;; shift += 7) {
		uint8_t b = *p->from++;

		z |= (uint64_t)(b & 0x7f) << shift;
		if (b < 0x80)
			return (int64_t)(z >> 1) ^ -(int64_t)(z & 1);
	}
}

static void number64(struct packer *p, int64_t *n)
{
	if (p->at)
		put_number(p, *n);
	else
		*n = take_number(p);
}

static void number32(struct packer *p, int32_t *n)
{
	int64_t wide = *n;

	number64(p, &wide);
	*n = (int32_t)wide;
}

static void id(struct packer *p, rid *n)
{
	int64_t wide = (int64_t)*n;

	number64(p, &wide);
	*n = (rid)wide;
}

static void text(struct packer *p, struct str *s)
{
	int64_t n = s->p ? (int64_t)s->n + 1 : 0;

	number64(p, &n);
	if (p->at && s->n) {
		memcpy(p->at, s->p, s->n);
		p->at += s->n;
	} else if (!p->at) {
		struct str in_place = {(const char *)p->from, (size_t)n - 1};

		*s = !n ? STR_NULL : p->arena ? arena_str(p->arena, in_place) : in_place;
		p->from += s->n;
	}
}

static void pack_progress(struct packer *p, struct schedule_progress *g)
{
	number32(p, &g->begun);
	number64(p, &g->done_until_s);
	number64(p, &g->seen_until_s);
	number64(p, &g->system_s);
	number64(p, &g->zone_offset_s);
	number64(p, &g->moved_s);
	for (int i = 0; i < DEALT_SPANS; i++) {
		number64(p, &g->dealt[i].from_s);
		number64(p, &g->dealt[i].to_s);
		number64(p, &g->dealt[i].moved_s);
	}
	number64(p, &g->waiting_s);
	number64(p, &g->waiting_offset_s);
	number64(p, &g->last_tick_s);
	id(p, &g->last_task);
	number64(p, &g->n_fired);
	number64(p, &g->n_skipped);
}

/* One list of fields for both ways. */
static void pack(struct packer *p, struct schedule_row *r)
{
	text(p, &r->source);
	id(p, &r->queue);
	number32(p, &r->priority);
	number32(p, &r->max_attempts);
	number64(p, &r->timeout_ms);
	number64(p, &r->backoff_ms);
	number64(p, &r->backoff_max_ms);
	text(p, &r->labels);
	text(p, &r->body);
	number32(p, &r->overlap);
	number32(p, &r->missed);
	number64(p, &r->max_shift_s);
	number64(p, &r->jitter_ms);
	number64(p, &r->start_ms);
	number64(p, &r->end_ms);
	number32(p, &r->state);
	text(p, &r->pause_reason);
	number64(p, &r->paused_ms);
	number64(p, &r->paused_until_ms);
	number64(p, &r->ctime_ms);
	number64(p, &r->mtime_ms);
	number64(p, &r->version);
	pack_progress(p, &r->progress);
}

#define NUMBERS 48 /* more than there are, of at most ten bytes each */

void schedule_pack(struct schedule *s, const struct schedule_row *row)
{
	size_t strings = row->source.n + row->labels.n + row->body.n + row->pause_reason.n;
	AUTO(free_cstr)
	char *room = xmalloc(NUMBERS * 10 + strings);
	struct packer p = {.at = (uint8_t *)room};
	struct schedule_row r = *row;
	size_t n;

	pack(&p, &r);
	n = (size_t)(p.at - (uint8_t *)room);
	if (n != s->n_packed)
		s->packed = xrealloc(s->packed, n);
	memcpy(s->packed, room, n);
	s->n_packed = (uint32_t)n;
}

void schedule_unpack(const struct schedule *s, struct arena *a, struct schedule_row *ret_row)
{
	struct packer p = {.from = (const uint8_t *)s->packed, .arena = a};

	*ret_row = (struct schedule_row){.id = s->object.id, .name = s->object.name};
	pack(&p, ret_row);
	ret_row->zone = s->zone ? s->zone->name : STR_NULL;
}
