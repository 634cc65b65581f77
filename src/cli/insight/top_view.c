/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How top is drawn: the status above, below it queues, services if there are any, workers and
 * tasks. Each of them is always there, however long the others are; the one in front gets the room
 * that is left.
 */
#include <string.h>

#include "base/mem.h"
#include "base/world/clock.h"
#include "cli/insight/status.h"
#include "cli/insight/top.h"
#include "cli/nouns/noun.h"

#define PANEL_LINES_MIN 2 /* a title and a row */
#define TREND_WIDTH 12
#define TREND_WIDTH_NARROW 6
#define NARROW 120 /* columns of a terminal: fewer leave no room for a long trend */

/* Columns ask for the words of one object only; the figures of the last looks are not in it. */
static const struct top_data *drawn;
static size_t trend_width;

static char *for_words(const struct cli *c, const json_t *task)
{
	int64_t began = jtime(task, "started"), now = clock_wall_ms();
	char text[TIME_TEXT_MAX];

	return began ? xstrdup(time_human_ms(now > began ? now - began : 0, text)) : NULL;
}

/* As wide from the first look on: what grows would push other columns about. */
static char *trend_words(const struct cli *c, const json_t *queue)
{
	const struct trend *s = drawn ? top_data_depth(drawn, js(queue, "name")) : NULL;
	struct buf line = {0};

	for (size_t i = s ? s->n : 0; i < trend_width; i++)
		buf_add_char(&line, ' ');
	if (s)
		trend_line(s, trend_width, c->term.utf8, &line);
	return buf_take(&line);
}

static char *running_words(const struct cli *c, const json_t *queue)
{
	char text[TIME_TEXT_MAX];

	return xstrdup(human_count(top_running(queue), text));
}

static char *queue_state(const struct cli *c, const json_t *queue)
{
	return xstrdup(jb(queue, "paused") ? "paused" : "active");
}

static const struct heading queue_columns[] = {
    {"QUEUES", HEADING_STRETCH, {SHOWN_TEXT, "name"}},
    {"STATE", HEADING_STATE, {.words = queue_state}},
    {"THREADS", HEADING_RIGHT, {SHOWN_NUMBER, "threads"}},
    {"RUNNING", HEADING_RIGHT, {.words = running_words}},
    {"QUEUED", HEADING_RIGHT, {SHOWN_COUNT, "counts.queued"}},
    {"TREND", 0, {.words = trend_words}},
    {"OLDEST", HEADING_RIGHT, {SHOWN_COARSE, "oldest_ms"}},
    {"WORKERS", HEADING_RIGHT, {SHOWN_NUMBER, "workers", "0"}},
};

static const struct heading task_columns[] = {
    {"TASKS", 0, {SHOWN_TEXT, "id"}},
    {"QUEUE", HEADING_STRETCH, {SHOWN_TEXT, "queue"}},
    {"STATE", HEADING_STATE, {SHOWN_TEXT, "state"}},
    {"FOR", HEADING_RIGHT, {.words = for_words}},
    {"WORKER", HEADING_STRETCH, {SHOWN_TEXT, "worker"}},
    {"COMMAND", HEADING_STRETCH, {SHOWN_COMMAND, "command"}},
};

static char *deploy_words(const struct cli *c, const json_t *service)
{
	const json_t *deploy = json_object_get(service, "deploy");

	return xstrdup(jb(service, "deleting") ? "deleting" : js(deploy, "state"));
}

static char *trouble_words(const struct cli *c, const json_t *service)
{
	const char *place = js(service, "place_error");

	return xstrdup(*place ? place : js(service, "crash_reason"));
}

static const struct heading service_columns[] = {
    {"SERVICES", HEADING_STRETCH, {SHOWN_TEXT, "name"}},
    {"WANTED", HEADING_RIGHT, {SHOWN_COUNT, "instances"}},
    {"RUNNING", HEADING_RIGHT, {SHOWN_COUNT, "counts.running"}},
    {"READY", HEADING_RIGHT, {SHOWN_COUNT, "counts.ready"}},
    {"CRASHED", HEADING_RIGHT, {SHOWN_COUNT, "counts.crashed"}},
    {"DEPLOY", 0, {.words = deploy_words}},
    {"TROUBLE", HEADING_STRETCH, {.words = trouble_words}},
};

static const struct {
	const char *title, *none;
} titles[N_PANELS] = {
    [PANEL_QUEUES] = {"QUEUES", "no queue yet"},
    [PANEL_SERVICES] = {"SERVICES", "no service"},
    [PANEL_WORKERS] = {"WORKERS", "no worker"},
    [PANEL_TASKS] = {"TASKS", "nothing runs"},
};

static void columns_of(enum top_panel p, const struct heading **ret_columns, size_t *ret_n)
{
	const struct panel_columns {
		const struct heading *columns;
		size_t n;
	} of[N_PANELS] = {
	    [PANEL_QUEUES] = {queue_columns, N_OF(queue_columns)},
	    [PANEL_SERVICES] = {service_columns, N_OF(service_columns)},
	    [PANEL_WORKERS] = {worker_list.columns, worker_list.n_columns},
	    [PANEL_TASKS] = {task_columns, N_OF(task_columns)},
	};

	*ret_columns = of[p].columns;
	*ret_n = of[p].n;
}

/* "> QUEUES 1-8 of 500, by busy": where one is stands in the title of the first column. */
static void add_title(struct buf *title, const struct top_view *v, enum top_panel p, size_t shown,
    size_t n, bool more, bool alone)
{
	if (alone) {
		buf_add_cstr(title, titles[p].title);
		return;
	}
	buf_printf(title, "%s%s ", v->focus == p ? "> " : "", titles[p].title);
	if (shown < n)
		buf_printf(title, "%zu-%zu of ", v->first[p] + 1, v->first[p] + shown);
	buf_printf(title, "%zu%s", n, more ? "+" : "");
	if (v->focus == p)
		buf_printf(title, ", by %s", top_sort_name(p, v->sort[p]));
}

/* `lines` 0: all rows. */
static void add_panel(struct top_data *d, struct top_view *v, enum top_panel p, json_t *rows,
    int width, size_t lines, struct buf *out)
{
	size_t n = json_array_size(rows), page = lines ? lines - 1 : n, n_columns;
	struct heading columns[COLUMNS_MOST];
	AUTO(buf_release) struct buf title = {0};
	const struct heading *from;
	struct table t;

	v->page[p] = page;
	if (v->first[p] + page > n)
		v->first[p] = n > page ? n - page : 0;
	columns_of(p, &from, &n_columns);
	memcpy(columns, from, n_columns * sizeof *columns);
	add_title(&title, v, p, n < page ? n : page, n, jhas(d->lists[p], "next"), !lines);
	columns[0].title = title.p;
	table_init(&t, columns, n_columns);
	for (size_t i = 0; i < page && v->first[p] + i < n; i++) {
		AUTO(json_drop)
		json_t *one = json_pack("[O]", json_array_get(rows, v->first[p] + i));

		table_fill(&t, d->c, one);
	}
	table_render(&t, &d->c->term, width, d->c->format == FORMAT_WIDE, out);
	table_release(&t);
	if (n == 0 && (page > 0 || !lines))
		buf_printf(out, "%s\n", *v->filter ? "none fits the filter" : titles[p].none);
}

/* The status, with the trend of what ended behind the line of rates. */
static void add_head(struct top_data *d, int width, struct buf *out)
{
	AUTO(buf_release) struct buf status = {0};
	struct str text, line;

	status_render(d->c, d->status, &status);
	text = buf_str(&status);
	while (text.n && str_next(&text, '\n', &line)) {
		size_t used = text_width(line) + 2;

		buf_add_str(out, line);
		if (str_starts(line, "rates ") && d->ended.n > 1 && used < (size_t)width) {
			buf_add_cstr(out, "  ");
			trend_line(&d->ended, (size_t)width - used, d->c->term.utf8, out);
		}
		buf_add_char(out, '\n');
	}
}

static size_t count_lines(struct str text)
{
	struct str line;
	size_t n = 0;

	while (text.n && str_next(&text, '\n', &line))
		n++;
	return n;
}

/* The first lines, or as many empty ones as are missing. */
static void add_lines(struct str text, size_t lines, bool fill, struct buf *out)
{
	struct str line;

	for (; lines > 0 && text.n && str_next(&text, '\n', &line); lines--)
		buf_printf(out, STR_FMT "\n", STR_ARG(line));
	for (; fill && lines > 0; lines--)
		buf_add_char(out, '\n');
}

/* The one in front takes two lines for each of the others, until nobody wants more. */
static void share_out(const size_t *wanted, size_t room, enum top_panel focus, size_t *lines)
{
	size_t shown = 0;
	bool any = true;

	for (size_t i = 0; i < N_PANELS; i++) {
		lines[i] = 0;
		shown += wanted[i] > 0;
	}
	if (room < shown * PANEL_LINES_MIN) { /* too small for all: the one in front */
		lines[focus] = room;
		return;
	}
	while (room > 0 && any) {
		any = false;
		for (size_t k = 0; k <= N_PANELS && room > 0; k++) {
			size_t i = k == N_PANELS ? focus : k;

			if (lines[i] >= wanted[i])
				continue;
			lines[i]++;
			room--;
			any = true;
		}
	}
	lines[focus] += room;
}

static void render_all(struct top_data *d, struct top_view *v, int width, struct buf *out)
{
	status_render(d->c, d->status, out);
	for (int p = 0; p < N_PANELS; p++) {
		AUTO(json_drop) json_t *rows = top_rows(d->lists[p], p, v);

		if (!top_data_has(d, p))
			continue;
		buf_add_char(out, '\n');
		add_panel(d, v, p, rows, width, 0, out);
	}
}

static void render_panels(
    struct top_data *d, struct top_view *v, int width, size_t room, struct buf *out)
{
	size_t wanted[N_PANELS], lines[N_PANELS];
	json_t *rows[N_PANELS];

	for (int p = 0; p < N_PANELS; p++) {
		size_t n;

		rows[p] = top_rows(d->lists[p], p, v);
		n = json_array_size(rows[p]);
		wanted[p] = !top_data_has(d, p) ? 0 : 1 + (n ? n : 1);
	}
	share_out(wanted, room, v->focus, lines);
	for (int p = 0; p < N_PANELS; p++) {
		AUTO(buf_release) struct buf text = {0};

		if (lines[p] > 0)
			add_panel(d, v, p, rows[p], width, lines[p], &text);
		add_lines(buf_str(&text), lines[p], true, out);
		json_decref(rows[p]);
	}
}

void top_render(struct top_data *d, struct top_view *v, int width, size_t height, struct buf *out)
{
	AUTO(buf_release) struct buf head = {0};
	size_t n_head, most = height / 3;

	drawn = d;
	if (!top_data_has(d, v->focus)) /* any more */
		v->focus = PANEL_QUEUES;
	trend_width = width < NARROW ? TREND_WIDTH_NARROW : TREND_WIDTH;
	if (!d->status)
		buf_add_cstr(out, "asking the server …\n");
	else if (height == 0)
		render_all(d, v, width, out);
	if (!d->status || height == 0)
		return;
	add_head(d, width, &head);
	n_head = count_lines(buf_str(&head));
	n_head = n_head > most ? most : n_head;
	if (height < 10) /* what is in front is worth more */
		n_head = height > 5 ? 1 : 0;
	add_lines(buf_str(&head), n_head, false, out);
	render_panels(d, v, width, height - n_head, out);
}

void top_render_keys(const struct top_data *d, const struct top_view *v, int width, struct buf *out)
{
	AUTO(buf_release) struct buf line = {0};
	bool dim = d->c->term.out_colour && !v->is_typing && !d->away_since_ms;
	char ago[TIME_TEXT_MAX];

	if (v->is_typing)
		buf_printf(&line, "filter: %s_  (Enter keeps it, Esc clears it)", v->filter);
	else if (d->away_since_ms)
		buf_printf(&line, "%s the server is away since %s: %s; trying again, q leaves",
		    state_glyph("warn", d->c->term.utf8),
		    time_human_ms(clock_mono_ms() - d->away_since_ms, ago), d->c->problem.what);
	else
		buf_printf(&line,
		    "%s%s%s%sq quit  Tab next list  %s scroll  s sort  / filter  p pause",
		    v->is_paused ? "PAUSED  " : "", *v->filter ? "[/" : "", v->filter,
		    *v->filter ? "]  " : "", d->c->term.utf8 ? "↑↓ PgUp PgDn" : "arrows PgUp PgDn");
	buf_add_cstr(out, term_on(dim, COLOUR_DIM));
	text_add_cut(out, buf_str(&line), width > 1 ? (size_t)width - 1 : 1, d->c->term.utf8);
	buf_add_cstr(out, term_off(dim));
}
