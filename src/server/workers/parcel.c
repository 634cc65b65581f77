/* SPDX-License-Identifier: Apache-2.0 */
#include "server/workers/parcel.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "words/words.h"

#define FRAME_AIM (1u << 20) /* a frame holds about this much, so none comes near the limit */

static void drop_questions(struct parcel *o)
{
	for (size_t i = 0; i < o->frame.n_notify; i++)
		free((struct run_ref *)o->frame.notify[i].refs);
	o->frame.n_notify = 0;
}

void parcel_release(struct parcel *o)
{
	drop_questions(o);
	arena_release(&o->words);
	free(o->frame.notify);
	free(o->frame.run);
	free(o->frame.kill);
	free(o->frame.ended_ack);
	free(o->frame.output_ack);
	free(o->frame.follow);
	free(o->frame.input);
	*o = (struct parcel){0};
}

/* One more of the parts that a frame may have many of. */
#define ADD(o, part, value, room)                                                \
	do {                                                                     \
		GROW((o)->frame.part, (o)->cap_##part, (o)->frame.n_##part + 1); \
		(o)->frame.part[(o)->frame.n_##part++] = (value);                \
		(o)->bytes += (room);                                            \
	} while (0)

/* What a frame has no room for is asked again: nothing is given up by not asking. */
static struct link_notify own_question(const struct link_notify *from)
{
	size_t n = from->n_refs < LINK_NOTIFY_MAX ? from->n_refs : LINK_NOTIFY_MAX;
	struct run_ref *refs = xcalloc(n + 1, sizeof *refs);

	if (n)
		memcpy(refs, from->refs, n * sizeof *refs);
	return (struct link_notify){from->seq, refs, n};
}

/* The last news are the true ones, but mere news must not swallow the answer before them. */
static void add_beat_ack(struct link_to_worker *f, struct link_beat_ack ack)
{
	if (f->has_beat_ack && f->beat_ack.number > ack.number)
		ack.number = f->beat_ack.number;
	f->has_beat_ack = true;
	f->beat_ack = ack;
}

/* The wish that it leaves stays, whatever else is set after it. */
static void add_settings(struct link_to_worker *f, struct link_settings s)
{
	s.leave |= f->has_settings && f->settings.leave;
	s.restart |= f->has_settings && f->settings.restart;
	f->has_settings = true;
	f->settings = s;
}

/* A worker that is told to die must hear it, whatever is said to it after. */
static void add_refused(struct parcel *o, const struct message *m)
{
	if (o->frame.refused && o->refused.die && !m->refused.die)
		return;
	o->refused = m->refused;
	o->refused.reason = words_joined(&o->words, m->refused.reason, m->hint);
	o->frame.refused = &o->refused;
}

static size_t needs_bytes(const struct link_run *r)
{
	size_t n = 0;

	for (size_t i = 0; i < r->n_needs; i++)
		n += r->needs[i].job.n + r->needs[i].reason.n + r->needs[i].result.n + 128;
	return n;
}

void parcel_add(struct parcel *o, const struct message *m)
{
	const struct link_run *r = &m->run;

	switch (m->kind) {
	case MSG_WELCOME:
		o->welcome = m->welcome;
		o->frame.welcome = &o->welcome;
		break;
	case MSG_REFUSED: add_refused(o, m); break;
	case MSG_RUN:
		ADD(o, run, *r, r->body.n + r->env.n + r->run_settings.n + needs_bytes(r) + 64);
		break;
	case MSG_KILL: ADD(o, kill, m->kill, m->kill.reason.n + 32); break;
	case MSG_ENDED_ACK: ADD(o, ended_ack, m->ended_ack, 24); break;
	case MSG_OUTPUT_ACK: ADD(o, output_ack, m->output_ack, 32); break;
	case MSG_INPUT: ADD(o, input, m->input, m->input.data.n + 48); break;
	case MSG_BEAT_ACK: add_beat_ack(&o->frame, m->beat_ack); break;
	case MSG_SETTINGS: add_settings(&o->frame, m->settings); break;
	case MSG_NOTIFY:
		ADD(o, notify, own_question(&m->notify), 24 * m->notify.n_refs + 16);
		break;
	case MSG_CHECK: /* the newest is enough: the worker does one at a time */
		o->frame.has_check = true;
		o->frame.check = m->check;
		break;
	}
}

void parcel_add_follow(struct parcel *o, struct link_follow f)
{
	ADD(o, follow, f, 32);
}

bool parcel_is_full(const struct parcel *o)
{
	return o->bytes > FRAME_AIM;
}

struct link_to_worker parcel_frame(struct parcel *o, const struct id_space *ids)
{
	o->welcome.ids = *ids;
	return o->frame;
}

void parcel_clear(struct parcel *o)
{
	struct link_to_worker *f = &o->frame;

	f->welcome = NULL;
	f->refused = NULL;
	f->has_settings = f->has_beat_ack = f->has_check = false;
	drop_questions(o);
	arena_release(&o->words);
	f->n_run = f->n_kill = f->n_ended_ack = f->n_output_ack = f->n_follow = f->n_input = 0;
	o->bytes = 0;
}
