/* SPDX-License-Identifier: Apache-2.0 */
#include "server/workers/tracing.h"

#include <stdlib.h>

#include "base/mem.h"
#include "wire/link/link_words.h"

struct tracing {
	struct trace *trace;
	struct trace_host *host;
	struct engine *engine;
	void *watch;
	struct buf text;
};

int tracing_open(
    const char *path, uint64_t server, struct tracing **ret_tracing, struct problem *ret_problem)
{
	struct buf name = {0};
	struct tracing *t;
	struct trace *file;
	int e;

	*ret_tracing = NULL;
	if (!path)
		return 0;
	if ((e = trace_open(path, false, &file, ret_problem)) < 0)
		return e;
	t = xcalloc(1, sizeof *t);
	t->trace = file;
	trace_process_name(STR("server"), server, &name);
	t->host = trace_host_new(file, buf_str(&name));
	buf_release(&name);
	trace_local(t->host, STR("begins"));
	*ret_tracing = t;
	return 0;
}

static struct buf *begin(struct tracing *t, const char *words, const char *more)
{
	buf_reset(&t->text);
	buf_add_cstr(&t->text, words);
	buf_add_cstr(&t->text, more);
	return &t->text;
}

/* What was decided about tasks, workers and queues, once it is durable. */
static void on_notice(const struct notice *n, void *arg)
{
	struct tracing *t = arg;
	char id[ID_TEXT];
	struct buf *b;

	if (!n)
		return;
	b = begin(t, n->kind, "");
	if (n->task)
		buf_printf(b, " %s", id_format(engine_ids(t->engine), n->task, id));
	if (n->task && n->attempt)
		buf_printf(b, " attempt %d", n->attempt);
	if (n->task && n->worker)
		buf_printf(b, " worker %s", id_format(engine_ids(t->engine), n->worker, id));
	if (n->subject.n)
		buf_printf(b, " " STR_FMT, STR_ARG(n->subject));
	if (n->detail.n)
		buf_printf(b, " " STR_FMT, STR_ARG(n->detail));
	trace_local(t->host, buf_str(b));
}

void tracing_watch(struct tracing *t, struct engine *e)
{
	if (!t)
		return;
	t->engine = e;
	t->watch = hub_watch(engine_hub(e), on_notice, t);
}

void tracing_close(struct tracing *t)
{
	if (!t)
		return;
	if (t->watch)
		hub_unwatch(engine_hub(t->engine), t->watch);
	trace_local(t->host, STR("ends"));
	trace_host_free(t->host);
	trace_close(t->trace);
	buf_release(&t->text);
	free(t);
}

void tracing_sent(struct tracing *t, const char *peer, struct link_to_worker *m)
{
	struct buf *b;

	if (!t)
		return;
	b = begin(t, "sends to ", peer);
	buf_add_cstr(b, ": ");
	link_words_to_worker(m, engine_ids(t->engine), b);
	m->clock = trace_send(t->host, buf_str(b));
}

void tracing_received(struct tracing *t, const char *peer, const struct link_to_server *m)
{
	struct buf *b;

	if (!t)
		return;
	b = begin(t, "receives from ", peer);
	buf_add_cstr(b, ": ");
	link_words_to_server(m, engine_ids(t->engine), b);
	trace_receive(t->host, m->clock, buf_str(b));
}

void tracing_link(struct tracing *t, const char *peer, const char *what, const char *why)
{
	if (!t)
		return;
	buf_printf(begin(t, what, peer), ": %s", why);
	trace_local(t->host, buf_str(&t->text));
}
