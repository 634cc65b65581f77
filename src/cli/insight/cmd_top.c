/* SPDX-License-Identifier: Apache-2.0 */
/* top: everything at a glance, redrawn in place; one picture when there is no terminal. */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "cli/frame/cmds.h"
#include "cli/frame/interrupt.h"
#include "cli/insight/status.h"
#include "cli/nouns/noun.h"
#include "cli/output/screen.h"

#define RUNNING_SHOWN 100

struct picture {
	json_t *status, *queues, *workers, *running;
};

static void picture_release(struct picture *p)
{
	json_decref(p->status);
	json_decref(p->queues);
	json_decref(p->workers);
	json_decref(p->running);
}

static int take_picture(struct cli *c, struct picture *ret)
{
	int r = cli_get(c, "/v1/status", &ret->status);

	if (r == 0)
		r = cli_get_list(c, queue_noun.path, 100, &ret->queues);
	if (r == 0)
		r = cli_get_list(c, worker_noun.path, 100, &ret->workers);
	if (r == 0)
		r = cli_get_list(
		    c, "/v1/tasks?state=running,claimed&full=true", RUNNING_SHOWN, &ret->running);
	return r;
}

static char *for_words(const struct cli *c, const json_t *task)
{
	int64_t began = jtime(task, "started"), now = clock_wall_ms();
	char text[TIME_TEXT_MAX];

	return began ? xstrdup(time_human_ms(now > began ? now - began : 0, text)) : NULL;
}

static const struct column running_columns[] = {
    {"TASK", 0, {SHOWN_TEXT, "id"}},
    {"QUEUE", COLUMN_STRETCH, {SHOWN_TEXT, "queue"}},
    {"STATE", COLUMN_STATE, {SHOWN_TEXT, "state"}},
    {"FOR", COLUMN_RIGHT, {.words = for_words}},
    {"WORKER", COLUMN_STRETCH, {SHOWN_TEXT, "worker"}},
    {"COMMAND", COLUMN_STRETCH, {SHOWN_COMMAND, "command"}},
};

static void render_list(const struct cli *c, const struct column *columns, size_t n,
    const json_t *list, int width, struct buf *out)
{
	struct table t;

	table_init(&t, columns, n);
	table_fill(&t, c, json_object_get(list, "items"));
	table_render(&t, &c->term, width, c->format == FORMAT_WIDE, out);
	table_release(&t);
}

static void render(struct cli *c, const struct picture *p, int width, struct buf *out)
{
	status_render(c, p->status, out);
	buf_add_char(out, '\n');
	render_list(c, queue_list.columns, queue_list.n_columns, p->queues, width, out);
	buf_add_char(out, '\n');
	render_list(c, worker_list.columns, worker_list.n_columns, p->workers, width, out);
	buf_add_char(out, '\n');
	if (json_array_size(json_object_get(p->running, "items")) == 0)
		buf_add_cstr(out, "nothing runs\n");
	else
		render_list(c, running_columns, N_OF(running_columns), p->running, width, out);
}

static int once(struct cli *c)
{
	AUTO(picture_release) struct picture p = {0};
	AUTO(buf_release) struct buf out = {0};
	AUTO(json_drop) json_t *all = NULL;
	int r = take_picture(c, &p);

	if (r < 0)
		return r;
	if (wants_machine(c)) {
		all = json_pack("{s:O,s:O,s:O,s:O}", "status", p.status, "queues",
		    json_object_get(p.queues, "items"), "workers",
		    json_object_get(p.workers, "items"), "running",
		    json_object_get(p.running, "items"));
		print_json(c, all);
		return EXIT_OK;
	}
	render(c, &p, c->term.out_tty ? term_width(STDOUT_FILENO, 80) : 0, &out);
	fwrite(out.p, 1, out.n, stdout);
	return EXIT_OK;
}

/* True when it is time to leave. */
static bool rest(int64_t ms)
{
	struct pollfd fds[] = {
	    {.fd = interrupt_fd(), .events = POLLIN}, {.fd = STDIN_FILENO, .events = POLLIN}};
	char key = 0;

	poll(fds, 2, (int)ms);
	interrupt_drain();
	if (fds[1].revents & (POLLIN | POLLHUP) && read(STDIN_FILENO, &key, 1) <= 0)
		return true;
	return interrupt_count() > 0 || key == 'q' || key == 'Q' || key == 3;
}

static int redraw(struct cli *c)
{
	AUTO(picture_release) struct picture p = {0};
	AUTO(buf_release) struct buf out = {0}, last = {0};
	int r = take_picture(c, &p);

	if (r < 0)
		return r;
	render(c, &p, term_width(STDOUT_FILENO, 80), &out);
	buf_printf(&last, "%sq leaves%s", term_on(c->term.out_colour, COLOUR_DIM),
	    term_off(c->term.out_colour));
	screen_paint(buf_str(&out), last.p);
	return 0;
}

static int full_screen(struct cli *c, int64_t every_ms)
{
	struct termios saved, raw;
	int r;

	if (tcgetattr(STDIN_FILENO, &saved) < 0)
		return once(c);
	interrupt_catch();
	raw = saved;
	raw.c_lflag &= (tcflag_t) ~(ICANON | ECHO);
	tcsetattr(STDIN_FILENO, TCSANOW, &raw);
	screen_enter();
	do
		r = redraw(c);
	while (r == 0 && !rest(every_ms));
	screen_leave();
	tcsetattr(STDIN_FILENO, TCSANOW, &saved);
	return interrupt_count() > 0 ? EXIT_OK : r;
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
