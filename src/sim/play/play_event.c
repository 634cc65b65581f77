/* SPDX-License-Identifier: Apache-2.0 */
/* The events of a scenario, one after the other: do, wait, print, expect. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "sim/play/play_internal.h"

#define EVENT_KEYS "at after text do each apart every rounds wait within print expect"

static const struct action *const tables[] = {
    node_actions, net_actions, ask_actions, puppet_actions, boss_actions};
#define N_TABLES (sizeof tables / sizeof tables[0])

static const struct action *find_action(struct at *a)
{
	const char *name = at_str(a, "do", NULL);
	const char *names[80], *near;
	size_t n = 0;

	for (size_t t = 0; t < N_TABLES; t++)
		for (const struct action *x = tables[t]; x->name; x++) {
			if (!strcmp(x->name, name))
				return x;
			names[n++] = x->name;
		}
	near = str_nearest(str_of(name), names, n);
	play_wrong(a->p, a->path, "do", "there is no such action", "%s%s",
	    near ? "perhaps " : "docs/SIMULATOR.md lists them", near ? near : "");
	return NULL;
}

/* The key that names a worker in this action; `each` stands in for it. */
static const char *worker_key(const struct action *x)
{
	static const char *const keys[] = {"node", "worker", "from", "to"};

	for (size_t i = 0; i < 4; i++)
		if (!strncmp(x->keys, keys[i], strlen(keys[i])))
			return keys[i];
	return NULL;
}

static void run_action(struct play *p, json_t *j, const char *path)
{
	const struct action *x;
	char keys[400];
	struct at a;

	if (!at_init(&a, p, j, "%s", path) || !(x = find_action(&a)))
		return;
	snprintf(keys, sizeof keys, "%s %s", EVENT_KEYS, x->keys);
	/* read here, too: some actions look at it only when they are carried out */
	if (at_keys(&a, keys) && at_int(&a, "times", 1, 1000, 1) && !is_wrong(p))
		x->run(&a);
}

struct later { /* one of many alike */
	json_t *event;
	char path[160]; /* as in struct at: none is cut */
};

static void act_later(struct world *w, void *arg)
{
	struct later *l = arg;
	struct play *p = w->tell_arg;

	p->event_us = w->now_us;
	run_action(p, l->event, l->path);
}

static bool fits(const char *pattern, const char *name)
{
	size_t n = strlen(pattern);

	if (n && pattern[n - 1] == '*')
		return !strncmp(pattern, name, n - 1);
	return !strcmp(pattern, name);
}

static void plan_later(struct play *p, json_t *copy, const char *path, int64_t in_us)
{
	struct later *l;

	if (p->dry || in_us <= 0) {
		run_action(p, copy, path);
		return;
	}
	l = xmalloc(sizeof *l);
	l->event = json_incref(copy);
	snprintf(l->path, sizeof l->path, "%s", path);
	GROW(p->laters, p->cap_laters, p->n_laters + 1);
	p->laters[p->n_laters++] = l;
	world_at(p->w, p->w->now_us + in_us, act_later, l);
}

void laters_release(struct play *p)
{
	for (size_t i = 0; i < p->n_laters; i++) {
		json_decref(p->laters[i]->event);
		free(p->laters[i]);
	}
	free(p->laters);
}

/* One action for each of these workers, so much apart, in several rounds. */
static void run_each(struct play *p, struct at *a)
{
	const struct action *x = find_action(a);
	const char *key = x ? worker_key(x) : NULL, *pattern = at_str(a, "each", "*");
	int64_t apart = at_wait(a, "apart", 0), every = at_wait(a, "every", 0);
	int rounds = (int)at_int(a, "rounds", 1, 10000, 1);
	int64_t in = 0;
	bool any = false;

	if (x && !key && at_has(a, "each"))
		play_wrong(p, a->path, "each", "this action is not about a worker", "leave it out");
	if (every * rounds > PLAY_MS_MOST)
		play_wrong(p, a->path, "every", "all rounds together are too long", "at most %lldd",
		    (long long)(PLAY_MS_MOST / 86400000));
	for (int r = 0; r < rounds && !is_wrong(p); r++) {
		in = r * every;
		for (size_t i = 0; i < p->n_actors && !is_wrong(p); i++) {
			json_t *copy;

			if (at_has(a, "each") && !fits(pattern, p->actors[i].name))
				continue;
			copy = json_copy(a->j);
			if (at_has(a, "each"))
				json_object_set_new(copy, key, json_string(p->actors[i].name));
			plan_later(p, copy, a->path, in * 1000);
			json_decref(copy);
			any = true;
			in += apart;
			if (!at_has(a, "each"))
				break;
		}
		if (p->dry)
			break;
	}
	if (!any && !is_wrong(p))
		play_wrong(p, a->path, "each", "no worker has such a name", "e.g. \"c*\"");
}

static void act(struct play *p, struct at *a)
{
	p->event_us = p->w->now_us;
	if (at_has(a, "each") || at_has(a, "rounds"))
		run_each(p, a);
	else
		run_action(p, a->j, a->path);
}

static bool check_event(struct play *p, struct at *a, int64_t *last_ms)
{
	char path[200];
	int64_t at = at_ms(a, "at", *last_ms);

	if (at_has(a, "at") && at_has(a, "after"))
		play_wrong(p, a->path, "after", "the time is given twice", "at, or after");
	if (at < *last_ms)
		play_wrong(p, a->path, "at", "it is earlier than the event before",
		    "events stand in the order of their times");
	*last_ms = at_has(a, "after") ? *last_ms : at;
	at_wait(a, "after", 0);
	at_wait(a, "within", 0);
	at_str(a, "text", "");
	if (at_has(a, "do"))
		act(p, a);
	else if (!at_keys(a, EVENT_KEYS))
		return false;
	for (int i = 0; i < 2; i++) {
		const char *key = i ? "expect" : "wait";

		snprintf(path, sizeof path, "%s.%s", a->path, key);
		if (!is_wrong(p) && at_has(a, key))
			expect_check(p, json_object_get(a->j, key), path);
	}
	snprintf(path, sizeof path, "%s.print", a->path);
	if (!is_wrong(p) && at_has(a, "print"))
		print_check(p, json_object_get(a->j, "print"), path);
	return !is_wrong(p);
}

bool events_check(struct play *p)
{
	json_t *all = json_object_get(p->doc, "events"), *j;
	int64_t last_ms = 0;
	struct at a;
	size_t i;

	if (!json_is_array(all) || json_array_size(all) > PLAY_EVENTS_MAX)
		play_wrong(p, "events", NULL, "it is not a list",
		    "at most %d events: [{\"at\": \"1s\", "
		    "\"do\": \"submit\", \"task\": \"t1\"}]",
		    PLAY_EVENTS_MAX);
	p->dry = true;
	json_array_foreach(all, i, j)
	{
		if (!at_init(&a, p, j, "events[%zu]", i) || !check_event(p, &a, &last_ms))
			break;
	}
	p->dry = false;
	return !is_wrong(p);
}

/* Until it holds, or time is up. */
static bool wait_for(struct play *p, struct at *a, const char *text)
{
	json_t *pattern = json_object_get(a->j, "wait");
	int64_t until = p->w->now_us + at_ms(a, "within", 60000) * 1000;
	struct heap_node *n;

	while (!expect_holds(p, pattern)) {
		n = heap_min(&p->w->heap);
		if (!n || n->at > until) {
			p->w->now_us = until > p->w->now_us ? until : p->w->now_us;
			break;
		}
		if (!play_step(p))
			return false;
	}
	return expect(p, pattern, text);
}

static bool run_event(struct play *p, struct at *a)
{
	int64_t at_us =
	    at_has(a, "at") ? at_ms(a, "at", 0) * 1000 : p->w->now_us + at_ms(a, "after", 0) * 1000;
	const char *text = at_str(a, "text", "");

	if (!play_run(p, at_us))
		return false;
	if (at_has(a, "do"))
		act(p, a);
	if (p->w->verdict.invariant || is_wrong(p))
		return false;
	if (at_has(a, "wait") && !wait_for(p, a, text)) {
		p->failed = true;
		return false;
	}
	if (at_has(a, "print"))
		print(p, json_object_get(a->j, "print"), text);
	if (at_has(a, "expect") && !expect(p, json_object_get(a->j, "expect"), text)) {
		p->failed = true;
		return false;
	}
	if (at_has(a, "print") || at_has(a, "expect"))
		play_forget_calls(p);
	return true;
}

bool events_run(struct play *p)
{
	json_t *all = json_object_get(p->doc, "events"), *j;
	struct at a;
	size_t i;

	json_array_foreach(all, i, j)
	{
		at_init(&a, p, j, "events[%zu]", i);
		if (!run_event(p, &a))
			return false;
	}
	return true;
}
