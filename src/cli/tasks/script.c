/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `reeve submit -`: a script from standard input. Its first lines may hold options, behind #REEVE;
 * those of the command line win.
 */
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/mem.h"
#include "cli/output/output.h"
#include "cli/tasks/work.h"

#define SCRIPT_MAX 120000 /* the kernel takes no longer argument than 128 KiB */
#define WORDS_MAX 256
#define MARK "#REEVE"
#define BOM "\xef\xbb\xbf" /* some editors put it before a text in UTF-8 */

static struct arena words; /* options only borrow their text: it lives as long as the program */

bool script_given(const struct cli *c)
{
	const struct options *o = &c->options; /* behind "--" stands a command, whatever its name */

	return o->n_args > 0 && !strcmp(o->args[0], "-") && !(o->has_dashes && o->dashes_at == 0);
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

/* The next word of a line, with quotes as in a shell. False: there is none; *ret_word NULL: a quote
 * is open. */
static bool next_word(struct str *line, char **ret_word)
{
	AUTO(buf_release) struct buf word = {0};
	char quote = 0;

	*ret_word = NULL;
	while (line->n && is_blank(*line->p))
		line->p++, line->n--;
	if (!line->n)
		return false;
	for (; line->n && (quote || !is_blank(*line->p)); line->p++, line->n--) {
		char c = *line->p;

		if (quote ? c == quote : c == '\'' || c == '"') {
			quote = quote ? 0 : c;
		} else if (c == '\\' && quote != '\'' && line->n > 1) {
			line->p++, line->n--;
			buf_add_char(&word, *line->p);
		} else {
			buf_add_char(&word, c);
		}
	}
	if (!quote)
		*ret_word = arena_strdup(&words, word.n ? word.p : "");
	return true;
}

static int in_line(struct cli *c, int line, const struct problem *p)
{
	problem_set(&c->problem, ERR_INVALID, "line %d of the script: %s", line, p->what);
	return *p->hint ? problem_hint(&c->problem, "%s", p->hint) : c->problem.code;
}

/* A script may come from elsewhere: whom it goes to, and with which token, is not its to say. */
static int refuse_connection(struct cli *c, const struct options *own, int line)
{
	struct problem p = {0};

	for (const struct option_def *d = global_options; d->name; d++) {
		if (!d->env || !options_given(own, d->name))
			continue;
		problem_set(&p, ERR_INVALID, "--%s is not a script's to say", d->name);
		problem_hint(&p, "give it on the command line, or set %s", d->env);
		return in_line(c, line, &p);
	}
	return 0;
}

static int take_line(struct cli *c, struct options *own, struct str text, int line)
{
	struct problem p = {0};
	char *argv[WORDS_MAX];
	int n = 0;

	while (n < WORDS_MAX && next_word(&text, &argv[n])) {
		if (!argv[n]) {
			problem_set(&p, ERR_INVALID, "a quote is not closed");
			return in_line(c, line, &p);
		}
		n++;
	}
	if (options_parse(own, OPTIONS_ANYWHERE, n, argv, &p) < 0)
		return in_line(c, line, &p);
	if (own->n_args > 0) {
		problem_set(&p, ERR_INVALID, MARK " is followed by options only, not by \"%.64s\"",
		    own->args[0]);
		return in_line(c, line, &p);
	}
	return refuse_connection(c, own, line);
}

/* Lines in which other systems look for options. */
static const char *const marks_of_others[] = {"#SBATCH", "#PBS", "#$", NULL};

static bool is_marked(struct str line, const char *mark)
{
	size_t n = strlen(mark);

	return line.n > n && !memcmp(line.p, mark, n) && is_blank(line.p[n]);
}

static void warn_of_others(const struct cli *c, const size_t *counts)
{
	for (size_t i = 0; marks_of_others[i]; i++)
		if (counts[i])
			cli_note(c,
			    "reeve: %zu line%s %s %s not read; options stand in " MARK " lines",
			    counts[i], counts[i] == 1 ? "" : "s", marks_of_others[i],
			    counts[i] == 1 ? "is" : "are");
}

/* The script's come before those of the line: of two, the last one holds. */
static void put_before(struct options *o, const struct options *own)
{
	size_t n = own->n_values;

	if (!n)
		return;
	GROW(o->values, o->values_cap, o->n_values + n);
	memmove(o->values + n, o->values, o->n_values * sizeof *o->values);
	memcpy(o->values, own->values, n * sizeof *o->values);
	o->n_values += n;
}

/* Up to the first line that is neither empty nor a comment. */
static int take_options(struct cli *c, struct str text)
{
	struct options own = {.program = c->options.program, .n_tables = c->options.n_tables};
	size_t others[N_OF(marks_of_others)] = {0};
	struct str line;
	int r = 0;

	memcpy(own.tables, c->options.tables, sizeof own.tables);
	for (int i = 1; r == 0 && str_next(&text, '\n', &line); i++) {
		bool is_ours = str_starts(line, MARK) &&
		               (line.n == sizeof MARK - 1 || is_blank(line.p[sizeof MARK - 1]));

		if (line.n && !is_blank(line.p[0]) && line.p[0] != '#')
			break;
		if (is_ours)
			r = take_line(c, &own,
			    (struct str){line.p + sizeof MARK - 1, line.n - (sizeof MARK - 1)}, i);
		for (size_t k = 0; marks_of_others[k]; k++)
			others[k] += is_marked(line, marks_of_others[k]);
	}
	if (r == 0) {
		put_before(&c->options, &own);
		warn_of_others(c, others);
	}
	options_release(&own);
	return r;
}

/* Programs that take a program as an argument: behind which option, and what ends the options of
 * its own. */
struct taker {
	const char *name, *option, *end;
};
static const struct taker takers[] = {
    {"sh", "-c", "script"}, /* $0 */
    {"bash", "-c", "script"},
    {"dash", "-c", "script"},
    {"ksh", "-c", "script"},
    {"zsh", "-c", "script"},
    {"ash", "-c", "script"},
    {"python", "-c", NULL}, /* what follows is the program's */
    {"pypy", "-c", NULL},
    {"perl", "-e", "--"},
    {"ruby", "-e", "--"},
    {"node", "-e", "--"},
    {"nodejs", "-e", "--"},
};

/* "/usr/bin/python3.11": a version may follow the name. */
static bool is_named(const char *program, const char *name)
{
	const char *slash = strrchr(program, '/'), *at = slash ? slash + 1 : program;
	size_t n = strlen(name);

	return !strncmp(at, name, n) && at[n + strspn(at + n, "0123456789.")] == 0;
}

/* Of "env -S python3 -u" it is a word in the middle. */
static const struct taker *taker_of(char *const *interp, size_t n)
{
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < sizeof takers / sizeof takers[0]; k++)
			if (is_named(interp[i], takers[k].name))
				return &takers[k];
	return NULL;
}

/* "#!/usr/bin/env python3 -u": the words behind #!; without them, a shell. */
static size_t interpreter(struct str text, char **ret_words)
{
	struct str line = {text.p, 0};
	size_t n = 0;

	str_next(&text, '\n', &line);
	if (str_starts(line, "#!")) {
		line = (struct str){line.p + 2, line.n - 2};
		while (n < 8 && next_word(&line, &ret_words[n]) && ret_words[n])
			n++;
	}
	if (n == 0)
		ret_words[n++] = "/bin/sh";
	return n;
}

/* Most get it as an argument, so that standard input is free; others read it from there. */
static void put_command(struct cli *c, char *text, bool *ret_reads)
{
	struct options *o = &c->options;
	size_t n_rest = o->n_args - 1, n = 0;
	const struct taker *taker;
	const char *interp[8 + 4];
	const char **args;

	n = interpreter(str_of(text), (char **)interp);
	taker = taker_of((char *const *)interp, n);
	*ret_reads = !taker;
	if (taker) {
		interp[n++] = taker->option;
		interp[n++] = text;
		if (taker->end)
			interp[n++] = taker->end;
	} else {
		interp[n++] = "/dev/stdin";
	}
	args = xcalloc(n + n_rest, sizeof *args);
	for (size_t i = 0; i < n; i++)
		args[i] = interp[i];
	memcpy(args + n, o->args + 1, n_rest * sizeof *args);
	free(o->args);
	o->args = args;
	o->n_args = o->args_cap = n + n_rest;
}

int script_take(struct cli *c, const char **ret_input)
{
	AUTO(buf_release) struct buf text = {0};
	bool reads;
	char *kept;

	*ret_input = NULL;
	if (input_read(c, "-", SCRIPT_MAX, &text) < 0) {
		if (c->problem.code == ERR_TOO_LARGE)
			problem_hint(&c->problem, "save it in a file that workers can read, and "
			                          "submit that");
		return c->problem.code;
	}
	if (text.n == 0 || memchr(text.p, 0, text.n)) {
		problem_set(&c->problem, ERR_INVALID,
		    text.n ? "the script holds a NUL byte"
		           : "the script on standard input is empty");
		return problem_hint(&c->problem, "as in: reeve submit - <script.sh");
	}
	buf_add_char(&text, '\n');
	kept =
	    arena_strdup(&words, text.p + (str_starts(buf_str(&text), BOM) ? sizeof BOM - 1 : 0));
	if (take_options(c, str_of(kept)) < 0)
		return c->problem.code;
	if (options_given(&c->options, "stdin") || options_given(&c->options, "ndjson")) {
		problem_set(&c->problem, ERR_INVALID,
		    "a script cannot have --stdin or --ndjson: standard input is the script");
		return c->problem.code;
	}
	put_command(c, kept, &reads);
	*ret_input = reads ? kept : NULL;
	return 0;
}
