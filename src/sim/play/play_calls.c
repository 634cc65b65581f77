/* SPDX-License-Identifier: Apache-2.0 */
/* What passed between the server and the workers, as JSON: counted, and the last of each kind. */
#include "sim/play/play_internal.h"

const char *const said_names[N_SAID] = {
    "hello", "beat", "checked", "notified", "started", "ended", "output", "input_ack"};
const char *const told_names[N_TOLD] = {"welcome", "refused", "run", "notify", "check", "kill",
    "ended_ack", "output_ack", "beat_ack", "settings", "input"};

void calls_release(struct calls *c)
{
	for (int i = 0; i < N_TOLD; i++)
		json_decref(c->last[i]);
}

json_t *set_json(const struct play *p, const struct set_id *id)
{
	json_t *of = json_null();

	if (!id->server && p->dry) /* the names that there will be */
		return json_pack("{s:n, s:n, s:n}", "version", "count", "of");
	if (!id->server)
		return json_null();
	for (size_t i = 0; i < p->n_sets; i++)
		if (p->sets[i].id.server == id->server && p->sets[i].id.version == id->version &&
		    set_hash_eq(&p->sets[i].id.hash, &id->hash)) {
			of = json_incref(p->sets[i].names);
			break;
		}
	return json_pack("{s:I, s:i, s:o}", "version", (json_int_t)id->version, "count",
	    (int)id->hash.count, "of", of);
}

static json_t *task_json(const struct play *p, rid task)
{
	const char *name = play_task_name(p, task);

	return name ? json_string(name) : json_null();
}

static json_t *refs_json(const struct play *p, const struct link_held *refs, size_t n)
{
	json_t *all = json_array();

	for (size_t i = 0; i < n; i++)
		json_array_append_new(
		    all, json_pack("{s:o, s:I, s:b, s:b}", "task", task_json(p, refs[i].task),
		             "token", (json_int_t)refs[i].token, "ended", refs[i].ended, "started",
		             refs[i].started_ms != 0));
	return all;
}

static json_t *str_json(struct str s)
{
	return s.p ? json_stringn(s.p, s.n) : json_null();
}

static json_t *said_json(const struct play *p, const struct event *ev)
{
	switch (ev->kind) {
	case EV_HELLO:
		return json_pack("{s:o, s:o, s:I}", "held",
		    refs_json(p, ev->hello.tasks, ev->hello.n_tasks), "set",
		    set_json(p, &ev->hello.set), "started_ms",
		    (json_int_t)ev->hello.facts.started_ms);
	case EV_BEAT:
		return json_pack("{s:I, s:b, s:s, s:o}", "number", (json_int_t)ev->beat.number,
		    "leaving", ev->beat.leaving, "own", worker_state_names[ev->beat.own], "set",
		    set_json(p, &ev->beat.set));
	case EV_CHECKED:
		return json_pack("{s:I, s:b, s:o}", "number", (json_int_t)ev->checked.number, "ok",
		    ev->checked.ok, "reason", str_json(ev->checked.reason));
	case EV_NOTIFIED:
		return json_pack("{s:I, s:o, s:o}", "seq", (json_int_t)ev->notified.seq, "held",
		    refs_json(p, ev->notified.held, ev->notified.n_held), "absent",
		    refs_json(p, ev->notified.absent, ev->notified.n_absent));
	case EV_STARTED:
		return json_pack("{s:o, s:I}", "task", task_json(p, ev->started.task), "token",
		    (json_int_t)ev->started.token);
	case EV_ENDED:
		return json_pack("{s:o, s:I, s:s, s:i, s:i, s:b, s:b, s:o}", "task",
		    task_json(p, ev->ended.task), "token", (json_int_t)ev->ended.token, "status",
		    task_state_name(ev->ended.status), "exit", (int)ev->ended.exit_code, "signal",
		    (int)ev->ended.signal, "killed", ev->ended.killed, "never_started",
		    !ev->ended.started_ms, "reason", str_json(ev->ended.reason));
	case EV_INPUT_ACK:
		return json_pack("{s:o, s:I, s:I}", "task", task_json(p, ev->input_ack.task),
		    "token", (json_int_t)ev->input_ack.token, "end", (json_int_t)ev->input_ack.end);
	default: return json_pack("{s:o}", "task", task_json(p, ev->output.task));
	}
}

static json_t *news_json(const struct play *p, const struct link_news *n)
{
	return json_pack("{s:s, s:o, s:I}", "state", worker_state_names[n->state], "set",
	    set_json(p, &n->set), "check", (json_int_t)n->check);
}

static json_t *notify_json(const struct play *p, const struct message *m)
{
	json_t *refs = json_array();

	for (size_t i = 0; i < m->notify.n_refs; i++)
		json_array_append_new(
		    refs, json_pack("{s:o, s:I}", "task", task_json(p, m->notify.refs[i].task),
		              "token", (json_int_t)m->notify.refs[i].token));
	return json_pack("{s:I, s:o}", "seq", (json_int_t)m->notify.seq, "tasks", refs);
}

static json_t *told_json(const struct play *p, const struct message *m)
{
	switch (m->kind) {
	case MSG_WELCOME:
		return json_pack("{s:o, s:I, s:i}", "news", news_json(p, &m->welcome.news),
		    "notify_seq", (json_int_t)m->welcome.notify_seq, "maxthreads",
		    (int)m->welcome.maxthreads);
	case MSG_REFUSED:
		return json_pack("{s:b, s:b, s:o}", "die", m->refused.die, "restart",
		    m->refused.restart, "reason", str_json(m->refused.reason));
	case MSG_RUN:
		return json_pack("{s:o, s:I, s:i, s:I, s:I}", "task", task_json(p, m->run.task),
		    "token", (json_int_t)m->run.token, "attempt", (int)m->run.attempt, "number",
		    (json_int_t)m->run.number, "notify_seq", (json_int_t)m->run.notify_seq);
	case MSG_NOTIFY: return notify_json(p, m);
	case MSG_CHECK:
		return json_pack("{s:I, s:I}", "number", (json_int_t)m->check.number, "beat",
		    (json_int_t)m->check.beat);
	case MSG_KILL:
		return json_pack("{s:o, s:I, s:b, s:o}", "task", task_json(p, m->kill.task),
		    "token", (json_int_t)m->kill.token, "forget", m->kill.forget, "reason",
		    str_json(m->kill.reason));
	case MSG_BEAT_ACK:
		return json_pack("{s:I, s:o}", "number", (json_int_t)m->beat_ack.number, "news",
		    news_json(p, &m->beat_ack.news));
	case MSG_SETTINGS:
		return json_pack("{s:i, s:b, s:b}", "maxthreads", (int)m->settings.maxthreads,
		    "leave", m->settings.leave, "restart", m->settings.restart);
	case MSG_ENDED_ACK:
		return json_pack("{s:o, s:I}", "task", task_json(p, m->ended_ack.task), "token",
		    (json_int_t)m->ended_ack.token);
	case MSG_INPUT:
		return json_pack("{s:o, s:I, s:I, s:b}", "task", task_json(p, m->input.task),
		    "token", (json_int_t)m->input.token, "offset", (json_int_t)m->input.offset,
		    "end", m->input.end);
	default:
		return json_pack("{s:o, s:I}", "task", task_json(p, m->output_ack.task), "token",
		    (json_int_t)m->output_ack.token);
	}
}

static int said_kind(enum event_kind kind)
{
	switch (kind) {
	case EV_HELLO: return SAID_HELLO;
	case EV_BEAT: return SAID_BEAT;
	case EV_CHECKED: return SAID_CHECKED;
	case EV_NOTIFIED: return SAID_NOTIFIED;
	case EV_STARTED: return SAID_STARTED;
	case EV_ENDED: return SAID_ENDED;
	case EV_INPUT_ACK: return SAID_INPUT_ACK;
	default: return SAID_OUTPUT;
	}
}

int packet_call(const struct packet *m)
{
	return m->direction == TO_WORKER ? (int)m->to_worker.kind : said_kind(m->to_server.kind);
}

void calls_seen(struct play *p, const struct sim_link *l, const struct packet *m)
{
	struct actor *x = actor_of_link(p, l->number);
	int kind = packet_call(m);
	struct calls *c;

	if (!x)
		return;
	c = m->direction == TO_WORKER ? &x->told : &x->said;
	c->now[kind]++;
	c->ever[kind]++;
	json_decref(c->last[kind]);
	c->last[kind] =
	    m->direction == TO_WORKER ? told_json(p, &m->to_worker) : said_json(p, &m->to_server);
}
