/* SPDX-License-Identifier: Apache-2.0 */
/* What a script does to the network: partitions, cuts, and the fate of single messages. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "sim/play/play_internal.h"

static bool ready(struct at *a)
{
	return !is_wrong(a->p) && !a->p->dry;
}

/* Both directions, or one: "from" the worker, "to" the worker. */
static bool passes(int choice, int direction)
{
	return choice == 0 || (choice == 1) == (direction == TO_WORKER);
}

static const char *const directions[] = {"both", "to", "from"};

static struct actor *agent_of(struct at *a)
{
	struct actor *x = at_actor(a, "worker");

	if (!is_wrong(a->p) && x->puppet)
		play_wrong(a->p, a->path, "worker", "this worker is a puppet",
		    "its network is the script's: let it be silent, or hang up");
	return x;
}

static void do_partition(struct at *a)
{
	struct actor *x = agent_of(a);
	int which = at_choice(a, "direction", directions, 3, 0);
	int64_t until = at_has(a, "until")
	                    ? at_wait(a, "until", 0) * 1000
	                    : a->p->event_us + at_wait(a, "for", INT64_C(1000000000)) * 1000;

	if (!ready(a))
		return;
	world_tell(a->p->w, "%s is cut off from the server (%s)", x->name, directions[which]);
	for (int d = 0; d < N_DIRECTIONS; d++)
		if (passes(which, d))
			sim_net_block(a->p->w, x->slot, d, until);
}

/* What was sent into a partition comes now, in its order: TCP sends it again. */
static void release_held(struct world *w, int slot)
{
	struct sim_event **held = NULL, *least;
	size_t n = 0, cap = 0;

	for (size_t i = 0; i < w->heap.n; i++) {
		struct sim_event *e = CONTAINER_OF(w->heap.nodes[i], struct sim_event, node);
		struct packet *m = e->kind == SE_PACKET ? e->p : NULL;
		struct sim_link *l = m ? sim_link_find(w, m->link) : NULL;

		if (!l || l->slot != slot || e->node.at <= w->now_us + w->o.delay_max_us)
			continue;
		l->last_us[0] = l->last_us[1] = w->now_us + w->o.delay_max_us;
		GROW(held, cap, n + 1);
		held[n++] = e;
	}
	while (n) {
		size_t at = 0;

		for (size_t i = 1; i < n; i++)
			if (held[i]->node.tie < held[at]->node.tie)
				at = i;
		least = held[at];
		held[at] = held[--n];
		heap_put(&w->heap, &least->node, w->now_us + w->o.delay_max_us, ++w->serial);
	}
	free(held);
}

static void drop_rules(struct play *p, int actor)
{
	struct play_rule **at = &p->rules, *r;

	while ((r = *at)) {
		if (r->actor != actor) {
			at = &r->next;
			continue;
		}
		*at = r->next;
		free(r);
	}
}

static void do_heal(struct at *a)
{
	struct actor *x = at_actor(a, "worker");

	if (!ready(a))
		return;
	world_tell(a->p->w, "the network of %s heals", x->name);
	drop_rules(a->p, x->index);
	if (x->puppet)
		return;
	a->p->w->net->paths[x->slot] = (struct sim_path){0};
	release_held(a->p->w, x->slot);
}

static void do_cut(struct at *a)
{
	struct actor *x = agent_of(a);
	int64_t server = at_ms(a, "server_notices", 0), worker = at_ms(a, "worker_notices", 0);
	bool arrives = at_bool(a, "under_way_arrives", false);

	if (!ready(a))
		return;
	world_tell(a->p->w, "the link of %s breaks", x->name);
	sim_net_cut_all(a->p->w, x->slot, arrives ? 1000 : 0, server < 0 ? -1 : server * 1000,
	    worker < 0 ? -1 : worker * 1000);
}

static void do_black_hole(struct at *a)
{
	struct actor *x = agent_of(a);

	if (!ready(a))
		return;
	world_tell(a->p->w, "the link of %s swallows everything", x->name);
	sim_net_cut_all(a->p->w, x->slot, 0, -1, -1);
}

static void do_slow(struct at *a)
{
	struct actor *x = agent_of(a);
	int64_t by = at_wait(a, "by", INT64_MIN) * 1000;
	int64_t until = a->p->event_us + at_wait(a, "for", INT64_C(1000000000)) * 1000;

	if (ready(a))
		sim_net_slow(a->p->w, x->slot, by, until);
}

static void add_rule(struct play *p, const struct play_rule *rule)
{
	struct play_rule *r = xmalloc(sizeof *r), **at = &p->rules;

	*r = *rule;
	r->next = NULL;
	while (*at)
		at = &(*at)->next;
	*at = r;
}

static void do_silence(struct at *a)
{
	struct actor *x = at_actor(a, "worker");
	int which = at_choice(a, "direction", directions, 3, 2);
	struct play_rule r = {.kind = -1, .task = -1, .left = -1, .action = CALL_LOSE};

	if (!ready(a))
		return;
	r.actor = x->index;
	world_tell(a->p->w, "messages of %s are lost (%s)", x->name, directions[which]);
	for (int d = 0; d < N_DIRECTIONS; d++) {
		r.direction = d;
		if (passes(which, d))
			add_rule(a->p, &r);
	}
}

/* Which message is meant: its kind tells the direction. */
static void read_kind(struct at *a, struct play_rule *r)
{
	const char *kind = at_str(a, "kind", NULL);

	for (int i = 0; i < N_SAID; i++)
		if (!strcmp(kind, said_names[i])) {
			r->direction = TO_SERVER;
			r->kind = i;
			return;
		}
	for (int i = 0; i < N_TOLD; i++)
		if (!strcmp(kind, told_names[i])) {
			r->direction = TO_WORKER;
			r->kind = i;
			return;
		}
	play_wrong(a->p, a->path, "kind", "there is no such message",
	    "hello, beat, checked, notified, started, ended, output, input_ack; welcome, refused, "
	    "run, "
	    "notify, "
	    "check, kill, ended_ack, output_ack, beat_ack, settings, input");
}

static void do_fault(struct at *a)
{
	static const char *const fates[] = {"lose", "duplicate", "delay"};
	struct play_rule r = {.actor = -1, .task = -1};

	read_kind(a, &r);
	if (at_has(a, "worker"))
		r.actor = at_actor(a, "worker")->index;
	if (at_has(a, "task"))
		r.task = at_task(a, "task");
	r.action = (enum sim_action)at_choice(a, "fate", fates, 3, -1);
	r.delay_us = at_wait(a, "by", 0) * 1000;
	r.left = (int)at_int(a, "count", -1, 1000000, 1);
	r.skip = (int)at_int(a, "skip", 0, 1000000, 0);
	if (r.action != CALL_LOSE && !at_has(a, "by"))
		play_wrong(a->p, a->path, "by", "it is missing",
		    "how much later it comes, e.g. \"by\": \"5s\"");
	if (ready(a))
		add_rule(a->p, &r);
}

static bool about_task(const struct play *p, const struct packet *m, int task)
{
	rid id = task >= 0 ? p->tasks[task].id : 0;

	if (task < 0)
		return true;
	if (m->direction == TO_WORKER)
		return packet_task(m) == id;
	return (m->to_server.kind == EV_STARTED && m->to_server.started.task == id) ||
	       (m->to_server.kind == EV_ENDED && m->to_server.ended.task == id);
}

bool rule_for_packet(
    struct play *p, const struct sim_link *l, const struct packet *m, struct net_rule *ret_rule)
{
	const struct actor *x = actor_of_link(p, l->number);

	for (struct play_rule *r = p->rules; x && r; r = r->next) {
		if (r->direction != m->direction || (r->kind >= 0 && r->kind != packet_call(m)) ||
		    (r->actor >= 0 && r->actor != x->index) || !about_task(p, m, r->task) ||
		    !r->left)
			continue;
		if (r->skip > 0) {
			r->skip--;
			continue;
		}
		if (r->left > 0)
			r->left--;
		*ret_rule = (struct net_rule){.action = r->action, .delay_us = r->delay_us};
		return true;
	}
	return false;
}

void rules_release(struct play *p)
{
	struct play_rule *r;

	while ((r = p->rules)) {
		p->rules = r->next;
		free(r);
	}
}

const struct action net_actions[] = {
    {"partition", "worker direction until for", do_partition},
    {"heal", "worker", do_heal},
    {"cut", "worker server_notices worker_notices under_way_arrives", do_cut},
    {"black_hole", "worker", do_black_hole},
    {"slow", "worker by for", do_slow},
    {"silence", "worker direction", do_silence},
    {"fault", "worker kind task fate by count skip", do_fault},
    {0},
};
