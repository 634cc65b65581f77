/* SPDX-License-Identifier: Apache-2.0 */
#include "config/flags.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/world/log.h"

static bool has_flag(const struct option_def *table, size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(table[i].name, name) == 0)
			return true;
	return false;
}

static const char *arg_name(const struct config_key *k)
{
	switch (k->type) {
	case KEY_BOOL: return NULL;
	case KEY_ENUM: return k->choices;
	case KEY_PATH: return "PATH";
	case KEY_ADDRESS:
	case KEY_ADDRESSES: return "HOST:PORT";
	case KEY_DURATION: return "TIME";
	case KEY_INT:
	case KEY_SIZE: return "N";
	case KEY_MAP: return "KEY=VALUE";
	default: return "TEXT";
	}
}

/* Help in the options' style: no full stop at the end. */
static const char *short_help(const char *help)
{
	char *copy = xstrdup(help);
	size_t n = strlen(copy);

	if (n && copy[n - 1] == '.')
		copy[n - 1] = 0;
	return copy;
}

static struct option_def *build(unsigned users)
{
	struct option_def *table = xcalloc(n_config_keys + 2, sizeof *table);
	size_t n = 0;

	table[n++] = (struct option_def){
	    "config", 0, "FILE", "read this configuration file", "REEVE_CONFIG", 0, "file"};
	for (size_t i = 0; i < n_config_keys; i++) {
		const struct config_key *k = &config_keys[i];
		bool many = k->type == KEY_LIST || k->type == KEY_MAP || k->type == KEY_ADDRESSES;

		if (!k->flag || !(k->users & users) || has_flag(table, n, k->flag))
			continue;
		table[n++] = (struct option_def){k->flag, 0, arg_name(k), short_help(k->help), NULL,
		    many ? OPTION_REPEAT : 0, k->type == KEY_PATH ? "file" : NULL};
	}
	return table;
}

const struct option_def *config_options(unsigned users)
{
	static struct option_def *tables[CONFIG_FOR_ALL + 1];

	if (!tables[users])
		tables[users] = build(users);
	return tables[users];
}

static size_t flags_of(const struct options *o, unsigned users, struct config_flag *ret)
{
	size_t n = 0;

	for (size_t i = 0; i < o->n_values; i++) {
		const struct config_key *k = config_key_by_flag(o->values[i].def->name, users);

		if (k)
			ret[n++] = (struct config_flag){k->name, o->values[i].value};
	}
	return n;
}

static int parse(struct options *o, unsigned users, int argc, char **argv, struct problem *p)
{
	int e;

	options_add_table(o, config_options(users));
	e = options_parse(o, OPTIONS_ANYWHERE, argc, argv, p);
	if (e || !o->n_args)
		return e;
	problem_set(p, ERR_INVALID, "%s does not take the argument \"%s\"", o->program, o->args[0]);
	return problem_hint(p, "see: %s --help", o->program);
}

static int load(const struct options *o, unsigned users, struct config **ret, struct problem *p)
{
	struct config_flag *flags = xcalloc(o->n_values + 1, sizeof *flags);
	struct config_sources src;
	int e;

	config_sources_init(&src, users);
	src.file = options_get(o, "config");
	src.flags = flags;
	src.n_flags = flags_of(o, users, flags);
	e = config_load(&src, ret, p);
	free(flags);
	return e;
}

static bool log_is_set_up; /* from then on mistakes belong into the log */

static void say(bool is_warning, const char *text)
{
	if (!log_is_set_up)
		fprintf(stderr, "reeve: %s\n", text);
	else if (is_warning)
		log_warn("%s", text);
	else
		log_error("%s", text);
}

static void explain(const struct config *c, const struct problem *p)
{
	struct buf b = {0};

	for (size_t i = 0; c && i < config_problem_count(c); i++) {
		buf_reset(&b);
		config_problem_write(config_problem_at(c, i), &b);
		say(config_problem_at(c, i)->is_warning, b.p);
	}
	buf_release(&b);
	if (c)
		return;
	say(false, p->what);
	if (p->hint[0])
		fprintf(stderr, "  hint: %s\n", p->hint);
}

struct config *config_for(
    const char *program, unsigned users, int argc, char **argv, int *ret_exit_code)
{
	struct options o = {.program = program};
	struct problem p = {0};
	struct config *c = NULL;
	int e = parse(&o, users, argc, argv, &p);

	if (e == 0)
		e = load(&o, users, &c, &p);
	if (c || e)
		explain(c, &p);
	options_release(&o);
	if (e == 0)
		return c;
	config_free(c);
	*ret_exit_code = err_exit_code(e);
	return NULL;
}

void config_note_restart(const struct config *in_force, const struct config *fresh, unsigned users)
{
	for (size_t i = 0; i < n_config_keys; i++) {
		const struct config_key *k = &config_keys[i];

		if ((k->users & users) && !k->reload && config_differs(in_force, fresh, k->name))
			log_warn("%s was changed, which takes a restart", k->name);
	}
}

int config_setup_log(const struct config *c, const char *program)
{
	log_is_set_up = true;
	return log_setup(&(struct log_options){
	    .level = (enum log_level)config_enum(c, "log.level"),
	    .format = (enum log_format)config_enum(c, "log.format"),
	    .output = (enum log_output)config_enum(c, "log.output"),
	    .file = config_str(c, "log.file"),
	    .program = program,
	});
}
