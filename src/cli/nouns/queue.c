/* SPDX-License-Identifier: Apache-2.0 */
/* Queues: what can be set, and `queue rm`. */
#include <stdio.h>

#include "base/mem.h"
#include "cli/frame/cmds.h"
#include "cli/nouns/noun.h"
#include "cli/tasks/work.h"
#include "model/objects/queue.h"

static const struct setting pause_settings[] = {
    {"reason", SETTING_TEXT},
    {"until", SETTING_TEXT},
    {NULL},
};

const struct noun queue_noun = {.word = "queue",
    .path = "/v1/queues",
    .list = &queue_list,
    .view = &queue_view,
    .fields = queue_fields,
    .pause = pause_settings};

static int cancel_dispatched(struct cli *c, const char *name)
{
	AUTO(json_drop) json_t *reply = NULL;
	AUTO(json_drop)
	json_t *body = json_pack("{s:{s:s, s:[s, s]}, s:s}", "filter", "queue", name, "state",
	    "claimed", "running", "reason", "its queue is deleted");

	return cli_call(c, "POST", "/v1/tasks/actions/cancel", body, &reply);
}

static int64_t running(const json_t *queue)
{
	const json_t *counts = json_object_get(queue, "counts");

	return ji(counts, "claimed", 0) + ji(counts, "running", 0);
}

/*
 * A queue whose tasks have processes cannot go: nothing more is started, what runs is ended, and
 * we wait for that.
 */
static int stop_queue(struct cli *c, const struct noun *n, const char *name)
{
	AUTO(json_drop) json_t *body = json_pack("{s:s}", "reason", "it is being deleted");
	AUTO(json_drop) json_t *paused = NULL;
	int r;

	if ((r = noun_call(c, "POST", n, name, "pause", body, &paused)) < 0 ||
	    (r = cancel_dispatched(c, name)) < 0)
		return r;
	return noun_wait_idle(c, n, name, running, false);
}

static int count_tasks(struct cli *c, const char *queue, int64_t *ret_live, int64_t *ret_ended)
{
	AUTO(json_drop) json_t *summary = NULL;
	AUTO(buf_release) struct buf path = {0};
	int r;

	buf_add_cstr(&path, "/v1/tasks/summary");
	url_add(&path, "queue", queue);
	r = cli_get(c, path.p, &summary);
	*ret_live = ji(summary, "live", 0);
	*ret_ended = ji(summary, "done", 0);
	return r < 0 ? r : 0;
}

/* The history of a queue goes with it, which nobody expects who has not been told. */
static bool may_delete(struct cli *c, const char *name, int64_t live, int64_t ended)
{
	bool force = options_switch(&c->options, "force", false);
	char n[TIME_TEXT_MAX], m[TIME_TEXT_MAX];

	if (options_switch(&c->options, "yes", false) || (live > 0 && !force))
		return true; /* the server refuses the latter, and says why */
	if (live > 0)
		return confirm(c,
		    "delete the queue %s, its %s live and %s ended tasks, and their output?", name,
		    human_count(live, n), human_count(ended, m));
	return ended == 0 ||
	       confirm(c, "delete the queue %s, its %s ended task%s, and their output?", name,
	           human_count(ended, n), ended == 1 ? "" : "s");
}

static int delete_queue(struct cli *c, const struct noun *n, const char *name)
{
	int64_t live, ended;
	int r = count_tasks(c, name, &live, &ended);

	if (r < 0)
		return r;
	if (!may_delete(c, name, live, ended))
		return not_confirmed(c);
	if ((options_switch(&c->options, "force", false) && (r = stop_queue(c, n, name)) < 0) ||
	    (r = count_tasks(c, name, &live, &ended)) < 0 || /* some may have ended meanwhile */
	    (r = noun_delete(c, n, name)) < 0)
		return r;
	if (c->quiet)
		return EXIT_OK;
	if (live + ended == 0)
		say(stdout, "queue %s deleted", name);
	else
		say(stdout, "queue %s deleted, with %lld task%s and all output", name,
		    (long long)(live + ended), live + ended == 1 ? "" : "s");
	return EXIT_OK;
}

int cmd_queue_rm(struct cli *c)
{
	return noun_each(c, delete_queue);
}
