/* SPDX-License-Identifier: Apache-2.0 */
/* Request targets taken apart: pure, so that it can be fuzzed. */
#ifndef NET_URL_H
#define NET_URL_H

#include "base/str.h"

/* Origin form ("/a?b") and absolute form ("http://host/a?b"); a fragment is cut off. */
void url_split(struct str target, struct str *ret_path, struct str *ret_query);
/* HOST[:PORT] of "http://HOST[:PORT]…" or of "https:…"; false where it is neither. */
bool url_authority(struct str target, struct str *ret);
/* Appends `s` with %XX (and, in queries, +) decoded; broken escapes stay as they are. */
void url_decode(struct buf *b, struct str s, bool plus);
/* The next "key=value" of *rest, still encoded; empty pieces are skipped. False at the end. */
bool url_query_next(struct str *rest, struct str *ret_key, struct str *ret_value);

#endif
