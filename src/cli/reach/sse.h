/* SPDX-License-Identifier: Apache-2.0 */
/* Server-sent events: bytes in, whole events out. */
#ifndef CLI_SSE_H
#define CLI_SSE_H

#include "base/str.h"

#define SSE_EVENT_MAX (4u << 20)

typedef void sse_fn(const char *event, const char *data, void *arg);

struct sse {
	struct buf line, data;
	char event[64];
	char last_id[64]; /* survives sse_reset: where to go on */
	bool skip_lf, overlong;
	sse_fn *fn;
	void *arg;
};

void sse_feed(struct sse *s, struct str bytes);
void sse_reset(struct sse *s); /* a new connection begins */
void sse_release(struct sse *s);

#endif
