/* SPDX-License-Identifier: Apache-2.0 */
/* The worker's side of a trace: each frame that leaves or comes, and what the brain wants done. */
#include "wire/link/link_words.h"
#include "worker/internal.h"

int worker_trace_open(struct worker *w, struct problem *ret_problem)
{
	struct buf name = {0};
	int e;

	if (!w->o->trace_shiviz)
		return 0;
	if ((e = trace_open(w->o->trace_shiviz, false, &w->trace, ret_problem)) < 0)
		return e;
	trace_process_name(w->facts.shard, w->facts.instance, &name);
	w->traced = trace_host_new(w->trace, buf_str(&name));
	buf_release(&name);
	trace_local(w->traced, STR("begins"));
	return 0;
}

void worker_trace_close(struct worker *w)
{
	if (!w->trace)
		return;
	trace_local(w->traced, STR("ends"));
	trace_host_free(w->traced);
	trace_close(w->trace);
	buf_release(&w->trace_text);
}

static struct buf *begin(struct worker *w, const char *verb)
{
	buf_reset(&w->trace_text);
	buf_add_cstr(&w->trace_text, verb);
	return &w->trace_text;
}

void worker_trace_sent(struct worker *w, struct link_to_server *m)
{
	if (!w->trace)
		return;
	link_words_to_server(m, &w->ids, begin(w, "sends to server: "));
	m->clock = trace_send(w->traced, buf_str(&w->trace_text));
}

void worker_trace_received(struct worker *w, const struct link_to_worker *m)
{
	if (!w->trace)
		return;
	link_words_to_worker(m, &w->ids, begin(w, "receives from server: "));
	trace_receive(w->traced, m->clock, buf_str(&w->trace_text));
}

static const char *effect_words(const struct agent_effect *e)
{
	switch (e->kind) {
	case AF_START: return "starts";
	case AF_STOP: return e->kill ? "kills" : "stops";
	case AF_CHECK: return "starts healthcheck";
	case AF_CLOSE: return "closes its link:";
	case AF_EXIT: return "leaves:";
	case AF_NOTE: return "notes:";
	default: return NULL; /* messages are told when they leave */
	}
}

void worker_trace_effect(struct worker *w, const struct agent_effect *e)
{
	const char *words = w->trace ? effect_words(e) : NULL;
	char id[ID_TEXT];
	struct buf *b;

	if (!words)
		return;
	b = begin(w, words);
	if (e->task)
		buf_printf(b, " %s/%lld", id_format(&w->ids, e->task, id), (long long)e->token);
	if (e->kind == AF_CHECK)
		buf_printf(b, " %llu", (unsigned long long)e->check);
	if (e->kind == AF_CLOSE || e->kind == AF_EXIT || e->kind == AF_NOTE)
		buf_printf(b, " " STR_FMT, STR_ARG(e->why.text));
	trace_local(w->traced, buf_str(b));
}

void worker_trace_link(struct worker *w, const char *what, const char *why)
{
	if (!w->trace)
		return;
	buf_printf(begin(w, what), ": %s", why);
	trace_local(w->traced, buf_str(&w->trace_text));
}
