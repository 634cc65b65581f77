/* SPDX-License-Identifier: Apache-2.0 */
/* top: everything at a glance, redrawn in place; one picture when there is no terminal. */
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/world/clock.h"
#include "cli/frame/cmds.h"
#include "cli/frame/interrupt.h"
#include "cli/insight/top.h"
#include "cli/nouns/noun.h"
#include "cli/output/screen.h"

#define PUMP_MS 50   /* how late a key may be heard while the server is asked */
#define SLOW_LOOKS 4 /* of the time, at most one part in so many is spent asking */
#define FIRST_WAIT_MS 2000
#define RUNNING_SHOWN 100

static json_t *services(const struct top_data *d)
{
	json_t *items = json_object_get(d->lists[PANEL_SERVICES], "items");

	return items ? json_incref(items) : json_array();
}

static int once(struct cli *c)
{
	struct top_data d = {.c = c};
	struct top_view v = {0};
	AUTO(buf_release) struct buf out = {0};
	AUTO(json_drop) json_t *all = NULL;
	int r = cli_get(c, "/v1/status", &d.status);

	if (r == 0)
		r = cli_get_list(c, queue_noun.path, 1000, &d.lists[PANEL_QUEUES]);
	if (r == 0 && top_data_has(&d, PANEL_SERVICES))
		r = cli_get_list(c, service_noun.path, 20000, &d.lists[PANEL_SERVICES]);
	if (r == 0)
		r = cli_get_list(c, worker_noun.path, 1000, &d.lists[PANEL_WORKERS]);
	if (r == 0)
		r = cli_get_list(c, "/v1/tasks?state=running,claimed&full=true", RUNNING_SHOWN,
		    &d.lists[PANEL_TASKS]);
	if (r == 0 && wants_machine(c)) {
		all = json_pack("{s:O,s:O,s:o,s:O,s:O}", "status", d.status, "queues",
		    json_object_get(d.lists[PANEL_QUEUES], "items"), "services", services(&d),
		    "workers", json_object_get(d.lists[PANEL_WORKERS], "items"), "running",
		    json_object_get(d.lists[PANEL_TASKS], "items"));
		print_json(c, all);
	} else if (r == 0) {
		top_render(&d, &v, c->term.out_tty ? term_width(STDOUT_FILENO, 80) : 0, 0, &out);
		fwrite(out.p, 1, out.n, stdout);
	}
	top_data_release(&d);
	return r;
}

struct top {
	struct cli *c;
	struct top_data data;
	struct top_view view;
	int64_t every_ms, next_ms;
	int width, height; /* of the last drawing */
	bool is_over;
};

static void draw(struct top *t)
{
	AUTO(buf_release) struct buf out = {0}, last = {0};

	t->width = term_width(STDOUT_FILENO, 80);
	t->height = term_height(STDOUT_FILENO, 24);
	top_render(&t->data, &t->view, t->width, t->height > 2 ? (size_t)t->height - 1 : 1, &out);
	top_render_keys(&t->data, &t->view, t->width, &last);
	screen_paint(buf_str(&out), last.p ? last.p : "");
	t->is_over |= ferror(stdout) != 0;
}

static void scroll(struct top_view *v, int64_t rows)
{
	int64_t at = (int64_t)v->first[v->focus] + rows;

	v->first[v->focus] = at > 0 ? (size_t)at : 0; /* too far is set right when it is drawn */
}

static void type(struct top_view *v, char key)
{
	size_t n = strlen(v->filter);

	if (key == '\r' || key == '\n') {
		v->is_typing = false;
	} else if ((key == 127 || key == 8) && n > 0) {
		v->filter[n - 1] = 0;
	} else if (key >= ' ' && key < 127 && n + 1 < FILTER_MAX) {
		v->filter[n] = key;
		v->filter[n + 1] = 0;
	}
	memset(v->first, 0, sizeof v->first);
}

/* Only panels that are there count. */
static void focus_on(struct top *t, int which)
{
	for (int p = 0; p < N_PANELS; p++)
		if (top_data_has(&t->data, p) && which-- == 0)
			t->view.focus = (enum top_panel)p;
}

static void focus_next(struct top *t)
{
	do
		t->view.focus = (t->view.focus + 1) % N_PANELS;
	while (!top_data_has(&t->data, t->view.focus));
}

static void press(struct top *t, char key)
{
	struct top_view *v = &t->view;

	switch (key) {
	case 'q':
	case 'Q':
	case 3: t->is_over = true; break;
	case '\t': focus_next(t); break;
	case '1':
	case '2':
	case '3':
	case '4': focus_on(t, key - '1'); break;
	case 'j': scroll(v, 1); break;
	case 'k': scroll(v, -1); break;
	case ' ': scroll(v, (int64_t)v->page[v->focus]); break;
	case 'g': v->first[v->focus] = 0; break;
	case 'G': scroll(v, INT32_MAX); break;
	case 's': v->sort[v->focus] = (v->sort[v->focus] + 1) % top_sorts(v->focus); break;
	case '/': v->is_typing = true; break;
	case 'p': v->is_paused = !v->is_paused; break;
	default: break;
	}
}

static const struct {
	const char *bytes;
	char key; /* the key that does the same; 0: below */
	int pages;
} sequences[] = {{"[A", 'k', 0}, {"[B", 'j', 0}, {"OA", 'k', 0}, {"OB", 'j', 0}, {"[5~", 0, -1},
    {"[6~", 0, 1}, {"[H", 'g', 0}, {"[F", 'G', 0}, {"[1~", 'g', 0}, {"[4~", 'G', 0},
    {"[C", '\t', 0}};

/* What follows an Esc; returns how many bytes that were. */
static size_t press_sequence(struct top *t, struct str rest)
{
	struct top_view *v = &t->view;

	for (size_t i = 0; i < N_OF(sequences); i++) {
		if (!str_starts(rest, sequences[i].bytes))
			continue;
		if (sequences[i].key)
			press(t, sequences[i].key);
		else
			scroll(v, sequences[i].pages * (int64_t)v->page[v->focus]);
		return strlen(sequences[i].bytes);
	}
	if (rest.n == 0) {
		v->is_typing = false;
		v->filter[0] = 0;
	}
	return rest.n;
}

/* False: the terminal is gone. */
static bool read_keys(struct top *t)
{
	char bytes[64];
	ssize_t n = read(STDIN_FILENO, bytes, sizeof bytes);

	if (n <= 0)
		return false;
	for (size_t i = 0; i < (size_t)n && !t->is_over; i++) {
		if (bytes[i] == 27)
			i += press_sequence(t, (struct str){bytes + i + 1, (size_t)n - i - 1});
		else if (t->view.is_typing)
			type(&t->view, bytes[i]);
		else
			press(t, bytes[i]);
	}
	return true;
}

/* Waits for a key, a signal, an answer, or the time of the next look. */
static void wait_for_something(struct top *t)
{
	bool busy = top_data_is_busy(&t->data);
	int64_t ms = busy ? 0 : t->next_ms - clock_mono_ms();
	struct pollfd fds[] = {
	    {.fd = interrupt_fd(), .events = POLLIN}, {.fd = STDIN_FILENO, .events = POLLIN}};

	if (busy)
		client_pump(t->c->client, PUMP_MS);
	poll(fds, 2, ms < 0 ? 0 : (int)(ms > 1000 ? 1000 : ms));
	interrupt_drain();
	if (fds[1].revents && !read_keys(t))
		t->is_over = true;
	if (fds[1].revents || t->width != term_width(STDOUT_FILENO, 80) ||
	    t->height != term_height(STDOUT_FILENO, 24))
		draw(t);
}

static void look(struct top *t)
{
	int64_t now = clock_mono_ms(), rest;

	if (!top_data_is_busy(&t->data)) {
		if (now >= t->next_ms && !t->view.is_paused)
			top_data_begin(&t->data);
		else if (now >= t->next_ms)
			t->next_ms = now + t->every_ms;
		return;
	}
	if (!top_data_step(&t->data))
		return;
	rest = t->data.took_ms * SLOW_LOOKS;
	t->next_ms = clock_mono_ms() + (rest > t->every_ms ? rest : t->every_ms);
	draw(t);
}

/* A server that was never there is not waited for, and a wrong token stays wrong. */
static bool is_hopeless(const struct top_data *d)
{
	return !d->status &&
	       (d->is_final ||
	           (d->away_since_ms && clock_mono_ms() - d->away_since_ms > FIRST_WAIT_MS));
}

static int full_screen(struct cli *c, int64_t every_ms)
{
	struct top t = {.c = c, .data = {.c = c}, .every_ms = every_ms};
	int r = EXIT_OK;

	if (!cli_client(c))
		return c->problem.code;
	if (!screen_take())
		return once(c);
	draw(&t);
	while (!t.is_over && interrupt_count() == 0) {
		look(&t);
		if (is_hopeless(&t.data)) {
			r = c->problem.code;
			break;
		}
		wait_for_something(&t);
	}
	screen_give_back();
	top_data_release(&t.data);
	return r;
}

int cmd_top(struct cli *c)
{
	const char *given = options_get(&c->options, "watch");
	int64_t every_ms = 1000;

	if (given && *given &&
	    (!str_to_duration_ms(str_of(given), &every_ms) || every_ms < 100 ||
	        every_ms > 86400000))
		return problem_set(&c->problem, ERR_INVALID,
		    "--watch=%.32s is not a time between 0.1 seconds and a day", given);
	if (!c->term.out_tty || !c->term.in_tty || wants_machine(c))
		return once(c);
	return full_screen(c, every_ms);
}
