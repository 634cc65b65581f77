/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Everything that a script can ask, as one JSON value. Every key is always there (null where it
 * does not apply), so a scenario's expectations can be checked for misspelt names beforehand.
 */
#include <string.h>

#include "sim/play/play_internal.h"
#include "words/words.h"

static const char *const lack_names[] = {"nothing", "known", "beat", "check", "consensus", "life"};
static const char *const phase_names[] = {"serving", "leaving", "dying", "gone"};

static json_t *str_json(struct str s)
{
	return s.p ? json_stringn(s.p, s.n) : json_null();
}

static json_t *ms_json(int64_t ms)
{
	return ms < 0 ? json_null() : json_integer(ms);
}

/* The name's record may be of another instance than this worker's. */
static bool is_somebody_elses(const struct play *p, const struct actor *x, uint64_t instance)
{
	for (size_t i = 0; i < p->n_actors; i++)
		if (&p->actors[i] != x && actor_instance(p, &p->actors[i]) == instance)
			return true;
	return false;
}

static json_t *unsure_of(const struct play *p, rid worker)
{
	json_t *all = json_array();
	struct task_state s;

	for (size_t i = 0; worker && i < p->n_tasks; i++)
		if (p->tasks[i].id && core_task_unsure(sim_core(p->w), p->tasks[i].id) &&
		    core_task_state(sim_core(p->w), p->tasks[i].id, &s) && s.worker == worker)
			json_array_append_new(all, json_string(p->tasks[i].name));
	return all;
}

/* As the server sees it. */
static void view_of_server(struct play *p, const struct actor *x, json_t *to)
{
	static const char *const none[] = {"state", "connected", "lack", "check_failed", "running",
	    "unsure", "silent_ms", "check_age_ms", "lost_in_ms", "notify_seq", "set_version",
	    "indirect", "joined", "batched", "maxthreads", "same_instance"};
	const struct core *c = sim_core(p->w);
	rid id = c ? core_find(c, KIND_WORKER, str_of(x->shard)) : 0;
	struct worker_view v = {0};

	if (!id || !core_worker(c, id, sim_server_mono_ms(p->w), &v) ||
	    is_somebody_elses(p, x, v.row->facts.instance)) {
		for (size_t i = 0; i < sizeof none / sizeof none[0]; i++)
			json_object_set_new(to, none[i], json_null());
		return;
	}
	json_object_update_new(
	    to, json_pack("{s:s, s:b, s:s, s:o, s:i, s:o, s:o, s:o, s:o}", "state",
	            worker_state_names[v.state], "connected", v.connected, "lack",
	            lack_names[v.lack], "check_failed", str_json(v.check_failed), "running",
	            (int)v.running, "unsure", unsure_of(p, id), "silent_ms", ms_json(v.silent_ms),
	            "check_age_ms", ms_json(v.check_age_ms), "lost_in_ms", ms_json(v.lost_in_ms)));
	json_object_update_new(
	    to, json_pack("{s:I, s:I, s:I, s:I, s:b, s:i, s:b}", "notify_seq",
	            (json_int_t)v.notify_seq, "set_version", (json_int_t)v.set_version, "indirect",
	            (json_int_t)v.indirect_version, "joined", (json_int_t)v.joined_version,
	            "batched", v.batched, "maxthreads", (int)v.maxthreads, "same_instance",
	            v.row->facts.instance == actor_instance(p, x)));
}

/* As it sees itself. */
static void view_of_self(struct play *p, const struct actor *x, json_t *to)
{
	const struct agent *a = x->puppet ? NULL : sim_agent(p->w, x->slot);
	struct puppet *k = x->puppet;
	bool linked = k ? k->link != 0 : p->w->workers[x->slot].link != 0;

	json_object_update_new(to,
	    json_pack("{s:b, s:s, s:o, s:b, s:b, s:i, s:i, s:o, s:i, s:b}", "up", a || k, "phase",
	        a   ? phase_names[agent_phase(a)]
	        : k ? "puppet"
	            : "down",
	        "self",
	        a   ? json_string(worker_state_names[agent_health(a)])
	        : k ? json_string(worker_state_names[k->state])
	            : json_null(),
	        "linked", linked, "welcome",
	        a   ? agent_is_welcome(a)
	        : k ? k->welcome
	            : false,
	        "held", a ? (int)agent_held(a) : 0, "live", a ? (int)agent_live(a) : 0, "set",
	        a   ? set_json(p, agent_set(a))
	        : k ? set_json(p, &k->told)
	            : set_json(p, &(struct set_id){0}),
	        "incarnation", k ? 1 : (int)p->w->workers[x->slot].incarnation, "paused",
	        !k && p->w->workers[x->slot].node.paused));
}

static void view_of_processes(const struct play *p, const struct actor *x, json_t *to)
{
	json_t *now = json_array();

	for (size_t i = 0; i < p->n_processes; i++) {
		const struct play_process *k = &p->processes[i];

		if (k->slot == x->slot && k->task >= 0 && k->started_us >= 0 && k->ended_us < 0)
			json_array_append_new(now, json_string(p->tasks[k->task].name));
	}
	json_object_set_new(to, "processes", now);
	json_object_set_new(to, "starts", json_integer(x->starts));
}

static void view_of_calls(
    const struct calls *c, const char *const *names, int n, const char *what, json_t *to)
{
	json_t *now = json_object(), *ever = json_object(), *last = json_object();
	char key[32];

	for (int i = 0; i < n; i++) {
		json_object_set_new(now, names[i], json_integer(c->now[i]));
		json_object_set_new(ever, names[i], json_integer(c->ever[i]));
		json_object_set(last, names[i], c->last[i] ? c->last[i] : json_null());
	}
	json_object_set_new(to, what, now);
	snprintf(key, sizeof key, "%s_ever", what);
	json_object_set_new(to, key, ever);
	snprintf(key, sizeof key, "%s_last", what);
	json_object_set_new(to, key, last);
}

static json_t *view_worker(struct play *p, const struct actor *x)
{
	json_t *to = json_object();

	view_of_server(p, x, to);
	view_of_self(p, x, to);
	view_of_processes(p, x, to);
	view_of_calls(&x->said, said_names, N_SAID, "said", to);
	view_of_calls(&x->told, told_names, N_TOLD, "told", to);
	return to;
}

static const char *worker_name(const struct play *p, rid id, char room[PLAY_NAME_MAX])
{
	struct worker_view v;

	if (!id || !sim_core(p->w) || !core_worker(sim_core(p->w), id, 0, &v))
		return NULL;
	for (size_t i = 0; i < p->n_actors; i++)
		if (actor_instance(p, &p->actors[i]) == v.row->facts.instance)
			return p->actors[i].name;
	snprintf(room, PLAY_NAME_MAX, STR_FMT, STR_ARG(v.row->facts.shard));
	return room;
}

static bool task_now(
    const struct play *p, const struct play_task *t, struct arena *a, struct task_state *s)
{
	struct task_row row;

	if (!t->id || p->server_is_puppet)
		return false;
	if (sim_core(p->w) && core_task_state(sim_core(p->w), t->id, s))
		return true;
	if (store_task_get(p->w->server->reader, t->id, a, &row) != 0)
		return false;
	*s = row.state;
	return true;
}

static json_t *view_task(const struct play *p, const struct play_task *t, struct arena *a)
{
	struct task_state s = {0};
	bool known = task_now(p, t, a, &s);
	char room[PLAY_NAME_MAX];
	const char *on = known ? worker_name(p, s.worker, room) : NULL;
	int64_t due =
	    known && s.status == TASK_QUEUED && s.due_ms ? s.due_ms - sim_server_wall_ms(p->w) : -1;

	return json_pack("{s:o, s:o, s:o, s:o, s:b, s:o, s:o, s:o, s:O, s:i, s:i, s:i}", "status",
	    known ? json_string(task_state_name(s.status)) : json_null(), "attempt",
	    known ? json_integer(s.attempt) : json_null(), "token",
	    known ? json_integer(s.token) : json_null(), "worker",
	    on ? json_string(on) : json_null(), "unsure",
	    sim_core(p->w) && t->id && core_task_unsure(sim_core(p->w), t->id), "exit",
	    known ? json_integer(s.exit_code) : json_null(), "reason",
	    known ? str_json(s.reason) : json_null(), "due_in_ms", ms_json(due), "starts_list",
	    t->starts, "starts", (int)json_array_size(t->starts), "copies", (int)t->copies,
	    "most_copies", (int)t->most_copies);
}

static json_t *view_set(const struct play *p)
{
	struct set_view s = {0};
	json_t *id;

	if (!sim_core(p->w) && !p->dry)
		return json_null();
	if (sim_core(p->w))
		core_set(sim_core(p->w), sim_server_mono_ms(p->w), &s);
	id = set_json(p, &s.id);
	json_object_update_new(
	    id, json_pack("{s:b, s:i, s:b, s:o}", "consensus", s.consensus, "batched",
	            (int)s.batched, "waiting", s.waiting, "ends_in_ms", ms_json(s.ends_in_ms)));
	return id;
}

static json_t *view_waits(const struct play *p, struct arena *a)
{
	json_t *all = json_array();
	struct wait *waits = NULL;
	char room[PLAY_NAME_MAX];
	size_t n;

	if (!sim_core(p->w))
		return all;
	n = core_waits(sim_core(p->w), sim_server_mono_ms(p->w), a, &waits);
	for (size_t i = 0; i < n; i++) {
		const char *on = worker_name(p, waits[i].worker, room);

		json_array_append_new(
		    all, json_pack("{s:s, s:o, s:i, s:o, s:o}", "code", wait_names[waits[i].code],
		             "worker", on ? json_string(on) : json_null(), "tasks",
		             (int)waits[i].tasks, "in_ms", ms_json(waits[i].in_ms), "text",
		             str_json(words_wait(a, &waits[i]))));
	}
	return all;
}

json_t *view_new(struct play *p)
{
	json_t *workers = json_object(), *tasks = json_object();
	struct arena a = {0};
	json_t *view;
	int copies = 0;

	for (size_t i = 0; i < p->n_actors; i++)
		json_object_set_new(workers, p->actors[i].name, view_worker(p, &p->actors[i]));
	for (size_t i = 0; i < p->n_tasks; i++) {
		json_object_set_new(tasks, p->tasks[i].name, view_task(p, &p->tasks[i], &a));
		copies += (int)p->tasks[i].copies;
	}
	view = json_pack("{s:I, s:{s:b, s:i, s:b}, s:o, s:o, s:o, s:o, s:O, s:O, s:o, s:i}",
	    "now_ms", (json_int_t)(p->w->now_us / 1000), "server", "up", sim_core(p->w) != NULL,
	    "incarnation", (int)p->w->server->incarnation, "paused", p->w->server->node.paused,
	    "set", view_set(p), "workers", workers, "tasks", tasks, "waits", view_waits(p, &a),
	    "replies", p->replies, "story", p->lines, "violation",
	    p->w->verdict.invariant ? json_integer(p->w->verdict.invariant) : json_null(),
	    "processes", copies);
	arena_release(&a);
	return view;
}

json_t *view_at(json_t *view, const char *path)
{
	struct str rest = str_of(path), part;
	char key[64];

	while (view && str_next(&rest, '.', &part)) {
		int64_t n;

		if (part.n >= sizeof key)
			return NULL;
		memcpy(key, part.p, part.n);
		key[part.n] = 0;
		if (json_is_array(view) && str_to_i64(part, 0, 1000000, &n))
			view = json_array_get(view, (size_t)n);
		else
			view = json_object_get(view, key);
	}
	return view;
}
