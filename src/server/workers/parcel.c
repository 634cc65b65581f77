/* SPDX-License-Identifier: Apache-2.0 */
#include "server/workers/parcel.h"

#include <stdlib.h>

#include "base/mem.h"
#include "words/words.h"

#define FRAME_AIM (1u << 20) /* a frame holds about this much, so none comes near the limit */

static void drop_notifies(struct parcel *o)
{
	for (size_t i = 0; i < o->n_notifies; i++)
		free(o->notifies[i].refs);
	o->n_notifies = 0;
}

void parcel_release(struct parcel *o)
{
	drop_notifies(o);
	arena_release(&o->words);
	free(o->notifies);
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
	    .run_settings = m->run.settings,
	    .timeout_ms = m->run.timeout_ms,
	    .output_max = m->run.output_max,
	    .output_mode = m->run.output_mode,
	    .exit_codes = m->run.exit_codes,
	    .number = m->run.number,
	    .notify_seq = m->run.notify_seq,
	};
	o->bytes += m->run.body.n + m->run.env.n + m->run.settings.n + 64;
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

/* What a frame has no room for is asked again: nothing is given up by not asking. */
static void add_notify(struct parcel *o, const struct message *m)
{
	size_t n = m->notify.n < LINK_NOTIFY_MAX ? m->notify.n : LINK_NOTIFY_MAX;
	struct link_run_ref *refs = xcalloc(n + 1, sizeof *refs);

	for (size_t i = 0; i < n; i++)
		refs[i] = (struct link_run_ref){m->notify.refs[i].task, m->notify.refs[i].token};
	GROW(o->notifies, o->cap_notifies, o->n_notifies + 1);
	o->notifies[o->n_notifies++] = (struct link_notify){m->notify.seq, refs, n};
	o->bytes += 24 * n + 16;
}

static struct link_news news_of(const struct health_news *n)
{
	return (struct link_news){n->state, n->set, n->check};
}

static void add_welcome(struct parcel *o, const struct message *m)
{
	o->has_welcome = true;
	o->welcome = (struct link_welcome){
	    .worker = m->welcome.worker,
	    .server = m->welcome.server,
	    .timeouts = m->welcome.timeouts,
	    .news = news_of(&m->welcome.news),
	    .notify_seq = m->welcome.notify_seq,
	    .maxthreads = m->welcome.maxthreads,
	};
}

/* The last news are the true ones, but mere news must not swallow the answer before them. */
static void add_beat_ack(struct parcel *o, const struct message *m)
{
	if (!o->has_beat_ack)
		o->beat_ack.number = 0;
	o->has_beat_ack = true;
	if (m->beat.number > o->beat_ack.number)
		o->beat_ack.number = m->beat.number;
	o->beat_ack.news = news_of(&m->beat.news);
}

/* The wish that it leaves stays, whatever else is set after it. */
static void add_settings(struct parcel *o, const struct message *m)
{
	struct link_settings old = o->has_settings ? o->settings : (struct link_settings){0};

	o->has_settings = true;
	o->settings = (struct link_settings){m->welcome.maxthreads, old.leave || m->welcome.leave,
	    old.restart || m->welcome.restart};
}

/* Whoever is told to die must hear it, whatever is said to him after. */
static void add_refused(struct parcel *o, const struct message *m)
{
	if (o->has_refused && o->refused.die && !m->why.die)
		return;
	o->has_refused = true;
	o->refused = (struct link_refused){
	    words_joined(&o->words, m->why.reason, m->why.hint), m->why.die, m->why.restart};
}

void parcel_add(struct parcel *o, const struct message *m)
{
	switch (m->kind) {
	case MSG_WELCOME: add_welcome(o, m); break;
	case MSG_REFUSED: add_refused(o, m); break;
	case MSG_RUN: add_run(o, m); break;
	case MSG_KILL: add_kill(o, m); break;
	case MSG_ENDED_ACK: add_ended_ack(o, m); break;
	case MSG_OUTPUT_ACK: add_output_ack(o, m); break;
	case MSG_BEAT_ACK: add_beat_ack(o, m); break;
	case MSG_SETTINGS: add_settings(o, m); break;
	case MSG_NOTIFY: add_notify(o, m); break;
	case MSG_CHECK: /* the newest is enough: the worker does one at a time */
		o->has_check = true;
		o->check = (struct link_check){m->check.number, m->check.beat};
		break;
	}
}

bool parcel_is_full(const struct parcel *o)
{
	return o->bytes > FRAME_AIM;
}

struct link_to_worker parcel_frame(struct parcel *o, const struct id_space *ids)
{
	o->welcome.ids = *ids;
	return (struct link_to_worker){
	    .welcome = o->has_welcome ? &o->welcome : NULL,
	    .refused = o->has_refused ? &o->refused : NULL,
	    .has_settings = o->has_settings,
	    .settings = o->settings,
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
	    .notify = o->notifies,
	    .n_notify = o->n_notifies,
	    .has_check = o->has_check,
	    .check = o->check,
	};
}

void parcel_clear(struct parcel *o)
{
	o->has_welcome = o->has_refused = o->has_settings = o->has_beat_ack = o->has_check = false;
	drop_notifies(o);
	arena_release(&o->words);
	o->n_runs = o->n_kills = o->n_ended_acks = o->n_output_acks = 0;
	o->bytes = 0;
}
