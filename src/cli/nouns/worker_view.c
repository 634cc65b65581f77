/* SPDX-License-Identifier: Apache-2.0 */
/* How workers are shown: the table, the remarks about those that get no tasks, and one at large. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "cli/nouns/views.h"
#include "cli/output/output.h"

#define NOTES_SHOWN 10 /* when a whole zone is away, the first few say it all */

static const struct column worker_columns[] = {
    {"NAME", COLUMN_STRETCH},
    {"STATE", COLUMN_STATE},
    {"LINK", 0},
    {"TASKS", COLUMN_RIGHT},
    {"MAX", COLUMN_RIGHT},
    {"UNSURE", COLUMN_RIGHT | COLUMN_WIDE},
    {"SEEN", COLUMN_RIGHT},
    {"CHECK", COLUMN_RIGHT},
    {"HOST", COLUMN_STRETCH},
    {"ZONE", COLUMN_STRETCH},
    {"TARGET", COLUMN_STRETCH | COLUMN_WIDE},
    {"VERSION", COLUMN_WIDE},
    {"PLUGINS", COLUMN_STRETCH | COLUMN_WIDE},
    {"LABELS", COLUMN_STRETCH | COLUMN_WIDE},
};

static char *joined(const json_t *array)
{
	AUTO(buf_release) struct buf words = {0};
	json_t *item;
	size_t i;

	json_array_foreach(array, i, item)
	    buf_printf(&words, "%s%s", i ? "," : "", json_string_value(item));
	return words.p ? buf_take(&words) : NULL;
}

static char *labels_of(const json_t *worker)
{
	AUTO(buf_release) struct buf words = {0};

	add_pairs(&words, json_object_get(worker, "labels"));
	return words.p ? buf_take(&words) : NULL;
}

void worker_table_init(struct table *t)
{
	table_init(t, worker_columns, sizeof worker_columns / sizeof worker_columns[0]);
}

static void add_ago(struct table *t, const json_t *worker, const char *name)
{
	char text[TIME_TEXT_MAX];

	if (!jhas(worker, name))
		table_add(t, NULL);
	else if (ji(worker, name, 0) < 1000)
		table_add(t, "now");
	else
		table_addf(t, "%s ago", human_short(ji(worker, name, 0), text));
}

void worker_table_add(struct table *t, const json_t *worker)
{
	AUTO(free_cstr) char *plugins = joined(json_object_get(worker, "plugins"));
	AUTO(free_cstr) char *labels = labels_of(worker);

	table_add(t, js(worker, "name"));
	table_add(t, js(worker, "state"));
	table_add(t, jb(worker, "connected") ? "up" : "down");
	table_addf(t, "%lld", (long long)ji(worker, "running", 0));
	if (jhas(worker, "maxthreads"))
		table_addf(t, "%lld%s", (long long)ji(worker, "maxthreads", 0),
		    jb(worker, "maxthreads_set") ? "*" : "");
	else
		table_add(t, NULL);
	table_addf(t, "%lld", (long long)ji(worker, "unsure", 0));
	add_ago(t, worker, "silent_ms");
	add_ago(t, worker, "check_age_ms");
	table_add(t, js(worker, "host"));
	table_add(t, js(worker, "zone"));
	table_add(t, js(worker, "target"));
	table_add(t, js(worker, "version"));
	table_add(t, plugins);
	table_add(t, labels);
}

static void add_note(const struct cli *c, const json_t *worker, struct buf *out)
{
	int64_t unsure = ji(worker, "unsure", 0);
	char text[TIME_TEXT_MAX];

	buf_printf(out, "  %s ", state_glyph("warn", c->term.utf8));
	text_add_clean(out, str_of(js(worker, "name")));
	if (*js(worker, "why_unhealthy")) {
		buf_add_cstr(out, ": ");
		text_add_clean(out, str_of(js(worker, "why_unhealthy")));
	}
	if (jhas(worker, "lost_in_ms"))
		buf_printf(out, "; it is lost in %s, unless that changes",
		    time_human_ms(ji(worker, "lost_in_ms", 0), text));
	if (unsure)
		buf_printf(out, "%s nobody knows yet whether %lld task%s started",
		    *js(worker, "why_unhealthy") ? ";" : ":", (long long)unsure,
		    unsure == 1 ? " was" : "s were");
	buf_add_char(out, '\n');
}

void worker_notes(const struct cli *c, const json_t *workers, struct buf *out)
{
	size_t i, n = 0;
	json_t *worker;

	json_array_foreach(workers, i, worker)
	{
		if (!*js(worker, "why_unhealthy") && !ji(worker, "unsure", 0))
			continue;
		if (n++ < NOTES_SHOWN)
			add_note(c, worker, out);
	}
	if (n > NOTES_SHOWN)
		buf_printf(out, "  %s and %zu more; reeve worker show NAME tells why\n",
		    state_glyph("warn", c->term.utf8), n - NOTES_SHOWN);
}

static char *text_of(const json_t *worker, const char *name)
{
	return *js(worker, name) ? xstrdup(js(worker, name)) : NULL;
}

static char *lost_fact(const json_t *worker)
{
	char text[TIME_TEXT_MAX];

	if (!jhas(worker, "lost_in_ms"))
		return NULL;
	return xasprintf(
	    "in %s, if nothing changes", time_human_ms(ji(worker, "lost_in_ms", 0), text));
}

static char *ago_fact(const json_t *worker, const char *name)
{
	char text[TIME_TEXT_MAX];

	if (!jhas(worker, name))
		return NULL;
	return xasprintf("%s ago", time_human_ms(ji(worker, name, 0), text));
}

static char *unsure_fact(const json_t *worker)
{
	int64_t n = ji(worker, "unsure", 0);

	return n ? xasprintf("%lld of them: nobody knows yet whether %s started", (long long)n,
	               n == 1 ? "it was" : "they were")
	         : NULL;
}

static char *set_fact(const json_t *worker)
{
	const json_t *set = json_object_get(worker, "set");

	if (jb(set, "batched"))
		return xstrdup("waits until the others agree");
	if (!jhas(set, "joined"))
		return NULL;
	return xasprintf("joined with version %lld, has version %lld, requires up to %lld",
	    (long long)ji(set, "joined", 0), (long long)ji(set, "version", 0),
	    (long long)ji(set, "indirect", 0));
}

static char *seen_fact(const json_t *worker, const char *name)
{
	char text[TIME_TEXT_MAX];

	return jhas(worker, name) ? xasprintf("%s (%s)", js(worker, name), jago(worker, name, text))
	                          : NULL;
}

void worker_show(struct cli *c, const json_t *worker)
{
	struct fact facts[] = {
	    {"worker", text_of(worker, "name")},
	    {"id", text_of(worker, "id")},
	    {"instance", text_of(worker, "instance")},
	    {"state", xasprintf("%s %s", state_glyph(js(worker, "state"), c->term.utf8),
	                  js(worker, "state"))},
	    {"why", text_of(worker, "why_unhealthy")},
	    {"lost", lost_fact(worker)},
	    {"link", xstrdup(jb(worker, "connected") ? "up" : "down")},
	    {"heard", ago_fact(worker, "silent_ms")},
	    {"good check", ago_fact(worker, "check_age_ms")},
	    {"host", text_of(worker, "host")},
	    {"zone", text_of(worker, "zone")},
	    {"target", text_of(worker, "target")},
	    {"version", text_of(worker, "version")},
	    {"labels", labels_of(worker)},
	    {"plugins", joined(json_object_get(worker, "plugins"))},
	    {"serves only", joined(json_object_get(worker, "activequeues"))},
	    {"ignores", joined(json_object_get(worker, "ignorequeues"))},
	    {"running", xasprintf("%lld", (long long)ji(worker, "running", 0))},
	    {"unsure", unsure_fact(worker)},
	    {"maxthreads",
	        jhas(worker, "maxthreads")
	            ? xasprintf("%lld%s", (long long)ji(worker, "maxthreads", 0),
	                  jb(worker, "maxthreads_set") ? " (set here, not by the worker)" : "")
	            : xstrdup("no limit")},
	    {"started", seen_fact(worker, "started")},
	    {"first seen", seen_fact(worker, "first_seen")},
	    {"last seen", seen_fact(worker, "last_seen")},
	    {"worker set", set_fact(worker)},
	};

	facts_print(c, facts, sizeof facts / sizeof facts[0]);
}
