/* SPDX-License-Identifier: Apache-2.0 */
/* Machine formats, JSON members as text, and the loop behind --watch. */
#include "cli/output/output.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <poll.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/world/clock.h"
#include "cli/frame/interrupt.h"
#include "cli/output/screen.h"

bool wants_machine(const struct cli *c)
{
	return c->format == FORMAT_JSON || c->format == FORMAT_JSONL || c->format == FORMAT_YAML;
}

void say(FILE *f, const char *fmt, ...)
{
	AUTO(free_cstr) char *text = NULL;
	AUTO(buf_release) struct buf clean = {0};
	va_list ap;

	va_start(ap, fmt);
	MUST(vasprintf(&text, fmt, ap) >= 0);
	va_end(ap);
	text_add_clean_lines(&clean, str_of(text));
	buf_add_char(&clean, '\n');
	if (f == stderr)
		fflush(stdout);
	fwrite(clean.p, 1, clean.n, f);
}

/*
 * JSON leaves DEL and C1 (0xc2 0x80 to 0xc2 0x9f) as they are, and some terminals obey them. They
 * stand in strings only, so that their escaped form says the same.
 */
static int write_escaped(const char *bytes, size_t n, void *arg)
{
	FILE *f = arg;
	size_t from = 0;

	for (size_t i = 0; i < n; i++) {
		unsigned char here = (unsigned char)bytes[i];
		unsigned char next = i + 1 < n ? (unsigned char)bytes[i + 1] : 0;
		bool c1 = here == 0xc2 && next >= 0x80 && next < 0xa0;

		if (!c1 && here != 0x7f)
			continue;
		fwrite(bytes + from, 1, i - from, f);
		fprintf(f, "\\u%04x", c1 ? next : here);
		i += c1;
		from = i + 1;
	}
	return n > from && fwrite(bytes + from, 1, n - from, f) != n - from ? -1 : 0;
}

/* Strings hold no line breaks, so what follows one is the next line. */
static int write_indented(const char *bytes, size_t n, void *arg)
{
	size_t from = 0;

	for (size_t i = 0; i < n; i++) {
		if (bytes[i] != '\n')
			continue;
		if (write_escaped(bytes + from, i + 1 - from, arg))
			return -1;
		fputs("    ", arg);
		from = i + 1;
	}
	return n > from ? write_escaped(bytes + from, n - from, arg) : 0;
}

static int digits_of(double value)
{
	char text[40];
	int n = 15;

	for (; n < 17; n++) {
		snprintf(text, sizeof text, "%.*g", n, value);
		if (strtod(text, NULL) == value)
			break;
	}
	return n;
}

static int most_digits(const json_t *j)
{
	int most = json_is_real(j) ? digits_of(json_real_value(j)) : 15, n;
	json_t *item;
	const char *key;
	size_t i;

	json_object_foreach((json_t *)j, key, item) most =
	    (n = most_digits(item)) > most ? n : most;
	json_array_foreach(j, i, item) most = (n = most_digits(item)) > most ? n : most;
	return most;
}

size_t json_reals(const json_t *j)
{
	return JSON_REAL_PRECISION(most_digits(j));
}

void print_json_line(json_t *j)
{
	json_dump_callback(
	    j, write_escaped, stdout, JSON_COMPACT | JSON_ENCODE_ANY | json_reals(j));
	putchar('\n');
}

void print_json(const struct cli *c, json_t *j)
{
	json_t *items = json_object_get(j, "items"), *item;
	size_t i;

	if (c->format == FORMAT_YAML) {
		yaml_print(stdout, j);
	} else if (c->format == FORMAT_JSONL && json_is_array(items)) {
		json_array_foreach(items, i, item) print_json_line(item);
	} else if (c->format == FORMAT_JSONL) {
		print_json_line(j);
	} else {
		json_dump_callback(
		    j, write_escaped, stdout, JSON_INDENT(2) | JSON_ENCODE_ANY | json_reals(j));
		putchar('\n');
	}
}

void print_json_item(json_t *j)
{
	fputs("    ", stdout);
	json_dump_callback(
	    j, write_indented, stdout, JSON_INDENT(2) | JSON_ENCODE_ANY | json_reals(j));
}

static void wait_ms(int64_t ms)
{
	struct pollfd fd = {.fd = interrupt_fd(), .events = POLLIN};

	fflush(stdout);
	poll(&fd, 1, (int)ms);
	interrupt_drain();
}

/* What is drawn is caught first: only then is it known how much of it fits. */
static int draw_in_place(struct cli *c, int (*draw)(struct cli *c))
{
	AUTO(buf_release) struct buf last = {0};
	AUTO(free_cstr) char *text = NULL;
	FILE *out = stdout, *page;
	size_t n = 0, more;
	int r;

	MUST((page = open_memstream(&text, &n)));
	stdout = c->notes = page;
	r = draw(c);
	stdout = out;
	c->notes = NULL;
	fclose(page);
	if (r != 0)
		return r;
	more = screen_left_out((struct str){text, n});
	if (more > 0)
		buf_printf(&last, "%s(%zu more lines)%s", term_on(c->term.out_colour, COLOUR_DIM),
		    more, term_off(c->term.out_colour));
	screen_paint((struct str){text, n}, last.p ? last.p : "");
	return 0;
}

static int watch(struct cli *c, int (*draw)(struct cli *c), int64_t every_ms)
{
	int r;

	interrupt_catch();
	if (c->term.out_tty)
		screen_enter();
	do {
		r = c->term.out_tty ? draw_in_place(c, draw) : draw(c);
		if (r == 0)
			wait_ms(every_ms);
	} while (r == 0 && interrupt_count() == 0 && !ferror(stdout));
	if (c->term.out_tty)
		screen_leave();
	return interrupt_count() > 0 ? EXIT_OK : r;
}

int watch_loop(struct cli *c, int (*draw)(struct cli *c))
{
	const char *given = options_get(&c->options, "watch");
	int64_t every_ms = 2000;

	if (!given)
		return draw(c);
	if (*given && (!str_to_duration_ms(str_of(given), &every_ms) || every_ms < 100 ||
	                  every_ms > 86400000))
		return problem_set(&c->problem, ERR_INVALID,
		    "--watch=%.32s is not a time between 0.1 seconds and a day", given);
	return watch(c, draw, every_ms);
}

void add_state(struct buf *b, const struct term *t, bool colour, const char *state)
{
	buf_add_cstr(b, term_on(colour, state_colour(state)));
	buf_add_cstr(b, state_glyph(state, t->utf8));
	buf_add_char(b, ' ');
	text_add_clean(b, str_of(state));
	buf_add_cstr(b, term_off(colour));
}

const char *js(const json_t *j, const char *name)
{
	const char *text = json_string_value(json_object_get(j, name));

	return text ? text : "";
}

bool jhas(const json_t *j, const char *name)
{
	const json_t *member = json_object_get(j, name);

	return member && !json_is_null(member);
}

int64_t ji(const json_t *j, const char *name, int64_t fallback)
{
	const json_t *member = json_object_get(j, name);

	if (json_is_real(member))
		return (int64_t)json_real_value(member);
	return json_is_integer(member) ? json_integer_value(member) : fallback;
}

bool jb(const json_t *j, const char *name)
{
	return json_is_true(json_object_get(j, name));
}

int64_t jtime(const json_t *j, const char *name)
{
	int64_t ms;

	return time_parse(str_of(js(j, name)), &ms) ? ms : 0;
}

const char *jago(const json_t *j, const char *name, char out[TIME_TEXT_MAX])
{
	return human_ago(clock_wall_ms(), jtime(j, name), out);
}

void add_pairs(struct buf *b, const json_t *object)
{
	const char *key;
	json_t *value;

	json_object_foreach((json_t *)object, key, value) buf_printf(b, "%s%s=%s", b->n ? " " : "",
	    key, json_is_string(value) ? json_string_value(value) : "?");
}

void add_command(struct buf *b, const json_t *array)
{
	json_t *item;
	size_t i;

	json_array_foreach(array, i, item)
	{
		const char *word = json_string_value(item) ? json_string_value(item) : "";

		if (i > 0)
			buf_add_char(b, ' ');
		buf_add_typed(b, str_of(word));
	}
}
