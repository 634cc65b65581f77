/* SPDX-License-Identifier: Apache-2.0 */
/* Help texts from the table of commands. */
#include "cli/frame/help.h"

#include <string.h>
#include <unistd.h>

#include "base/mem.h"

#define TEXT_WIDTH 100
#define ROOM_MIN 24 /* for the right column of a list */

/* Lines longer than this are hard to read, however wide the terminal is. */
static int text_columns(FILE *f)
{
	/* Through a pager it is still read on the terminal that errors go to. */
	bool piped = f == stderr || !isatty(STDOUT_FILENO);
	int width = term_width(piped ? STDERR_FILENO : STDOUT_FILENO, TEXT_WIDTH);

	return width < TEXT_WIDTH ? width : TEXT_WIDTH;
}

/*
 * Prints a paragraph, wrapped and indented; newlines in it begin a new one. `begun`: we are at its
 * indentation already.
 */
static void wrap(FILE *f, const char *text, int indent, int width, bool begun)
{
	int column = 0;

	while (*text) {
		size_t n = strcspn(text, " \n");
		int columns = (int)text_width((struct str){text, n});

		if (column > 0 && column + 1 + columns > width - indent) {
			fputc('\n', f);
			column = 0;
		}
		fprintf(f, "%*s%.*s", column ? 1 : begun ? 0 : indent, "", (int)n, text);
		begun = false;
		column += columns + (column > 0);
		text += n;
		if (*text == '\n') {
			fputc('\n', f);
			column = 0;
		}
		if (*text)
			text++;
	}
	fputc('\n', f);
}

static void heading(FILE *f, bool colour, const char *text)
{
	fprintf(f, "\n%s%s%s\n", term_on(colour, COLOUR_BOLD), text, term_off(colour));
}

static bool colour_for(const struct term *t, FILE *f)
{
	return f == stderr ? t->err_colour : t->out_colour;
}

/* "left    right": right is wrapped in its own column, or begins a line when there is little room.
 */
static void row(FILE *f, const char *left, const char *right, int indent)
{
	int used = (int)text_width(str_of(left)) + 2, width = text_columns(f);

	fprintf(f, "  %s", left);
	if (width - indent < ROOM_MIN)
		indent = 8;
	if (used + 2 > indent) {
		fputc('\n', f);
		used = 0;
	}
	fprintf(f, "%*s", indent - used, "");
	wrap(f, right, indent, width, true);
}

static void options_of(FILE *f, const struct command *cmd, const struct option_def *table)
{
	for (const struct option_def *d = table; d && d->name; d++) {
		AUTO(buf_release) struct buf left = {0}, right = {0};

		if (d->flags & OPTION_HIDDEN)
			continue;
		if (!d->letter)
			buf_add_cstr(&left, "    ");
		option_format(d, &left);
		buf_add_cstr(&right, option_help(cmd, d));
		if (d->env)
			buf_printf(&right, " [$%s]", d->env);
		row(f, left.p, right.p, 32);
	}
}

void help_usage(const struct command *cmd, struct buf *out)
{
	buf_printf(out, "reeve %s", cmd->path);
	if (cmd->options[0])
		buf_add_cstr(out, " [options]");
	if (cmd->args)
		buf_printf(out, " %s", cmd->args);
}

static void chapter(const struct term *t, FILE *f, enum chapter g)
{
	const struct command *cmd;
	bool any = false;

	for (size_t i = 0; (cmd = command_at(i)); i++) {
		if (cmd->chapter != g || cmd->flags & COMMAND_HIDDEN)
			continue;
		if (!any)
			heading(f, colour_for(t, f), chapter_names[g]);
		any = true;
		row(f, cmd->path, cmd->summary, 21);
	}
}

void help_overview(const struct term *t, FILE *f)
{
	fputs("Reeve runs work on many machines and never loses track of it.\n\n"
	      "usage: reeve [options] COMMAND …\n",
	    f);
	for (int g = 0; g < N_CHAPTERS; g++)
		chapter(t, f, (enum chapter)g);
	heading(f, colour_for(t, f), "Options for every command");
	options_of(f, NULL, global_options);
	fputs("\nA TIME is 90s, 5m, 1.5h, 2d, PT1H30M or plain seconds; where a moment is meant, "
	      "also\n"
	      "2026-01-31T08:00:00Z.\n",
	    f);
	fputs("\n`reeve help COMMAND` says more. The first steps: `reeve dev`, then in another\n"
	      "terminal `reeve run -- echo hello`.\n",
	    f);
}

/* The family's commands that are hidden, or those that are not, as `hidden` says: how many. */
static size_t family_rows(const char *word, FILE *f, unsigned hidden)
{
	const struct command *cmd;
	size_t n = strlen(word), rows = 0;

	for (size_t i = 0; (cmd = command_at(i)); i++)
		if (!strncmp(cmd->path, word, n) && (cmd->path[n] == ' ' || !cmd->path[n]) &&
		    (cmd->flags & COMMAND_HIDDEN) == hidden) {
			row(f, cmd->path, cmd->summary, 21);
			rows++;
		}
	return rows;
}

void help_family(const char *word, const struct term *t, FILE *f)
{
	fprintf(f, "usage: reeve %s COMMAND …\n", word);
	heading(f, colour_for(t, f), "Commands");
	if (family_rows(word, f, 0) == 0) /* a family that is not in the overview */
		family_rows(word, f, COMMAND_HIDDEN);
	fprintf(f, "\n`reeve help %s COMMAND` says more.\n", word);
}

static void examples(const char *text, bool colour)
{
	struct str rest = str_of(text), line;

	heading(stdout, colour, "Examples");
	while (str_next(&rest, '\n', &line)) {
		struct str command;

		if (!str_next(&line, '\t', &command) || command.n == 0)
			continue;
		printf("  %s# " STR_FMT "%s\n  " STR_FMT "\n", term_on(colour, COLOUR_DIM),
		    STR_ARG(line), term_off(colour), STR_ARG(command));
	}
}

void help_command(const struct command *cmd, const struct term *t)
{
	AUTO(buf_release) struct buf usage = {0};
	bool colour = t->out_colour;

	help_usage(cmd, &usage);
	printf("usage: %s\n\n", usage.p);
	printf("reeve %s: %s.\n", cmd->path, cmd->summary);
	if (cmd->about) {
		putchar('\n');
		wrap(stdout, cmd->about, 0, text_columns(stdout), false);
	}
	if (cmd->options[0])
		heading(stdout, colour, "Options");
	for (size_t i = 0; i < COMMAND_TABLES_MAX && cmd->options[i]; i++)
		options_of(stdout, cmd, cmd->options[i]);
	if (!cmd->shell) {
		heading(stdout, colour, "Options for every command");
		options_of(stdout, NULL, global_options);
	}
	if (cmd->examples)
		examples(cmd->examples, colour);
	if (cmd->flags & COMMAND_MIRRORS) {
		heading(stdout, colour, "Exit status");
		for (const struct exit_meaning *e = exit_meanings; e->code; e++)
			row(stdout, e->code, e->meaning, 14);
		puts("  Otherwise it is that of the command.");
	}
}
