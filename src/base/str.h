/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Strings that know their length (they may hold NULs and are not owned), and a growable byte
 * buffer with printf.
 */
#ifndef BASE_STR_H
#define BASE_STR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct str {
	const char *p;
	size_t n;
};

#define STR(literal) ((struct str){literal, sizeof(literal) - 1})
#define STR_NULL ((struct str){NULL, 0})
#define STR_FMT "%.*s"
#define STR_ARG(s) (int)(s).n, (s).p ? (s).p : ""

struct str str_of(const char *cstr); /* NULL gives STR_NULL */
bool str_eq(struct str a, struct str b);
bool str_is(struct str a, const char *cstr);
int str_cmp(struct str a, struct str b); /* bytewise, shorter first */
bool str_starts(struct str s, const char *prefix);
/* Whole string is a decimal number within [min, max]. */
bool str_to_i64(struct str s, int64_t min, int64_t max, int64_t *ret_n);
/* Splits off everything before `sep` (or the whole) and advances *rest; false at the end. */
bool str_next(struct str *rest, char sep, struct str *ret_part);
/* "1.5h", "30s", "250ms", "2d", plain seconds "90", ISO 8601 "PT1H30M" -> milliseconds. */
bool str_to_duration_ms(struct str s, int64_t *ret_ms);
/* "512M", "1GiB", "10kB", plain bytes "4096"; K, M, G and T are powers of 1024. */
bool str_to_bytes(struct str s, int64_t *ret_bytes);
/* The nearest of `n` names to `s` (edit distance <= 2 or a third of it), or NULL. */
const char *str_nearest(struct str s, const char *const *names, size_t n);

struct buf {
	char *p; /* NUL-terminated after every append, so usable as a C string when non-NULL */
	size_t n;
	size_t cap;
};

void buf_release(struct buf *b);
void buf_reset(struct buf *b); /* keeps the memory */
void buf_reserve(struct buf *b, size_t extra);
void buf_add(struct buf *b, const void *p, size_t n);
void buf_add_str(struct buf *b, struct str s);
void buf_add_cstr(struct buf *b, const char *s);
void buf_add_char(struct buf *b, char c);
void buf_add_u64(struct buf *b, uint64_t n); /* decimal, fast */
void buf_add_i64(struct buf *b, int64_t n);
/* A word as one types it into a shell: quoted where it must be. */
void buf_add_typed(struct buf *b, struct str word);
void buf_printf(struct buf *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
struct str buf_str(const struct buf *b);
char *buf_take(struct buf *b); /* the caller frees; never NULL */

#endif
