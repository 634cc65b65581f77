/* SPDX-License-Identifier: Apache-2.0 */
/* A scenario's world: made as the script says, watched after every single event. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "sim/judge/judge.h"
#include "sim/play/play_internal.h"
#include "sim/world/trace.h"

uint64_t label_number(const char *label)
{
	struct rng r = {0x706c6179};
	uint64_t n = 0;

	for (; *label; label++) {
		r.state ^= (unsigned char)*label;
		n = rng_next(&r);
	}
	return n | 1;
}

struct actor *actor_of_link(struct play *p, uint64_t link)
{
	struct sim_link *l = sim_link_find(p->w, link);

	for (size_t i = 0; l && i < p->n_actors; i++) {
		struct actor *x = &p->actors[i];

		if (x->puppet ? x->puppet->link == link : x->slot == l->slot)
			return x;
	}
	return NULL;
}

uint64_t actor_instance(const struct play *p, const struct actor *x)
{
	return x->puppet ? x->puppet->instance : p->w->workers[x->slot].instance;
}

const char *play_task_name(const struct play *p, rid id)
{
	for (size_t i = 0; id && i < p->n_tasks; i++)
		if (p->tasks[i].id == id)
			return p->tasks[i].name;
	return NULL;
}

static const char *task_by_number(const struct play *p, unsigned n)
{
	for (size_t i = 0; i < p->n_tasks; i++)
		if (p->tasks[i].id && judge_number(p->w, p->tasks[i].id) == n)
			return p->tasks[i].name;
	return NULL;
}

/* The world calls tasks by number; a script has names. */
static size_t put_name(struct play *p, struct buf *b, const char *s, bool after_task)
{
	char *end;
	unsigned long n;
	const char *name = NULL;

	if (!isdigit((unsigned char)*s))
		return 0;
	n = strtoul(s, &end, 10);
	if (*end == '/' || after_task)
		name = task_by_number(p, (unsigned)n);
	if (!name)
		return 0;
	buf_add_cstr(b, name);
	return (size_t)(end - s);
}

static void put_line(void *arg, const char *line, struct buf *b)
{
	struct play *p = arg;

	for (const char *s = line; *s;) {
		bool is_word = s == line || !isalnum((unsigned char)s[-1]);
		bool after_task = s - line >= 5 && !strncmp(s - 5, "task ", 5);
		size_t used = is_word ? put_name(p, b, s, after_task) : 0;

		if (!used)
			buf_add_char(b, *s);
		s += used ? used : 1;
	}
}

static void tell(const struct play *p, const char *line)
{
	json_t *j;

	if (!p->is_json) {
		printf("%s\n", line);
		return;
	}
	j = json_pack("{s:s, s:s}", "type", "story", "line", line + strspn(line, " "));
	json_dumpf(j, stdout, JSON_COMPACT);
	putchar('\n');
	json_decref(j);
}

static void on_line(void *arg, const char *line)
{
	struct play *p = arg;
	struct buf b = {0};
	char **kept = &p->story[p->n_story++ % STORY_KEPT];

	put_line(p, line, &b);
	free(*kept);
	*kept = buf_take(&b);
	json_array_append_new(p->lines, json_string(*kept + strspn(*kept, " ")));
	if (p->trace)
		tell(p, *kept);
}

/* An order may leave before the client has its answer, which tells the id. */
static void note_id(struct play *p, const struct message *m)
{
	for (size_t i = 0; m->kind == MSG_RUN && i < p->n_tasks; i++)
		if (str_eq(m->run.body, str_of(p->tasks[i].body)))
			p->tasks[i].id = m->run.task;
}

/* Every message, as it is sent. */
static bool on_sent(struct world *w, const struct sim_link *l, const struct packet *m,
    struct net_rule *ret_rule, void *arg)
{
	struct play *p = arg;

	p->speaking = actor_of_link(p, l->number);
	if (m->direction == TO_WORKER && !p->server_is_puppet)
		note_id(p, &m->to_worker);
	calls_seen(p, l, m);
	return rule_for_packet(p, l, m, ret_rule);
}

/* How it behaves is the script's word; it is about to begin. */
static void on_process(struct world *w, struct sim_process *k, void *arg)
{
	struct play *p = arg;

	for (size_t i = 0; i < p->n_tasks; i++) {
		struct play_task *t = &p->tasks[i];
		size_t n = t->n_starts < t->n_outcomes ? t->n_starts : t->n_outcomes - 1;

		if (t->id != k->task)
			continue;
		t->n_starts++;
		k->left_us = t->outcomes[n].run_us;
		k->exit = t->outcomes[n].exit;
		k->ignores_term = t->outcomes[n].ignores_term;
		k->chunks_left = 0;
	}
}

static void set_up_workers(struct play *p)
{
	json_t *all = json_object_get(p->doc, "workers"), *j;
	struct actor *x = p->actors;
	size_t i;
	struct at a;

	json_array_foreach(all, i, j)
	{
		int count = (int)json_integer_value(json_object_get(j, "count"));

		at_init(&a, p, j, "workers[%zu]", i);
		for (int n = count ? count : 1; n > 0; n--, x++) {
			struct sim_worker *k = &p->w->workers[x->slot < 0 ? 0 : x->slot];

			if (x->puppet)
				continue;
			snprintf(k->shard, sizeof k->shard, "%s", x->shard);
			snprintf(k->lock, sizeof k->lock, "%s", at_str(&a, "lock", x->name));
			k->maxthreads = (int32_t)at_int(&a, "maxthreads", -1, 100000, 4);
			k->agent_options.restart_when_lost =
			    at_bool(&a, "restart_when_lost", false);
		}
	}
}

/* Workers by the names that the script gives them; of the puppets the one that speaks. */
static const char *on_name(struct world *w, int slot, void *arg)
{
	struct play *p = arg;

	for (size_t i = 0; slot >= 0 && i < p->n_actors; i++)
		if (!p->actors[i].puppet && p->actors[i].slot == slot)
			return p->actors[i].name;
	return slot == SIM_RAW && p->speaking ? p->speaking->name : NULL;
}

/* For a trace: puppets, too, whoever speaks. */
static const char *traced_name(void *arg, int slot, uint64_t link)
{
	const struct actor *x = link ? actor_of_link(arg, link) : NULL;

	return x ? x->name : NULL;
}

static void open_trace(struct play *p)
{
	const struct sim_trace_names names = {traced_name, put_line, p};

	sim_trace_open(p->w, p->shiviz, &names, &p->problem);
}

void play_world_new(struct play *p)
{
	struct core_options *o;

	p->w = world_new(&p->o);
	p->w->tell = on_line;
	p->w->tell_arg = p;
	p->w->hooks = (struct sim_hooks){
	    .sent = on_sent,
	    .said = p->server_is_puppet ? boss_hears : NULL,
	    .process = on_process,
	    .name = on_name,
	    .arg = p,
	};
	p->w->net->raw = puppet_hears;
	p->w->net->raw_down = puppet_link_down;
	p->w->net->raw_arg = p;
	if (p->shiviz)
		open_trace(p);
	p->lines = json_array();
	p->replies = json_object();
	o = &p->w->server->core_options;
	o->caution_startup_wait = json_object_get(p->doc, "caution_startup_wait") != NULL;
	json_ms(json_object_get(p->doc, "caution_startup_wait"), &o->startup_wait_ms);
	o->consensus_patience =
	    (uint32_t)json_integer_value(json_object_get(p->doc, "consensus_patience"));
	set_up_workers(p);
}

void play_world_free(struct play *p)
{
	if (p->w)
		world_free(p->w);
	for (size_t i = 0; i < p->n_actors; i++) {
		calls_release(&p->actors[i].said);
		calls_release(&p->actors[i].told);
		puppet_release(p->actors[i].puppet);
	}
	for (size_t i = 0; i < p->n_tasks; i++)
		json_decref(p->tasks[i].starts);
	for (size_t i = 0; i < p->n_sets; i++)
		json_decref(p->sets[i].names);
	for (size_t i = 0; i < STORY_KEPT; i++)
		free(p->story[i]);
	rules_release(p);
	laters_release(p);
	asks_release(p);
	free(p->sets);
	free(p->processes);
	json_decref(p->lines);
	json_decref(p->replies);
	json_decref(p->doc);
}

/* Whose set is it? The id has only a hash: remember who was in when it was made. */
static void note_set(struct play *p)
{
	const struct core *c = sim_core(p->w);
	struct worker_view v;
	struct set_view now;
	struct play_set *s;

	if (!c)
		return;
	core_set(c, sim_server_mono_ms(p->w), &now);
	s = p->n_sets ? &p->sets[p->n_sets - 1] : NULL;
	if (!now.id.version ||
	    (s && s->id.server == now.id.server && s->id.version == now.id.version))
		return;
	GROW(p->sets, p->cap_sets, p->n_sets + 1);
	s = &p->sets[p->n_sets++];
	*s = (struct play_set){now.id, json_array()};
	for (size_t i = 0; i < p->n_actors; i++) {
		struct actor *x = &p->actors[i];
		rid id = core_find(c, KIND_WORKER, str_of(x->shard));

		if (id && core_worker(c, id, sim_server_mono_ms(p->w), &v) && v.joined_version &&
		    v.row->facts.instance == actor_instance(p, x))
			json_array_append_new(s->names, json_string(x->name));
	}
}

static struct play_process *find_process(struct play *p, const struct sim_process *k)
{
	struct play_process *found;

	for (size_t i = 0; i < p->n_processes; i++) {
		struct play_process *x = &p->processes[i];

		if (x->ended_us < 0 && x->slot == k->slot && x->instance == k->instance &&
		    x->token == k->token && x->task >= 0 && p->tasks[x->task].id == k->task)
			return x;
	}
	GROW(p->processes, p->cap_processes, p->n_processes + 1);
	found = &p->processes[p->n_processes++];
	*found = (struct play_process){
	    k->slot, -1, k->instance, k->token, .started_us = -1, .ended_us = -1};
	for (size_t i = 0; i < p->n_tasks; i++)
		if (p->tasks[i].id == k->task)
			found->task = (int)i;
	return found;
}

static struct actor *actor_at(struct play *p, int slot)
{
	size_t i = 0;

	while (p->actors[i].slot != slot)
		i++;
	return &p->actors[i];
}

static void note_start(struct play *p, struct play_process *x, const struct sim_process *k)
{
	struct play_task *t = &p->tasks[x->task];
	struct actor *on = actor_at(p, k->slot);

	x->started_us = p->w->now_us;
	on->starts++;
	json_array_append_new(
	    t->starts, json_pack("{s:s, s:I, s:I}", "worker", on->name, "token",
	                   (json_int_t)k->token, "at_ms", (json_int_t)(p->w->now_us / 1000)));
	if (++t->copies > t->most_copies)
		t->most_copies = t->copies;
}

static void note_end(struct play *p, struct play_process *x)
{
	x->ended_us = p->w->now_us;
	if (x->started_us >= 0)
		p->tasks[x->task].copies--;
}

static void look_at_processes(struct play *p)
{
	for (int slot = 0; slot < p->w->o.workers; slot++)
		for (struct sim_process *k = p->w->workers[slot].processes; k; k = k->next) {
			struct play_process *x = find_process(p, k);

			x->seen = true;
			if (x->task < 0)
				continue;
			if (x->started_us < 0 && k->state == PROCESS_RUNS)
				note_start(p, x, k);
		}
	for (size_t i = 0; i < p->n_processes; i++) {
		struct play_process *x = &p->processes[i];

		if (x->ended_us < 0 && !x->seen && x->task >= 0)
			note_end(p, x);
		x->seen = false;
	}
}

bool play_step(struct play *p)
{
	struct sim_event *e = CONTAINER_OF(heap_min(&p->w->heap), struct sim_event, node);
	bool go_on;

	p->speaking = NULL;
	if (e->kind == SE_PACKET)
		p->speaking = actor_of_link(p, ((struct packet *)e->p)->link);
	go_on = world_step(p->w);
	look_at_processes(p);
	note_set(p);
	return go_on;
}

bool play_run(struct play *p, int64_t until_us)
{
	struct heap_node *n;

	while ((n = heap_min(&p->w->heap)) && n->at <= until_us)
		if (!play_step(p))
			return false;
	if (until_us > p->w->now_us)
		p->w->now_us = until_us;
	return !p->w->verdict.invariant;
}

void play_forget_calls(struct play *p)
{
	for (size_t i = 0; i < p->n_actors; i++) {
		memset(p->actors[i].said.now, 0, sizeof p->actors[i].said.now);
		memset(p->actors[i].told.now, 0, sizeof p->actors[i].told.now);
	}
	json_array_clear(p->lines);
}
