/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Streamed input on its way to a process. The attempt asks for what follows what its process has;
 * the answer is one part, which is written before more is asked for. So a process that reads
 * slowly, or not at all, holds up nobody but whoever sends to it.
 */
#include "agent/internal.h"

void send_input_ack(
    const struct agent *a, struct held *h, int64_t mono_ms, struct agent_effects *out)
{
	struct input_flow *f = &h->input;

	if (!f->is_streamed || f->is_over || f->writing > 0 || h->state != HELD_RUNNING ||
	    a->link != LINK_WELCOME)
		return;
	f->asked_ms = mono_ms;
	agent_effects_add(out, AF_INPUT_ACK)->input_ack =
	    (struct link_input_ack){h->task, h->token, f->given};
}

int on_input(struct agent *a, const struct agent_event *in, struct agent_effects *out)
{
	struct held *h = held_find(a, in->input.task, in->input.token);
	struct agent_effect *e;
	struct input_flow *f;

	if (!h || h->state != HELD_RUNNING || !h->input.is_streamed)
		return 0;
	f = &h->input;
	/* what was asked for twice may come twice */
	if (f->is_over || f->writing > 0 || in->input.offset != f->given)
		return 0;
	f->writing = (int64_t)in->input.data.n;
	f->is_last = in->input.end;
	f->is_over = f->writing == 0; /* there is only the end */
	e = agent_effects_add(out, AF_INPUT);
	e->task = h->task;
	e->token = h->token;
	e->input = in->input;
	return 0;
}

int on_input_taken(struct agent *a, const struct agent_event *in, struct agent_effects *out)
{
	struct held *h = held_find(a, in->task, in->token);
	struct input_flow *f;

	if (!h || h->state != HELD_RUNNING)
		return 0; /* the attempt's process is gone */
	f = &h->input;
	f->given += f->writing;
	f->writing = 0;
	f->is_over |= in->input_is_closed || f->is_last;
	send_input_ack(a, h, in->mono_ms, out);
	return 0;
}
