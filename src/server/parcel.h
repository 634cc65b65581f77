/* SPDX-License-Identifier: Apache-2.0 */
/* The messages of one batch for one worker, gathered into one frame. */
#ifndef SERVER_PARCEL_H
#define SERVER_PARCEL_H

#include <bsd/sys/queue.h>

#include "core/effects.h"
#include "wire/link.h"

struct parcel {
	struct link_welcome welcome;
	struct link_refused refused;
	bool has_welcome, has_settings, has_beat_ack;
	int32_t maxthreads;
	uint64_t beat_ack;
	struct link_run *runs;
	struct link_kill *kills;
	struct link_ended_ack *ended_acks;
	struct link_output_ack *output_acks;
	size_t n_runs, cap_runs, n_kills, cap_kills, n_ended_acks, cap_ended_acks, n_output_acks,
	    cap_output_acks;
	size_t bytes;
};

void parcel_release(struct parcel *o);
/* Strings stay borrowed until parcel_encode(). */
void parcel_add(struct parcel *o, const struct message *m);
bool parcel_is_full(const struct parcel *o);
/* Appends one frame's payload and empties the parcel. */
void parcel_encode(struct parcel *o, struct arena *a, const struct id_space *ids, struct buf *out);

#endif
