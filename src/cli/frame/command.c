/* SPDX-License-Identifier: Apache-2.0 */
/* Finding a command by its words, or the one that was probably meant. */
#include "cli/frame/command.h"

#include <stdio.h>
#include <string.h>

#include "cli/frame/synonyms.h"
#include "wire/json/task.h"

#define NAMES_MAX 128

static const struct command *added;
static size_t n_added;

void commands_add(const struct command *table, size_t n)
{
	added = table;
	n_added = n;
}

const struct command *command_at(size_t i)
{
	for (size_t t = 0; client_tables[t]; t++) {
		if (i < client_tables[t]->n)
			return &client_tables[t]->rows[i];
		i -= client_tables[t]->n;
	}
	return i < n_added ? &added[i] : NULL;
}

/* "max-attempts" and "max_attempts" */
static bool is_named(const struct field *f, const char *option)
{
	const char *name = f->option ? f->option : f->name;

	while (*name && *option && (*name == '_' ? '-' : *name) == *option)
		name++, option++;
	return !*name && !*option;
}

static const struct field *among(const struct field *fields, const char *option)
{
	for (const struct field *f = fields; f && f->name; f++)
		if (f->flags & FIELD_GIVEN && f->about && is_named(f, option))
			return f;
	return NULL;
}

const struct field *option_member(const struct command *cmd, const struct option_def *d)
{
	const struct field *f = cmd ? among(cmd->fields, d->name) : NULL;

	return f ? f : among(task_given_fields, d->name);
}

const char *option_help(const struct command *cmd, const struct option_def *d)
{
	const struct field *f = d->help ? NULL : option_member(cmd, d);

	return d->help ? d->help : f ? f->about : "";
}

static const struct command *by_path(const char *path)
{
	const struct command *cmd;

	for (size_t i = 0; (cmd = command_at(i)); i++)
		if (!strcmp(cmd->path, path))
			return cmd;
	return NULL;
}

bool command_is_family(const char *word)
{
	const struct command *cmd;
	size_t n = strlen(word);

	for (size_t i = 0; (cmd = command_at(i)); i++)
		if (!strncmp(cmd->path, word, n) && cmd->path[n] == ' ')
			return true;
	return false;
}

const struct command *command_find(const char *const *words, size_t n, size_t *ret_words)
{
	char path[256];
	const struct command *cmd;

	if (n >= 2) {
		snprintf(path, sizeof path, "%s %s", words[0], words[1]);
		cmd = by_path(path);
		if (cmd) {
			*ret_words = 2;
			return cmd;
		}
		/* "worker lss" is a misspelt verb, not the worker with an argument. */
		if (command_is_family(words[0]))
			return NULL;
	}
	*ret_words = 1;
	return n >= 1 ? by_path(words[0]) : NULL;
}

static size_t family_verbs(const char *family, const char **names)
{
	const struct command *cmd;
	size_t n = 0, length = strlen(family);

	for (size_t i = 0; (cmd = command_at(i)) && n < NAMES_MAX; i++)
		if (!strncmp(cmd->path, family, length) && cmd->path[length] == ' ' &&
		    !(cmd->flags & COMMAND_HIDDEN))
			names[n++] = cmd->path + length + 1;
	return n;
}

/* The first words of all commands, families once each. */
static size_t first_words(char words[][32], const char **names)
{
	const struct command *cmd;
	size_t n = 0;

	for (size_t i = 0; (cmd = command_at(i)) && n < NAMES_MAX; i++) {
		size_t length = strcspn(cmd->path, " ");

		if (cmd->flags & COMMAND_HIDDEN)
			continue;
		snprintf(words[n], 32, "%.*s", (int)length, cmd->path);
		if (n == 0 || strcmp(words[n], words[n - 1])) {
			names[n] = words[n];
			n++;
		}
	}
	return n;
}

/* What was cut short ("que") is nearer than what looks alike ("run"). */
static const char *nearest(const char *word, const char *const *names, size_t n)
{
	for (size_t i = 0; i < n && *word; i++)
		if (!strncmp(names[i], word, strlen(word)))
			return names[i];
	return str_nearest(str_of(word), names, n);
}

/* A word of another system first, if there is such a verb here; then what it looks like. */
static const char *verb_meant(const char *word, const char *const *names, size_t n)
{
	const char *meant = synonym_of_verb(word);

	for (size_t i = 0; meant && i < n; i++)
		if (!strcmp(names[i], meant))
			return meant;
	return nearest(word, names, n);
}

int command_unknown(const char *const *words, size_t n, struct problem *ret_problem)
{
	const char *names[NAMES_MAX], *near;
	char firsts[NAMES_MAX][32];

	if (n >= 2 && command_is_family(words[0])) {
		size_t n_names = family_verbs(words[0], names);

		problem_set(ret_problem, ERR_INVALID, "there is no command \"%.32s %.32s\"",
		    words[0], words[1]);
		near = synonym_of_command(words[0], words[1]);
		if (near)
			return problem_hint(ret_problem, "did you mean \"reeve %s\"?", near);
		near = verb_meant(words[1], names, n_names);
		if (near)
			return problem_hint(
			    ret_problem, "did you mean \"reeve %s %s\"?", words[0], near);
		return problem_hint(ret_problem, "`reeve help %.32s` lists its commands", words[0]);
	}
	problem_set(ret_problem, ERR_INVALID, "there is no command \"%.64s\"", words[0]);
	near = synonym_of_command(words[0], n > 1 ? words[1] : NULL);
	if (!near)
		near = nearest(words[0], names, first_words(firsts, names));
	if (near)
		return problem_hint(ret_problem, "did you mean \"reeve %s\"?", near);
	return problem_hint(ret_problem, "`reeve help` lists the commands");
}
