/* SPDX-License-Identifier: Apache-2.0 */
/* Tables: columns as wide as their widest cell; on narrow terminals stretchable ones
   give way, then the last ones go. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <unistd.h>

#include "base/mem.h"
#include "cli/output/output.h"

#define GAP 2
#define STRETCH_MIN 8
#define NAME_MIN 24 /* a name is cut below this only where nothing else can go */

void table_init(struct table *t, const struct heading *columns, size_t n)
{
	MUST(n <= COLUMNS_MOST);
	*t = (struct table){.columns = columns, .n_columns = n};
}

void table_release(struct table *t)
{
	for (size_t i = 0; i < t->n_cells; i++)
		free(t->cells[i]);
	free(t->cells);
	*t = (struct table){0};
}

void table_add(struct table *t, const char *text)
{
	GROW(t->cells, t->cap, t->n_cells + 1);
	t->cells[t->n_cells++] = xstrdup(text && *text ? text : "-");
}

void table_addf(struct table *t, const char *fmt, ...)
{
	char *text;
	va_list ap;

	va_start(ap, fmt);
	MUST(vasprintf(&text, fmt, ap) >= 0);
	va_end(ap);
	GROW(t->cells, t->cap, t->n_cells + 1);
	t->cells[t->n_cells++] = text;
}

void table_fill(struct table *t, const struct cli *c, const json_t *objects)
{
	json_t *object;
	size_t row;

	json_array_foreach(objects, row, object) for (size_t i = 0; i < t->n_columns; i++)
	{
		AUTO(free_cstr) char *text = value_text(c, &t->columns[i].value, object);

		table_add(t, text);
	}
}

/* "-" is no state: there is none. */
static bool has_glyph(const struct table *t, size_t column, const char *text)
{
	return t->columns[column].flags & HEADING_STATE && strcmp(text, "-") != 0;
}

static size_t cell_width(const struct table *t, size_t column, const char *text)
{
	return text_width(str_of(text)) + (has_glyph(t, column, text) ? 2 : 0);
}

static void measure(const struct table *t, size_t *widths)
{
	for (size_t i = 0; i < t->n_columns; i++) {
		size_t w = text_width(str_of(t->columns[i].title));

		if (w > widths[i])
			widths[i] = w;
	}
	for (size_t i = 0; i < t->n_cells; i++) {
		size_t w = cell_width(t, i % t->n_columns, t->cells[i]);

		if (w > widths[i % t->n_columns])
			widths[i % t->n_columns] = w;
	}
}

static size_t total_width(const struct table *t, const struct layout *l)
{
	size_t total = 0;

	for (size_t i = 0; i < t->n_columns; i++)
		total += l->shown[i] ? l->widths[i] + GAP : 0;
	return total > GAP ? total - GAP : 0;
}

/* Takes the excess from the widest stretchable column, a step at a time; `from` 1 leaves out the
 * first. False: not enough. */
static bool squeeze(
    const struct table *t, size_t width, size_t from, size_t name_min, struct layout *l)
{
	for (size_t total = total_width(t, l); total > width; total--) {
		size_t widest = SIZE_MAX;

		for (size_t i = from; i < t->n_columns; i++) {
			unsigned flags = t->columns[i].flags;

			if (l->shown[i] && flags & HEADING_STRETCH &&
			    l->widths[i] > (flags & HEADING_NAME ? name_min : STRETCH_MIN) &&
			    (widest == SIZE_MAX || l->widths[i] > l->widths[widest]))
				widest = i;
		}
		if (widest == SIZE_MAX)
			return false;
		l->widths[widest]--;
	}
	return true;
}

static bool hide_last(const struct table *t, unsigned which, unsigned but, struct layout *l)
{
	for (size_t i = t->n_columns; i-- > 1;) {
		unsigned flags = t->columns[i].flags;

		if (l->shown[i] && (flags & which) == which && !(flags & but)) {
			l->shown[i] = false;
			return true;
		}
	}
	return false;
}

/* The first column, names and states always stay; of the others the spare ones go, then the last.
 */
static bool hide_one(const struct table *t, struct layout *l)
{
	return hide_last(t, HEADING_SPARE, 0, l) ||
	       hide_last(t, 0, HEADING_STATE | HEADING_NAME, l);
}

/* Columns that do not fit are left out, unless all were asked for. The first one is the name, which
 * people copy: it is cut when nothing else can give way. */
static void lay_out(const struct table *t, size_t width, bool wide, struct layout *l)
{
	measure(t, l->natural);
	for (size_t i = 0; i < t->n_columns; i++)
		l->shown[i] = wide || !(t->columns[i].flags & HEADING_WIDE);
	do
		memcpy(l->widths, l->natural, sizeof l->natural);
	while (width > 0 && !squeeze(t, width, 1, NAME_MIN, l) && !wide && hide_one(t, l));
	if (width > 0 && !squeeze(t, width, 1, STRETCH_MIN, l) && !wide &&
	    hide_last(t, HEADING_NAME, 0, l))
		memcpy(l->widths, l->natural, sizeof l->natural);
	if (width > 0)
		squeeze(t, width, 0, STRETCH_MIN, l);
}

static void pad(struct buf *out, size_t n)
{
	while (n-- > 0)
		buf_add_char(out, ' ');
}

static void add_cell(const struct table *t, const struct term *term, size_t column,
    const char *text, size_t width, bool last, struct buf *out)
{
	unsigned flags = t->columns[column].flags;
	size_t used = cell_width(t, column, text);
	size_t space = used < width ? width - used : 0;

	if (flags & HEADING_RIGHT)
		pad(out, space);
	if (has_glyph(t, column, text))
		add_state(out, term, term->out_colour, text);
	else
		text_add_cut(out, str_of(text), width, term->utf8);
	if (!last && !(flags & HEADING_RIGHT))
		pad(out, space);
	if (!last)
		pad(out, GAP);
}

static size_t last_shown(const struct table *t, const struct layout *l)
{
	size_t last = 0;

	for (size_t i = 0; i < t->n_columns; i++)
		if (l->shown[i])
			last = i;
	return last;
}

static void add_title(
    const struct table *t, const struct term *term, const struct layout *l, struct buf *out)
{
	size_t last = last_shown(t, l);

	buf_add_cstr(out, term_on(term->out_colour, COLOUR_BOLD));
	for (size_t i = 0; i < t->n_columns; i++) {
		const char *title = t->columns[i].title;
		size_t used = text_width(str_of(title));
		size_t space = used < l->widths[i] ? l->widths[i] - used : 0;
		bool right = t->columns[i].flags & HEADING_RIGHT;

		if (!l->shown[i])
			continue;
		if (right)
			pad(out, space);
		text_add_cut(out, str_of(title), l->widths[i], term->utf8);
		if (i != last)
			pad(out, GAP + (right ? 0 : space));
	}
	buf_add_cstr(out, term_off(term->out_colour));
	buf_add_char(out, '\n');
}

static void add_rows(
    const struct table *t, const struct term *term, const struct layout *l, struct buf *out)
{
	size_t last = last_shown(t, l);

	for (size_t row = 0; row + t->n_columns <= t->n_cells; row += t->n_columns) {
		for (size_t i = 0; i < t->n_columns; i++)
			if (l->shown[i])
				add_cell(
				    t, term, i, t->cells[row + i], l->widths[i], i == last, out);
		buf_add_char(out, '\n');
	}
}

void table_render(
    const struct table *t, const struct term *term, int width, bool wide, struct buf *out)
{
	struct layout l = {0};

	lay_out(t, width > 0 ? (size_t)width : 0, wide, &l);
	add_title(t, term, &l, out);
	add_rows(t, term, &l, out);
}

void table_print_page(const struct table *t, struct cli *c, struct layout *l)
{
	AUTO(buf_release) struct buf out = {0};
	int width = c->term.out_tty ? term_width(STDOUT_FILENO, 80) : 0;
	struct layout was = *l;

	lay_out(t, width > 0 ? (size_t)width : 0, c->format == FORMAT_WIDE, l);
	if (memcmp(was.shown, l->shown, sizeof was.shown) != 0)
		add_title(t, &c->term, l, &out);
	add_rows(t, &c->term, l, &out);
	fwrite(out.p, 1, out.n, stdout);
}

void table_print(const struct table *t, struct cli *c)
{
	struct layout l = {0};

	table_print_page(t, c, &l);
}

void table_show(
    struct cli *c, const struct heading *columns, size_t n_columns, const json_t *objects)
{
	struct table t;

	table_init(&t, columns, n_columns);
	table_fill(&t, c, objects);
	table_print(&t, c);
	table_release(&t);
}
