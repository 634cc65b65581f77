/* SPDX-License-Identifier: Apache-2.0 */
/* Groups for people: in a list, and all about one, what failed first. */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/world/clock.h"
#include "cli/group/group.h"
#include "cli/group/live.h"
#include "cli/nouns/noun.h"

#define BAR_CELLS 20
#define SHORT_BAR_CELLS 6
#define JOBS_SHOWN 10 /* of a kind; all of them with -o wide */
#define JOBS_MOST 100000

static char *bar(const struct cli *c, const json_t *group, int cells)
{
	struct counts n = group_counts_of(group);
	struct buf words = {0};

	progress_bar(&n, cells, c->term.utf8, &words);
	buf_printf(&words, "%3d%%", n.total ? (int)((double)n.done / (double)n.total * 100) : 100);
	return buf_take(&words);
}

static char *short_bar_words(const struct cli *c, const json_t *group)
{
	return bar(c, group, SHORT_BAR_CELLS);
}

static char *done_words(const struct cli *c, const json_t *group)
{
	struct counts n = group_counts_of(group);
	char done[TIME_TEXT_MAX], total[TIME_TEXT_MAX];

	return xasprintf("%s/%s", human_count(n.done, done), human_count(n.total, total));
}

static char *failed_words(const struct cli *c, const json_t *group)
{
	char text[TIME_TEXT_MAX];

	return xstrdup(human_count(group_counts_of(group).failed, text));
}

static char *age_words(const struct cli *c, const json_t *group)
{
	char text[TIME_TEXT_MAX];

	return xstrdup(human_short(clock_wall_ms() - jtime(group, "created"), text));
}

static char *took_words(const struct cli *c, const json_t *group)
{
	int64_t from = jtime(group, "dispatched"), to = jtime(group, "ended");
	char text[TIME_TEXT_MAX];

	if (!from)
		return NULL;
	return xstrdup(time_human_ms((to ? to : clock_wall_ms()) - from, text));
}

static const struct heading columns[] = {
    {"ID", 0, {SHOWN_TEXT, "id"}},
    {"NAME", HEADING_STRETCH, {SHOWN_TEXT, "name"}},
    {"STATE", HEADING_STATE, {SHOWN_TEXT, "state"}},
    {"PROGRESS", 0, {.words = short_bar_words}},
    {"FAILED", HEADING_RIGHT, {.words = failed_words}},
    {"DONE", HEADING_RIGHT, {.words = done_words}},
    {"TOOK", HEADING_RIGHT, {.words = took_words}},
    {"AGE", HEADING_RIGHT, {.words = age_words}},
    {"POLICY", HEADING_WIDE, {SHOWN_TEXT, "policy"}},
    {"BY", HEADING_STRETCH | HEADING_WIDE, {SHOWN_TEXT, "actor"}},
    {"REASON", HEADING_STRETCH | HEADING_WIDE, {SHOWN_TEXT, "reason"}},
};

const struct listing group_list = {.columns = columns,
    .n_columns = N_OF(columns),
    .usual = 20,
    .most = 1000000,
    .none = "there are no groups; `reeve group submit` makes one",
    .none_such = "there are no such groups"};

static char *state_words(const struct cli *c, const json_t *group)
{
	return xasprintf(
	    "%s %s", state_glyph(js(group, "state"), c->term.utf8), js(group, "state"));
}

static char *jobs_words(const struct cli *c, const json_t *group)
{
	char jobs[TIME_TEXT_MAX], needs[TIME_TEXT_MAX];

	return xasprintf("%s, with %s needs between them", human_count(ji(group, "jobs", 0), jobs),
	    human_count(ji(group, "edges", 0), needs));
}

static char *progress_words(const struct cli *c, const json_t *group)
{
	AUTO(free_cstr) char *drawn = bar(c, group, BAR_CELLS);
	AUTO(free_cstr) char *done = done_words(c, group);

	return xasprintf("%s  %s", drawn, done);
}

static const struct fact facts[] = {
    {"group", {SHOWN_TEXT, "id"}},
    {"name", {SHOWN_TEXT, "name"}},
    {"state", {.words = state_words}},
    {"reason", {SHOWN_TEXT, "reason"}},
    {"policy", {SHOWN_TEXT, "policy"}},
    {"series", {SHOWN_TEXT, "series"}},
    {GROUP_OWNER_NAME, {SHOWN_TEXT, GROUP_OWNER_NAME}},
    {"tick", {SHOWN_TIME, "tick"}},
    {"is left of", {SHOWN_TEXT, "retried_of"}},
    {"by", {SHOWN_TEXT, "actor"}},
    {"submitted", {SHOWN_TIME, "created"}},
    {"dispatched", {SHOWN_TIME, "dispatched"}},
    {"ended", {SHOWN_TIME, "ended"}},
    {"took", {.words = took_words}},
    {"jobs", {.words = jobs_words}},
    {"progress", {.words = progress_words}},
    {"states", {SHOWN_TEXT, "states"}},
    {"taken", {SHOWN_TEXT, "taken"}},
    {"ETA", {SHOWN_TEXT, "eta"}},
    {"waits for", {SHOWN_TEXT, "waits"}},
};

const struct view group_view = {.facts = facts, .n_facts = N_OF(facts)};

static char *exit_words(const struct cli *c, const json_t *job)
{
	if (ji(job, "signal", 0) > 0)
		return xasprintf("sig %lld", (long long)ji(job, "signal", 0));
	return jhas(job, "exit_code") ? xasprintf("%lld", (long long)ji(job, "exit_code", 0))
	                              : NULL;
}

static char *since_words(const struct cli *c, const json_t *job)
{
	int64_t from = jtime(job, "started"), to = jtime(job, "ended");
	char text[TIME_TEXT_MAX];

	if (!from)
		return NULL;
	return xstrdup(time_human_ms((to ? to : clock_wall_ms()) - from, text));
}

static const struct heading job_columns[] = {
    {"JOB", HEADING_STRETCH, {SHOWN_TEXT, "name"}},
    {"STATE", HEADING_STATE, {SHOWN_TEXT, "state"}},
    {"TOOK", HEADING_RIGHT, {.words = since_words}},
    {"EXIT", HEADING_RIGHT, {.words = exit_words}},
    {"WORKER", HEADING_STRETCH, {SHOWN_TEXT, "worker"}},
    {"TASK", 0, {SHOWN_TEXT, "task"}},
    {"REASON", HEADING_STRETCH, {SHOWN_TEXT, "reason"}},
};

static int show_jobs(struct cli *c, const json_t *group, const char *states)
{
	AUTO(buf_release) struct buf url = {0};
	AUTO(json_drop) json_t *list = NULL;
	int r;

	buf_add_cstr(&url, "/v1/groups");
	url_add_path(&url, js(group, "id"));
	buf_add_cstr(&url, "/jobs");
	url_add(&url, "state", states);
	r = cli_get_list(c, url.p, c->format == FORMAT_WIDE ? JOBS_MOST : JOBS_SHOWN, &list);
	if (r < 0 || json_array_size(json_object_get(list, "items")) == 0)
		return r;
	say(stdout, "%s", "");
	table_show(c, job_columns, N_OF(job_columns), json_object_get(list, "items"));
	if (jhas(list, "next"))
		cli_note(c, "(there are more; -o wide shows all)");
	return 0;
}

/* A job that somebody took out counts as failed. Cancels that only follow, upon one of the whole
 * group or upon a failure, would hide what failed. */
static bool cancels_tell(const json_t *group)
{
	const json_t *n = json_object_get(group, "counts");
	int state = group_state_of(js(group, "state"));

	if (state == GROUP_CANCELING || state == GROUP_CANCELED)
		return false;
	return !strcmp(js(group, "policy"), group_policy_names[GROUP_BEST_EFFORT]) ||
	       ji(n, "failed", 0) + ji(n, "lost", 0) == 0;
}

int group_show_failures(struct cli *c, const json_t *group)
{
	if (!group_counts_of(group).failed)
		return 0;
	return show_jobs(c, group,
	    cancels_tell(group) ? "job-failed,job-lost,cancel-complete" : "job-failed,job-lost");
}

/* What was over before the group was there, was built for another one. */
static void add_taken(json_t *group, const struct live *l)
{
	int64_t since = jtime(group, "created"), n = 0;
	char text[TIME_TEXT_MAX];

	for (uint32_t j = 0; j < l->n; j++)
		n += l->states[j] == JOB_BUILT && l->ended[j] && l->ended[j] <= since;
	if (n)
		json_object_set_new(group, "taken",
		    json_sprintf("%s built in earlier groups", human_count(n, text)));
}

/* What only its jobs can tell: how those stand that have not ended, and how long they will take. */
static int add_live(struct cli *c, json_t *group)
{
	AUTO(live_release) struct live l = {0};
	AUTO(forecast_release) struct forecast f = {0};
	AUTO(buf_release) struct buf eta = {0}, states = {0};
	int r = group_get_live(c, js(group, "id"), &l);
	char text[TIME_TEXT_MAX];

	if (r < 0)
		return r;
	for (int s = 0; s <= JOB_GONE; s++)
		if (l.counts[s])
			buf_printf(&states, "%s%s %s", states.n ? ", " : "",
			    human_count(l.counts[s], text), job_state_word(s));
	if (states.n)
		json_object_set_new(group, "states", json_string(states.p));
	add_taken(group, &l);
	if (live_ended(&l) == l.n)
		return 0;
	forecast_make(&l, clock_wall_ms(), &f);
	forecast_words(&f, &eta);
	buf_printf(&eta, "; the critical path has %u job%s", f.n_path, f.n_path == 1 ? "" : "s");
	json_object_set_new(group, "eta", json_string(eta.p));
	return 0;
}

static bool runs(const char *state)
{
	return !strcmp(state, job_state_word(JOB_DISPATCHED)) ||
	       !strcmp(state, job_state_word(JOB_CANCEL_PENDING));
}

int group_waits_for(struct cli *c, const json_t *group, struct buf *words)
{
	AUTO(json_drop) json_t *why = NULL;
	const json_t *job;
	int r = noun_call(c, "GET", &group_noun, js(group, "id"), "why", NULL, &why);

	if (r < 0)
		return r;
	if (group_state_of(js(group, "state")) == GROUP_QUEUED) {
		buf_add_cstr(words, js(why, "summary"));
		return 0;
	}
	job = json_array_get(json_object_get(why, "jobs"), 0);
	if (!job || runs(js(job, "state")))
		return 0;
	buf_printf(words, "%s: %s", js(job, "job"), js(job, "summary"));
	return 0;
}

static int add_waits(struct cli *c, json_t *group)
{
	AUTO(buf_release) struct buf words = {0};
	int r = group_waits_for(c, group, &words);

	if (r == 0 && words.n)
		json_object_set_new(group, "waits", json_string(words.p));
	return r;
}

static int add_left_out(struct cli *c, json_t *group)
{
	AUTO(json_drop) json_t *left = NULL;
	int r = left_out_get(c, js(group, "id"), &left);

	if (r == 0 && ji(left, "n_left_out", 0))
		json_object_update(group, left);
	return r;
}

static int show_one(struct cli *c, const struct noun *n, const char *name)
{
	AUTO(json_drop) json_t *group = NULL;
	int r = noun_get(c, n, name, &group);

	if (r == 0)
		r = add_left_out(c, group);
	if (r == 0 && wants_machine(c)) {
		print_json(c, group);
		return EXIT_OK;
	}
	if (r == 0)
		r = add_live(c, group);
	if (r == 0 && !jhas(group, "ended"))
		r = add_waits(c, group);
	if (r < 0)
		return r;
	if (name != c->options.args[0])
		say(stdout, "%s", "");
	facts_show(c, facts, N_OF(facts), group);
	left_out_tell(c, group, stdout);
	r = group_show_failures(c, group);
	if (r == 0 && !jhas(group, "ended"))
		r = show_jobs(c, group, "dispatched,cancel-pending");
	return r < 0 ? r : EXIT_OK;
}

static int draw(struct cli *c)
{
	return noun_each(c, show_one);
}

int cmd_group_show(struct cli *c)
{
	return watch_loop(c, draw);
}

char *group_of_task(const struct cli *c, const json_t *task)
{
	if (!jhas(task, "group_id"))
		return NULL;
	return xasprintf("%s, its job %s",
	    jhas(task, "group") ? js(task, "group") : "one that was deleted", js(task, "job"));
}
