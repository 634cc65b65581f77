/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How we stand with the server, by the function that it uses itself (model/link/health.h). Our
 * marks are never younger than its own: what it has heard counts from when we SENT it. And we are
 * strict: what should have happened while nobody looked (a sleeping machine) happens first,
 * each change at its own time. So our processes are over before the server may think so.
 */
#include <string.h>

#include "agent/internal.h"
#include "base/mutant.h"
#include "base/timefmt.h"
#include "model/limits.h"

#define CHANGES_MAX 100000 /* looked ahead: more only with absurd timeouts */

static int64_t within(int64_t ms, int64_t least)
{
	if (ms < least)
		return least;
	return ms < DURATION_MAX_MS ? ms : DURATION_MAX_MS;
}

static struct timeouts sane(const struct timeouts *t)
{
	return (struct timeouts){
	    .heartbeat_ms = within(t->heartbeat_ms, 1),
	    .heartbeat_grace_ms = within(t->heartbeat_grace_ms, 0),
	    .check_period_ms = within(t->check_period_ms, 0),
	    .check_grace_ms = within(t->check_grace_ms, 0),
	    .lose_after_ms = within(t->lose_after_ms, 0),
	    .margin_ms = within(t->margin_ms, 0),
	    .kill_wait_ms = within(t->kill_wait_ms, 0),
	};
}

/* The hello was heard. A server that we do not know has to learn about us from the beginning. */
void health_welcomed(struct agent *a, const struct agent_event *in)
{
	struct timeouts t = sane(&in->welcome.timeouts);
	bool same = a->health.known && a->server != 0 && a->server == in->welcome.server;

	a->own = timeouts_of_worker(&t);
	a->server = in->welcome.server;
	if (same) {
		health_heard(a, a->hello_sent_ms);
		return;
	}
	health_init(&a->health, a->hello_sent_ms);
	a->health.known = true;
	a->health_ms = a->hello_sent_ms;
	memset(a->passed, 0, sizeof a->passed);
	health_step(&a->health, &a->own, a->hello_sent_ms);
}

void health_heard(struct agent *a, int64_t sent_ms)
{
	if (sent_ms > a->health.beat_ms)
		a->health.beat_ms = sent_ms;
}

static void take_set(struct agent *a, const struct set_id *set)
{
	if (set->server == 0)
		return; /* nothing is told yet: what an earlier server said is worth keeping */
	if (set->server == a->set.server && set->version < a->set.version)
		return; /* overtaken on its way */
	a->set_is_new |= set->version != a->set.version || set->server != a->set.server;
	a->set = *set;
}

void health_news(
    struct agent *a, const struct link_news *n, int64_t mono_ms, struct agent_effects *out)
{
	const struct check *passed = &a->passed[n->check % CHECKS_KEPT];

	take_set(a, &n->set);
	a->health.doubted = n->state != WORKER_HEALTHY && !MUTANT(WORKER_KNOWS_BETTER);
	if (n->state == WORKER_HEALTHY)
		a->health.permitted = true;
	if (n->check != 0 && n->check == passed->number && passed->mark_ms > a->health.check_ms)
		a->health.check_ms = passed->mark_ms;
	if (n->state == WORKER_MUST_DIE)
		start_dying(
		    a, mono_ms, out, "the server has given this worker up", a->o.restart_when_lost);
}

const char *health_text(const struct agent *a)
{
	switch (health_lack(&a->health, &a->own, a->health_ms)) {
	case LACK_KNOWN: return "no server knows it yet";
	case LACK_BEAT: return "its last heartbeat that was answered is too old";
	case LACK_CHECK: return "no healthcheck has succeeded lately";
	case LACK_CONSENSUS: return "the server has not called it healthy yet";
	case LACK_LIFE: return "it has to end";
	case LACK_NOTHING: break;
	}
	return "it recovers";
}

static void note_unhealthy(struct agent *a, struct agent_effects *out)
{
	char left[TIME_TEXT_MAX];
	int64_t ms = agent_give_up_ms(a) - a->health_ms;

	agent_effects_add(out, AF_NOTE)->why.text = arena_strf(&out->arena,
	    "this worker is unhealthy: %s; it takes no new tasks, and ends its own in %s unless "
	    "that changes",
	    health_text(a), time_human_ms(ms, left));
}

static void step_to(struct agent *a, int64_t at, struct agent_effects *out)
{
	enum worker_state before = a->health.state;

	a->health_ms = at;
	health_step(&a->health, &a->own, at);
	if (before == WORKER_HEALTHY && a->health.state == WORKER_UNHEALTHY)
		note_unhealthy(a, out);
}

void on_health_time(struct agent *a, int64_t mono_ms, struct agent_effects *out)
{
	char silent[TIME_TEXT_MAX];
	int64_t at;

	if (!a->health.known || is_ending(a))
		return;
	while ((at = health_next_ms(&a->health, &a->own)) < mono_ms && at > a->health_ms &&
	       !MUTANT(WORKER_LENIENT_AFTER_SLEEP))
		step_to(a, at, out);
	step_to(a, mono_ms, out);
	if (a->health.state != WORKER_MUST_DIE || MUTANT(SILENCE_NOT_DEADLY))
		return;
	time_human_ms(mono_ms - a->health.beat_ms, silent);
	start_dying(a, a->health.since_ms, out,
	    arena_printf(&out->arena,
	        "unhealthy for too long; the last heartbeat that was answered is %s old", silent),
	    a->o.restart_when_lost);
}

int64_t health_wake_ms(const struct agent *a)
{
	int64_t at;

	if (!a->health.known || is_ending(a))
		return INT64_MAX;
	at = health_next_ms(&a->health, &a->own);
	return at > a->health_ms ? at : INT64_MAX; /* stepped there already, in vain */
}

int64_t agent_give_up_ms(const struct agent *a)
{
	struct health h = a->health;
	int64_t at = a->health_ms;

	if (!h.known)
		return INT64_MAX;
	if (h.state == WORKER_MUST_DIE)
		return h.since_ms;
	for (int i = 0; i < CHANGES_MAX && h.state != WORKER_MUST_DIE; i++) {
		int64_t next = health_next_ms(&h, &a->own);

		at = next > at ? next : at + 1;
		health_step(&h, &a->own, at);
	}
	return at;
}

enum worker_state agent_health(const struct agent *a)
{
	return a->health.state;
}

const struct set_id *agent_set(const struct agent *a)
{
	return &a->set;
}

/* The server had heard that beat when it asked. */
static int64_t sent_at(const struct agent *a, uint64_t beat)
{
	return beat == 0 ? a->hello_sent_ms : beat_log_sent_ms(&a->beats, beat, a->hello_sent_ms);
}

/* The check's answer got lost, or crossed the question. */
static bool is_passed(const struct agent *a, uint64_t number)
{
	const struct check *c = &a->passed[number % CHECKS_KEPT];

	return number != 0 && c->number == number && c->link == a->n_links;
}

int on_check(struct agent *a, const struct agent_event *in, struct agent_effects *out)
{
	if (a->link != LINK_WELCOME || a->phase != AGENT_SERVING)
		return 0;
	if (in->check.beat > a->beat || (in->check.beat != 0 && in->check.beat <= a->beat_before)) {
		note(out, "a healthcheck names a heartbeat that was not sent on this link");
		return ERR_PROTOCOL;
	}
	if (a->check.running) {
		if (a->check.number != in->check.number || a->check.link != a->n_links)
			note(out,
			    "the healthcheck before is still running: this one is not started");
		return 0;
	}
	if (is_passed(a, in->check.number)) {
		agent_effects_add(out, AF_CHECKED)->checked =
		    (struct link_checked){in->check.number, true, STR_NULL};
		return 0;
	}
	a->check = (struct check){
	    in->check.number, sent_at(a, in->check.beat), a->n_links, .running = true};
	agent_effects_add(out, AF_CHECK)->check = in->check.number;
	return 0;
}

/* What was asked on another link is forgotten: the server asks again. */
int on_checked(struct agent *a, const struct agent_event *in, struct agent_effects *out)
{
	if (!a->check.running || a->check.number != in->checked.number)
		return ERR_PROTOCOL;
	a->check.running = false;
	if (a->link != LINK_WELCOME || a->check.link != a->n_links)
		return 0;
	if (in->checked.ok)
		a->passed[a->check.number % CHECKS_KEPT] = a->check;
	agent_effects_add(out, AF_CHECKED)->checked = in->checked;
	return 0;
}
