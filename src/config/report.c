/* SPDX-License-Identifier: Apache-2.0 */
/* Problems are collected, not thrown: a person wants to see all mistakes of a file at once. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "config/internal.h"

#define QUOTE_MAX 60

static char *format(struct config *c, const char *fmt, va_list args)
{
	char text[1024];

	vsnprintf(text, sizeof text, fmt, args);
	return arena_strdup(&c->arena, text);
}

int where_line(const struct where *w)
{
	return w->paths ? paths_line(w->paths, w->path) : 0;
}

static void add(struct config *c, const struct where *w, bool is_warning, const char *what)
{
	if (!is_warning && !c->n_errors++)
		c->first_code = ERR_INVALID;
	/* one more than the limit, so that the last hint cannot land on another problem */
	if (c->n_problems > PROBLEMS_MAX)
		c->n_problems = PROBLEMS_MAX;
	GROW(c->problems, c->cap_problems, c->n_problems + 1);
	c->problems[c->n_problems++] = (struct config_problem){
	    .is_warning = is_warning,
	    .place = arena_strdup(&c->arena, w->name),
	    .line = where_line(w),
	    .what = what,
	};
}

void report(struct config *c, const struct where *w, const char *fmt, ...)
{
	va_list args;
	char *what;

	va_start(args, fmt);
	what = format(c, fmt, args);
	va_end(args);
	add(c, w, w->users && !(w->users & c->src.users), what);
}

void report_warning(struct config *c, const struct where *w, const char *fmt, ...)
{
	va_list args;
	char *what;

	va_start(args, fmt);
	what = format(c, fmt, args);
	va_end(args);
	add(c, w, true, what);
}

void report_hint(struct config *c, const char *fmt, ...)
{
	va_list args;

	MUST(c->n_problems > 0);
	va_start(args, fmt);
	c->problems[c->n_problems - 1].hint = format(c, fmt, args);
	va_end(args);
}

const char *report_quote(struct config *c, struct str s)
{
	struct buf b = {0};
	const char *kept;

	for (size_t i = 0; i < s.n && i < QUOTE_MAX; i++) {
		unsigned char ch = (unsigned char)s.p[i];

		if (ch < 0x20 || ch == 0x7f)
			buf_printf(&b, "\\x%02x", ch);
		else
			buf_add_char(&b, (char)ch);
	}
	if (s.n > QUOTE_MAX) {
		while (b.n && ((unsigned char)b.p[b.n - 1] & 0xc0) == 0x80)
			b.n--; /* not half a character */
		if (b.n && (unsigned char)b.p[b.n - 1] >= 0xc0)
			b.n--;
		buf_add_cstr(&b, "…");
	}
	kept = arena_strdup(&c->arena, b.p ? b.p : "");
	buf_release(&b);
	return kept;
}

size_t config_problem_count(const struct config *c)
{
	return c->n_problems;
}

const struct config_problem *config_problem_at(const struct config *c, size_t i)
{
	MUST(i < c->n_problems);
	return &c->problems[i];
}

void config_problem_write(const struct config_problem *p, struct buf *b)
{
	buf_add_cstr(b, p->place);
	if (p->line)
		buf_printf(b, ":%d", p->line);
	buf_printf(b, ": %s%s", p->is_warning ? "warning: " : "", p->what);
	if (p->hint)
		buf_printf(b, "; %s", p->hint);
}
