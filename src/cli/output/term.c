/* SPDX-License-Identifier: Apache-2.0 */
/* Terminal facts, text widths, and the marks of states. */
#include "cli/output/term.h"

#include <langinfo.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <wchar.h>

void term_init(struct term *t, bool colour)
{
	const char *no_colour = getenv("NO_COLOR"), *kind = getenv("TERM");
	bool may = colour && !(no_colour && *no_colour) && !(kind && !strcmp(kind, "dumb"));

	t->out_tty = isatty(STDOUT_FILENO);
	t->err_tty = isatty(STDERR_FILENO);
	t->in_tty = isatty(STDIN_FILENO);
	t->out_colour = may && t->out_tty;
	t->err_colour = may && t->err_tty;
	setlocale(LC_CTYPE, "");
	t->utf8 = !strcmp(nl_langinfo(CODESET), "UTF-8");
	/* Widths are counted for UTF-8 whatever the terminal speaks: that is what replies are. */
	setlocale(LC_CTYPE, "C.UTF-8");
}

static bool window(int fd, struct winsize *ret)
{
	return ioctl(fd, TIOCGWINSZ, ret) == 0 && ret->ws_col > 0;
}

static int from_env(const char *name, int fallback)
{
	const char *text = getenv(name);
	int64_t n;

	return text && str_to_i64(str_of(text), 10, 10000, &n) ? (int)n : fallback;
}

int term_width(int fd, int fallback)
{
	struct winsize w;

	return window(fd, &w) ? w.ws_col : from_env("COLUMNS", fallback);
}

int term_height(int fd, int fallback)
{
	struct winsize w;

	return window(fd, &w) && w.ws_row > 0 ? w.ws_row : from_env("LINES", fallback);
}

const char *term_on(bool enabled, enum term_colour colour)
{
	static const char *const codes[] = {[COLOUR_NONE] = "",
	    [COLOUR_RED] = "\033[31m",
	    [COLOUR_GREEN] = "\033[32m",
	    [COLOUR_YELLOW] = "\033[33m",
	    [COLOUR_BLUE] = "\033[34m",
	    [COLOUR_CYAN] = "\033[36m",
	    [COLOUR_DIM] = "\033[2m",
	    [COLOUR_BOLD] = "\033[1m"};

	return enabled ? codes[colour] : "";
}

const char *term_off(bool enabled)
{
	return enabled ? "\033[0m" : "";
}

/*
 * Characters that are not text: C0, DEL and C1 drive the terminal; marks of direction and line
 * separators make a line look like another one.
 */
static bool is_control(wchar_t c)
{
	return c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0x061c || c == 0x200e || c == 0x200f ||
	       (c >= 0x2028 && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069) || c == 0xfeff;
}

/* The next character: its bytes and columns. Broken UTF-8 is one byte wide and one column. */
static size_t next_char(struct str s, int *ret_columns, bool *ret_clean)
{
	mbstate_t state = {0};
	wchar_t c;
	size_t n = mbrtowc(&c, s.p, s.n, &state);

	*ret_columns = 1;
	*ret_clean = false;
	if (n == 0 || n > s.n)
		return 1;
	if (is_control(c))
		return n;
	*ret_columns = wcwidth(c);
	*ret_clean = *ret_columns >= 0;
	if (*ret_columns < 0)
		*ret_columns = 1;
	return n;
}

size_t text_width(struct str s)
{
	size_t width = 0;
	int columns;
	bool clean;

	while (s.n > 0) {
		size_t n = next_char(s, &columns, &clean);

		width += (size_t)columns;
		s.p += n;
		s.n -= n;
	}
	return width;
}

static void add_until(struct buf *b, struct str s, size_t width)
{
	size_t used = 0;
	int columns;
	bool clean;

	while (s.n > 0) {
		size_t n = next_char(s, &columns, &clean);

		used += (size_t)columns;
		if (used > width)
			return;
		if (clean)
			buf_add(b, s.p, n);
		else
			buf_add_char(b, s.p[0] == '\n' || s.p[0] == '\t' ? ' ' : '?');
		s.p += n;
		s.n -= n;
	}
}

void text_add_clean(struct buf *b, struct str s)
{
	add_until(b, s, SIZE_MAX);
}

void text_add_clean_lines(struct buf *b, struct str s)
{
	for (const char *end; (end = memchr(s.p, '\n', s.n));
	     s.n -= (size_t)(end + 1 - s.p), s.p = end + 1) {
		text_add_clean(b, (struct str){s.p, (size_t)(end - s.p)});
		buf_add_char(b, '\n');
	}
	text_add_clean(b, s);
}

void text_add_cut(struct buf *b, struct str s, size_t width, bool utf8)
{
	if (text_width(s) <= width) {
		text_add_clean(b, s);
		return;
	}
	if (width == 0)
		return;
	add_until(b, s, width - 1);
	buf_add_cstr(b, utf8 ? "…" : "~");
}

static const struct mark {
	const char *state, *glyph, *ascii;
	enum term_colour colour;
} marks[] = {
    {"queued", "○", "o", COLOUR_NONE},
    {"delayed", "◷", "z", COLOUR_DIM},
    {"held", "‖", "|", COLOUR_YELLOW},
    {"blocked", "‖", "|", COLOUR_YELLOW},
    {"claimed", "◌", ":", COLOUR_BLUE},
    {"running", "▶", ">", COLOUR_BLUE},
    {"succeeded", "✓", "+", COLOUR_GREEN},
    {"finished", "◆", "*", COLOUR_CYAN},
    {"failed", "✗", "x", COLOUR_RED},
    {"terminated", "⊘", "!", COLOUR_RED},
    {"cancelled", "⊖", "-", COLOUR_DIM},
    {"orphaned", "?", "?", COLOUR_YELLOW},
    {"pending", "·", ".", COLOUR_DIM},
    {"schedulable", "◌", ":", COLOUR_DIM},
    {"eligible", "○", "o", COLOUR_NONE},
    {"dispatched", "▶", ">", COLOUR_BLUE},
    {"built", "✓", "+", COLOUR_GREEN},
    {"job-failed", "✗", "x", COLOUR_RED},
    {"dependency-failed", "⊘", "!", COLOUR_YELLOW},
    {"job-lost", "?", "?", COLOUR_YELLOW},
    {"cancel-pending", "⊖", "-", COLOUR_YELLOW},
    {"cancel-complete", "⊖", "-", COLOUR_DIM},
    {"triggered", "·", ".", COLOUR_DIM},
    {"created", "·", ".", COLOUR_DIM},
    {"dispatching", "▶", ">", COLOUR_BLUE},
    {"complete", "✓", "+", COLOUR_GREEN},
    {"failure-cleanup", "✗", "x", COLOUR_RED},
    {"canceling", "⊖", "-", COLOUR_YELLOW},
    {"canceled", "⊖", "-", COLOUR_DIM},
    {"new", "○", "o", COLOUR_NONE},
    {"healthy", "●", "+", COLOUR_GREEN},
    {"unhealthy", "◐", "?", COLOUR_YELLOW},
    {"drained", "‖", "|", COLOUR_YELLOW},
    {"must_die", "✗", "x", COLOUR_RED},
    {"lost", "✗", "x", COLOUR_RED},
    {"left", "○", "o", COLOUR_DIM},
    {"active", "●", "+", COLOUR_GREEN},
    {"paused", "‖", "|", COLOUR_YELLOW},
    {"ok", "✓", "+", COLOUR_GREEN},
    {"warn", "!", "!", COLOUR_YELLOW},
    {"fail", "✗", "x", COLOUR_RED},
    {"skip", "·", ".", COLOUR_DIM},
};

static const struct mark *mark_of(const char *state)
{
	static const struct mark none = {"", "·", ".", COLOUR_NONE};

	size_t n = strcspn(state, " ,"); /* "finished 7", "unhealthy, drained" */

	for (size_t i = 0; i < sizeof marks / sizeof marks[0]; i++)
		if (!strncmp(marks[i].state, state, n) && !marks[i].state[n])
			return &marks[i];
	return &none;
}

const char *state_glyph(const char *state, bool utf8)
{
	return utf8 ? mark_of(state)->glyph : mark_of(state)->ascii;
}

enum term_colour state_colour(const char *state)
{
	return mark_of(state)->colour;
}
