/* SPDX-License-Identifier: Apache-2.0 */
/* The vectors of one batch's effects. */
#include "core/effects.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"

void effects_release(struct effects *e)
{
	batch_release(&e->batch);
	free(e->messages);
	free(e->replies);
	free(e->notices);
	free(e->reads);
	*e = (struct effects){0};
}

void effects_reset(struct effects *e, uint64_t seq)
{
	batch_reset(&e->batch, seq);
	e->n_messages = e->n_replies = e->n_notices = e->n_reads = 0;
	e->go_on = false;
}

bool effects_empty(const struct effects *e)
{
	return !(
	    e->batch.n || e->n_messages || e->n_replies || e->n_notices || e->n_reads || e->go_on);
}

struct message *effects_message(struct effects *e, enum message_kind kind, uint64_t link)
{
	struct message *m;

	GROW(e->messages, e->cap_messages, e->n_messages + 1);
	m = &e->messages[e->n_messages++];
	*m = (struct message){.kind = kind, .link = link};
	return m;
}

struct reply *effects_reply(struct effects *e, uint64_t ticket)
{
	struct reply *r;

	GROW(e->replies, e->cap_replies, e->n_replies + 1);
	r = &e->replies[e->n_replies++];
	*r = (struct reply){.ticket = ticket};
	return r;
}

int reply_hint(struct reply *r, enum hint_code code, struct str name)
{
	r->hint->code = code;
	snprintf(r->hint->name, sizeof r->hint->name, STR_FMT, STR_ARG(name));
	return r->problem->code;
}

struct notice *effects_notice(struct effects *e, const char *kind)
{
	struct notice *n;

	GROW(e->notices, e->cap_notices, e->n_notices + 1);
	n = &e->notices[e->n_notices++];
	*n = (struct notice){.kind = kind};
	return n;
}

struct read_ask *effects_read(struct effects *e, enum read_kind kind)
{
	struct read_ask *r;

	GROW(e->reads, e->cap_reads, e->n_reads + 1);
	r = &e->reads[e->n_reads++];
	*r = (struct read_ask){.kind = kind};
	return r;
}
