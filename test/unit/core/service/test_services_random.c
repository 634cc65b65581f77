/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Workers that come and go, processes that crash, people who change their minds, servers that
 * restart; and what must hold whatever happens: never two of a singleton at the same time, never
 * more than two of any index, never more than a worker has room for; and when all is quiet again,
 * everything that is wanted runs, nothing else does, and the records say so.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/rng.h"
#include "service_story.h"

#define WORKERS 5
#define ROOM 12
#define SERVICES 4
#define HELD_MAX 64
#define TICK_MS 500
#define TICKS 400
#define QUIET_TICKS 240

static const struct core_options with_time = {
    .timeouts = {.heartbeat_ms = 1000,
        .heartbeat_grace_ms = 1000,
        .check_period_ms = 100000000,
        .check_grace_ms = 100000000,
        .lose_after_ms = 10000,
        .margin_ms = 1000},
    .lost_hold_ms = 5000,
};
#define ENDS_WITHIN_MS 5000
#define GIVES_UP_MS 10500 /* a worker that nobody answers ends what it has: before it is lost */

struct attempt {
	rid task;
	int64_t token;
	char service[16];
	uint32_t index;
	int64_t revision;
	enum { ORDERED, RUNS, DYING, ENDED } state;
	bool was_told;
	int64_t started_ms;
};

struct machine {
	char name[8];
	uint64_t instance, link, dial; /* link 0: not connected */
	struct attempt held[HELD_MAX];
	size_t n;
	int64_t away_until_ms, heard_ms;
	bool is_drained, gives_up;
};

struct chaos {
	struct service_story s;
	struct rng rng;
	struct machine m[WORKERS];
	rid services[SERVICES];
	uint64_t links, beats;
	size_t read; /* messages that were looked at */
	bool is_quiet;
};

static bool chance(struct chaos *x, uint32_t of_1000)
{
	return !x->is_quiet && rng_below(&x->rng, 1000) < of_1000;
}

static void drop(struct machine *m, size_t i)
{
	m->held[i] = m->held[--m->n];
}

static struct attempt *find(struct machine *m, rid task, int64_t token)
{
	for (size_t i = 0; i < m->n; i++)
		if (m->held[i].task == task && m->held[i].token == token)
			return &m->held[i];
	return NULL;
}

static void begin_anew(struct machine *m)
{
	m->n = 0;
	m->instance++;
	m->link = 0;
	m->dial = 0;
	m->gives_up = false;
}

static void hear(struct chaos *x, struct machine *m, const struct message *msg)
{
	struct attempt *a;

	m->heard_ms = x->s.w->mono_ms;
	switch (msg->kind) {
	case MSG_RUN:
		assert_true(m->n < HELD_MAX);
		a = &m->held[m->n++];
		*a = (struct attempt){.task = msg->run.task,
		    .token = msg->run.token,
		    .index = msg->run.instance.index,
		    .revision = msg->run.instance.revision};
		assert_true(msg->run.instance.service.n < sizeof a->service);
		memcpy(a->service, msg->run.instance.service.p, msg->run.instance.service.n);
		break;
	case MSG_KILL:
		a = find(m, msg->kill.task, msg->kill.token);
		if (a && a->state != ENDED) {
			a->state = DYING;
			a->was_told = true;
		}
		break;
	case MSG_ENDED_ACK:
		a = find(m, msg->ended_ack.task, msg->ended_ack.token);
		if (a && a->state == ENDED)
			drop(m, (size_t)(a - m->held));
		break;
	case MSG_REFUSED:
		if (msg->refused.die)
			begin_anew(m);
		m->link = 0;
		break;
	default: break;
	}
}

/* What the server has said since. */
static void listen(struct chaos *x)
{
	struct world *w = x->s.w;

	for (; x->read < w->n_sent; x->read++) {
		struct message msg = w->sent[x->read % WORLD_TASKS];

		for (int i = 0; i < WORKERS; i++)
			if (x->m[i].link && x->m[i].link == msg.link)
				hear(x, &x->m[i], &msg);
	}
	world_forget_sent(w);
	x->read = 0;
}

static struct link_held held_of(const struct attempt *a)
{
	bool up = a->state == RUNS || a->state == DYING;

	return (struct link_held){.task = a->task,
	    .token = a->token,
	    .ended = a->state == ENDED,
	    .started_ms = a->started_ms,
	    .instance = {str_of(a->service), STR_NULL, a->index, a->revision, STR("instances=1\n")},
	    .queue = STR(SERVICE_QUEUE),
	    .fares = {a->state == ENDED ? 4
	              : up              ? 3
	                                : 1,
	        a->state == RUNS, a->state == RUNS, STR("10.0.0.1"), STR("31001\n")}};
}

static void dial(struct chaos *x, struct machine *m)
{
	struct link_held held[HELD_MAX];
	struct event ev = {.kind = EV_HELLO};

	for (size_t i = 0; i < m->n; i++)
		held[i] = held_of(&m->held[i]);
	ev.link = m->link = ++x->links;
	ev.hello.dial = ++m->dial;
	ev.hello.facts = (struct worker_facts){.shard = str_of(m->name),
	    .instance = m->instance,
	    .start = (int64_t)m->instance,
	    .lock = str_of(m->name),
	    .key = str_of(m->name),
	    .plugins = STR("command\n"),
	    .zone = STR("a"),
	    .offer = STR("instances=12\nmemory=1000\nports=10\n"),
	    .maxthreads = -1};
	ev.hello.tasks = held;
	ev.hello.n_tasks = m->n;
	ev.hello.takes_needs = ev.hello.takes_services = true;
	world_step(x->s.w, &ev);
	listen(x);
}

static void say_ended(struct chaos *x, struct machine *m, struct attempt *a)
{
	struct event ev = {.kind = EV_ENDED, .link = m->link};

	ev.ended = (struct link_ended){.task = a->task,
	    .token = a->token,
	    .status = a->was_told ? TASK_CANCELLED : TASK_FAILED,
	    .exit_code = a->was_told ? -1 : 1,
	    .killed = a->was_told,
	    .started_ms = a->started_ms,
	    .ended_ms = x->s.w->now_ms};
	world_step(x->s.w, &ev);
	listen(x);
}

static void say_runs(struct chaos *x, struct machine *m, struct attempt *a)
{
	rid task = a->task;
	int64_t token = a->token;

	world_started(x->s.w, m->link, task, token);
	listen(x);
	if (m->link)
		story_fares(&x->s, m->link, task, token, true, true);
	listen(x);
}

/* What it has is told to end, and has ended somewhat later; then it comes back as another one. */
static void give_up(struct chaos *x, struct machine *m)
{
	bool is_late = x->s.w->mono_ms - m->heard_ms > GIVES_UP_MS + ENDS_WITHIN_MS;
	size_t live = 0;

	m->gives_up = true;
	for (size_t i = 0; i < m->n; i++) {
		if (m->held[i].state == RUNS)
			m->held[i].state = DYING;
		live += m->held[i].state == DYING;
	}
	if (live && !is_late)
		return;
	begin_anew(m);
	m->heard_ms = x->s.w->mono_ms;
}

/* What becomes of its processes, and what it says of that if it can. */
static void live(struct chaos *x, struct machine *m)
{
	for (size_t i = m->n; i-- > 0 && i < m->n;) {
		struct attempt *a = &m->held[i];

		if (a->state == ORDERED && !m->gives_up && (x->is_quiet || chance(x, 500))) {
			a->state = RUNS;
			a->started_ms = x->s.w->now_ms;
			if (m->link)
				say_runs(x, m, a);
		} else if (a->state == DYING && (x->is_quiet || chance(x, 400))) {
			a->state = ENDED;
		} else if (a->state == RUNS && chance(x, 4)) {
			a->state = ENDED;
		} else if (a->state == ENDED && m->link) {
			say_ended(x, m, a);
		}
	}
	if (x->s.w->mono_ms - m->heard_ms > GIVES_UP_MS)
		give_up(x, m);
}

static void connect(struct chaos *x, struct machine *m)
{
	if (m->link && chance(x, 12)) { /* the link breaks, seen or unseen */
		if (rng_below(&x->rng, 2))
			world_link_lost(x->s.w, m->link);
		m->link = 0;
		m->away_until_ms = x->s.w->mono_ms + (int64_t)rng_below(&x->rng,
		                                         rng_below(&x->rng, 2) ? 2000 : 30000);
	}
	if (chance(x, 3))
		begin_anew(m);
	if (!m->link && !m->gives_up && (x->is_quiet || x->s.w->mono_ms >= m->away_until_ms))
		dial(x, m);
	if (m->link) {
		world_beat(x->s.w, m->link, ++x->beats);
		listen(x);
	}
}

static void set_drained(struct chaos *x, struct machine *m, bool drained)
{
	struct event ev = {.kind = EV_DO, .ticket = ++x->s.w->last_ticket};

	ev.object.kind = KIND_WORKER;
	ev.object.id = core_find(x->s.w->core, KIND_WORKER, str_of(m->name));
	ev.object.verb = drained ? WORKER_DRAIN : WORKER_UNDRAIN;
	if (!ev.object.id || m->is_drained == drained)
		return;
	m->is_drained = drained;
	world_step(x->s.w, &ev);
	listen(x);
}

static void change(struct chaos *x, rid id)
{
	struct service_row row = {.instances = (int32_t)rng_below(&x->rng, 6)};

	if (chance(x, 20) && story_view(&x->s, id).row.singleton == 0)
		story_set(&x->s, id, &row, SERVICE_BIT(instances));
	if (chance(x, 10)) {
		row.spec.body = arena_strf(&x->s.a, "{\"v\":%d}", (int)rng_below(&x->rng, 1000));
		story_set(&x->s, id, &row, SERVICE_BIT(spec.body));
	}
	if (chance(x, 10))
		story_do(&x->s, id, SERVICE_RESTART, (int64_t)rng_below(&x->rng, 6));
	if (chance(x, 4))
		story_do(&x->s, id, SERVICE_RESTART, -1);
	if (chance(x, 5))
		story_do(&x->s, id, SERVICE_ROLLBACK, 0);
	listen(x);
}

static size_t runs_of(const struct chaos *x, const char *service, uint32_t index)
{
	size_t n = 0;

	for (int i = 0; i < WORKERS; i++)
		for (size_t k = 0; k < x->m[i].n; k++) {
			const struct attempt *a = &x->m[i].held[k];

			n += (a->state == RUNS || a->state == DYING) && a->index == index &&
			     strcmp(a->service, service) == 0;
		}
	return n;
}

static void check_always(const struct chaos *x)
{
	for (int i = 0; i < WORKERS; i++) {
		size_t live = 0;

		for (size_t k = 0; k < x->m[i].n; k++)
			live += x->m[i].held[k].state != ENDED;
		assert_true(live <= ROOM);
	}
	assert_true(runs_of(x, "s0", 0) <= 1); /* the singleton */
	for (int s = 1; s < SERVICES; s++)
		for (uint32_t index = 0; index < 8; index++)
			assert_true(runs_of(x, s == 1 ? "s1" : s == 2 ? "s2" : "s3", index) <= 2);
}

static void tick(struct chaos *x)
{
	for (int i = 0; i < WORKERS; i++) {
		connect(x, &x->m[i]);
		live(x, &x->m[i]);
		if (chance(x, 4))
			set_drained(x, &x->m[i], !x->m[i].is_drained);
	}
	for (int i = 0; i < SERVICES; i++)
		change(x, x->services[i]);
	if (chance(x, 4)) {
		world_restart(x->s.w);
		world_forget_sent(x->s.w);
		x->read = 0;
		for (int i = 0; i < WORKERS; i++)
			x->m[i].link = 0;
	}
	world_advance(x->s.w, TICK_MS);
	listen(x);
	check_always(x);
}

static void check_quiet(struct chaos *x)
{
	struct services_view all;

	for (int i = 0; i < SERVICES; i++) {
		struct service_view v = story_view(&x->s, x->services[i]);
		char name[8];

		snprintf(name, sizeof name, "s%d", i);
		if (v.counts.in[INSTANCE_RUNNING] != (uint32_t)v.row.instances ||
		    story_records(&x->s, x->services[i]) != (size_t)v.row.instances)
			fail_msg("%s: %d wanted, %u run, %d records, %s", name, v.row.instances,
			    v.counts.in[INSTANCE_RUNNING],
			    (int)story_records(&x->s, x->services[i]),
			    service_deploy_names[v.row.deploy.state]);
		assert_int_equal(v.row.deploy.state, DEPLOY_STEADY);
		for (uint32_t index = 0; index < 8; index++)
			assert_int_equal(
			    runs_of(x, name, index), index < (uint32_t)v.row.instances);
	}
	core_services(x->s.w->core, &all);
	assert_int_equal(all.missed, 0);
	assert_int_equal(all.beside[PRESENCE_SUSPECT] + all.beside[PRESENCE_EVACUATING], 0);
}

/* What is in memory is what was written down. */
static void check_stored(struct chaos *x)
{
	struct instance_view *before[SERVICES], *after;
	struct service_view v[SERVICES], w;
	size_t n[SERVICES];

	for (int i = 0; i < SERVICES; i++) {
		v[i] = story_view(&x->s, x->services[i]);
		n[i] = core_service_instances(
		    x->s.w->core, x->services[i], 0, 0, 100, &x->s.a, &before[i]);
	}
	world_restart(x->s.w);
	for (int i = 0; i < SERVICES; i++) {
		w = story_view(&x->s, x->services[i]);
		if (row_differs(&service_table, &v[i].row, &w.row))
			fail_msg("s%d: another %s", i,
			    row_differs(&service_table, &v[i].row, &w.row)->name);
		assert_int_equal(core_service_instances(
		                     x->s.w->core, x->services[i], 0, 0, 100, &x->s.a, &after),
		    n[i]);
		for (size_t k = 0; k < n[i]; k++)
			assert_null(row_differs(&instance_table, &before[i][k].row, &after[k].row));
	}
}

static void begin(struct chaos *x, uint64_t seed)
{
	memset(x, 0, sizeof *x);
	x->rng.state = seed;
	story_begin(&x->s, &with_time);
	for (int i = 0; i < WORKERS; i++) {
		snprintf(x->m[i].name, sizeof x->m[i].name, "w%d", i);
		x->m[i].instance = 100 * (uint64_t)i + 1;
	}
	for (int i = 0; i < SERVICES; i++) {
		struct service_row row = {.instances = i ? 3 : 1,
		    .singleton = i == 0,
		    .crash = {.stop_at = 0, .wait_max_ms = 5000, .wait_ms = 1000},
		    .strategy = {.kind = i == 3 ? STRATEGY_RECREATE : STRATEGY_ROLLING,
		        .min_healthy_ms = 1000},
		    .spec = {.body = STR("{\"v\":0}")}};

		row.name = arena_strf(&x->s.a, "s%d", i);
		x->services[i] = story_create(&x->s, &row,
		    SERVICE_BIT(name) | SERVICE_BIT(instances) | SERVICE_BIT(singleton) |
		        SERVICE_BIT(crash.stop_at) | SERVICE_BIT(crash.wait_max_ms) |
		        SERVICE_BIT(crash.wait_ms) | SERVICE_BIT(strategy.kind) |
		        SERVICE_BIT(strategy.min_healthy_ms) | SERVICE_BIT(spec.body));
	}
	world_forget_sent(x->s.w);
}

static void run(uint64_t seed)
{
	static struct chaos x;

	begin(&x, seed);
	for (int t = 0; t < TICKS; t++)
		tick(&x);
	x.is_quiet = true;
	for (int i = 0; i < WORKERS; i++)
		set_drained(&x, &x.m[i], false);
	for (int t = 0; t < QUIET_TICKS; t++)
		tick(&x);
	check_quiet(&x);
	check_stored(&x);
	story_end(&x.s);
}

static void test_whatever_happens(void **state)
{
	const char *one = getenv("SEED"), *many = getenv("SEEDS");
	uint64_t seeds = many ? strtoull(many, NULL, 10) : 20;

	for (uint64_t seed = 1; seed <= seeds; seed++) {
		if (one && strtoull(one, NULL, 10) != seed)
			continue;
		print_message("seed %d\n", (int)seed);
		run(seed);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_whatever_happens),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
