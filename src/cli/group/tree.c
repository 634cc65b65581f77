/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A running group on a terminal. Each job stands below the one that it waits for longest. Where not
 * all of them fit, those are left out first about which nothing is to be done: built ones, and the
 * least important of those that wait.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "cli/group/live.h"
#include "cli/output/output.h"
#include "cli/tasks/work.h"

#define BAR_CELLS 24
#define BAR_ROOM_MIN 8
#define STEP 3       /* columns that a level is indented by */
#define NAME_ROOM 24 /* columns that the indent leaves */
#define N_INTERESTS 7

struct tree {
	const struct live *l;
	const struct forecast *f;
	const struct term *t;
	int64_t now_ms;
	int width;
	uint8_t *shown;  /* by job */
	uint32_t *above; /* by job: its nearest ancestor that is shown; NO_JOB: none */
	uint32_t *child, *last, *sibling; /* by job that is shown */
	uint32_t first_root, last_root;
};

static void tree_release(struct tree *x)
{
	free(x->shown);
	free(x->above);
	free(x->child);
	free(x->last);
	free(x->sibling);
}

/* 0 is shown first. */
static int interest(const struct tree *x, uint32_t job)
{
	switch (x->l->states[job]) {
	case JOB_FAILED:
	case JOB_LOST: return 0;
	case JOB_DISPATCHED:
	case JOB_CANCEL_PENDING: return 1;
	case JOB_ELIGIBLE: return x->f->critical[job] ? 1 : 2;
	case JOB_BUILT:
	case JOB_GONE: return 6;
	case JOB_DEPENDENCY_FAILED:
	case JOB_CANCEL_COMPLETE: return 5;
	default: return x->f->critical[job] ? 3 : 4;
	}
}

/* Failures must not push out all that runs: they get half of the room at most, at first. */
static void choose(struct tree *x, size_t room)
{
	size_t left = room;

	x->shown = xcalloc((size_t)x->l->n + 1, 1);
	for (int round = 0; round < 2 && left; round++)
		for (int i = 0; i < N_INTERESTS && left; i++) {
			size_t most = round == 0 && i == 0 ? (room + 1) / 2 : left;

			for (uint32_t j = 0; j < x->l->n && left && most; j++)
				if (!x->shown[j] && interest(x, j) == i) {
					x->shown[j] = 1;
					left--;
					most--;
				}
		}
}

static void hang(struct tree *x, uint32_t job)
{
	uint32_t above = x->above[job];
	uint32_t *last = above == NO_JOB ? &x->last_root : &x->last[above];

	x->child[job] = x->last[job] = x->sibling[job] = NO_JOB;
	if (*last != NO_JOB)
		x->sibling[*last] = job;
	else if (above == NO_JOB)
		x->first_root = job;
	else
		x->child[above] = job;
	*last = job;
}

/* A job's number is higher than that of what it hangs below. */
static void build(struct tree *x)
{
	const struct live *l = x->l;

	x->above = xcalloc((size_t)l->n + 1, sizeof *x->above);
	x->child = xcalloc((size_t)l->n + 1, sizeof *x->child);
	x->last = xcalloc((size_t)l->n + 1, sizeof *x->last);
	x->sibling = xcalloc((size_t)l->n + 1, sizeof *x->sibling);
	x->first_root = x->last_root = NO_JOB;
	for (uint32_t j = 0; j < l->n; j++) {
		uint32_t parent = l->parent[j];

		x->above[j] = parent == NO_JOB || x->shown[parent] ? parent : x->above[parent];
		if (x->shown[j])
			hang(x, j);
	}
}

static uint32_t needs_left(const struct live *l, uint32_t job)
{
	uint32_t n = 0;

	for (uint32_t e = l->dag.first[job]; e < l->dag.first[job + 1]; e++)
		n += !job_is_ended(l->states[l->dag.needs[e]]);
	return n;
}

static void add_time(const struct tree *x, uint32_t job, struct buf *out)
{
	const struct live *l = x->l;
	int64_t from = l->started[job], to = l->ended[job] ? l->ended[job] : x->now_ms;
	char text[TIME_TEXT_MAX];

	if (l->states[job] == JOB_SCHEDULABLE && needs_left(l, job) > 1)
		buf_printf(out, "  needs %u more", needs_left(l, job));
	if (from && (l->ended[job] || job_is_on(l->states[job])))
		buf_printf(out, "  %s", time_human_ms(to > from ? to - from : 0, text));
}

/* Coloured text is as wide as it was without colour, so the line is cut before it gets any. */
static void add_job(const struct tree *x, uint32_t job, struct str indent, struct buf *out)
{
	AUTO(buf_release) struct buf words = {0};
	const char *state = job_state_word(x->l->states[job]);
	bool utf8 = x->t->utf8, critical = x->f->critical[job];
	size_t room = (size_t)(x->width > 0 ? x->width : 1), used = text_width(indent) + 2;

	buf_printf(&words, "%s  %s", live_name(x->l, job), state);
	add_time(x, job, &words);
	if (critical)
		buf_printf(&words, "  %s critical", utf8 ? "◆" : "*");
	buf_add_str(out, indent);
	buf_add_cstr(out, term_on(x->t->out_colour, state_colour(state)));
	buf_printf(out, "%s ", state_glyph(state, utf8));
	if (critical)
		buf_add_cstr(out, term_on(x->t->out_colour, COLOUR_BOLD));
	text_add_cut(out, buf_str(&words), room > used ? room - used : 1, utf8);
	buf_add_cstr(out, term_off(x->t->out_colour));
	buf_add_char(out, '\n');
}

/* The lines of the levels above; too deep ones are drawn as if they were less deep. */
static void indent_of(const struct tree *x, const uint32_t *path, size_t depth, struct buf *out)
{
	size_t most = x->width > NAME_ROOM ? (size_t)(x->width - NAME_ROOM) / STEP : 0;
	size_t from = depth > most ? depth - most : 0;
	bool utf8 = x->t->utf8;

	for (size_t i = from; i < depth; i++) {
		bool is_last = x->sibling[path[i + 1]] == NO_JOB;

		if (i + 1 == depth)
			buf_add_cstr(out, utf8      ? (is_last ? "└─ " : "├─ ")
			                  : is_last ? "`- "
			                            : "|- ");
		else
			buf_add_cstr(out, is_last ? "   " : utf8 ? "│  " : "|  ");
	}
}

static void add_tree(const struct tree *x, size_t n_shown, struct buf *out)
{
	uint32_t *path = xcalloc(n_shown + 1, sizeof *path);
	AUTO(buf_release) struct buf indent = {0};
	uint32_t job = x->first_root;
	size_t depth = 0;

	while (job != NO_JOB) {
		path[depth] = job;
		buf_reset(&indent);
		indent_of(x, path, depth, &indent);
		add_job(x, job, buf_str(&indent), out);
		if (x->child[job] != NO_JOB) {
			job = x->child[job];
			depth++;
			continue;
		}
		while (depth && x->sibling[path[depth]] == NO_JOB)
			depth--;
		job = x->sibling[path[depth]];
	}
	free(path);
}

/* "… 812 more: 500 built, 312 schedulable" */
static void add_rest(const struct tree *x, struct buf *out)
{
	uint32_t counts[N_JOB_STATES + 1] = {0}, n = 0;
	AUTO(buf_release) struct buf words = {0};
	char text[TIME_TEXT_MAX];

	for (uint32_t j = 0; j < x->l->n; j++)
		if (!x->shown[j]) {
			counts[x->l->states[j]]++;
			n++;
		}
	if (n == 0)
		return;
	buf_printf(&words, "%s %s more:", x->t->utf8 ? "…" : "...", human_count(n, text));
	for (int s = 0, some = 0; s <= JOB_GONE; s++)
		if (counts[s])
			buf_printf(&words, "%s%s %s", some++ ? ", " : " ",
			    human_count(counts[s], text), job_state_word(s));
	buf_add_cstr(out, term_on(x->t->out_colour, COLOUR_DIM));
	text_add_cut(out, buf_str(&words), (size_t)(x->width > 0 ? x->width : 1), x->t->utf8);
	buf_printf(out, "%s\n", term_off(x->t->out_colour));
}

static void add_count(struct buf *out, const char *mark, uint32_t n, const char *word)
{
	char text[TIME_TEXT_MAX];

	if (n)
		buf_printf(out, "  %s%s %s", mark, human_count(n, text), word);
}

/* "12/40 30%  3 running  25 waiting  ✗ 1 failed", with a bar before it where there is room. */
static void live_progress(const struct live *l, int width, bool utf8, struct buf *out)
{
	struct counts n = {.total = l->n, .done = live_ended(l)};
	AUTO(buf_release) struct buf words = {0};
	char done[TIME_TEXT_MAX], total[TIME_TEXT_MAX];
	int room;

	buf_printf(&words, "%s/%s %d%%", human_count(n.done, done), human_count(n.total, total),
	    n.total ? (int)(n.done * 100 / n.total) : 100);
	add_count(&words, utf8 ? "✗ " : "", l->counts[JOB_FAILED], "failed");
	add_count(&words, "", l->counts[JOB_LOST], "lost");
	add_count(&words, "", l->counts[JOB_DEPENDENCY_FAILED], "skipped");
	add_count(&words, "", l->counts[JOB_CANCEL_COMPLETE], "cancelled");
	add_count(&words, "", l->counts[JOB_GONE], "gone");
	add_count(&words, "", l->counts[JOB_DISPATCHED], "running");
	add_count(&words, "", l->counts[JOB_CANCEL_PENDING], "being cancelled");
	add_count(&words, "", l->counts[JOB_ELIGIBLE], "ready");
	add_count(&words, "", live_waiting(l), "waiting");
	room = width - (int)text_width(buf_str(&words)) - 3;
	if (room >= BAR_ROOM_MIN)
		progress_bar(&n, room < BAR_CELLS ? room : BAR_CELLS, utf8, out);
	text_add_cut(out, buf_str(&words), (size_t)(width > 0 ? width : 1), utf8);
}

static void add_title(const struct tree *x, struct buf *out)
{
	const json_t *g = x->l->group;
	AUTO(buf_release) struct buf words = {0};
	int64_t from = jtime(g, "dispatched"), to = jtime(g, "ended");
	char text[TIME_TEXT_MAX];

	buf_printf(&words, "%s group %s %s", state_glyph(js(g, "state"), x->t->utf8), js(g, "name"),
	    js(g, "state"));
	if (from)
		buf_printf(&words, "  %s", time_human_ms((to ? to : x->now_ms) - from, text));
	buf_printf(&words, "  %s  %s", js(g, "policy"), js(g, "id"));
	if (*js(g, "reason"))
		buf_printf(&words, "  %s", js(g, "reason"));
	buf_add_cstr(out, term_on(x->t->out_colour, state_colour(js(g, "state"))));
	text_add_cut(out, buf_str(&words), (size_t)(x->width > 0 ? x->width : 1), x->t->utf8);
	buf_printf(out, "%s\n", term_off(x->t->out_colour));
}

/* What is left; nothing when nothing is. */
static void add_forecast(const struct tree *x, struct buf *out)
{
	AUTO(buf_release) struct buf words = {0};

	if (live_ended(x->l) < x->l->n) {
		buf_add_cstr(&words, "ETA ");
		forecast_words(x->f, &words);
		buf_printf(&words, "  %s critical path: %u job%s", x->t->utf8 ? "◆" : "*",
		    x->f->n_path, x->f->n_path == 1 ? "" : "s");
	}
	text_add_cut(out, buf_str(&words), (size_t)(x->width > 0 ? x->width : 1), x->t->utf8);
	buf_add_char(out, '\n');
}

#define HEAD_LINES 4

/* The lines of the whole tree that are looked at. */
static void add_part(const struct tree *x, struct live_look *look, struct buf *out)
{
	AUTO(buf_release) struct buf all = {0};
	size_t n = x->l->n, row = 0;
	struct str rest, line;

	if (look->first + look->page > n)
		look->first = n > look->page ? n - look->page : 0;
	add_tree(x, n, &all);
	rest = buf_str(&all);
	for (; row < look->first + look->page && rest.n && str_next(&rest, '\n', &line); row++)
		if (row >= look->first) {
			buf_add_str(out, line);
			buf_add_char(out, '\n');
		}
	buf_printf(out, "%s %zu-%zu of %zu\n", x->t->utf8 ? "…" : "...", row ? look->first + 1 : 0,
	    row, n);
}

void live_render(const struct live *l, const struct forecast *f, const struct term *t,
    int64_t now_ms, int width, size_t height, struct live_look *look, struct buf *out)
{
	AUTO(tree_release)
	struct tree x = {.l = l, .f = f, .t = t, .now_ms = now_ms, .width = width};
	size_t room = height > HEAD_LINES ? height - HEAD_LINES : 0;

	if ((room < l->n || look->is_whole) && room > 0)
		room--; /* for what is left out */
	look->page = room;
	add_title(&x, out);
	live_progress(l, width, t->utf8, out);
	buf_add_char(out, '\n');
	add_forecast(&x, out);
	buf_add_char(out, '\n');
	choose(&x, look->is_whole ? l->n : room);
	build(&x);
	if (height <= HEAD_LINES)
		return;
	if (look->is_whole) {
		add_part(&x, look, out);
		return;
	}
	add_tree(&x, room < l->n ? room : l->n, out);
	add_rest(&x, out);
}
