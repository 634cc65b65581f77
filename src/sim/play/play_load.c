/* SPDX-License-Identifier: Apache-2.0 */
/* A scenario's file, and all of it that is said before the events. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "config/text.h"
#include "sim/judge/judge.h"
#include "sim/play/play_internal.h"

#define FILE_MAX (4u << 20)

static char *slurp(struct play *p, size_t *ret_n)
{
	FILE *f = fopen(p->file, "rb");
	char *text;

	if (!f) {
		play_wrong(p, "", NULL, "the file can't be read", "%s", strerror(errno));
		return NULL;
	}
	text = xmalloc(FILE_MAX + 1);
	*ret_n = fread(text, 1, FILE_MAX + 1, f);
	fclose(f);
	if (*ret_n <= FILE_MAX)
		return text;
	play_wrong(p, "", NULL, "the file is too large", "at most 4 MiB");
	free(text);
	return NULL;
}

bool play_read(struct play *p)
{
	size_t n = 0;
	AUTO(free_cstr) char *text = slurp(p, &n);
	struct problem why = {0};
	json_error_t e;
	int line = 0;
	char place[32];

	if (!text)
		return false;
	if (text_strip(text, n, &line, &why)) {
		snprintf(place, sizeof place, "line %d", line);
		play_wrong(p, place, NULL, why.what, "%s", why.hint);
		return false;
	}
	p->doc = json_loadb(text, n, JSON_REJECT_DUPLICATES, &e);
	if (p->doc)
		return true;
	snprintf(place, sizeof place, "line %d", e.line);
	play_wrong(p, place, NULL, "it is not JSON", "%s", e.text);
	return false;
}

#define TIMEOUT_KEYS \
	"heartbeat heartbeat_grace check_period check_grace lose_after margin kill_wait"

/* What is not given stays as it is. */
static void take_timeouts(struct at *a, struct timeouts *t)
{
	t->heartbeat_ms = at_ms(a, "heartbeat", t->heartbeat_ms);
	t->heartbeat_grace_ms = at_ms(a, "heartbeat_grace", t->heartbeat_grace_ms);
	t->check_period_ms = at_ms(a, "check_period", t->check_period_ms);
	t->check_grace_ms = at_ms(a, "check_grace", t->check_grace_ms);
	t->lose_after_ms = at_ms(a, "lose_after", t->lose_after_ms);
	t->margin_ms = at_ms(a, "margin", t->margin_ms);
	t->kill_wait_ms = at_ms(a, "kill_wait", t->kill_wait_ms);
	if (t->heartbeat_ms <= 0 || t->margin_ms > t->lose_after_ms || t->heartbeat_grace_ms < 0 ||
	    t->check_period_ms < 0 || t->check_grace_ms < 0 || t->margin_ms < 0 ||
	    t->kill_wait_ms < 0)
		play_wrong(a->p, a->path, NULL, "these timeouts make no sense",
		    "heartbeat is more than 0, nothing is less, margin at most lose_after");
}

bool timeouts_read(struct at *of, const char *key, struct timeouts *t)
{
	json_t *j = json_object_get(of->j, key);
	struct at a;

	if (!j || !at_init(&a, of->p, j, "%s.%s", of->path, key) || !at_keys(&a, TIMEOUT_KEYS))
		return false;
	take_timeouts(&a, t);
	return true;
}

static void read_timeouts(struct play *p, json_t *j)
{
	struct at a;

	if (!j || !at_init(&a, p, j, "timeouts") ||
	    !at_keys(&a, TIMEOUT_KEYS " lost_hold run_wait guard"))
		return;
	take_timeouts(&a, &p->o.timeouts);
	p->o.lost_hold_ms = at_ms(&a, "lost_hold", p->o.lost_hold_ms);
	p->o.run_wait_ms = at_ms(&a, "run_wait", p->o.run_wait_ms);
	p->o.guard_ms = at_ms(&a, "guard", p->o.guard_ms);
	if (p->o.lost_hold_ms < 0 || p->o.run_wait_ms < 0 || p->o.guard_ms < 0)
		play_wrong(p, "timeouts", NULL, "these timeouts make no sense",
		    "heartbeat is more than 0, nothing is less, margin at most lose_after");
}

static struct actor *add_actor(struct at *a, const char *name, const char *shard)
{
	struct play *p = a->p;
	struct actor *x = &p->actors[p->n_actors];

	if (p->n_actors == PLAY_ACTORS_MAX)
		play_wrong(
		    p, a->path, NULL, "there are too many workers", "at most %d", PLAY_ACTORS_MAX);
	else if (!*name || strlen(name) >= sizeof x->name || strlen(shard) >= sizeof x->shard ||
	         strpbrk(name, ". *"))
		play_wrong(p, a->path, "name", "it can't be a worker's name",
		    "1 to %d characters, without dots, stars and spaces", PLAY_NAME_MAX - 1);
	else if (find_actor(p, name) >= 0 || !strcmp(name, "server"))
		play_wrong(p, a->path, "name", "the name is taken",
		    "names of workers differ; two "
		    "workers may have the same \"shard\"");
	if (is_wrong(p))
		return NULL;
	x->index = (int)p->n_actors++;
	snprintf(x->name, sizeof x->name, "%s", name);
	snprintf(x->shard, sizeof x->shard, "%s", shard);
	return x;
}

static void read_puppet(struct at *a, struct actor *x)
{
	struct puppet *k = x->puppet = xcalloc(1, sizeof *k);
	struct at habits;

	x->slot = SIM_RAW;
	k->instance = label_number(at_str(a, "instance", x->name));
	k->started_ms = at_ms(a, "started", 0);
	k->maxthreads = (int32_t)at_int(a, "maxthreads", -1, 100000, 4);
	k->facts = json_object_get(a->j, "facts");
	if (k->facts)
		facts_check(a);
	snprintf(k->lock, sizeof k->lock, "%s", at_str(a, "lock", x->name));
	if (at_has(a, "habits") &&
	    at_init(&habits, a->p, json_object_get(a->j, "habits"), "%s.habits", a->path))
		habits_read(&habits, &k->habits);
}

static void read_worker(struct at *a)
{
	static const char *const kinds[] = {"agent", "puppet"};
	struct play *p = a->p;
	int count = (int)at_int(a, "count", 1, PLAY_ACTORS_MAX, 0);
	const char *base = at_str(a, "name", NULL);
	bool puppet = at_choice(a, "kind", kinds, 2, 0) == 1;
	char name[64];

	if (puppet && p->server_is_puppet)
		play_wrong(p, a->path, "kind", "two puppets have nobody to talk to",
		    "with \"server\": \"puppet\" all workers are agents");
	for (int i = 1; i <= (count ? count : 1) && !is_wrong(p); i++) {
		struct actor *x;

		snprintf(name, sizeof name, count ? "%s%d" : "%s", base, i);
		x = add_actor(a, name, at_str(a, "shard", name));
		if (!x)
			return;
		if (puppet)
			read_puppet(a, x);
		else if (p->o.workers == SIM_WORKERS_MAX)
			play_wrong(p, a->path, NULL, "there are too many agents", "at most %d",
			    SIM_WORKERS_MAX);
		else
			x->slot = p->o.workers++;
	}
}

static bool read_workers(struct play *p)
{
	json_t *all = json_object_get(p->doc, "workers"), *j;
	size_t i;
	struct at a;

	p->o.workers = 0;
	if (!json_is_array(all))
		play_wrong(p, "workers", NULL, all ? "it is not a list" : "it is missing",
		    "write \"workers\": [{\"name\": \"w1\"}]");
	json_array_foreach(all, i, j)
	{
		if (at_init(&a, p, j, "workers[%zu]", i) &&
		    at_keys(&a, "name shard lock kind count maxthreads instance started facts "
		                "habits restart_when_lost text"))
			read_worker(&a);
		if (is_wrong(p))
			return false;
	}
	return !is_wrong(p);
}

static bool read_queues(struct play *p)
{
	json_t *all = json_object_get(p->doc, "queues"), *j;
	struct queue_row row;
	uint64_t fields;
	const char *name;
	struct at a;

	if (all && !json_is_object(all))
		play_wrong(
		    p, "queues", NULL, "it is not an object", "{\"name\": {\"threads\": 4}}");
	if (!all)
		p->queues[p->n_queues++] = (struct play_queue){.name = "default"};
	json_object_foreach(all, name, j)
	{
		struct play_queue *q = &p->queues[p->n_queues];

		if (!at_init(&a, p, j, "queues.%s", name) ||
		    !at_keys(&a, "threads max_attempts timeout backoff text"))
			return false;
		if (p->n_queues == PLAY_QUEUES_MAX || strlen(name) >= sizeof q->name) {
			play_wrong(p, a.path, NULL, "that is too much",
			    "at most %d queues, with "
			    "short names",
			    PLAY_QUEUES_MAX);
			return false;
		}
		p->n_queues++;
		q->json = j;
		snprintf(q->name, sizeof q->name, "%s", name);
		queue_read(&a, &row, &fields);
	}
	return !is_wrong(p);
}

static int read_violation(struct at *a)
{
	int n = (int)at_int(a, "expect_violation", 1, 1000, 0);
	char all[200] = "";
	size_t used = 0;

	if (!n)
		return 0;
	if (invariant_find(n))
		return n;
	for (int i = 1; i < 100 && used < sizeof all - 8; i++)
		if (invariant_find(i))
			used += (size_t)snprintf(all + used, 8, "%s%d", used ? ", " : "", i);
	play_wrong(
	    a->p, a->path, "expect_violation", "there is no such invariant", "there are: %s", all);
	return 0;
}

static void read_options(struct play *p, struct at *a)
{
	static const char *const dispatches[] = {"durable", "volatile"};
	static const char *const servers[] = {"real", "puppet"};
	json_t *net = json_object_get(a->j, "net");
	struct at n;

	sim_options_init(&p->o);
	p->o.exact = p->o.no_load = true;
	p->o.seed = (uint64_t)at_int(a, "seed", 0, INT64_MAX, 1);
	p->o.is_volatile = at_choice(a, "dispatch", dispatches, 2, 0) == 1;
	p->o.dispatch = p->o.is_volatile;
	p->o.minutes = p->o.tasks = 1;
	p->o.window_tasks = 2048;
	p->o.allow_bump_unhealthy = at_bool(a, "allow_bump_unhealthy_worker", false);
	p->server_is_puppet = at_choice(a, "server", servers, 2, 0) == 1;
	p->expect_violation = read_violation(a);
	read_timeouts(p, json_object_get(a->j, "timeouts"));
	if (net && at_init(&n, p, net, "net") && at_keys(&n, "delay commit")) {
		p->o.delay_max_us = at_wait(&n, "delay", 1) * 1000;
		p->o.commit_max_us = at_wait(&n, "commit", 1) * 1000;
	}
}

/* Puppets say what is not true: the judge can't make sense of it unless the script says so. */
static bool is_judged(struct play *p, struct at *a)
{
	bool puppets = p->server_is_puppet;

	for (size_t i = 0; i < p->n_actors; i++)
		puppets = puppets || p->actors[i].puppet;
	return at_bool(a, "judge", !puppets);
}

bool play_setup(struct play *p)
{
	struct at a;

	if (!at_init(&a, p, p->doc, "%s", "") ||
	    !at_keys(&a, "name text seed dispatch timeouts allow_bump_unhealthy_worker "
	                 "caution_startup_wait consensus_patience workers queues tasks net server "
	                 "judge expect_violation events"))
		return false;
	at_str(&a, "name", NULL);
	read_options(p, &a);
	if (is_wrong(p) || !read_workers(p) || !read_queues(p) || !tasks_read(p))
		return false;
	p->o.no_judge = !is_judged(p, &a);
	at_wait(&a, "caution_startup_wait", 0);
	at_int(&a, "consensus_patience", 1, 100000, 0);
	return !is_wrong(p);
}
