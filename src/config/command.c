/* SPDX-License-Identifier: Apache-2.0 */
/* `reeve config`: what holds and where it came from; what is wrong with a file. No server needed.
 */
#include <stdio.h>
#include <string.h>

#include "config/flags.h"

const struct option_def config_show_options[] = {
    {"origin", 0, NULL, "say where each value came from", NULL, 0, NULL},
    {"config", 0, "FILE", "read this configuration file", "REEVE_CONFIG", 0, "file"},
    {"output", 'o', "FORMAT", "table or json", NULL, 0, "format"},
    {NULL},
};

const struct option_def config_check_options[] = {{NULL}};

static int complain(const struct problem *p)
{
	fprintf(stderr, "reeve: %s\n", p->what);
	if (p->hint[0])
		fprintf(stderr, "  hint: %s\n", p->hint);
	return err_exit_code(p->code);
}

/* Returns how many of them are errors. */
static size_t write_problems(const struct config *c, FILE *to)
{
	size_t wrong = 0;
	struct buf b = {0};

	for (size_t i = 0; i < config_problem_count(c); i++) {
		const struct config_problem *p = config_problem_at(c, i);

		buf_reset(&b);
		config_problem_write(p, &b);
		fprintf(to, "%s\n", b.p);
		wrong += !p->is_warning;
	}
	buf_release(&b);
	return wrong;
}

static int show(const struct options *o, struct problem *p)
{
	const char *format = options_or(o, "output", "table");
	struct config_sources src;
	struct config *c = NULL;
	struct buf b = {0};
	size_t wrong;

	if (o->n_args || (strcmp(format, "table") && strcmp(format, "json"))) {
		problem_set(
		    p, ERR_INVALID, "\"%s\" is not understood", o->n_args ? o->args[0] : format);
		problem_hint(p, "see: reeve config show --help");
		return complain(p);
	}
	config_sources_init(&src, CONFIG_FOR_ALL);
	src.file = options_get(o, "config");
	config_load(&src, &c, p);
	if (strcmp(format, "json") == 0)
		config_show_json(c, &b);
	else
		config_show(c, options_given(o, "origin"), &b);
	fputs(b.p, stdout);
	buf_release(&b);
	wrong = write_problems(c, stderr);
	config_free(c);
	return wrong ? 1 : 0;
}

static int check(const struct options *o, struct problem *p)
{
	struct config_sources src;
	struct config *c = NULL;
	const char *file;
	size_t wrong;

	if (o->n_args > 1) {
		problem_set(p, ERR_INVALID, "one file at a time, not also \"%s\"", o->args[1]);
		return complain(p);
	}
	config_sources_init(&src, CONFIG_FOR_ALL);
	src.file = o->n_args ? o->args[0] : NULL;
	config_load(&src, &c, p);
	wrong = write_problems(c, stdout);
	file = config_file(c);
	if (!wrong)
		printf("%s: nothing is wrong\n", file ? file : "no configuration file");
	config_free(c);
	return wrong ? 1 : 0;
}

static int run(const char *program, const struct option_def *table,
    int (*fn)(const struct options *, struct problem *), int argc, char **argv)
{
	struct options o = {.program = program};
	struct problem p = {0};
	int code;

	options_add_table(&o, table);
	if (options_parse(&o, OPTIONS_ANYWHERE, argc, argv, &p) != 0)
		code = complain(&p);
	else
		code = fn(&o, &p);
	options_release(&o);
	return code;
}

int config_show_command(int argc, char **argv)
{
	return run("reeve config show", config_show_options, show, argc, argv);
}

int config_check_command(int argc, char **argv)
{
	return run("reeve config check", config_check_options, check, argc, argv);
}
