/* SPDX-License-Identifier: Apache-2.0 */
/* Makes TZif files byte by byte, right ones and wrong ones. */
#ifndef TEST_CRON_TZIF_HELP_H
#define TEST_CRON_TZIF_HELP_H

#include "base/str.h"

struct tzif_counts {
	uint32_t ut, std, leaps, times, types, chars;
};

static inline void add_be(struct buf *b, uint64_t value, int bytes)
{
	for (int i = bytes - 1; i >= 0; i--)
		buf_add_char(b, (char)(value >> (8 * i)));
}

static inline void add_header(struct buf *b, char version, struct tzif_counts c)
{
	buf_add_cstr(b, "TZif");
	buf_add_char(b, version);
	for (int i = 0; i < 15; i++)
		buf_add_char(b, 0);
	add_be(b, c.ut, 4);
	add_be(b, c.std, 4);
	add_be(b, c.leaps, 4);
	add_be(b, c.times, 4);
	add_be(b, c.types, 4);
	add_be(b, c.chars, 4);
}

static inline void add_type(struct buf *b, int32_t offset, uint8_t dst, uint8_t abbrev)
{
	add_be(b, (uint32_t)offset, 4);
	buf_add_char(b, (char)dst);
	buf_add_char(b, (char)abbrev);
}

/* The block that readers of version 2 and later skip. */
static inline void add_empty_v1(struct buf *b, char version)
{
	add_header(b, version, (struct tzif_counts){.types = 1, .chars = 1});
	add_type(b, 0, 0, 0);
	buf_add_char(b, 0);
}

#endif
