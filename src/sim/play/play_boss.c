/* SPDX-License-Identifier: Apache-2.0 */
/* A puppet in the server's place: real agents hear only what the script says. */
#include <string.h>

#include "sim/play/play_internal.h"

static bool ready(struct at *a)
{
	if (!a->p->server_is_puppet)
		play_wrong(a->p, a->path, "do", "the server is not a puppet",
		    "only with \"server\": \"puppet\" the script speaks for it");
	return !is_wrong(a->p) && !a->p->dry;
}

static struct timeouts *timeouts_of(struct play *p)
{
	return &p->o.timeouts;
}

static void news_of(struct at *a, struct link_news *n)
{
	struct play *p = a->p;

	n->state = (enum worker_state)at_choice(
	    a, "state", worker_state_names, N_WORKER_STATES, (int)p->boss.state);
	set_read(a, "set", &p->boss.set, &n->set);
	n->check = (uint64_t)at_int(a, "check", 0, INT64_MAX, (int64_t)at_actor(a, "to")->checks);
}

static void send(struct at *a, struct message *m)
{
	struct actor *x = at_actor(a, "to");
	int times = (int)at_int(a, "times", 1, 1000, 1);

	m->link = x->link;
	if (!x->link)
		world_tell(a->p->w, "%s has no link: it hears nothing", x->name);
	for (int i = 0; i < times && x->link; i++)
		sim_net_to_worker(a->p->w, m);
}

static void do_welcome(struct at *a)
{
	struct message m = {.kind = MSG_WELCOME};
	const char *server = at_str(a, "server", "this");

	at_actor(a, "to");
	if (is_wrong(a->p))
		return;
	news_of(a, &m.welcome.news);
	m.welcome.notify_seq = (uint64_t)at_int(a, "notify_seq", 0, INT64_MAX, 0);
	m.welcome.maxthreads = (int32_t)at_int(a, "maxthreads", -1, 100000, 4);
	if (!ready(a))
		return;
	if (strcmp(server, "this"))
		a->p->boss.id = label_number(server);
	m.welcome.server = a->p->boss.id;
	m.welcome.worker = 1;
	m.welcome.timeouts = *timeouts_of(a->p);
	send(a, &m);
}

static void do_refused(struct at *a)
{
	struct message m = {.kind = MSG_REFUSED};

	at_actor(a, "to");
	m.refused.die = at_bool(a, "die", true);
	m.refused.restart = at_bool(a, "restart", false);
	m.refused.reason = str_of(at_str(a, "reason", "the script says so"));
	if (ready(a))
		send(a, &m);
}

static void do_beat_ack(struct at *a)
{
	struct message m = {.kind = MSG_BEAT_ACK};
	struct actor *x = at_actor(a, "to");

	if (is_wrong(a->p))
		return;
	m.beat_ack.number = (uint64_t)at_int(a, "number", 0, INT64_MAX, (int64_t)x->last_beat);
	news_of(a, &m.beat_ack.news);
	if (ready(a))
		send(a, &m);
}

static struct run_ref about(struct at *a)
{
	int task = at_task(a, "task");

	at_actor(a, "to");
	return (struct run_ref){
	    task >= 0 ? a->p->tasks[task].id : 0, at_int(a, "token", 0, INT64_MAX, 1)};
}

static void do_run(struct at *a)
{
	struct message m = {.kind = MSG_RUN};
	struct run_ref of = about(a);
	struct actor *x;

	if (is_wrong(a->p))
		return;
	x = at_actor(a, "to");
	m.run.task = of.task;
	m.run.token = of.token;
	m.run.attempt = (int32_t)at_int(a, "attempt", 1, 1000, 1);
	m.run.max_attempts = 1;
	m.run.queue = STR("default");
	m.run.plugin = STR("command");
	m.run.body = STR("{}");
	m.run.number = (uint64_t)at_int(a, "number", 0, INT64_MAX, (int64_t)x->runs + 1);
	m.run.notify_seq = (uint64_t)at_int(a, "notify_seq", 0, INT64_MAX, 0);
	if (!ready(a))
		return;
	if (m.run.number > x->runs)
		x->runs = m.run.number;
	send(a, &m);
}

static void do_notify(struct at *a)
{
	struct message m = {.kind = MSG_NOTIFY};
	struct run_ref refs[PLAY_TASKS_MAX];
	json_t *list = json_object_get(a->j, "tasks"), *j;
	struct at r;
	size_t i;

	at_actor(a, "to");
	m.notify.seq = (uint64_t)at_int(a, "seq", 0, INT64_MAX, 1);
	m.notify.refs = refs;
	json_array_foreach(list, i, j)
	{
		int task;

		if (i == PLAY_TASKS_MAX || !at_init(&r, a->p, j, "%s.tasks[%zu]", a->path, i) ||
		    !at_keys(&r, "task token"))
			return;
		task = at_task(&r, "task");
		if (task < 0)
			return;
		refs[m.notify.n_refs++] =
		    (struct run_ref){a->p->tasks[task].id, at_int(&r, "token", 0, INT64_MAX, 1)};
	}
	if (ready(a))
		send(a, &m);
}

static void do_check(struct at *a)
{
	struct message m = {.kind = MSG_CHECK};
	struct actor *x = at_actor(a, "to");

	if (is_wrong(a->p))
		return;
	m.check.number = (uint64_t)at_int(a, "number", 1, INT64_MAX, (int64_t)x->checks + 1);
	m.check.beat = (uint64_t)at_int(a, "beat", 0, INT64_MAX, (int64_t)x->last_beat);
	if (!ready(a))
		return;
	send(a, &m);
}

static void do_kill(struct at *a)
{
	struct message m = {.kind = MSG_KILL};
	struct run_ref of = about(a);

	m.kill = (struct link_kill){of.task, of.token, str_of(at_str(a, "reason", "cancelled")),
	    at_bool(a, "forget", false)};
	if (ready(a))
		send(a, &m);
}

static void do_ended_ack(struct at *a)
{
	struct message m = {.kind = MSG_ENDED_ACK, .ended_ack = about(a)};

	if (ready(a))
		send(a, &m);
}

static void do_settings(struct at *a)
{
	struct message m = {.kind = MSG_SETTINGS};

	at_actor(a, "to");
	m.settings.maxthreads = (int32_t)at_int(a, "maxthreads", -1, 100000, 4);
	m.settings.leave = at_bool(a, "leave", false);
	m.settings.restart = at_bool(a, "restart", false);
	if (ready(a))
		send(a, &m);
}

static void do_close(struct at *a)
{
	struct actor *x = at_actor(a, "to");

	if (!ready(a))
		return;
	sim_net_close(a->p->w, x->link, TO_SERVER);
	x->link = 0;
}

static void do_server_habit(struct at *a)
{
	struct play *p = a->p;
	bool welcomes = at_bool(a, "welcomes", p->boss.welcomes),
	     acks = at_bool(a, "acks", p->boss.acks);
	bool checks = at_bool(a, "checks", p->boss.checks);
	int state = at_choice(a, "state", worker_state_names, N_WORKER_STATES, (int)p->boss.state);

	if (!ready(a))
		return;
	p->boss.welcomes = welcomes;
	p->boss.acks = acks;
	p->boss.checks = checks;
	p->boss.state = (enum worker_state)state;
}

static struct link_news boss_news(const struct play *p, const struct actor *x)
{
	return (struct link_news){p->boss.state, p->boss.set, x->checks};
}

static void hear_hello(struct play *p, struct actor *x, uint64_t link)
{
	struct message m = {.kind = MSG_WELCOME, .link = link};

	x->link = link;
	x->last_beat = x->runs = 0;
	if (!p->boss.welcomes)
		return;
	m.welcome.worker = 1;
	m.welcome.server = p->boss.id;
	m.welcome.timeouts = p->o.timeouts;
	m.welcome.news = boss_news(p, x);
	m.welcome.maxthreads = 4;
	sim_net_to_worker(p->w, &m);
	if (p->boss.checks) {
		m = (struct message){.kind = MSG_CHECK, .link = link};
		m.check.number = x->checks + 1;
		sim_net_to_worker(p->w, &m);
	}
}

static void hear_beat(struct play *p, struct actor *x, const struct event *ev)
{
	struct message m = {.kind = MSG_BEAT_ACK, .link = x->link};

	x->last_beat = ev->beat.number;
	if (p->boss.acks) {
		m.beat_ack.number = ev->beat.number;
		m.beat_ack.news = boss_news(p, x);
		sim_net_to_worker(p->w, &m);
	}
	if (p->boss.checks) {
		m = (struct message){.kind = MSG_CHECK, .link = x->link};
		m.check.number = x->checks + 1;
		m.check.beat = ev->beat.number;
		sim_net_to_worker(p->w, &m);
	}
}

static void hear_ended(struct play *p, struct actor *x, const struct event *ev)
{
	struct message m = {
	    .kind = MSG_ENDED_ACK, .link = x->link, .ended_ack = {ev->ended.task, ev->ended.token}};

	if (p->boss.acks)
		sim_net_to_worker(p->w, &m);
}

static void hear_checked(struct play *p, struct actor *x, const struct event *ev)
{
	struct message m = {.kind = MSG_BEAT_ACK, .link = x->link};

	if (!ev->checked.ok || ev->checked.number <= x->checks)
		return;
	x->checks = ev->checked.number;
	m.beat_ack.news = boss_news(p, x);
	if (p->boss.acks)
		sim_net_to_worker(p->w, &m);
}

void boss_hears(struct world *w, const struct event *ev, void *arg)
{
	struct play *p = arg;
	struct actor *x = actor_of_link(p, ev->link);

	(void)w;
	if (!x)
		return;
	switch (ev->kind) {
	case EV_HELLO: hear_hello(p, x, ev->link); break;
	case EV_BEAT: hear_beat(p, x, ev); break;
	case EV_CHECKED: hear_checked(p, x, ev); break;
	case EV_ENDED: hear_ended(p, x, ev); break;
	default: break;
	}
}

const struct action boss_actions[] = {
    {"welcome", "to server state set check notify_seq maxthreads times", do_welcome},
    {"refused", "to die restart reason times", do_refused},
    {"beat_ack", "to number state set check times", do_beat_ack},
    {"run", "to task token attempt number notify_seq times", do_run},
    {"notify", "to seq tasks times", do_notify},
    {"check", "to number beat times", do_check},
    {"kill_task", "to task token forget reason times", do_kill},
    {"ended_ack", "to task token times", do_ended_ack},
    {"settings", "to maxthreads leave restart times", do_settings},
    {"close", "to", do_close},
    {"server_habit", "welcomes acks checks state", do_server_habit},
    {0},
};
