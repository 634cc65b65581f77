/* SPDX-License-Identifier: Apache-2.0 */
/* The messages of one batch for one worker, gathered into one frame. */
#ifndef SERVER_PARCEL_H
#define SERVER_PARCEL_H

#include <bsd/sys/queue.h>

#include "core/effects.h"
#include "wire/link/link.h"

struct parcel {
	struct link_to_worker frame; /* the refs of its questions are ours */
	struct link_welcome welcome;
	struct link_refused refused;
	size_t cap_run, cap_kill, cap_ended_ack, cap_output_ack, cap_follow, cap_input, cap_notify;
	struct arena words; /* of a refusal; empty for all who are welcome */
	size_t bytes;
};

void parcel_release(struct parcel *o);
/* Strings stay borrowed until parcel_clear(). */
void parcel_add(struct parcel *o, const struct message *m);
void parcel_add_follow(struct parcel *o, struct link_follow f);
bool parcel_is_full(const struct parcel *o);
/* One frame with everything in it; good until the parcel is cleared. */
struct link_to_worker parcel_frame(struct parcel *o, const struct id_space *ids);
void parcel_clear(struct parcel *o);

#endif
