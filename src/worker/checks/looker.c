/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/checks/looker.h"

#include <stdio.h>
#include <unistd.h>

#include "model/limits.h"

#define SAID_MAX 200 /* of what a check's command wrote */

static void on_probe(bool ok, const char *why, void *arg)
{
	struct looker *l = arg;

	l->probe = NULL;
	l->done(l, ok, str_of(why));
}

void looker_drop(struct looker *l)
{
	probe_cancel(l->probe);
	l->probe = NULL;
	if (l->running)
		kept_drop(&l->command);
	l->running = false;
}

static void on_started(struct kept *k)
{
}

static void on_not_started(struct kept *k, int code, struct str why)
{
	struct looker *l = CONTAINER_OF(k, struct looker, command);

	l->running = false;
	l->done(l, false, why);
}

/* The last thing that the command said is the reason; its code, if it said nothing. */
static void on_over(struct kept *k)
{
	struct looker *l = CONTAINER_OF(k, struct looker, command);
	char said[SAID_MAX];
	ssize_t n = -1;
	bool ok = k->exit_code == 0;

	for (int i = 0; i < N_STREAMS && n <= 0; i++)
		n = k->out[i] >= 0 ? read(k->out[i], said, sizeof said) : -1;
	while (n > 0 && said[n - 1] == '\n')
		n--;
	if (n <= 0)
		n = snprintf(said, sizeof said, k->signal ? "ended by signal %d" : "exit code %d",
		    k->signal ? k->signal : k->exit_code);
	kept_drop(k);
	l->running = false;
	l->done(l, ok, (struct str){said, (size_t)n});
}

static void look_by_command(struct looker *l, const struct run_check *c)
{
	static const struct kept_fns fns = {on_started, on_not_started, on_over};
	char why[REASON_MAX_BYTES];

	l->running = true;
	if (launch_check(l->job, c, &l->command, &fns, why, sizeof why) == 0)
		return;
	l->running = false;
	l->done(l, false, str_of(why));
}

void looker_look(struct looker *l, const struct run_check *c, uint64_t number)
{
	looker_drop(l);
	l->number = number;
	if (c->kind == CHECK_COMMAND)
		look_by_command(l, c);
	else
		l->probe = probe_start(l->job->w->loop, c, on_probe, l);
}
