/* SPDX-License-Identifier: Apache-2.0 */
/* Length-prefixed frames in a span of bytes: pure, so that it can be fuzzed. */
#ifndef NET_FRAME_H
#define NET_FRAME_H

#include "base/str.h"

#define FRAME_HEAD 4

enum frame_status {
	FRAME_OK,       /* *ret_payload is a whole frame, *rest stands behind it */
	FRAME_MORE,     /* *ret_need bytes from *rest's start are needed to go on */
	FRAME_TOO_LARGE /* the head announces more than `max`; *ret_need says how much */
};

enum frame_status frame_next(
    struct str *rest, size_t max, struct str *ret_payload, size_t *ret_need);
void frame_head(uint32_t payload_size, unsigned char ret_head[FRAME_HEAD]);

#endif
