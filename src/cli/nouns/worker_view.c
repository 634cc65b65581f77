/* SPDX-License-Identifier: Apache-2.0 */
/* Workers for people: in a list, with remarks about those that get no tasks, and all about one. */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "cli/nouns/noun.h"

#define NOTES_SHOWN 10 /* when a whole zone is away, the first few say it all */

static char *link_words(const struct cli *c, const json_t *worker)
{
	return xstrdup(jb(worker, "connected") ? "up" : "down");
}

/* Set by an operator, it is not what the worker's own configuration says. */
static char *max_words(const struct cli *c, const json_t *worker)
{
	return jhas(worker, "maxthreads")
	           ? xasprintf("%lld%s", (long long)ji(worker, "maxthreads", 0),
	                 jb(worker, "maxthreads_set") ? " (set)" : "")
	           : NULL;
}

/* "must_die" is what the server wants of it; for people it is lost. */
static const char *state_of(const json_t *worker)
{
	const char *state = js(worker, "state");

	return strcmp(state, "must_die") ? state : "lost";
}

/* A worker that gets nothing is found by its state. */
static const char *drained_state(const json_t *worker)
{
	const char *state = state_of(worker);

	if (!jb(worker, "drained"))
		return state;
	return !strcmp(state, "healthy")     ? "drained"
	       : !strcmp(state, "unhealthy") ? "unhealthy, drained"
	                                     : state;
}

static char *state_cell(const struct cli *c, const json_t *worker)
{
	return xstrdup(drained_state(worker));
}

static const struct heading columns[] = {
    {"NAME", HEADING_STRETCH, {SHOWN_TEXT, "name"}},
    {"STATE", HEADING_STATE, {.words = state_cell}},
    {"LINK", 0, {.words = link_words}},
    {"TASKS", HEADING_RIGHT, {SHOWN_NUMBER, "running", "0"}},
    {"MAX", HEADING_RIGHT, {.words = max_words}},
    {"UNSURE", HEADING_RIGHT | HEADING_WIDE, {SHOWN_NUMBER, "unsure", "0"}},
    {"SEEN", HEADING_RIGHT, {SHOWN_AGE, "silent_ms"}},
    {"CHECK", HEADING_RIGHT, {SHOWN_AGE, "check_age_ms"}},
    {"HOST", HEADING_STRETCH, {SHOWN_TEXT, "host"}},
    {"ZONE", HEADING_STRETCH, {SHOWN_TEXT, "zone"}},
    {"TARGET", HEADING_STRETCH | HEADING_WIDE, {SHOWN_TEXT, "target"}},
    {"VERSION", HEADING_WIDE, {SHOWN_TEXT, "version"}},
    {"PLUGINS", HEADING_STRETCH | HEADING_WIDE, {SHOWN_NAMES, "plugins"}},
    {"LABELS", HEADING_STRETCH | HEADING_WIDE, {SHOWN_PAIRS, "labels"}},
    {"FREE", HEADING_STRETCH | HEADING_WIDE, {SHOWN_NEED, "free"}},
};

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
	if (jb(worker, "drained")) {
		buf_printf(out, "%s drained%s", *js(worker, "why_unhealthy") ? ";" : ":",
		    *js(worker, "drain_reason") ? ": " : "");
		text_add_clean(out, str_of(js(worker, "drain_reason")));
	}
	if (*js(worker, "warning")) {
		buf_add_cstr(out, ": ");
		text_add_clean(out, str_of(js(worker, "warning")));
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

/* A line for each that gets no tasks or has unsure ones: why, and until when. */
static void print_notes(struct cli *c, const json_t *workers)
{
	AUTO(buf_release) struct buf out = {0};
	size_t i, n = 0;
	json_t *worker;

	json_array_foreach(workers, i, worker)
	{
		if (!*js(worker, "why_unhealthy") && !ji(worker, "unsure", 0) &&
		    !jb(worker, "drained") && !*js(worker, "warning"))
			continue;
		if (n++ < NOTES_SHOWN)
			add_note(c, worker, &out);
	}
	if (n > NOTES_SHOWN)
		buf_printf(&out, "  %s and %zu more; reeve worker show NAME tells why\n",
		    state_glyph("warn", c->term.utf8), n - NOTES_SHOWN);
	fputs(out.p ? out.p : "", stdout);
}

const struct listing worker_list = {.columns = columns,
    .n_columns = N_OF(columns),
    .most = 1000000,
    .none = "there are no workers; `reeve worker --join ADDRESS` starts one",
    .none_such = "there are no such workers",
    .remarks = print_notes};

static char *state_words(const struct cli *c, const json_t *worker)
{
	const char *state = drained_state(worker);

	return xasprintf("%s %s", state_glyph(state, c->term.utf8), state);
}

static char *lost_words(const struct cli *c, const json_t *worker)
{
	char text[TIME_TEXT_MAX];

	if (!jhas(worker, "lost_in_ms"))
		return NULL;
	return xasprintf(
	    "in %s, if nothing changes", time_human_ms(ji(worker, "lost_in_ms", 0), text));
}

static char *unsure_words(const struct cli *c, const json_t *worker)
{
	int64_t n = ji(worker, "unsure", 0);

	return n ? xasprintf("%lld of them: nobody knows yet whether %s started", (long long)n,
	               n == 1 ? "it was" : "they were")
	         : NULL;
}

static char *drain_words(const struct cli *c, const json_t *worker)
{
	const char *reason = js(worker, "drain_reason");

	return jb(worker, "drained")
	           ? xasprintf("it gets no more tasks%s%s", *reason ? ": " : "", reason)
	           : NULL;
}

static char *limit_words(const struct cli *c, const json_t *worker)
{
	return jhas(worker, "maxthreads")
	           ? xasprintf("%lld%s", (long long)ji(worker, "maxthreads", 0),
	                 jb(worker, "maxthreads_set") ? " (set here, not by the worker)" : "")
	           : xstrdup("no limit");
}

static char *set_words(const struct cli *c, const json_t *worker)
{
	const json_t *set = json_object_get(worker, "set");

	if (jb(set, "batched"))
		return xstrdup("waits until the others agree");
	if (!jhas(set, "joined"))
		return NULL;
	return xasprintf("a member since version %lld; has version %lld; relies on members up to "
	                 "version %lld",
	    (long long)ji(set, "joined", 0), (long long)ji(set, "version", 0),
	    (long long)ji(set, "indirect", 0));
}

static char *services_words(const struct cli *c, const json_t *worker)
{
	const json_t *s = json_object_get(worker, "services");
	int64_t n = ji(s, "instances", 0), blocked = ji(s, "blocked", 0);

	if (!n)
		return NULL;
	return xasprintf("%lld instance%s, %lld running%s%s", (long long)n, n == 1 ? "" : "s",
	    (long long)ji(s, "running", 0), blocked ? "; cannot move: " : "",
	    blocked ? js(s, "blocked_by") : "");
}

static const struct fact facts[] = {
    {"worker", {SHOWN_TEXT, "name"}},
    {"id", {SHOWN_TEXT, "id"}},
    {"instance", {SHOWN_TEXT, "instance"}},
    {"state", {.words = state_words}},
    {"why", {SHOWN_TEXT, "why_unhealthy"}},
    {"warning", {SHOWN_TEXT, "warning"}},
    {"lost", {.words = lost_words}},
    {"link", {.words = link_words}},
    {"heard", {SHOWN_SPAN_AGO, "silent_ms"}},
    {"good check", {SHOWN_SPAN_AGO, "check_age_ms"}},
    {"host", {SHOWN_TEXT, "host"}},
    {"zone", {SHOWN_TEXT, "zone"}},
    {"target", {SHOWN_TEXT, "target"}},
    {"version", {SHOWN_TEXT, "version"}},
    {"labels", {SHOWN_PAIRS, "labels"}},
    {"offers", {SHOWN_NEED, "offers", "nothing: it gets no task that needs something"}},
    {"held", {SHOWN_NEED, "held"}},
    {"free", {SHOWN_NEED, "free"}},
    {"plugins", {SHOWN_NAMES, "plugins"}},
    {"serves only", {SHOWN_NAMES, "activequeues"}},
    {"ignores", {SHOWN_NAMES, "ignorequeues"}},
    {"running", {SHOWN_NUMBER, "running", "0"}},
    {"services", {.words = services_words}},
    {"unsure", {.words = unsure_words}},
    {"maxthreads", {.words = limit_words}},
    {"drained", {.words = drain_words}},
    {"started", {SHOWN_TIME, "started"}},
    {"first seen", {SHOWN_TIME, "first_seen"}},
    {"last seen", {SHOWN_TIME, "last_seen"}},
    {"worker set", {.words = set_words}},
};

const struct view worker_view = {facts, N_OF(facts)};
