/* SPDX-License-Identifier: Apache-2.0 */
#include "config/flags.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

static const struct option_def config_option[] = {
    {"config", 0, "FILE", "read this configuration file", "REEVE_CONFIG", 0, "file"},
    {NULL},
};

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
	struct option_def *table = xcalloc(n_config_keys + 1, sizeof *table);
	size_t n = 0;

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

static size_t flags_of(const struct options *o, const struct option_def *table, unsigned users,
    struct config_flag *ret)
{
	size_t n = 0;

	for (size_t i = 0; i < o->n_values; i++) {
		const struct option_def *d = o->values[i].def;
		const struct config_key *k;

		if (d < table || !(k = config_key_by_flag(d->name, users)))
			continue;
		ret[n++] = (struct config_flag){k->name, o->values[i].value};
	}
	return n;
}

static int no_arguments(const struct options *o, const char *program, struct problem *ret_problem)
{
	if (!o->n_args)
		return 0;
	problem_set(
	    ret_problem, ERR_INVALID, "%s does not take the argument \"%s\"", program, o->args[0]);
	return problem_hint(ret_problem, "see: %s --help", program);
}

int config_from_argv(const char *program, unsigned users, int argc, char **argv,
    struct config **ret, struct problem *ret_problem)
{
	const struct option_def *table = config_options(users);
	struct options o = {.program = program};
	struct config_sources src;
	struct config_flag *flags;
	int e;

	*ret = NULL;
	options_add_table(&o, config_option);
	options_add_table(&o, table);
	e = options_parse(&o, OPTIONS_ANYWHERE, argc, argv, ret_problem);
	if (e == 0)
		e = no_arguments(&o, program, ret_problem);
	if (e == 0) {
		flags = xcalloc(o.n_values + 1, sizeof *flags);
		config_sources_init(&src, users);
		src.file = options_get(&o, "config");
		src.flags = flags;
		src.n_flags = flags_of(&o, table, users, flags);
		e = config_load(&src, ret, ret_problem);
		free(flags);
	}
	options_release(&o);
	return e;
}

void config_print_problems(const struct config *c)
{
	struct buf b = {0};

	for (size_t i = 0; i < config_problem_count(c); i++) {
		const struct config_problem *p = config_problem_at(c, i);

		buf_reset(&b);
		config_problem_write(p, &b);
		fprintf(stderr, "reeve: %s%s\n", p->is_warning ? "warning: " : "", b.p);
	}
	buf_release(&b);
}
