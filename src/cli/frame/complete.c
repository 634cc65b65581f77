/* SPDX-License-Identifier: Apache-2.0 */
/* The completion engine: where in the line are we, and what may stand there. */
#include "cli/frame/complete.h"

#include <string.h>

#include "base/mem.h"
#include "cli/frame/command.h"
#include "cli/frame/help.h"
#include "cli/nouns/noun.h"
#include "model/task/task.h"

static const struct completion common[] = {
    {"format", {"table", "wide", "json", "jsonl", "yaml"}},
    {"kill-method", {"term_wait_kill", "term", "kill"}},
    {"event",
        {"task", "task.submitted", "task.running", "task.succeeded", "task.failed", "task.retrying",
            "task.cancelled", "task.terminated", "task.orphaned", "queue", "queue.paused",
            "queue.resumed", "worker", "worker.joined", "worker.away", "worker.unhealthy",
            "worker.healthy", "worker.lost", "worker.drained", "worker.undrained"}},
    {NULL},
};

static void add(struct buf *out, const char *word, const char *help)
{
	buf_printf(out, "%s%s%s\n", word, help ? "\t" : "", help ? help : "");
}

static void add_commands(struct buf *out, const char *family)
{
	const struct command *cmd;
	size_t n = family ? strlen(family) : 0;
	char seen[64] = "";

	for (size_t i = 0; (cmd = command_at(i)); i++) {
		char first[64];
		size_t length = strcspn(cmd->path, " ");

		if (cmd->flags & COMMAND_HIDDEN)
			continue;
		if (family) {
			if (!strncmp(cmd->path, family, n) && cmd->path[n] == ' ')
				add(out, cmd->path + n + 1, cmd->summary);
			continue;
		}
		if (!cmd->path[length]) {
			add(out, cmd->path, cmd->summary);
			continue;
		}
		memcpy(first, cmd->path, length);
		first[length] = 0;
		if (strcmp(first, seen))
			add(out, first, "…");
		memcpy(seen, first, length + 1);
	}
}

static void add_words(struct buf *out, const struct completion *c, const char *kind)
{
	for (; c && c->kind; c++) {
		if (strcmp(kind, c->kind))
			continue;
		for (size_t i = 0; c->words[i]; i++)
			add(out, c->words[i], NULL);
		for (size_t i = 0; i < c->n_names; i++)
			add(out, c->names[i], NULL);
	}
}

void complete_kind(const struct completer *k, const char *kind, struct buf *out)
{
	if (!strcmp(kind, "work")) { /* a task, a service or an instance */
		complete_kind(k, "task", out);
		kind = "instance";
	}
	add_words(out, common, kind);
	for (size_t i = 0; client_tables[i]; i++)
		add_words(out, client_tables[i]->completions, kind);
	if (!strcmp(kind, "state"))
		add(out, "delayed", NULL);
	if (!strcmp(kind, "state"))
		for (size_t i = 0; i < n_task_state_names; i++)
			add(out, task_state_names[i], NULL);
	else if (!strcmp(kind, "help"))
		add_commands(out, NULL);
	else if (!strcmp(kind, "file") || !strcmp(kind, "directory"))
		buf_printf(out, ":%s\n", kind);
	else if (!strcmp(kind, "command"))
		buf_add_cstr(out, ":command\n");
	if (!strcmp(kind, "task") || !strcmp(kind, "batch") || !strcmp(kind, "group"))
		add(out, "@last", "what was submitted last");
	if (noun_find(kind, strlen(kind)) || !strcmp(kind, "zone") || !strcmp(kind, "instance"))
		k->names(kind, out, k->arg);
}

/* What its table says, or the choices of the member that it sets. */
static void complete_option(const struct completer *k, const struct command *cmd,
    const struct option_def *d, struct buf *out)
{
	const struct field *f = option_member(cmd, d);

	if (d->complete)
		complete_kind(k, d->complete, out);
	else
		for (size_t i = 0; f && i < f->n_names; i++)
			add(out, f->names[i], NULL);
}

/* Where the line stands. */
struct cursor {
	struct options tables; /* only its tables are used */
	const struct command *command;
	const char *family;            /* "queue", its verb not given yet */
	const struct option_def *open; /* the last word is this option's value */
	bool dashes;                   /* after "--": somebody else's command line */
	bool has_args;
};

static const struct option_def *by_letter(const struct options *o, char letter)
{
	for (size_t t = 0; t < o->n_tables; t++)
		for (const struct option_def *d = o->tables[t]; d->name; d++)
			if (d->letter == letter)
				return d;
	return NULL;
}

/* The option that this whole word is, if it takes its value from the next word. */
static const struct option_def *open_option(const struct options *o, const char *word)
{
	const struct option_def *d;
	bool negated;

	if (word[0] != '-' || !word[1] || strchr(word, '='))
		return NULL;
	if (word[1] == '-')
		d = options_find(o, str_of(word + 2), &negated);
	else
		d = word[2] ? NULL : by_letter(o, word[1]);
	return d && d->arg && !(d->flags & OPTION_MAYBE) ? d : NULL;
}

static void take_command(struct cursor *p, const char *word)
{
	const char *words[2] = {p->family ? p->family : word, word};
	size_t used;

	if (p->family || !command_is_family(word)) {
		p->command = command_find(words, p->family ? 2 : 1, &used);
		p->family = NULL;
		for (size_t i = 0; p->command && i < COMMAND_TABLES_MAX && p->command->options[i];
		     i++)
			options_add_table(&p->tables, p->command->options[i]);
		p->dashes = !p->command;
	} else {
		p->family = word;
	}
}

static void walk(struct cursor *p, const char *const *words, size_t n)
{
	options_add_table(&p->tables, global_options);
	for (size_t i = 0; i < n && !p->dashes; i++) {
		p->open = open_option(&p->tables, words[i]);
		if (p->open) {
			if (i + 1 < n)
				p->open = NULL;
			i++;
			continue;
		}
		if (!strcmp(words[i], "--")) {
			p->dashes = true;
		} else if (words[i][0] == '-') {
			continue;
		} else if (!p->command) {
			take_command(p, words[i]);
		} else {
			p->has_args = true;
			p->dashes = p->command->flags & COMMAND_ARGV;
		}
	}
}

static void add_options(const struct cursor *p, struct buf *out)
{
	for (size_t t = 0; t < p->tables.n_tables; t++)
		for (const struct option_def *d = p->tables.tables[t]; d->name; d++) {
			AUTO(buf_release) struct buf word = {0};

			if (d->flags & OPTION_HIDDEN)
				continue;
			buf_printf(&word, "--%s", d->name);
			add(out, word.p, option_help(p->command, d));
		}
}

/* Keeps the lines that begin with what was typed; `lead` is put before each. */
static void keep(const struct buf *all, const char *typed, struct str lead, struct buf *out)
{
	struct str rest = buf_str(all), line;

	while (str_next(&rest, '\n', &line)) {
		if (line.n == 0 || (line.p[0] != ':' && !str_starts(line, typed)))
			continue;
		buf_add_str(out, lead);
		buf_add_str(out, line);
		buf_add_char(out, '\n');
	}
}

void complete_line(const struct completer *k, const char *const *words, size_t n, struct buf *out)
{
	AUTO(buf_release) struct buf all = {0};
	struct cursor p = {0};
	const char *typed = n > 0 ? words[n - 1] : "", *equals = strchr(typed, '=');
	struct str lead = STR_NULL;
	bool negated;

	walk(&p, words, n > 0 ? n - 1 : 0);
	if (p.open) {
		complete_option(k, p.command, p.open, &all);
	} else if (p.dashes) {
		buf_add_cstr(&all, ":command\n");
	} else if (!strncmp(typed, "--", 2) && equals) {
		struct str name = {typed + 2, (size_t)(equals - typed - 2)};
		const struct option_def *d = options_find(&p.tables, name, &negated);

		if (d)
			complete_option(k, p.command, d, &all);
		lead = (struct str){typed, (size_t)(equals - typed) + 1};
		typed = equals + 1;
	} else if (typed[0] == '-') {
		add_options(&p, &all);
	} else if (!p.command) {
		add_commands(&all, p.family);
	} else if (p.command->complete) {
		complete_kind(k, p.command->complete, &all);
	}
	keep(&all, typed, lead, out);
}
