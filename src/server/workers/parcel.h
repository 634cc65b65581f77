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
	bool has_welcome, has_refused, has_settings, has_beat_ack, has_check;
	struct link_settings settings;
	struct link_beat_ack beat_ack;
	struct link_check check;
	struct link_run *runs;
	struct link_kill *kills;
	struct link_ended_ack *ended_acks;
	struct link_output_ack *output_acks;
	struct link_notify *notifies; /* their refs are ours */
	size_t n_notifies, cap_notifies;
	size_t n_runs, cap_runs, n_kills, cap_kills, n_ended_acks, cap_ended_acks, n_output_acks,
	    cap_output_acks;
	struct arena words; /* of a refusal; empty for all who are welcome */
	size_t bytes;
};

void parcel_release(struct parcel *o);
/* Strings stay borrowed until parcel_clear(). */
void parcel_add(struct parcel *o, const struct message *m);
bool parcel_is_full(const struct parcel *o);
/* One frame with everything in it; good until the parcel is cleared. */
struct link_to_worker parcel_frame(struct parcel *o, const struct id_space *ids);
void parcel_clear(struct parcel *o);

#endif
