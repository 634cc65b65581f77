/* SPDX-License-Identifier: Apache-2.0 */
/* Batches for people: how far each is, as a bar and in words. */
#include "base/mem.h"
#include "base/world/clock.h"
#include "cli/nouns/noun.h"
#include "cli/tasks/work.h"

#define BAR_CELLS 20
#define SHORT_BAR_CELLS 6

static struct counts counts_of(const json_t *batch)
{
	return (struct counts){.total = ji(batch, "total", 0),
	    .done = ji(batch, "done", 0),
	    .failed = ji(batch, "failed", 0),
	    .running = ji(batch, "running", 0)};
}

static char *bar(const struct cli *c, const json_t *batch, int cells)
{
	struct counts n = counts_of(batch);
	struct buf words = {0};

	progress_bar(&n, cells, c->term.utf8, &words);
	buf_printf(&words, "%3d%%", n.total ? (int)((double)n.done / (double)n.total * 100) : 100);
	return buf_take(&words);
}

/* With it the figures that people look for fit into 80 columns. */
static char *short_bar_words(const struct cli *c, const json_t *batch)
{
	return bar(c, batch, SHORT_BAR_CELLS);
}

static char *done_words(const struct cli *c, const json_t *batch)
{
	char done[TIME_TEXT_MAX], total[TIME_TEXT_MAX];

	return xasprintf("%s/%s", human_count(ji(batch, "done", 0), done),
	    human_count(ji(batch, "total", 0), total));
}

static char *rate_words(const struct cli *c, const json_t *batch)
{
	double rate = json_number_value(json_object_get(batch, "rate"));
	char text[TIME_TEXT_MAX];

	return rate > 0 ? xstrdup(human_rate(rate, text)) : NULL;
}

static char *eta_words(const struct cli *c, const json_t *batch)
{
	char text[TIME_TEXT_MAX];

	if (!ji(batch, "live", 0))
		return xstrdup("done");
	return jhas(batch, "left_ms") ? xstrdup(human_short(ji(batch, "left_ms", 0) + 999, text))
	                              : xstrdup("?");
}

static char *age_words(const struct cli *c, const json_t *batch)
{
	char text[TIME_TEXT_MAX];

	return xstrdup(human_short(clock_wall_ms() - jtime(batch, "ctime"), text));
}

static const struct heading columns[] = {
    {"ID", 0, {SHOWN_TEXT, "id"}},
    {"NAME", HEADING_STRETCH | HEADING_NAME, {SHOWN_TEXT, "name"}},
    {"PROGRESS", 0, {.words = short_bar_words}},
    {"FAILED", HEADING_RIGHT, {SHOWN_COUNT, "failed", "0"}},
    {"RATE", HEADING_RIGHT | HEADING_SPARE, {.words = rate_words}},
    {"ETA", HEADING_RIGHT, {.words = eta_words}},
    {"DONE", HEADING_RIGHT | HEADING_SPARE, {.words = done_words}},
    {"RUNNING", HEADING_RIGHT | HEADING_SPARE, {SHOWN_COUNT, "running", "0"}},
    {"AGE", HEADING_RIGHT, {.words = age_words}},
    {"BY", HEADING_STRETCH | HEADING_WIDE, {SHOWN_TEXT, "actor"}},
};

const struct listing batch_list = {.columns = columns,
    .n_columns = N_OF(columns),
    .usual = 20,
    .most = 1000000,
    .none = "there are no batches; `reeve submit --array` makes one",
    .none_such = "there are no such batches"};

static char *tasks_words(const struct cli *c, const json_t *batch)
{
	int64_t tasks = ji(batch, "tasks", 0), gone = tasks - ji(batch, "total", 0);
	char all[TIME_TEXT_MAX], some[TIME_TEXT_MAX];

	human_count(tasks, all);
	if (gone <= 0)
		return xstrdup(all);
	return xasprintf("%s, of which %s are no longer kept", all, human_count(gone, some));
}

static char *progress_words(const struct cli *c, const json_t *batch)
{
	AUTO(free_cstr) char *drawn = bar(c, batch, BAR_CELLS);
	AUTO(free_cstr) char *done = done_words(c, batch);

	return xasprintf("%s  %s", drawn, done);
}

static char *states_words(const struct cli *c, const json_t *batch)
{
	struct buf words = {0};
	char count[TIME_TEXT_MAX];
	const char *state;
	json_t *n;

	json_object_foreach(json_object_get(batch, "states"), state, n)
	{
		buf_printf(&words, "%s%s %s", words.n ? ", " : "",
		    human_count(json_integer_value(n), count), state);
	}
	return words.n ? buf_take(&words) : NULL;
}

static char *old_words(const struct cli *c, const json_t *batch)
{
	return jb(batch, "id_is_task")
	           ? xstrdup("its id is its first task's: elsewhere name it with --batch")
	           : NULL;
}

static const struct fact facts[] = {
    {"batch", {SHOWN_TEXT, "id"}},
    {"name", {SHOWN_TEXT, "name"}},
    {"note", {.words = old_words}},
    {"by", {SHOWN_TEXT, "actor"}},
    {"submitted", {SHOWN_TIME, "ctime"}},
    {"tasks", {.words = tasks_words}},
    {"progress", {.words = progress_words}},
    {"states", {.words = states_words}},
    {"failed", {SHOWN_COUNT, "failed", "0"}},
    {"rate", {.words = rate_words}},
    {"time left", {SHOWN_COARSE, "left_ms"}},
    {"ended", {SHOWN_TIME, "ended"}},
};

const struct view batch_view = {.facts = facts, .n_facts = N_OF(facts)};
