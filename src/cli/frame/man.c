/* SPDX-License-Identifier: Apache-2.0 */
/* Man pages in roff, from the table of commands: what --help says cannot differ from them. */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "cli/frame/help.h"

/* Text with roff's own characters made harmless. */
static void add_text(struct buf *out, const char *text, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		bool begins = out->n == 0 || out->p[out->n - 1] == '\n';

		if (begins && (text[i] == '.' || text[i] == '\''))
			buf_add_cstr(out, "\\&");
		if (n - i >= 3 && !memcmp(text + i, "…", 3)) {
			buf_add_cstr(out, "\\&..."); /* readable without a preprocessor */
			i += 2;
		} else if (text[i] == '\\')
			buf_add_cstr(out, "\\e");
		else if (text[i] == '-')
			buf_add_cstr(out, "\\-");
		else
			buf_add_char(out, text[i]);
	}
}

static void add(struct buf *out, const char *text)
{
	add_text(out, text, strlen(text));
}

static void add_paragraphs(struct buf *out, const char *text)
{
	struct str rest = str_of(text), line;

	while (str_next(&rest, '\n', &line)) {
		buf_add_cstr(out, ".PP\n");
		add_text(out, line.p, line.n);
		buf_add_char(out, '\n');
	}
}

static void page_name(const char *path, struct buf *out)
{
	buf_add_cstr(out, "reeve");
	if (*path)
		buf_add_char(out, '-');
	for (; *path; path++)
		buf_add_char(out, *path == ' ' ? '-' : *path);
}

static void title(struct buf *out, const char *path, const char *summary)
{
	AUTO(buf_release) struct buf name = {0};

	page_name(path, &name);
	buf_add_cstr(out, ".TH \"");
	for (size_t i = 0; i < name.n; i++)
		buf_add_char(out, (char)toupper((unsigned char)name.p[i]));
	buf_printf(out, "\" \"1\" \"\" \"Reeve %s\" \"Reeve\"\n.SH NAME\n", REEVE_VERSION);
	add(out, name.p);
	buf_add_cstr(out, " \\- ");
	add(out, summary);
	buf_add_char(out, '\n');
}

static void add_options(struct buf *out, const struct command *cmd, const struct option_def *table)
{
	for (const struct option_def *d = table; d && d->name; d++) {
		AUTO(buf_release) struct buf left = {0};

		if (d->flags & OPTION_HIDDEN)
			continue;
		option_format(d, &left);
		buf_add_cstr(out, ".TP\n\\fB");
		add(out, left.p);
		buf_add_cstr(out, "\\fR\n");
		add(out, option_help(cmd, d));
		if (d->env) {
			buf_add_cstr(out, "; the environment's ");
			buf_printf(out, "\\fB%s\\fR", d->env);
		}
		buf_add_cstr(out, ".\n");
	}
}

static void add_examples(struct buf *out, const char *text)
{
	struct str rest = str_of(text), line, command;

	buf_add_cstr(out, ".SH EXAMPLES\n");
	while (str_next(&rest, '\n', &line)) {
		if (!str_next(&line, '\t', &command) || command.n == 0)
			continue;
		buf_add_cstr(out, ".TP\n\\fB");
		add_text(out, command.p, command.n);
		buf_add_cstr(out, "\\fR\n");
		add_text(out, line.p, line.n);
		buf_add_char(out, '\n');
	}
}

const struct exit_meaning exit_meanings[] = {
    {"0", "all went well"},
    {"1", "it failed, there is no such thing, or standard output cannot be written"},
    {"2", "the command line was wrong"},
    {"3", "a group is complete, but a package that was named as changed cannot be built"},
    {"124", "run, wait: the time limit was reached"},
    {"125", "run, wait: Reeve itself failed, or the task was orphaned"},
    {"126, 127", "run, wait: the command could not be executed, was not found"},
    {"128+N", "run, wait: a signal ended the command, or run; 130: it was cancelled"},
    {NULL, NULL},
};

static void add_exits(struct buf *out)
{
	buf_add_cstr(out, ".SH EXIT STATUS\n");
	for (const struct exit_meaning *e = exit_meanings; e->code; e++)
		buf_printf(out, ".TP\n\\fB%s\\fR\n%s.\n", e->code, e->meaning);
	add_paragraphs(out, "run and wait otherwise exit as the command did.");
}

void man_command(const struct command *cmd, struct buf *out)
{
	AUTO(buf_release) struct buf usage = {0};

	title(out, cmd->path, cmd->summary);
	help_usage(cmd, &usage);
	buf_add_cstr(out, ".SH SYNOPSIS\n\\fB");
	add(out, usage.p);
	buf_add_cstr(out, "\\fR\n");
	if (cmd->about) {
		buf_add_cstr(out, ".SH DESCRIPTION\n");
		add_paragraphs(out, cmd->about);
	}
	if (cmd->options[0])
		buf_add_cstr(out, ".SH OPTIONS\n");
	for (size_t i = 0; i < COMMAND_TABLES_MAX && cmd->options[i]; i++)
		add_options(out, cmd, cmd->options[i]);
	if (!cmd->shell)
		add_paragraphs(out, "The options for every command are in reeve(1).");
	if (cmd->examples)
		add_examples(out, cmd->examples);
	if (cmd->flags & COMMAND_MIRRORS)
		add_exits(out);
	buf_add_cstr(out, ".SH SEE ALSO\n\\fBreeve\\fR(1)\n");
}

static void add_command_list(struct buf *out)
{
	const struct command *cmd;

	buf_add_cstr(out, ".SH COMMANDS\n");
	for (int g = 0; g < N_CHAPTERS; g++) {
		buf_printf(out, ".SS %s\n", chapter_names[g]);
		for (size_t i = 0; (cmd = command_at(i)); i++) {
			AUTO(buf_release) struct buf name = {0};

			if ((int)cmd->chapter != g || cmd->flags & COMMAND_HIDDEN)
				continue;
			page_name(cmd->path, &name);
			buf_add_cstr(out, ".TP\n\\fB");
			add(out, name.p);
			buf_add_cstr(out, "\\fR(1)\n");
			add(out, cmd->summary);
			buf_add_cstr(out, ".\n");
		}
	}
}

static void man_overview(struct buf *out)
{
	title(out, "", "runs work on many machines and never loses track of it");
	buf_add_cstr(out, ".SH SYNOPSIS\n\\fBreeve [options] COMMAND ...\\fR\n.SH DESCRIPTION\n");
	add_paragraphs(out,
	    "One program is the server, the worker and the command line. `reeve dev` starts a "
	    "server "
	    "and a worker on this machine; `reeve run -- COMMAND` runs a command there.\n"
	    "Wherever the id of a task is asked for, @last stands for what you submitted last.\n"
	    "A TIME is written 90s, 5m, 1.5h, 2d, PT1H30M (ISO 8601) or in plain seconds; where a "
	    "moment is meant, also as 2026-01-31T08:00:00Z (RFC 3339).\n"
	    "What neither an option nor the environment says is taken from the configuration file: "
	    "$REEVE_CONFIG, else ~/.config/reeve/reeve.json, else /etc/reeve/reeve.json (for root "
	    "the other way round); its keys are cli.server, cli.token_file, cli.ca_file, "
	    "cli.cert_file, cli.key_file, cli.server_timeout, cli.queue and cli.output. The token "
	    "of "
	    "the file is shown to the server of the file only.\n"
	    "Where no server is set, the first of these sockets is used: server.socket of the "
	    "configuration, $XDG_RUNTIME_DIR/reeve/reeve.sock, "
	    "$XDG_STATE_HOME/reeve/reeve.sock (~/.local/state/reeve/reeve.sock), "
	    "/run/reeve/reeve.sock, /var/lib/reeve/reeve.sock.");
	add_command_list(out);
	buf_add_cstr(out, ".SH OPTIONS\n");
	add_options(out, NULL, global_options);
	add_exits(out);
	buf_add_cstr(out, ".SH FILES\n.TP\n\\fI~/.local/state/reeve/last\\fR\n"
	                  "What @last stands for.\n");
	buf_add_cstr(out, ".SH ENVIRONMENT\n.TP\n\\fBNO_COLOR\\fR\nNo colour, when it is set.\n"
	                  ".TP\n\\fBREEVE_*\\fR\nStand in for options, as said there.\n");
}

static int unwritten(const char *name, struct problem *p)
{
	return problem_set(p, ERR_IO, "%s cannot be written: %s", name, strerror(errno));
}

/* Renamed into its place: a build then sees by the directory's time that its pages are new. */
static int write_page(const char *dir, const char *path, const struct buf *page, struct problem *p)
{
	AUTO(buf_release) struct buf name = {0}, draft = {0};
	FILE *f;

	buf_printf(&name, "%s/", dir);
	page_name(path, &name);
	buf_add_cstr(&name, ".1");
	buf_printf(&draft, "%s.new", name.p);
	f = fopen(draft.p, "we");
	if (!f)
		return unwritten(draft.p, p);
	fwrite(page->p, 1, page->n, f);
	if (fclose(f) != 0 || rename(draft.p, name.p) < 0)
		return unwritten(name.p, p);
	return 0;
}

int man_write(const char *dir, struct problem *ret_problem)
{
	AUTO(buf_release) struct buf page = {0};
	const struct command *cmd;
	int r;

	if (mkdir(dir, 0777) < 0 && errno != EEXIST)
		return unwritten(dir, ret_problem);
	man_overview(&page);
	r = write_page(dir, "", &page, ret_problem);
	for (size_t i = 0; r == 0 && (cmd = command_at(i)); i++) {
		if (cmd->flags & COMMAND_HIDDEN)
			continue;
		buf_reset(&page);
		man_command(cmd, &page);
		r = write_page(dir, cmd->path, &page, ret_problem);
	}
	return r;
}
