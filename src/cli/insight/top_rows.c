/* SPDX-License-Identifier: Apache-2.0 */
/* Which rows of a list top shows, and in which order. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "cli/insight/top.h"

int64_t top_running(const json_t *queue)
{
	const json_t *counts = json_object_get(queue, "counts");

	return ji(counts, "running", 0) + ji(counts, "claimed", 0);
}

/* Each order falls back to names, so that rows do not jump about. */
static int by_text(const json_t *a, const json_t *b, const char *member)
{
	return strcmp(js(a, member), js(b, member));
}

static int by_number(int64_t a, int64_t b) /* the largest first */
{
	return a > b ? -1 : a < b;
}

static int64_t queued_of(const json_t *queue)
{
	return ji(json_object_get(queue, "counts"), "queued", 0);
}

static int queues_busy(const json_t *a, const json_t *b)
{
	int r = by_number(top_running(a), top_running(b));

	return r ? r : by_number(queued_of(a), queued_of(b));
}

static int queues_waiting(const json_t *a, const json_t *b)
{
	int r = by_number(queued_of(a), queued_of(b));

	return r ? r : by_number(ji(a, "oldest_ms", 0), ji(b, "oldest_ms", 0));
}

static int names(const json_t *a, const json_t *b)
{
	return by_text(a, b, "name");
}

/* How much of what is wanted does not serve. */
static int64_t missing_of(const json_t *service)
{
	return ji(service, "instances", 0) - ji(json_object_get(service, "counts"), "ready", 0);
}

static int services_trouble(const json_t *a, const json_t *b)
{
	return by_number(missing_of(a), missing_of(b));
}

static int services_large(const json_t *a, const json_t *b)
{
	return by_number(ji(a, "instances", 0), ji(b, "instances", 0));
}

static int workers_busy(const json_t *a, const json_t *b)
{
	return by_number(ji(a, "running", 0), ji(b, "running", 0));
}

static int workers_trouble(const json_t *a, const json_t *b)
{
	bool wrong_a = *js(a, "why_unhealthy"), wrong_b = *js(b, "why_unhealthy");

	return wrong_a == wrong_b ? workers_busy(a, b) : wrong_b - wrong_a;
}

static int tasks_longest(const json_t *a, const json_t *b)
{
	int64_t at_a = jtime(a, "started"), at_b = jtime(b, "started");

	return by_number(at_b ? at_b : INT64_MAX, at_a ? at_a : INT64_MAX);
}

static int tasks_newest(const json_t *a, const json_t *b)
{
	return by_text(b, a, "id");
}

static int tasks_queue(const json_t *a, const json_t *b)
{
	return by_text(a, b, "queue");
}

struct order {
	const char *name;
	int (*compare)(const json_t *a, const json_t *b);
};

static const struct panel {
	const char *id; /* what is unique */
	const char *searched[4];
	struct order orders[3];
} panels[N_PANELS] = {
    [PANEL_QUEUES] = {"name", {"name"},
        {{"busy", queues_busy}, {"waiting", queues_waiting}, {"name", names}}},
    [PANEL_SERVICES] = {"name", {"name", "domain", "place_error", "crash_reason"},
        {{"trouble", services_trouble}, {"size", services_large}, {"name", names}}},
    [PANEL_WORKERS] = {"name", {"name", "host", "zone", "state"},
        {{"trouble", workers_trouble}, {"busy", workers_busy}, {"name", names}}},
    [PANEL_TASKS] = {"id", {"id", "queue", "worker"},
        {{"longest", tasks_longest}, {"newest", tasks_newest}, {"queue", tasks_queue}}},
};

const char *top_sort_name(enum top_panel p, size_t sort)
{
	return panels[p].orders[sort % top_sorts(p)].name;
}

size_t top_sorts(enum top_panel p)
{
	return N_OF(panels[p].orders);
}

static bool has_command(const json_t *task, const char *text)
{
	const json_t *word;
	size_t i;

	json_array_foreach(json_object_get(task, "command"), i, word)
	{
		if (json_is_string(word) && strcasestr(json_string_value(word), text))
			return true;
	}
	return false;
}

static bool fits(const struct panel *p, const json_t *object, const char *filter)
{
	if (!*filter)
		return true;
	for (size_t i = 0; i < N_OF(p->searched) && p->searched[i]; i++)
		if (strcasestr(js(object, p->searched[i]), filter))
			return true;
	return has_command(object, filter);
}

struct sorting {
	const struct panel *panel;
	size_t sort;
};

static int compare(const void *x, const void *y, void *arg)
{
	const json_t *a = *(json_t *const *)x, *b = *(json_t *const *)y;
	const struct sorting *s = arg;
	int r = s->panel->orders[s->sort].compare(a, b);

	return r ? r : by_text(a, b, s->panel->id);
}

json_t *top_rows(const json_t *list, enum top_panel p, const struct top_view *v)
{
	struct sorting s = {&panels[p], v->sort[p] % top_sorts(p)};
	json_t *items = json_object_get(list, "items"), *item, *out = json_array();
	size_t n = json_array_size(items), kept = 0, i;
	json_t **rows = xcalloc(n + 1, sizeof *rows);

	json_array_foreach(items, i, item)
	{
		if (fits(&panels[p], item, v->filter))
			rows[kept++] = item;
	}
	qsort_r(rows, kept, sizeof *rows, compare, &s);
	for (i = 0; i < kept; i++)
		json_array_append(out, rows[i]);
	free(rows);
	return out;
}
