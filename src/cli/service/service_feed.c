/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Starts of a service, as they come: its newest tasks are asked for once a second. A start that
 * was over within that second is found all the same, and a broken connection loses nothing.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/world/clock.h"
#include "cli/output/output.h"
#include "cli/reach/last.h"
#include "cli/tasks/logs.h"

#define LOOK_EVERY_MS 1000
#define PATIENCE_MS 60000
#define PAGE "100"

struct feed {
	struct logs *logs;
	char *url;       /* of the tasks, without order and limit */
	int64_t index;   /* only of this instance; -1: of all */
	char newest[25]; /* everything up to this one is shown, or not wanted */
	json_t *found;   /* by the look that is under way, newest first */
	struct call *call;
	int64_t next_ms, failing_since_ms;
};

char *logs_name(const json_t *task)
{
	if (!jhas(task, "service_id"))
		return NULL;
	return xasprintf("%s/%lld", js(task, "service"), (long long)ji(task, "index", 0));
}

static void add(struct feed *f, const json_t *task)
{
	AUTO(free_cstr) char *name = logs_name(task);

	if (f->index >= 0 && ji(task, "index", -1) != f->index)
		return;
	if (!logs_has(f->logs, js(task, "id")))
		logs_add(f->logs, js(task, "id"), name);
}

static void begin(struct feed *f, const char *cursor)
{
	AUTO(buf_release) struct buf url = {0};

	buf_add_cstr(&url, f->url);
	url_add(&url, "order", "desc");
	url_add(&url, "limit", PAGE);
	if (*cursor)
		url_add(&url, "cursor", cursor);
	f->call =
	    client_start(f->logs->c->client, &(struct request){.method = "GET", .path = url.p});
}

/* The oldest of them first, as they were written. */
static void show_found(struct feed *f)
{
	size_t n = json_array_size(f->found);

	for (size_t i = n; i-- > 0;)
		add(f, json_array_get(f->found, i));
	if (n)
		memcpy(f->newest, js(json_array_get(f->found, 0), "id"), 24);
	json_array_clear(f->found);
	f->next_ms = clock_mono_ms() + LOOK_EVERY_MS;
}

static void take_page(struct feed *f, json_t *page)
{
	const char *next = js(page, "next");
	bool is_known = false;
	json_t *task;
	size_t i;

	json_array_foreach(json_object_get(page, "items"), i, task)
	{
		is_known |= is_id(js(task, "id")) && strcmp(js(task, "id"), f->newest) <= 0;
		if (!is_known && is_id(js(task, "id")))
			json_array_append(f->found, task);
	}
	if (is_known || !*next || json_array_size(f->found) >= LOGS_TASKS_MAX)
		show_found(f);
	else
		begin(f, next);
}

/* False: it will not get better. */
static bool wait_after(struct feed *f, int r, const struct reply *reply)
{
	int64_t now = clock_mono_ms();

	json_array_clear(f->found);
	f->failing_since_ms = f->failing_since_ms ? f->failing_since_ms : now;
	f->next_ms = now + LOOK_EVERY_MS;
	return client_may_retry(r, reply) && now - f->failing_since_ms < PATIENCE_MS;
}

static bool ended(struct feed *f)
{
	AUTO(reply_release) struct reply reply = {0};
	AUTO(json_drop) json_t *page = NULL;
	int r = call_finish(TAKE(f->call), &reply, &f->logs->c->problem);

	if (r < 0) {
		if (wait_after(f, r, &reply))
			return true;
		f->logs->more_result = r;
		return false;
	}
	f->failing_since_ms = 0;
	page = json_loadb(reply.body.p ? reply.body.p : "", reply.body.n, 0, NULL);
	take_page(f, page);
	return true;
}

static bool more(struct logs *l)
{
	struct feed *f = l->arg;

	if (f->call && call_is_done(f->call))
		return ended(f);
	if (!f->call && clock_mono_ms() >= f->next_ms)
		begin(f, "");
	return true;
}

static void release(struct logs *l)
{
	struct feed *f = l->arg;

	call_abort(f->call);
	json_decref(f->found);
	free(f->url);
	free(f);
}

/* The newest there is, so that whatever comes is newer. */
static int find_newest(struct feed *f)
{
	AUTO(buf_release) struct buf url = {0};
	AUTO(json_drop) json_t *list = NULL;
	int r;

	buf_add_cstr(&url, f->url);
	url_add(&url, "order", "desc");
	url_add(&url, "limit", "1");
	r = cli_get(f->logs->c, url.p, &list);
	if (r == 0)
		snprintf(f->newest, sizeof f->newest, "%s",
		    js(json_array_get(json_object_get(list, "items"), 0), "id"));
	return r;
}

static int add_present(struct feed *f)
{
	AUTO(buf_release) struct buf url = {0};
	AUTO(json_drop) json_t *list = NULL;
	json_t *task;
	size_t i;
	int r;

	buf_add_cstr(&url, f->url);
	url_add(&url, "order", "asc");
	if (!strstr(f->url, "state="))
		url_add(&url, "state", "claimed,running");
	r = cli_get_list(f->logs->c, url.p, LOGS_TASKS_MAX, &list);
	json_array_foreach(json_object_get(list, "items"), i, task)
	{
		if (is_id(js(task, "id")))
			add(f, task);
	}
	return r;
}

int logs_follow_service(struct logs *l, const char *url, int64_t index)
{
	struct feed *f;
	int r;

	if (l->more)
		return problem_set(&l->c->problem, ERR_INVALID,
		    "one service, or one group, can be followed at a time");
	f = xcalloc(1, sizeof *f);
	*f = (struct feed){.logs = l, .url = xstrdup(url), .index = index, .found = json_array()};
	l->arg = f;
	l->more = more;
	l->more_release = release;
	r = find_newest(f);
	return r == 0 ? add_present(f) : r;
}
