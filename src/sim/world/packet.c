/* SPDX-License-Identifier: Apache-2.0 */
/* Messages on their way: the brains' structs, copied with all they point to, in one piece. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "model/rows/row.h"
#include "sim/judge/judge.h"
#include "sim/world/net.h"

/* Counts first (at is NULL), then copies. */
struct packer {
	char *at;
	size_t need;
};

static void *put(struct packer *m, const void *p, size_t n)
{
	size_t room = (n + 7) & ~(size_t)7;
	char *to = m->at;

	m->need += room;
	if (!to)
		return NULL;
	if (n)
		memcpy(to, p, n);
	m->at += room;
	return to;
}

static void put_str(struct packer *m, struct str *s)
{
	const char *copy;

	if (!s->p)
		return;
	copy = put(m, s->p, s->n);
	if (m->at)
		s->p = copy;
}

#define PUT_ARRAY(m, field, n)                                          \
	do {                                                            \
		void *copy_ = put((m), (field), (n) * sizeof *(field)); \
		if ((m)->at)                                            \
			(field) = copy_;                                \
	} while (0)

static void put_strings(struct packer *m, const struct link_strings *strings, void *of)
{
	for (size_t i = 0; i < strings->n; i++)
		put_str(m, link_string(of, strings, i));
}

/* The rows' strings go first, from a copy: measuring writes nothing into another's rows. */
static const void *pack_rows(
    struct packer *m, const struct link_strings *strings, const void *rows, size_t n, size_t size)
{
	char *own = xmalloc((n + 1) * size);
	const void *packed;

	if (n)
		memcpy(own, rows, n * size);
	for (size_t i = 0; i < n; i++)
		put_strings(m, strings, own + i * size);
	packed = put(m, own, n * size);
	free(own);
	return packed ? packed : rows;
}

static void pack_hello(struct packer *m, struct link_hello *h)
{
	struct worker_row row = {.facts = h->facts};

	for (int i = 0; i < worker_table.n; i++)
		if (column_is_str(&worker_table.columns[i]))
			put_str(m, column_at(&worker_table.columns[i], &row));
	h->facts = row.facts;
	h->tasks = pack_rows(m, &link_held_strings, h->tasks, h->n_tasks, sizeof *h->tasks);
}

static void pack_event(struct packer *m, struct event *ev)
{
	switch (ev->kind) {
	case EV_HELLO: pack_hello(m, &ev->hello); break;
	case EV_CHECKED: put_str(m, &ev->checked.reason); break;
	case EV_NOTIFIED:
		ev->notified.held = pack_rows(m, &link_held_strings, ev->notified.held,
		    ev->notified.n_held, sizeof *ev->notified.held);
		ev->notified.absent = pack_rows(m, &link_held_strings, ev->notified.absent,
		    ev->notified.n_absent, sizeof *ev->notified.absent);
		break;
	case EV_ENDED:
		put_str(m, &ev->ended.reason);
		for (int i = 0; i < N_STREAMS; i++)
			put_str(m, &ev->ended.output[i]);
		put_str(m, &ev->ended.result);
		break;
	case EV_OUTPUT: put_str(m, &ev->output.data); break;
	case EV_HEALTH:
		put_str(m, &ev->health.fares.address);
		put_str(m, &ev->health.fares.ports);
		break;
	default: break;
	}
}

static void pack_message(struct packer *m, struct message *x)
{
	switch (x->kind) {
	case MSG_REFUSED: put_str(m, &x->refused.reason); break;
	case MSG_KILL: put_str(m, &x->kill.reason); break;
	case MSG_INPUT: put_str(m, &x->input.data); break;
	case MSG_RUN:
		put_strings(m, &link_run_strings, &x->run);
		x->run.needs = pack_rows(
		    m, &link_need_strings, x->run.needs, x->run.n_needs, sizeof *x->run.needs);
		break;
	case MSG_NOTIFY: PUT_ARRAY(m, x->notify.refs, x->notify.n_refs); break;
	default: break;
	}
}

struct packet *packet_of_message(const struct message *m)
{
	struct message copy = *m;
	struct packer count = {0};
	struct packet *p;

	pack_message(&count, &copy);
	p = xmalloc(sizeof *p + count.need + 8);
	*p = (struct packet){.direction = TO_WORKER};
	p->to_worker = *m;
	count.at = (char *)(p + 1);
	pack_message(&count, &p->to_worker);
	return p;
}

struct packet *packet_of_event(const struct event *ev)
{
	struct event copy = *ev;
	struct packer count = {0};
	struct packet *p;

	pack_event(&count, &copy);
	p = xmalloc(sizeof *p + count.need + 8);
	*p = (struct packet){.direction = TO_SERVER};
	p->to_server = *ev;
	count.at = (char *)(p + 1);
	pack_event(&count, &p->to_server);
	return p;
}

struct packet *packet_copy(const struct packet *p)
{
	struct packet *c = p->direction == TO_WORKER ? packet_of_message(&p->to_worker)
	                                             : packet_of_event(&p->to_server);

	c->link = p->link;
	c->order = p->order;
	c->clock = p->clock;
	return c;
}

const char *packet_kind_name(int direction, int kind)
{
	static const char *const messages[] = {"welcome", "refused", "run", "notify", "check",
	    "kill", "ended-ack", "output-ack", "beat-ack", "settings", "input"};

	if (direction == TO_WORKER)
		return messages[kind];
	switch (kind) {
	case EV_HELLO: return "hello";
	case EV_BEAT: return "beat";
	case EV_CHECKED: return "checked";
	case EV_NOTIFIED: return "notified";
	case EV_STARTED: return "started";
	case EV_ENDED: return "ended";
	case EV_OUTPUT: return "output";
	case EV_INPUT_ACK: return "input-ack";
	case EV_HEALTH: return "health";
	default: return "?";
	}
}

static const char *packet_kind(const struct packet *p)
{
	return packet_kind_name(p->direction,
	    p->direction == TO_WORKER ? (int)p->to_worker.kind : (int)p->to_server.kind);
}

/* What it is about: a task and token, or a number. */
struct subject {
	rid task;
	int64_t token;
	uint64_t n;
};

static struct subject subject_of_message(const struct message *m)
{
	switch (m->kind) {
	case MSG_WELCOME: return (struct subject){.n = m->welcome.notify_seq};
	case MSG_NOTIFY: return (struct subject){.n = m->notify.seq};
	case MSG_CHECK: return (struct subject){.n = m->check.number};
	case MSG_BEAT_ACK: return (struct subject){.n = m->beat_ack.number};
	case MSG_RUN: return (struct subject){m->run.task, m->run.token, m->run.number};
	case MSG_KILL: return (struct subject){m->kill.task, m->kill.token};
	case MSG_ENDED_ACK: return (struct subject){m->ended_ack.task, m->ended_ack.token};
	case MSG_OUTPUT_ACK: return (struct subject){m->output_ack.task, m->output_ack.token};
	case MSG_INPUT:
		return (struct subject){m->input.task, m->input.token, (uint64_t)m->input.offset};
	default: return (struct subject){0};
	}
}

static struct subject subject_of_event(const struct event *ev)
{
	switch (ev->kind) {
	case EV_HELLO: return (struct subject){.n = ev->hello.n_tasks};
	case EV_BEAT: return (struct subject){.n = ev->beat.number};
	case EV_CHECKED: return (struct subject){.n = ev->checked.number};
	case EV_NOTIFIED: return (struct subject){.n = ev->notified.seq};
	case EV_STARTED: return (struct subject){ev->started.task, ev->started.token};
	case EV_HEALTH: {
		const struct link_health *h = &ev->health;

		return (struct subject){
		    h->task, h->token, (uint64_t)h->fares.is_up | (uint64_t)h->fares.is_ready << 1};
	}
	case EV_ENDED:
		return (struct subject){
		    ev->ended.task, ev->ended.token, (uint64_t)(int64_t)ev->ended.status};
	case EV_INPUT_ACK:
		return (struct subject){
		    ev->input_ack.task, ev->input_ack.token, (uint64_t)ev->input_ack.end};
	case EV_OUTPUT:
		return (struct subject){
		    ev->output.task, ev->output.token, (uint64_t)ev->output.offset};
	default: return (struct subject){0};
	}
}

static struct subject subject_of(const struct packet *p)
{
	return p->direction == TO_WORKER ? subject_of_message(&p->to_worker)
	                                 : subject_of_event(&p->to_server);
}

rid packet_task(const struct packet *p)
{
	return subject_of(p).task;
}

void packet_mix(struct world *w, const struct packet *p)
{
	struct subject s = subject_of(p);

	world_mix(
	    w, p->link << 8 | (uint64_t)(p->direction == TO_WORKER ? (int)p->to_worker.kind
	                                                           : 100 + (int)p->to_server.kind));
	world_mix(w, s.task);
	world_mix(w, (uint64_t)s.token);
	world_mix(w, s.n);
}

/* The words after the kind that make a line worth reading. */
static void details(struct world *w, const struct packet *p, struct buf *b)
{
	const struct message *m = &p->to_worker;
	const struct event *ev = &p->to_server;
	struct subject s = subject_of(p);

	if (s.task)
		buf_printf(b, " task %u/%lld", judge_number(w, s.task), (long long)s.token);
	if (p->direction == TO_SERVER && ev->kind == EV_ENDED)
		buf_printf(b, " %s%s" STR_FMT,
		    ev->ended.started_ms ? task_state_name(ev->ended.status) : "never started",
		    ev->ended.reason.n ? ": " : "", STR_ARG(ev->ended.reason));
	else if (!s.task)
		buf_printf(b, " %llu", (unsigned long long)s.n);
	if (p->direction == TO_WORKER && m->kind == MSG_REFUSED)
		buf_printf(b, "%s%s: " STR_FMT, m->refused.die ? " die" : "",
		    m->refused.restart ? " restart" : "", STR_ARG(m->refused.reason));
	if (p->direction == TO_WORKER && (m->kind == MSG_WELCOME || m->kind == MSG_BEAT_ACK)) {
		const struct link_news *news =
		    m->kind == MSG_WELCOME ? &m->welcome.news : &m->beat_ack.news;

		buf_printf(b, " (%s, set %llu, check %llu)", worker_state_names[news->state],
		    (unsigned long long)news->set.version, (unsigned long long)news->check);
	}
	if (p->direction == TO_WORKER && m->kind == MSG_RUN)
		buf_printf(b, " number %llu seq %llu", (unsigned long long)m->run.number,
		    (unsigned long long)m->run.notify_seq);
	for (size_t i = 0;
	     p->direction == TO_WORKER && m->kind == MSG_NOTIFY && i < m->notify.n_refs; i++)
		buf_printf(b, " %u/%lld", judge_number(w, m->notify.refs[i].task),
		    (long long)m->notify.refs[i].token);
	if (p->direction == TO_SERVER && ev->kind == EV_HELLO)
		for (size_t i = 0; i < ev->hello.n_tasks; i++)
			buf_printf(b, " %u/%lld%s", judge_number(w, ev->hello.tasks[i].task),
			    (long long)ev->hello.tasks[i].token,
			    ev->hello.tasks[i].ended ? " ended" : "");
	if (p->direction == TO_SERVER && ev->kind == EV_NOTIFIED) {
		for (size_t i = 0; i < ev->notified.n_held; i++)
			buf_printf(b, " held %u/%lld", judge_number(w, ev->notified.held[i].task),
			    (long long)ev->notified.held[i].token);
		for (size_t i = 0; i < ev->notified.n_absent; i++)
			buf_printf(b, " absent %u/%lld",
			    judge_number(w, ev->notified.absent[i].task),
			    (long long)ev->notified.absent[i].token);
	}
	if (p->direction == TO_SERVER && ev->kind == EV_CHECKED && !ev->checked.ok)
		buf_add_cstr(b, " failed");
	if (p->direction == TO_SERVER && ev->kind == EV_BEAT)
		buf_printf(b, " (%s)", worker_state_names[ev->beat.own]);
}

void packet_words(struct world *w, const struct packet *p, struct buf *out)
{
	buf_add_cstr(out, packet_kind(p));
	details(w, p, out);
}

void packet_tell(struct world *w, const char *what, const struct packet *p, int slot)
{
	struct buf b = {0};

	if (!w->tell)
		return;
	details(w, p, &b);
	world_tell(w, "%s -> %s  %s%s%s",
	    p->direction == TO_WORKER ? "server" : world_node_name(w, slot),
	    p->direction == TO_WORKER ? world_node_name(w, slot) : "server", what, packet_kind(p),
	    b.p ? b.p : "");
	buf_release(&b);
}
