/* SPDX-License-Identifier: Apache-2.0 */
#include "server/parcel.h"

#include <stdlib.h>

#include "base/mem.h"

#define FRAME_AIM (1u << 20) /* a frame holds about this much, so none comes near the limit */

void parcel_release(struct parcel *o)
{
	free(o->runs);
	free(o->kills);
	free(o->ended_acks);
	free(o->output_acks);
	*o = (struct parcel){0};
}

static void add_run(struct parcel *o, const struct message *m)
{
	GROW(o->runs, o->cap_runs, o->n_runs + 1);
	o->runs[o->n_runs++] = (struct link_run){
	    .task = m->task,
	    .token = m->token,
	    .attempt = m->run.attempt,
	    .max_attempts = m->run.max_attempts,
	    .queue = m->run.queue,
	    .plugin = m->run.plugin,
	    .body = m->run.body,
	    .env = m->run.env,
	    .timeout_ms = m->run.timeout_ms,
	    .output_max = m->run.output_max,
	    .output_mode = m->run.output_mode,
	    .exit_codes = m->run.exit_codes,
	};
	o->bytes += m->run.body.n + m->run.env.n + 64;
}

static void add_kill(struct parcel *o, const struct message *m)
{
	GROW(o->kills, o->cap_kills, o->n_kills + 1);
	o->kills[o->n_kills++] =
	    (struct link_kill){m->task, m->token, m->why.reason, m->why.forget};
	o->bytes += m->why.reason.n + 32;
}

static void add_ended_ack(struct parcel *o, const struct message *m)
{
	GROW(o->ended_acks, o->cap_ended_acks, o->n_ended_acks + 1);
	o->ended_acks[o->n_ended_acks++] = (struct link_ended_ack){m->task, m->token};
	o->bytes += 24;
}

static void add_output_ack(struct parcel *o, const struct message *m)
{
	GROW(o->output_acks, o->cap_output_acks, o->n_output_acks + 1);
	o->output_acks[o->n_output_acks++] = (struct link_output_ack){
	    m->task, m->token, m->output.stream, m->output.end, m->output.refused};
	o->bytes += 32;
}

void parcel_add(struct parcel *o, const struct message *m)
{
	switch (m->kind) {
	case MSG_WELCOME:
		o->has_welcome = true;
		o->welcome = (struct link_welcome){.worker = m->welcome.worker,
		    .heartbeat_ms = m->welcome.heartbeat_ms,
		    .lose_after_ms = m->welcome.lose_after_ms,
		    .maxthreads = m->welcome.maxthreads};
		break;
	case MSG_REFUSED: o->refused = (struct link_refused){m->why.reason, m->why.die}; break;
	case MSG_RUN: add_run(o, m); break;
	case MSG_KILL: add_kill(o, m); break;
	case MSG_ENDED_ACK: add_ended_ack(o, m); break;
	case MSG_OUTPUT_ACK: add_output_ack(o, m); break;
	case MSG_BEAT_ACK:
		o->has_beat_ack = true;
		o->beat_ack = m->beat;
		break;
	case MSG_SETTINGS:
		o->has_settings = true;
		o->maxthreads = m->welcome.maxthreads;
		break;
	}
}

bool parcel_is_full(const struct parcel *o)
{
	return o->bytes > FRAME_AIM;
}

void parcel_encode(struct parcel *o, struct arena *a, const struct id_space *ids, struct buf *out)
{
	struct link_to_worker m = {
	    .welcome = o->has_welcome ? &o->welcome : NULL,
	    .refused = o->refused.reason.p ? &o->refused : NULL,
	    .has_settings = o->has_settings,
	    .maxthreads = o->maxthreads,
	    .has_beat_ack = o->has_beat_ack,
	    .beat_ack = o->beat_ack,
	    .ended_ack = o->ended_acks,
	    .n_ended_ack = o->n_ended_acks,
	    .output_ack = o->output_acks,
	    .n_output_ack = o->n_output_acks,
	    .run = o->runs,
	    .n_run = o->n_runs,
	    .kill = o->kills,
	    .n_kill = o->n_kills,
	};

	o->welcome.ids = *ids;
	arena_reset(a);
	link_encode_to_worker(&m, a, out);
	o->has_welcome = o->has_settings = o->has_beat_ack = false;
	o->refused = (struct link_refused){0};
	o->n_runs = o->n_kills = o->n_ended_acks = o->n_output_acks = 0;
	o->bytes = 0;
}
