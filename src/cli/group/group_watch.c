/* SPDX-License-Identifier: Apache-2.0 */
/*
 * group watch: a group until its end. On a terminal a tree that is drawn again and again, else a
 * line for each job that starts or ends.
 */
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/world/clock.h"
#include "cli/frame/interrupt.h"
#include "cli/group/group.h"
#include "cli/group/group_stream.h"
#include "cli/nouns/noun.h"
#include "cli/output/screen.h"

#define DRAW_MIN_MS 100 /* between two drawings */
#define DRAW_MAX_MS 1000
#define SLOW_DRAWS 10 /* of the time, at most one part in so many is spent drawing */

#define KEYS "q leaves, the group goes on; arrows: the whole tree"
#define WHOLE_KEYS "arrows, PgUp, PgDn, g, G; q leaves, the group goes on"

struct watch {
	struct cli *c;
	struct group_stream stream;
	bool on_screen, is_left, is_told;
	bool has_changed; /* since it was drawn */
	struct live_look look;
	int64_t drawn_ms, draw_cost_ms;
};

static void show_job(struct live *l, uint32_t job, void *arg)
{
	struct watch *w = arg;
	int s = l->states[job];
	AUTO(buf_release) struct buf state = {0};
	char at[TIME_TEXT_MAX], took[TIME_TEXT_MAX] = "";
	int64_t ms = l->ended[job] ? l->ended[job] : l->started[job];

	w->has_changed = true;
	if (w->on_screen || wants_machine(w->c) || !(job_is_on(s) || job_is_ended(s)))
		return;
	time_format_ms(ms ? ms : clock_wall_ms(), at);
	if (l->ended[job] && l->started[job])
		time_human_ms(l->ended[job] - l->started[job], took);
	add_state(&state, &w->c->term, w->c->term.out_colour, job_state_word(s));
	fprintf(stdout, "%.8s  %u/%u  %s", at + 11, live_ended(l), l->n, state.p);
	say(stdout, "  %s%s%s", live_name(l, job), *took ? "  " : "", took);
}

static void show_event(struct group_stream *s, const char *kind, json_t *data)
{
	struct watch *w = s->arg;
	AUTO(json_drop) json_t *event = NULL;

	w->has_changed = true;
	if (wants_machine(w->c)) {
		event = json_pack("{s:s,s:O}", "event", kind, "data", data);
		print_json_line(event);
	}
	fflush(stdout);
}

static void say_begin(struct group_stream *s)
{
	struct watch *w = s->arg;
	const json_t *g = s->live.group;
	char text[TIME_TEXT_MAX];

	w->has_changed = true;
	if (w->on_screen || w->is_told || wants_machine(w->c))
		return;
	w->is_told = true;
	say(stdout, "group %s (%s) %s: %s of %lld jobs have ended", js(g, "name"), js(g, "id"),
	    js(g, "state"), human_count(live_ended(&s->live), text), (long long)s->live.n);
	fflush(stdout);
}

static void draw(struct watch *w)
{
	int width = term_width(STDOUT_FILENO, 80), height = term_height(STDOUT_FILENO, 24);
	int64_t begin = clock_mono_ms(), now = clock_wall_ms();
	AUTO(buf_release) struct buf out = {0};
	AUTO(forecast_release) struct forecast f = {0};

	forecast_make(&w->stream.live, now, &f);
	live_render(&w->stream.live, &f, &w->c->term, now, width,
	    height > 2 ? (size_t)height - 1 : 1, &w->look, &out);
	screen_paint(buf_str(&out), w->look.is_whole ? WHOLE_KEYS : KEYS);
	w->drawn_ms = clock_mono_ms();
	w->draw_cost_ms = w->drawn_ms - begin;
	w->has_changed = false;
}

/* Down leads into the whole tree, and up from its first job out of it. */
static void scroll(struct watch *w, int64_t rows)
{
	struct live_look *l = &w->look;
	int64_t at = (int64_t)l->first + rows;

	if (!l->is_whole)
		at = rows == INT32_MAX ? rows : 0;
	l->is_whole = rows > 0 || (l->is_whole && l->first > 0);
	l->first = at > 0 ? (size_t)at : 0;
}

static const struct {
	const char *bytes;
	int rows, pages; /* both 0: it leaves */
} keys[] = {{"q", 0, 0}, {"Q", 0, 0}, {"\003", 0, 0}, {"j", 1, 0}, {"k", -1, 0}, {" ", 0, 1},
    {"g", INT32_MIN, 0}, {"G", INT32_MAX, 0}, {"\033[A", -1, 0}, {"\033[B", 1, 0},
    {"\033OA", -1, 0}, {"\033OB", 1, 0}, {"\033[5~", 0, -1}, {"\033[6~", 0, 1},
    {"\033[H", INT32_MIN, 0}, {"\033[F", INT32_MAX, 0}};

/* Returns how many bytes that were. */
static size_t press(struct watch *w, struct str typed)
{
	for (size_t i = 0; i < N_OF(keys); i++) {
		if (!str_starts(typed, keys[i].bytes))
			continue;
		if (!keys[i].rows && !keys[i].pages)
			w->is_left = true;
		else
			scroll(w, keys[i].rows + keys[i].pages * (int64_t)w->look.page);
		w->has_changed = true;
		w->drawn_ms = 0; /* a key is answered at once */
		return strlen(keys[i].bytes);
	}
	return 1;
}

static void read_keys(struct watch *w)
{
	struct pollfd fd = {.fd = STDIN_FILENO, .events = POLLIN};
	char bytes[64];
	ssize_t n;

	if (poll(&fd, 1, 0) <= 0)
		return;
	n = read(STDIN_FILENO, bytes, sizeof bytes);
	w->is_left |= n <= 0;
	for (size_t at = 0; n > 0 && at < (size_t)n;)
		at += press(w, (struct str){bytes + at, (size_t)n - at});
}

/* Draws when it is time, and says how long to wait for the next. */
static int64_t refresh(struct watch *w)
{
	int64_t since = clock_mono_ms() - w->drawn_ms, least = w->draw_cost_ms * SLOW_DRAWS;

	if (!w->on_screen || !w->stream.live.group)
		return DRAW_MAX_MS;
	least = least > DRAW_MIN_MS ? least : DRAW_MIN_MS;
	if (since >= (w->has_changed ? least : least > DRAW_MAX_MS ? least : DRAW_MAX_MS)) {
		draw(w);
		return least;
	}
	return w->has_changed ? least - since : DRAW_MAX_MS - since;
}

static bool goes_on(const struct watch *w)
{
	return !w->is_left && interrupt_count() == 0 && !ferror(stdout);
}

static void follow(struct watch *w)
{
	while (goes_on(w) && group_stream_step(&w->stream)) {
		client_pump(w->c->client, refresh(w));
		if (w->on_screen)
			read_keys(w);
	}
}

/* How it ended, by the server's last word: what came last on the stream may be older. */
static int end(struct watch *w)
{
	AUTO(json_drop) json_t *group = NULL;
	AUTO(buf_release) struct buf words = {0};
	int r = noun_get(w->c, &group_noun, w->stream.group, &group);

	if (r < 0)
		return r;
	if (wants_machine(w->c))
		return group_exit_code(w->c, group);
	group_outcome(group, &words);
	say(stdout, "%s %s", state_glyph(js(group, "state"), w->c->term.utf8), words.p);
	r = group_show_failures(w->c, group);
	return r < 0 ? r : group_exit_code(w->c, group);
}

static int outcome(struct watch *w)
{
	if (w->stream.is_over)
		return end(w);
	if (w->stream.result < 0 && interrupt_count() == 0)
		return w->stream.result;
	if (!ferror(stdout))
		cli_note(w->c, "reeve: the group goes on; `reeve group watch %s` comes back to it",
		    w->stream.group);
	return interrupt_count() > 0 ? 128 + interrupt_signal() : EXIT_OK;
}

int group_watch(struct cli *c, const char *group)
{
	struct watch w = {.c = c,
	    .stream = {.c = c,
	        .group = group,
	        .on_job = show_job,
	        .on_load = say_begin,
	        .on_event = show_event}};
	int r;

	if (!cli_client(c))
		return c->problem.code;
	w.stream.arg = &w;
	interrupt_catch();
	w.on_screen = c->term.out_tty && c->term.in_tty && !wants_machine(c) && screen_take();
	if (w.on_screen)
		client_watch(c->client, STDIN_FILENO);
	follow(&w);
	client_watch(c->client, -1);
	screen_give_back();
	r = outcome(&w);
	group_stream_release(&w.stream);
	return r;
}

int cmd_group_watch(struct cli *c)
{
	int r = noun_alone(c);

	return r < 0 ? r : group_watch(c, c->options.args[0]);
}
