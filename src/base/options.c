/* SPDX-License-Identifier: Apache-2.0 */
/* The parser behind option tables. Every complaint names the nearest thing that exists. */
#include "base/options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"

#define NAMES_MAX 128

void options_release(struct options *o)
{
	free(o->values);
	free(o->args);
	*o = (struct options){0};
}

void options_add_table(struct options *o, const struct option_def *table)
{
	if (!table)
		return;
	MUST(o->n_tables < OPTION_TABLES_MAX);
	o->tables[o->n_tables++] = table;
}

static void add_value(struct options *o, const struct option_def *def, const char *value)
{
	GROW(o->values, o->values_cap, o->n_values + 1);
	o->values[o->n_values++] = (struct option_value){def, value};
}

static void add_arg(struct options *o, const char *arg)
{
	GROW(o->args, o->args_cap, o->n_args + 1);
	o->args[o->n_args++] = arg;
}

const struct option_def *options_find(const struct options *o, struct str name, bool *ret_negated)
{
	*ret_negated = false;
	for (int pass = 0; pass < 2; pass++) {
		for (size_t t = 0; t < o->n_tables; t++)
			for (const struct option_def *d = o->tables[t]; d->name; d++)
				if (str_is(name, d->name) && (pass == 0 || !d->arg)) {
					*ret_negated = pass == 1;
					return d;
				}
		if (!str_starts(name, "no-"))
			return NULL;
		name = (struct str){name.p + 3, name.n - 3};
	}
	return NULL;
}

static const struct option_def *find_letter(const struct options *o, char letter)
{
	for (size_t t = 0; t < o->n_tables; t++)
		for (const struct option_def *d = o->tables[t]; d->name; d++)
			if (d->letter == letter)
				return d;
	return NULL;
}

static void hint_help(const struct options *o, struct problem *p)
{
	if (o->program)
		problem_hint(p, "`%s --help` lists the options", o->program);
}

/* Another word for one that is there. */
static const char *synonym(const struct options *o, struct str name)
{
	char text[64];
	const char *meant;
	bool negated;

	if (!o->meant || name.n >= sizeof text)
		return NULL;
	snprintf(text, sizeof text, STR_FMT, STR_ARG(name));
	meant = o->meant(o->program ? o->program : "", text);
	return meant && options_find(o, str_of(meant), &negated) ? meant : NULL;
}

static int unknown(const struct options *o, struct str name, struct problem *p)
{
	const char *names[NAMES_MAX] = {0};
	const char *near;
	size_t n = 0;

	for (size_t t = 0; t < o->n_tables; t++)
		for (const struct option_def *d = o->tables[t]; d->name && n < NAMES_MAX; d++)
			if (!(d->flags & OPTION_HIDDEN))
				names[n++] = d->name;
	near = synonym(o, name);
	if (!near)
		near = str_nearest(name, names, n);
	for (size_t i = 0; !near && i < n; i++) /* --token was meant to be --token-file */
		if (name.n > 2 && !strncmp(names[i], name.p, name.n))
			near = names[i];
	problem_set(p, ERR_INVALID, "there is no option --" STR_FMT, STR_ARG(name));
	if (near)
		problem_hint(p, "did you mean --%s?", near);
	else
		hint_help(o, p);
	return ERR_INVALID;
}

static int needs_value(const struct options *o, const struct option_def *d, struct problem *p)
{
	problem_set(p, ERR_INVALID, "--%s needs a value: %s", d->name, d->arg);
	hint_help(o, p);
	return ERR_INVALID;
}

/* Takes the option at argv[0]; *used says how many words it took. */
static int take_long(struct options *o, int argc, char **argv, int *used, struct problem *p)
{
	const char *text = argv[0] + 2, *equals = strchr(text, '=');
	struct str name = {text, equals ? (size_t)(equals - text) : strlen(text)};
	bool negated;
	const struct option_def *d = options_find(o, name, &negated);

	*used = 1;
	if (!d)
		return unknown(o, name, p);
	if (!d->arg) {
		if (equals)
			return problem_set(
			    p, ERR_INVALID, "--" STR_FMT " takes no value", STR_ARG(name));
		add_value(o, d, negated ? "false" : "true");
	} else if (equals || d->flags & OPTION_MAYBE) {
		add_value(o, d, equals ? equals + 1 : "");
	} else {
		if (argc < 2 || !strcmp(argv[1], "--"))
			return needs_value(o, d, p);
		*used = 2;
		add_value(o, d, argv[1]);
	}
	return 0;
}

static int take_short(struct options *o, int argc, char **argv, int *used, struct problem *p)
{
	*used = 1;
	for (const char *at = argv[0] + 1; *at; at++) {
		const struct option_def *d = find_letter(o, *at);

		if (!d) {
			problem_set(p, ERR_INVALID, "there is no option -%c", *at);
			hint_help(o, p);
			return ERR_INVALID;
		}
		if (!d->arg) {
			add_value(o, d, "true");
			continue;
		}
		if (at[1] || d->flags & OPTION_MAYBE) {
			add_value(o, d, at[1] == '=' ? at + 2 : at + 1);
			return 0;
		}
		if (argc < 2)
			return needs_value(o, d, p);
		*used = 2;
		add_value(o, d, argv[1]);
		return 0;
	}
	return 0;
}

static bool is_option(const char *word)
{
	return word[0] == '-' && word[1];
}

static int take(struct options *o, int argc, char **argv, int *used, struct problem *p)
{
	if (argv[0][1] == '-')
		return take_long(o, argc, argv, used, p);
	return take_short(o, argc, argv, used, p);
}

int options_parse(
    struct options *o, enum options_mode mode, int argc, char **argv, struct problem *ret_problem)
{
	int i = 0, used, r;

	while (i < argc) {
		if (!strcmp(argv[i], "--")) {
			o->has_dashes = true;
			o->dashes_at = o->n_args;
			i++;
			break;
		}
		if (is_option(argv[i])) {
			r = take(o, argc - i, argv + i, &used, ret_problem);
			if (r < 0)
				return r;
			i += used;
			continue;
		}
		if (mode == OPTIONS_FIRST)
			break;
		add_arg(o, argv[i++]);
	}
	while (i < argc)
		add_arg(o, argv[i++]);
	return 0;
}

int options_parse_leading(
    struct options *o, int argc, char **argv, int *ret_used, struct problem *ret_problem)
{
	int i = 0, used, r;

	while (i < argc && is_option(argv[i]) && strcmp(argv[i], "--")) {
		r = take(o, argc - i, argv + i, &used, ret_problem);
		if (r < 0)
			return r;
		i += used;
	}
	*ret_used = i;
	return 0;
}

static const struct option_def *must_find(const struct options *o, const char *name)
{
	bool negated;
	const struct option_def *d = options_find(o, str_of(name), &negated);

	MUST(d != NULL);
	return d;
}

static const char *given(const struct options *o, const struct option_def *d)
{
	for (size_t i = o->n_values; i > 0; i--)
		if (o->values[i - 1].def == d)
			return o->values[i - 1].value;
	return NULL;
}

static const char *from_env(const struct option_def *d)
{
	const char *value = d->env ? getenv(d->env) : NULL;

	return value && *value ? value : NULL;
}

const char *options_get(const struct options *o, const char *name)
{
	const struct option_def *d = must_find(o, name);
	const char *value = given(o, d);

	return value ? value : from_env(d);
}

const char *options_or(const struct options *o, const char *name, const char *fallback)
{
	const char *value = options_get(o, name);

	return value ? value : fallback;
}

bool options_given(const struct options *o, const char *name)
{
	return given(o, must_find(o, name)) != NULL;
}

bool options_switch(const struct options *o, const char *name, bool fallback)
{
	const char *value = options_get(o, name);

	if (!value)
		return fallback;
	return strcasecmp(value, "false") && strcasecmp(value, "no") && strcmp(value, "0");
}

const char *options_next(const struct options *o, const char *name, size_t *at)
{
	const struct option_def *d = must_find(o, name);

	while (*at < o->n_values) {
		const struct option_value *v = &o->values[(*at)++];

		if (v->def == d)
			return v->value;
	}
	if (*at == o->n_values && !given(o, d)) {
		++*at;
		return from_env(d);
	}
	return NULL;
}

const char *options_origin(const struct options *o, const char *name)
{
	const struct option_def *d = must_find(o, name);

	if (given(o, d))
		return "flag";
	return from_env(d) ? "environment" : NULL;
}

int options_i64(const struct options *o, const char *name, int64_t min, int64_t max, int64_t *ret,
    struct problem *ret_problem)
{
	const char *value = options_get(o, name);

	if (!value || str_to_i64(str_of(value), min, max, ret))
		return 0;
	problem_set(ret_problem, ERR_INVALID,
	    "--%s: \"%.64s\" is not a whole number from %lld to %lld", name, value, (long long)min,
	    (long long)max);
	return problem_field(ret_problem, name), ERR_INVALID;
}

int options_duration(
    const struct options *o, const char *name, int64_t *ret_ms, struct problem *ret_problem)
{
	const char *value = options_get(o, name);

	if (!value || str_to_duration_ms(str_of(value), ret_ms))
		return 0;
	problem_set(ret_problem, ERR_INVALID, "--%s: \"%.64s\" is not a duration", name, value);
	problem_hint(ret_problem, "write it like 250ms, 30s, 5m, 2h or 1d");
	return problem_field(ret_problem, name), ERR_INVALID;
}

void option_format(const struct option_def *def, struct buf *out)
{
	if (def->letter)
		buf_printf(out, "-%c, ", def->letter);
	buf_printf(out, "--%s", def->name);
	if (def->arg)
		buf_printf(out, def->flags & OPTION_MAYBE ? "[=%s]" : " %s", def->arg);
}
