/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A healthcheck: one tiny process, made exactly as a task's is (same function, cgroup and pipes).
 * Who only answers, but cannot start anything any more, must not count as healthy.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "model/limits.h"
#include "worker/internal.h"

#define LIMIT_LEAST_MS 1000 /* whatever the server says: a busy machine is not a broken one */

struct check {
	struct worker *w;
	uint64_t number;
	struct kept kept;
	struct loop_timer *limit;
	bool told;   /* the check took too long, and the brain knows */
	int program; /* which of them */
};

static bool launch(struct check *c);

static const char *program_of(const struct worker *w, int i)
{
	static const char *const usual[] = {"/bin/true", "/usr/bin/true", NULL};

	return !w->o->check_program ? usual[i] : i == 0 ? w->o->check_program : NULL;
}

static void tell(struct worker *w, uint64_t number, const char *why)
{
	worker_feed(w, (struct agent_event){.kind = AE_CHECKED,
	                   .checked = {.number = number, .ok = !why, .reason = str_of(why)}});
}

static void check_free(struct check *c)
{
	loop_timer_free(c->limit);
	kept_drop(&c->kept);
	c->w->check = NULL;
	free(c);
}

static void finish(struct check *c, const char *why)
{
	struct worker *w = c->w;
	uint64_t number = c->number;
	bool told = c->told;

	check_free(c); /* first: the brain may want the next one */
	if (!told)
		tell(w, number, why);
}

static void on_started(struct kept *k)
{
}

static void on_not_started(struct kept *k, int code, struct str reason)
{
	struct check *c = CONTAINER_OF(k, struct check, kept);
	char why[REASON_MAX_BYTES];

	if (code == 127 && program_of(c->w, ++c->program) && launch(c))
		return;
	snprintf(why, sizeof why, STR_FMT, STR_ARG(reason));
	finish(c, why);
}

static void on_over(struct kept *k)
{
	char why[64];

	if (k->signal)
		snprintf(why, sizeof why, "its process was ended by signal %d", k->signal);
	else
		snprintf(why, sizeof why, "its process ended with code %d", k->exit_code);
	finish(CONTAINER_OF(k, struct check, kept), k->exit_code == 0 ? NULL : why);
}

static void on_limit(void *arg)
{
	struct check *c = arg;

	c->told = true;
	kept_signal(&c->kept, SIGKILL, KILL_TO_CGROUP);
	tell(c->w, c->number, "its process did not end in time");
}

static bool launch(struct check *c)
{
	static const struct kept_fns fns = {on_started, on_not_started, on_over};
	const char *argv[] = {program_of(c->w, c->program), NULL};
	struct arena a = {0};
	struct env env;
	bool ok;

	env_init_clean(&env, &a);
	env_set(&env, STR(EXEC_LOCK_VARIABLE), str_of(c->w->lock_mark));
	struct keeper_start s = {
	    .program = {
	        .argv = argv, .env = env_list(&env), .umask = 022, .death_signal = SIGKILL}};
	ok = keeper_start(&c->w->keeper, &s, NULL, 0, &c->kept, &fns);
	arena_release(&a);
	return ok;
}

void check_start(struct worker *w, uint64_t number)
{
	int64_t limit = w->timeouts.check_grace_ms;
	struct check *c;

	if (w->check) {
		tell(w, number, "the process of the healthcheck before has not ended yet");
		return;
	}
	c = w->check = xcalloc(1, sizeof *c);
	*c = (struct check){.w = w, .number = number};
	c->limit = loop_timer_new(w->loop, on_limit, c);
	loop_timer_set(c->limit, limit > LIMIT_LEAST_MS ? limit : LIMIT_LEAST_MS);
	if (!launch(c))
		finish(c, "the keeper is gone");
}

void check_close(struct worker *w)
{
	if (w->check)
		check_free(w->check);
}
