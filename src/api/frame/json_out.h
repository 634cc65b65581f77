/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A streaming JSON writer on struct buf: no tree, no allocation of its own. Commas come by
 * themselves: whatever follows anything but an opening bracket or a colon gets one.
 */
#ifndef API_JSON_OUT_H
#define API_JSON_OUT_H

#include <jansson.h>

#include "model/id.h"

void jw_open(struct buf *b, char bracket); /* '{' or '[', as an element */
void jw_close(struct buf *b, char bracket);
void jw_key(struct buf *b, const char *key);
/* Values: as elements of an array, or after jw_key. Invalid UTF-8 becomes U+FFFD. */
void jw_text(struct buf *b, struct str s); /* a part of a string, without its quotes */
void jw_str(struct buf *b, struct str s);
void jw_i64(struct buf *b, int64_t n);
void jw_bool(struct buf *b, bool v);
void jw_null(struct buf *b);
void jw_raw(struct buf *b, struct str json);
void jw_time(struct buf *b, int64_t ms);
void jw_id(struct buf *b, const struct id_space *ids, rid id);
/* A parsed value, compact; members in the order they were given. */
void jw_value(struct buf *b, const json_t *v);

/* Members: key and value in one call. The _null ones write null for what is not there. */
void jw_mstr(struct buf *b, const char *key, struct str s);
void jw_mstr_null(struct buf *b, const char *key, struct str s);
void jw_mcstr(struct buf *b, const char *key, const char *s);
void jw_mi64(struct buf *b, const char *key, int64_t n);
void jw_mi64_null(struct buf *b, const char *key, int64_t n, bool present);
void jw_mbool(struct buf *b, const char *key, bool v);
void jw_mtime_null(struct buf *b, const char *key, int64_t ms);
void jw_mid_null(struct buf *b, const char *key, const struct id_space *ids, rid id);
/* "item\n" lines as an array of strings; "key=value\n" lines as an object. */
void jw_mlines(struct buf *b, const char *key, struct str lines);
void jw_mlabels(struct buf *b, const char *key, struct str lines);
/* A need (model/task/need.h) as an object; none: null. */
void jw_mneed(struct buf *b, const char *key, struct str need);
/* Something counted, in its own unit: cores with decimals. */
void jw_mamount(struct buf *b, struct str name, int64_t n);

#endif
