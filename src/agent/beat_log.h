/* SPDX-License-Identifier: Apache-2.0 */
/*
 * When the beats of a link were sent: all of the last ones, and of older ones ever fewer, so that
 * however short the heartbeats are, and however late an answer is, something can be said. It errs
 * to the early side only, by at most half of how long ago it was: that is safe.
 */
#ifndef AGENT_BEAT_LOG_H
#define AGENT_BEAT_LOG_H

#include <stddef.h>
#include <stdint.h>

#define BEAT_LOG_SIZE 64
#define BEAT_LOG_RECENT 16 /* the newest beats, all of which are kept */

struct beat_log { /* zeroed: empty */
	struct {
		uint64_t number;
		int64_t sent_ms;
	} beats[BEAT_LOG_SIZE]; /* ascending */
	size_t n;
};

/* Numbers and times only rise. */
void beat_log_add(struct beat_log *l, uint64_t number, int64_t sent_ms);
/* When that beat was sent, or one before it; otherwise_ms: it is older than all that are known. */
int64_t beat_log_sent_ms(const struct beat_log *l, uint64_t number, int64_t otherwise_ms);

#endif
