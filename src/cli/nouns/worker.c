/* SPDX-License-Identifier: Apache-2.0 */
/* Workers as the server sees them: what can be set; stopped, restarted, drained. */
#include "base/mem.h"
#include "cli/frame/cmds.h"
#include "cli/nouns/noun.h"
#include "cli/tasks/work.h"
#include "model/limits.h"

static const struct setting settings[] = {
    {"maxthreads", SETTING_NUMBER, true, NULL, 0, THREADS_MAX, "worker",
        "\"none\" means no limit, \"worker\" the worker's own setting"},
    {NULL},
};

const struct noun worker_noun = {.word = "worker",
    .path = "/v1/workers",
    .list = &worker_list,
    .view = &worker_view,
    .settings = settings,
    .set_hint = "reeve worker set NAME --maxthreads N",
    .gone = "forgotten"};

/* A worker's tasks die with it: whoever sits at a terminal is asked first. */
static int may_stop(struct cli *c, const struct noun *n, const char *name, const char *verb)
{
	AUTO(json_drop) json_t *worker = NULL;
	int64_t tasks;
	int r;

	if (options_switch(&c->options, "yes", false))
		return 1;
	r = noun_get(c, n, name, &worker);
	if (r < 0)
		return r;
	tasks = ji(worker, "running", 0);
	return tasks == 0 || confirm(c, "%s the worker %s, and end its %lld task%s?", verb,
	                         js(worker, "name"), (long long)tasks, tasks == 1 ? "" : "s");
}

static int stop_one(struct cli *c, const struct noun *n, const char *name)
{
	int r = may_stop(c, n, name, "stop");

	if (r == 0)
		return not_confirmed(c);
	return r < 0 ? r : noun_act(c, n, name, "stop", NULL, "was told to stop");
}

static int restart_one(struct cli *c, const struct noun *n, const char *name)
{
	int r = may_stop(c, n, name, "restart");

	if (r == 0)
		return not_confirmed(c);
	return r < 0 ? r : noun_act(c, n, name, "restart", NULL, "was told to restart");
}

int cmd_worker_stop(struct cli *c)
{
	return noun_each(c, stop_one);
}

int cmd_worker_restart(struct cli *c)
{
	return noun_each(c, restart_one);
}

static int64_t running(const json_t *worker)
{
	return ji(worker, "running", 0);
}

static const struct setting drain_settings[] = {
    {"reason", SETTING_TEXT}, {"timeout", SETTING_TEXT, .none = true}, {NULL}};

/* What keeps a drain from its end is said at once: on one lone worker nothing can move. */
static int say_blocked(struct cli *c, const struct noun *n, const char *name)
{
	AUTO(json_drop) json_t *worker = NULL;
	const json_t *services;
	int r = noun_get(c, n, name, &worker);

	services = json_object_get(worker, "services");
	if (r == 0 && ji(services, "blocked", 0))
		cli_note(c, "%lld instance%s of services cannot move; %s",
		    (long long)ji(services, "blocked", 0),
		    ji(services, "blocked", 0) == 1 ? "" : "s", js(services, "blocked_by"));
	return r;
}

static int drain_one(struct cli *c, const struct noun *n, const char *name)
{
	AUTO(json_drop) json_t *body = json_object();
	int r;

	if (body_add(c, drain_settings, NULL, body) < 0)
		return c->problem.code;
	r = noun_act(c, n, name, "drain", body, "drained: it gets no more tasks");
	if (r < 0 || (r = say_blocked(c, n, name)) < 0 ||
	    !options_switch(&c->options, "wait", false))
		return r;
	return noun_wait_idle(c, n, name, running, true);
}

static int undrain_one(struct cli *c, const struct noun *n, const char *name)
{
	return noun_act(c, n, name, "undrain", NULL, "gets tasks again");
}

int cmd_worker_drain(struct cli *c)
{
	return noun_each(c, drain_one);
}

int cmd_worker_undrain(struct cli *c)
{
	return noun_each(c, undrain_one);
}
