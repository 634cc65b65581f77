/* SPDX-License-Identifier: Apache-2.0 */
/* Puppets: workers whose every word is the script's, before the real server. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "sim/play/play_internal.h"

void puppet_release(struct puppet *k)
{
	for (int i = 0; k && i < N_SAID; i++)
		free(k->sent[i]);
	free(k);
}

static struct puppet *puppet_of(struct at *a)
{
	struct actor *x = at_actor(a, "from");

	if (!is_wrong(a->p) && !x->puppet)
		play_wrong(a->p, a->path, "from", "this worker is an agent",
		    "only a puppet (\"kind\": \"puppet\") is made to speak");
	return x->puppet;
}

static bool ready(struct at *a)
{
	return !is_wrong(a->p) && !a->p->dry;
}

static uint64_t server_id(struct at *a, const char *name)
{
	if (!strcmp(name, "this") && a->p->w && sim_core(a->p->w))
		return a->p->w->server->core_options.server;
	if (!strcmp(name, "this"))
		return a->p->boss.id ? a->p->boss.id : 1;
	return label_number(name);
}

static bool read_members(struct at *a, struct set_hash *h)
{
	json_t *of = json_object_get(a->j, "of"), *j;
	size_t i;

	if (of && !json_is_array(of))
		play_wrong(a->p, a->path, "of", "it is not a list", "[\"w1\", \"w2\"]");
	json_array_foreach(of, i, j)
	{
		int x = json_is_string(j) ? find_actor(a->p, json_string_value(j)) : -1;

		if (x >= 0 && a->p->w)
			set_hash_add(h, actor_instance(a->p, &a->p->actors[x]));
		else if (json_is_string(j) && strchr(json_string_value(j), ':'))
			set_hash_add(h, label_number(strchr(json_string_value(j), ':') + 1));
		else if (x < 0)
			play_wrong(a->p, a->path, "of", "there is no such worker",
			    "names of workers, or \"instance:LABEL\" for any instance");
	}
	return !is_wrong(a->p);
}

bool set_read(struct at *a, const char *key, const struct set_id *told, struct set_id *ret)
{
	json_t *j = json_object_get(a->j, key);
	const char *word = json_string_value(j);
	struct at s;

	*ret = told ? *told : (struct set_id){0};
	if (!j || (word && !strcmp(word, "told")))
		return true;
	*ret = (struct set_id){0};
	if (word && !strcmp(word, "none"))
		return true;
	if (!json_is_object(j)) {
		play_wrong(a->p, a->path, key, "it is not a set id",
		    "\"told\", \"none\" or {\"server\": \"this\", \"version\": 1, \"of\": "
		    "[\"w1\"]}");
		return false;
	}
	if (!at_init(&s, a->p, j, "%s.%s", a->path, key) || !at_keys(&s, "server version of"))
		return false;
	ret->server = server_id(&s, at_str(&s, "server", "this"));
	ret->version = (uint64_t)at_int(&s, "version", 0, INT64_MAX, 1);
	return read_members(&s, &ret->hash);
}

static void send(struct play *p, struct actor *x, const struct event *ev, int times)
{
	struct puppet *k = x->puppet;
	struct packet *copy = packet_of_event(ev);
	int kind = packet_call(copy);

	free(k->sent[kind]);
	k->sent[kind] = copy;
	if (!k->link)
		world_tell(p->w, "%s has no link: nobody hears it", x->name);
	for (int i = 0; i < times && k->link; i++)
		sim_raw_send(p->w, k->link, ev);
}

static struct actor *speaker(struct at *a)
{
	return at_actor(a, "from");
}

static int times(struct at *a)
{
	return (int)at_int(a, "times", 1, 1000, 1);
}

static void send_beat(struct play *p, struct actor *x)
{
	struct puppet *k = x->puppet;
	struct event ev = {.kind = EV_BEAT};

	ev.beat.number = ++k->beats;
	ev.beat.own = k->state;
	if (k->habits.repeats_set)
		ev.beat.set = k->told;
	send(p, x, &ev, 1);
}

static void beat_again(struct world *w, void *arg)
{
	struct actor *x = arg;
	struct puppet *k = x->puppet;
	struct sim_event *next;

	k->beat_event = NULL;
	if (!k->habits.beats || !k->link)
		return;
	send_beat(w->tell_arg, x);
	next = world_event(w, w->now_us + k->timeouts.heartbeat_ms * 1000, SE_CALL, SIM_RAW);
	next->fn = beat_again;
	next->p = x;
	k->beat_event = next;
}

static void begin_beating(struct play *p, struct actor *x)
{
	world_cancel(p->w, TAKE(x->puppet->beat_event));
	beat_again(p->w, x);
}

static int task_index(const struct play *p, rid id)
{
	for (size_t i = 0; i < p->n_tasks; i++)
		if (p->tasks[i].id == id)
			return (int)i;
	return -1;
}

static void hear_run(struct play *p, struct actor *x, const struct message *m)
{
	struct puppet *k = x->puppet;
	int task = task_index(p, m->run.task);
	struct event ev = {.kind = EV_STARTED};

	if (task < 0)
		return;
	k->runs[task].token = m->run.token;
	k->runs[task].held = k->habits.runs == RUN_START;
	if (k->habits.runs == RUN_START) {
		ev.started.task = m->run.task;
		ev.started.token = m->run.token;
		ev.started.started_ms = sim_server_wall_ms(p->w);
		send(p, x, &ev, 1);
	} else if (k->habits.runs == RUN_REFUSE) {
		ev = (struct event){.kind = EV_ENDED};
		ev.ended.task = m->run.task;
		ev.ended.token = m->run.token;
		ev.ended.status = TASK_QUEUED;
		ev.ended.exit_code = -1;
		ev.ended.reason = STR("the puppet refuses it");
		send(p, x, &ev, 1);
	}
}

static void hear_notify(struct play *p, struct actor *x, const struct message *m)
{
	struct puppet *k = x->puppet;
	struct link_held held[PLAY_TASKS_MAX], absent[PLAY_TASKS_MAX];
	struct event ev = {.kind = EV_NOTIFIED};

	if (!k->habits.notifies || m->notify.seq <= k->notify_seq)
		return;
	k->notify_seq = m->notify.seq;
	ev.notified.seq = m->notify.seq;
	ev.notified.held = held;
	ev.notified.absent = absent;
	for (size_t i = 0; i < m->notify.n_refs && i < PLAY_TASKS_MAX; i++) {
		const struct run_ref *r = &m->notify.refs[i];
		int task = task_index(p, r->task);
		struct link_held h = {r->task, r->token, false, 0, false};

		if (task >= 0 && k->runs[task].held && k->runs[task].token == r->token) {
			h.started_ms = sim_server_wall_ms(p->w);
			held[ev.notified.n_held++] = h;
		} else {
			absent[ev.notified.n_absent++] = h;
		}
	}
	send(p, x, &ev, 1);
}

static void hear_news(struct puppet *k, const struct link_news *n)
{
	k->state = n->state;
	if (n->set.server)
		k->told = n->set;
}

void puppet_hears(struct world *w, uint64_t link, const struct message *m, void *arg)
{
	struct play *p = arg;
	struct actor *x = actor_of_link(p, link);
	struct puppet *k = x ? x->puppet : NULL;
	struct event ev = {.kind = EV_CHECKED};

	if (!k)
		return;
	switch (m->kind) {
	case MSG_WELCOME:
		k->welcome = true;
		k->timeouts = m->welcome.timeouts;
		hear_news(k, &m->welcome.news);
		if (k->habits.beats)
			begin_beating(p, x);
		break;
	case MSG_BEAT_ACK: hear_news(k, &m->beat_ack.news); break;
	case MSG_CHECK:
		if (k->habits.checks == CHECK_IGNORE)
			break;
		ev.checked.number = m->check.number;
		ev.checked.ok = k->habits.checks == CHECK_OK;
		ev.checked.reason = ev.checked.ok ? STR_NULL : STR("the puppet's check fails");
		send(p, x, &ev, 1);
		break;
	case MSG_RUN: hear_run(p, x, m); break;
	case MSG_NOTIFY: hear_notify(p, x, m); break;
	default: break;
	}
}

void puppet_link_down(struct world *w, uint64_t link, void *arg)
{
	struct play *p = arg;

	for (size_t i = 0; i < p->n_actors; i++)
		if (p->actors[i].puppet && p->actors[i].puppet->link == link) {
			p->actors[i].puppet->link = 0;
			p->actors[i].puppet->welcome = false;
			world_tell(w, "%s: the link is down", p->actors[i].name);
		}
}

/* [{"task": "t1", "token": 1, "ended": false, "started": true, "receipt": true}] */
static size_t read_refs(struct at *a, const char *key, struct link_held refs[PLAY_TASKS_MAX])
{
	json_t *list = json_object_get(a->j, key), *j;
	struct puppet *k = speaker(a)->puppet;
	struct at r;
	size_t i, n = 0;

	if (list && !json_is_array(list))
		play_wrong(a->p, a->path, key, "it is not a list", "[{\"task\": \"t1\"}]");
	json_array_foreach(list, i, j)
	{
		int task;

		if (n == PLAY_TASKS_MAX || !at_init(&r, a->p, j, "%s.%s[%zu]", a->path, key, i) ||
		    !at_keys(&r, "task token ended started receipt"))
			return n;
		task = at_task(&r, "task");
		if (task < 0)
			return n;
		refs[n++] = (struct link_held){a->p->tasks[task].id,
		    at_int(&r, "token", 0, INT64_MAX,
		        k && k->runs[task].token ? k->runs[task].token : 1),
		    at_bool(&r, "ended", false),
		    at_bool(&r, "started", true) && !a->p->dry ? sim_server_wall_ms(a->p->w) : 0,
		    at_bool(&r, "receipt", true)};
	}
	return n;
}

bool facts_check(struct at *a)
{
	static const char *const keys[] = {"host", "zone", "target", "version", "labels", "plugins",
	    "active_queues", "ignore_queues"};
	struct at facts;

	if (!at_init(&facts, a->p, json_object_get(a->j, "facts"), "%s.facts", a->path) ||
	    !at_keys(&facts, "host zone target version labels plugins active_queues "
	                     "ignore_queues text"))
		return false;
	for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
		at_str(&facts, keys[i], "");
	return !is_wrong(a->p);
}

static void read_facts(struct at *a, struct actor *x, struct worker_facts *f)
{
	struct puppet *k = x->puppet;
	int64_t started = at_ms(a, "started", k->started_ms);
	struct at facts = {.p = a->p, .j = k->facts};
	json_t *given = json_object_get(a->j, "facts");

	if (given && (!facts_check(a) || !at_init(&facts, a->p, given, "%s.facts", a->path)))
		return;
	if (at_has(a, "instance") && !a->p->dry)
		k->instance = label_number(at_str(a, "instance", NULL));
	*f = (struct worker_facts){
	    .shard = str_of(at_str(a, "shard", x->shard)),
	    .instance = k->instance,
	    .started_ms = INT64_C(1767225600) * 1000 + started,
	    .start = INT64_C(1767225600) * 1000 + started,
	    .lock = str_of(at_str(a, "lock", k->lock)),
	    .key = str_of(at_str(a, "key", at_str(a, "lock", k->lock))),
	    .host = str_of(at_str(&facts, "host", "puppet")),
	    .zone = str_of(at_str(&facts, "zone", "")),
	    .target = str_of(at_str(&facts, "target", "puppet")),
	    .version = str_of(at_str(&facts, "version", REEVE_VERSION)),
	    .labels = str_of(at_str(&facts, "labels", "")),
	    .plugins = str_of(at_str(&facts, "plugins", "command\n")),
	    .active_queues = str_of(at_str(&facts, "active_queues", "")),
	    .ignore_queues = str_of(at_str(&facts, "ignore_queues", "")),
	    .maxthreads = (int32_t)at_int(a, "maxthreads", -1, 100000, k->maxthreads),
	};
}

/* A worker that speaks another version is not understood: its link is closed, and the brain hears
 * nothing. */
static void turn_away(struct play *p, struct puppet *k)
{
	world_tell(p->w, "server closes a link: another version of the link's protocol");
	sim_raw_close(p->w, k->link);
	k->link = 0;
}

static void do_hello(struct at *a)
{
	struct puppet *k = puppet_of(a);
	struct link_held held[PLAY_TASKS_MAX];
	struct worker_facts facts;
	struct event ev = {.kind = EV_HELLO};
	bool same_link = at_bool(a, "same_link", false);
	static const char *const protocols[] = {"same", "other"};
	bool other = at_choice(a, "protocol", protocols, 2, 0) == 1;

	if (is_wrong(a->p))
		return;
	read_facts(a, speaker(a), &facts);
	ev.hello.facts = facts;
	ev.hello.tasks = held;
	ev.hello.n_tasks = read_refs(a, "held", held);
	set_read(a, "set", &k->told, &ev.hello.set);
	ev.hello.dial = (uint64_t)at_int(a, "dial", 0, INT64_MAX, 0);
	if (!ready(a))
		return;
	if (!k->link || !same_link) {
		k->link =
		    sim_raw_open(a->p->w); /* an older one stays half open: nobody closed it */
		k->welcome = false;
		k->beats = 0;
	}
	if (other)
		turn_away(a->p, k);
	else
		send(a->p, speaker(a), &ev, times(a));
}

static void do_dial(struct at *a)
{
	struct puppet *k = puppet_of(a);

	if (!ready(a))
		return;
	k->link = sim_raw_open(a->p->w);
	k->welcome = false;
	k->beats = 0;
}

static void do_beat(struct at *a)
{
	struct puppet *k = puppet_of(a);
	struct event ev = {.kind = EV_BEAT};

	if (is_wrong(a->p))
		return;
	ev.beat.leaving = at_bool(a, "leaving", false);
	ev.beat.own = (enum worker_state)at_choice(
	    a, "own", worker_state_names, N_WORKER_STATES, (int)k->state);
	set_read(a, "set", &k->told, &ev.beat.set);
	ev.beat.number = (uint64_t)at_int(a, "number", 0, INT64_MAX, (int64_t)k->beats + 1);
	if (!ready(a))
		return;
	if (ev.beat.number > k->beats)
		k->beats = ev.beat.number;
	send(a->p, speaker(a), &ev, times(a));
}

static void do_checked(struct at *a)
{
	struct puppet *k = puppet_of(a);
	struct event ev = {.kind = EV_CHECKED};
	json_t *last;

	if (is_wrong(a->p))
		return;
	last = speaker(a)->told.last[MSG_CHECK];
	ev.checked.ok = at_bool(a, "ok", true);
	ev.checked.reason = ev.checked.ok ? STR_NULL : str_of(at_str(a, "reason", "it failed"));
	ev.checked.number = (uint64_t)at_int(
	    a, "number", 0, INT64_MAX, json_integer_value(json_object_get(last, "number")));
	if (ready(a) && k)
		send(a->p, speaker(a), &ev, times(a));
}

static int64_t token_of(struct at *a, struct puppet *k, int task)
{
	struct task_state s;
	int64_t token = k && task >= 0 ? k->runs[task].token : 0;

	if (!token && ready(a) && sim_core(a->p->w) &&
	    core_task_state(sim_core(a->p->w), a->p->tasks[task].id, &s))
		token = s.token;
	return at_int(a, "token", 0, INT64_MAX, token);
}

static void do_started(struct at *a)
{
	struct puppet *k = puppet_of(a);
	int task = at_task(a, "task");
	struct event ev = {.kind = EV_STARTED};

	ev.started.token = token_of(a, k, task);
	if (!ready(a))
		return;
	ev.started.task = a->p->tasks[task].id;
	ev.started.started_ms = sim_server_wall_ms(a->p->w);
	k->runs[task].held = true;
	send(a->p, speaker(a), &ev, times(a));
}

static void do_ended(struct at *a)
{
	static const char *const names[] = {"succeeded", "failed", "terminated", "never_started"};
	static const int statuses[] = {TASK_SUCCEEDED, TASK_FAILED, TASK_TERMINATED, TASK_QUEUED};
	struct puppet *k = puppet_of(a);
	int task = at_task(a, "task");
	json_t *code = json_object_get(a->j, "status");
	struct event ev = {.kind = EV_ENDED};
	int which = json_is_integer(code) ? -1 : at_choice(a, "status", names, 4, 0);

	ev.ended.token = token_of(a, k, task);
	ev.ended.status = which < 0 ? (int32_t)json_integer_value(code) : statuses[which];
	ev.ended.exit_code = (int32_t)at_int(a, "exit", -1, 255,
	    which == 1   ? 1
	    : which == 3 ? -1
	                 : 0);
	ev.ended.signal = (int32_t)at_int(a, "signal", 0, 64, 0);
	ev.ended.killed = at_bool(a, "killed", false);
	ev.ended.permanent = at_bool(a, "permanent", false);
	ev.ended.reason = at_has(a, "reason") ? str_of(at_str(a, "reason", "")) : STR_NULL;
	if (!ready(a))
		return;
	ev.ended.task = a->p->tasks[task].id;
	ev.ended.started_ms = which == 3 ? 0 : sim_server_wall_ms(a->p->w);
	ev.ended.ended_ms = sim_server_wall_ms(a->p->w);
	k->runs[task].held = false;
	send(a->p, speaker(a), &ev, times(a));
}

static void do_notified(struct at *a)
{
	struct puppet *k = puppet_of(a);
	struct link_held held[PLAY_TASKS_MAX], absent[PLAY_TASKS_MAX];
	struct event ev = {.kind = EV_NOTIFIED};
	json_t *last;

	if (is_wrong(a->p))
		return;
	last = speaker(a)->told.last[MSG_NOTIFY];
	ev.notified.seq = (uint64_t)at_int(
	    a, "seq", 0, INT64_MAX, json_integer_value(json_object_get(last, "seq")));
	ev.notified.held = held;
	ev.notified.absent = absent;
	ev.notified.n_held = read_refs(a, "held", held);
	ev.notified.n_absent = read_refs(a, "absent", absent);
	if (ready(a) && k)
		send(a->p, speaker(a), &ev, times(a));
}

static void do_repeat(struct at *a)
{
	struct puppet *k = puppet_of(a);
	int kind = at_choice(a, "kind", said_names, N_SAID, -1);
	int n = times(a);

	if (!ready(a))
		return;
	for (int i = 0; i < n && k->sent[kind] && k->link; i++)
		sim_raw_send(a->p->w, k->link, &k->sent[kind]->to_server);
}

static void do_hang_up(struct at *a)
{
	struct puppet *k = puppet_of(a);

	if (!ready(a) || !k->link)
		return;
	sim_raw_close(a->p->w, k->link);
	k->link = 0;
	k->welcome = false;
}

bool habits_read(struct at *a, struct habits *h)
{
	static const char *const checks[] = {"ignore", "ok", "fail"};
	static const char *const runs[] = {"ignore", "start", "refuse"};

	if (!at_keys(a, "do from beats repeats_set checks runs notifies at after text"))
		return false;
	h->beats = at_bool(a, "beats", h->beats);
	h->repeats_set = at_bool(a, "repeats_set", h->repeats_set);
	h->checks = at_choice(a, "checks", checks, 3, (int)h->checks);
	h->runs = at_choice(a, "runs", runs, 3, (int)h->runs);
	h->notifies = at_bool(a, "notifies", h->notifies);
	return !is_wrong(a->p);
}

static void do_habit(struct at *a)
{
	struct puppet *k = puppet_of(a);
	struct habits h = {0};
	bool beat;

	if (is_wrong(a->p))
		return;
	h = k->habits;
	beat = h.beats;
	habits_read(a, &h);
	if (!ready(a))
		return;
	k->habits = h;
	if (h.beats && !beat && k->welcome)
		begin_beating(a->p, speaker(a));
}

const struct action puppet_actions[] = {
    {"hello",
        "from shard instance started lock key maxthreads facts held set dial same_link times "
        "protocol",
        do_hello},
    {"dial", "from", do_dial},
    {"beat", "from number leaving own set times", do_beat},
    {"checked", "from number ok reason times", do_checked},
    {"started", "from task token times", do_started},
    {"ended", "from task token status exit signal killed permanent reason times", do_ended},
    {"notified", "from seq held absent times", do_notified},
    {"repeat", "from kind times", do_repeat},
    {"hang_up", "from", do_hang_up},
    {"habit", "from beats repeats_set checks runs notifies", do_habit},
    {0},
};
