/* SPDX-License-Identifier: Apache-2.0 */
/* The terminal: is there one, how wide, may it have colour; and how wide a text is on it. */
#ifndef CLI_TERM_H
#define CLI_TERM_H

#include "base/str.h"

enum term_colour {
	COLOUR_NONE,
	COLOUR_RED,
	COLOUR_GREEN,
	COLOUR_YELLOW,
	COLOUR_BLUE,
	COLOUR_CYAN,
	COLOUR_DIM,
	COLOUR_BOLD
};

struct term {
	bool out_tty, err_tty, in_tty;
	bool out_colour, err_colour;
	bool utf8; /* glyphs beyond ASCII may be used */
};

/* `colour`: what --[no-]color says; NO_COLOR and TERM=dumb are honoured here. */
void term_init(struct term *t, bool colour);
/* Columns of stdout's (or stderr's) terminal, $COLUMNS, or `fallback`. */
int term_width(int fd, int fallback);
int term_height(int fd, int fallback);
const char *term_on(bool enabled, enum term_colour colour);
const char *term_off(bool enabled);

/* Columns that the text takes; control characters and broken UTF-8 count as one each. */
size_t text_width(struct str s);
/* Appends with control characters made harmless ('?'), so that no output drives the terminal. */
void text_add_clean(struct buf *b, struct str s);
/* The same, line by line: newlines stay. */
void text_add_clean_lines(struct buf *b, struct str s);
/* Clean, and cut to `width` columns, the last one an ellipsis when something was cut. */
void text_add_cut(struct buf *b, struct str s, size_t width, bool utf8);

/* A glyph and a colour for a task's, queue's or worker's state: never one without the word. */
const char *state_glyph(const char *state, bool utf8);
enum term_colour state_colour(const char *state);

#endif
