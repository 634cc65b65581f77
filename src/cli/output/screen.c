/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Drawing in place. Nothing is erased before it is drawn over, so nothing flickers; and nothing
 * scrolls, since many terminals keep what scrolled away or was erased as a whole.
 */
#include "cli/output/screen.h"

#include <stdio.h>
#include <stdlib.h>
#include <termios.h>
#include <unistd.h>

#include "cli/frame/interrupt.h"
#include "cli/output/term.h"

#define HEIGHT_USUAL 24

static size_t lines_that_fit(void)
{
	int height = term_height(STDOUT_FILENO, HEIGHT_USUAL);

	return height > 1 ? (size_t)height - 1 : 1;
}

void screen_enter(void)
{
	fputs("\033[?1049h\033[?25l\033[?7l\033[2J", stdout);
}

void screen_leave(void)
{
	fputs("\033[?7h\033[?25h\033[?1049l", stdout);
	fflush(stdout);
}

static struct termios saved;
static bool is_raw;

void screen_give_back(void)
{
	if (!is_raw)
		return;
	is_raw = false;
	screen_leave();
	tcsetattr(STDIN_FILENO, TCSANOW, &saved);
}

bool screen_take(void)
{
	struct termios raw;

	if (tcgetattr(STDIN_FILENO, &saved) < 0)
		return false;
	interrupt_catch();
	raw = saved;
	raw.c_lflag &= (tcflag_t) ~(ICANON | ECHO);
	raw.c_cc[VSUSP] = raw.c_cc[VQUIT] = _POSIX_VDISABLE; /* would leave it as it is here */
	is_raw = true;
	atexit(screen_give_back);
	tcsetattr(STDIN_FILENO, TCSANOW, &raw);
	screen_enter();
	return true;
}

void screen_paint(struct str text, const char *last)
{
	size_t room = lines_that_fit();
	struct str line;

	fputs("\033[H", stdout);
	for (size_t row = 0; row < room && text.n && str_next(&text, '\n', &line); row++)
		printf(STR_FMT "\033[K\n", STR_ARG(line));
	printf("\033[J%s", last);
	fflush(stdout);
}

size_t screen_left_out(struct str text)
{
	size_t room = lines_that_fit(), n = 0;
	struct str line;

	while (text.n && str_next(&text, '\n', &line))
		n++;
	return n > room ? n - room : 0;
}
