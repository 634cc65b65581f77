/* SPDX-License-Identifier: Apache-2.0 */
/* Loading: files, then the environment, then flags, then defaults for what is still open. */
#include "config/config.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "config/internal.h"

extern char **environ;

void config_sources_init(struct config_sources *ret_sources, unsigned users)
{
	*ret_sources = (struct config_sources){
	    .environment = (const char *const *)environ,
	    .users = users,
	    .uid = geteuid(),
	};
}

const char *source_env(const struct config_sources *src, const char *name)
{
	size_t n = strlen(name);

	for (const char *const *e = src->environment; e && *e; e++)
		if (!strncmp(*e, name, n) && (*e)[n] == '=')
			return (*e)[n + 1] ? *e + n + 1 : NULL;
	return NULL;
}

/* One that depends on where somebody happens to stand leads each time somewhere else. */
static void refuse_relative_home(struct config *c)
{
	const char *home = source_env(&c->src, "HOME");
	struct where w = {.name = "HOME"};

	if (!home || home[0] == '/')
		return;
	report(c, &w, "\"%s\" is not an absolute path", report_quote(c, str_of(home)));
	report_hint(c, "set it to the user's home directory, or unset it");
}

const char *source_home(const struct config *c)
{
	const char *home = source_env(&c->src, "HOME");

	return home && home[0] == '/' ? home : NULL;
}

static void apply_env(struct config *c)
{
	for (size_t i = 0; i < n_config_keys; i++) {
		const struct config_key *k = &config_keys[i];
		const char *text = source_env(&c->src, k->env);
		struct where w = {.name = k->env, .layer = LAYER_ENV, .users = k->users};
		struct value v = {.layer = LAYER_ENV, .origin = k->env};

		if (!text)
			continue;
		if (!value_from_text(c, &w, k, str_of(text), &v)) {
			value_release(&v);
			continue;
		}
		value_release(&c->values[i]);
		c->values[i] = v;
	}
}

/* Silence about a timeout that no longer holds would be worse than a refusal. */
static void refuse_renamed_env(struct config *c)
{
	const struct config_renamed *r;

	for (size_t i = 0; (r = config_renamed_at(i)); i++) {
		const struct config_key *k = config_key_find(str_of(r->name));
		struct where w = {.name = r->old_env, .users = k->users};

		if (!source_env(&c->src, r->old_env))
			continue;
		report(c, &w, "this variable is now %s", k->env);
		report_hint(c, "%s", r->note);
	}
}

/* The variable of this section that was most likely meant; NULL: it is one, or nobody can tell. */
static const char *meant_variable(const char *section, struct str name)
{
	const char **names = xcalloc(n_config_keys, sizeof *names);
	size_t n = 0, prefix = strlen(section);
	struct str rest = {name.p + prefix, name.n - prefix};
	const char *near = NULL;
	bool known = false;

	for (size_t i = 0; i < n_config_keys; i++) {
		const char *env = config_keys[i].env;

		known |= str_is(name, env);
		if (!strncmp(env, section, prefix))
			names[n++] = env + prefix;
	}
	if (!known && rest.n <= 64)
		near = str_nearest(rest, names, n);
	free(names);
	return near ? near - prefix : NULL;
}

/*
 * Only what looks misspelt: tasks find other REEVE_ variables in their environment, and they too
 * may call the command line.
 */
static void warn_misspelt_env(struct config *c)
{
	static const char *const sections[] = {"REEVE_SERVER_", "REEVE_WORKER_", "REEVE_LOG_"};

	for (const char *const *e = c->src.environment; e && *e; e++) {
		struct str name = {*e, strcspn(*e, "=")};

		for (size_t i = 0; i < sizeof sections / sizeof sections[0]; i++) {
			const char *meant = str_starts(name, sections[i])
			                        ? meant_variable(sections[i], name)
			                        : NULL;
			struct where w = {.name = meant ? report_quote(c, name) : ""};

			if (!meant)
				continue;
			report_warning(c, &w, "there is no such setting");
			report_hint(c, "did you mean %s?", meant);
		}
	}
}

/* A list's or object's flag given again adds to what it gave before. */
static void join(struct config *c, struct value *old, struct value *v)
{
	const char **list;

	if (v->json && old->json) {
		json_t *both = json_incref(old->json);

		json_object_update(both, v->json);
		json_decref(v->json);
		v->json = both;
	}
	if (v->n_list && old->n_list) {
		list = arena_alloc(&c->arena, (old->n_list + v->n_list) * sizeof *list);
		memcpy(list, old->list, old->n_list * sizeof *list);
		memcpy(list + old->n_list, v->list, v->n_list * sizeof *list);
		v->list = list;
		v->n_list += old->n_list;
	}
}

static void apply_flag(struct config *c, const struct config_flag *f)
{
	const struct config_key *k = config_key_find(str_of(f->key));
	struct value v = {.layer = LAYER_FLAG}, *old;
	struct where w = {.layer = LAYER_FLAG};

	MUST(k != NULL && f->text != NULL);
	v.origin = arena_printf(&c->arena, "--%s", k->flag ? k->flag : k->name);
	w.name = v.origin;
	w.users = k->users;
	old = &c->values[config_key_index(k)];
	if (!value_from_text(c, &w, k, str_of(f->text), &v)) {
		value_release(&v);
		return;
	}
	if (old->layer == LAYER_FLAG)
		join(c, old, &v);
	value_release(old);
	*old = v;
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Every list ends with NULL, and a map has its list of "key=value". */
static void finish_list(struct config *c, struct value *v)
{
	size_t n = v->json ? json_object_size(v->json) : v->n_list;
	const char **list = arena_zalloc(&c->arena, (n + 1) * sizeof *list);
	const char *key;
	json_t *item;

	if (v->n_list)
		memcpy(list, v->list, v->n_list * sizeof *list);
	v->list = list;
	if (!v->json)
		return;
	v->n_list = 0;
	json_object_foreach(v->json, key, item) list[v->n_list++] =
	    arena_printf(&c->arena, "%s=%s", key, json_string_value(item));
	qsort(list, v->n_list, sizeof *list, by_text);
}

static void finish_lists(struct config *c)
{
	for (size_t i = 0; i < n_config_keys; i++) {
		enum config_type t = config_keys[i].type;

		if (c->values[i].layer && (t == KEY_LIST || t == KEY_ADDRESSES || t == KEY_MAP))
			finish_list(c, &c->values[i]);
	}
}

static int conclude(struct config *c, struct problem *ret_problem)
{
	struct buf b = {0};
	size_t i = 0;

	if (c->n_problems > PROBLEMS_MAX)
		c->problems[PROBLEMS_MAX] = (struct config_problem){
		    .place = "configuration", .what = "further problems are not shown"};
	if (!c->n_errors)
		return 0;
	while (i + 1 < c->n_problems && c->problems[i].is_warning)
		i++;
	config_problem_write(&(struct config_problem){.place = c->problems[i].place,
	                         .line = c->problems[i].line,
	                         .what = c->problems[i].what},
	    &b);
	problem_set(ret_problem, c->first_code, "%s", b.p);
	if (c->problems[i].hint)
		problem_hint(ret_problem, "%s", c->problems[i].hint);
	buf_release(&b);
	return c->first_code;
}

int config_load(const struct config_sources *src, struct config **ret, struct problem *ret_problem)
{
	struct config *c = xcalloc(1, sizeof *c);

	c->src = *src;
	if (!c->src.users)
		c->src.users = CONFIG_FOR_ALL;
	c->values = xcalloc(n_config_keys, sizeof *c->values);
	refuse_relative_home(c);
	files_load(c);
	apply_env(c);
	refuse_renamed_env(c);
	warn_misspelt_env(c);
	for (size_t i = 0; i < src->n_flags; i++)
		apply_flag(c, &src->flags[i]);
	defaults_apply(c);
	finish_lists(c);
	plugins_build(c);
	rules_check(c);
	*ret = c;
	return conclude(c, ret_problem);
}

void config_free(struct config *c)
{
	if (!c)
		return;
	for (size_t i = 0; i < n_config_keys; i++)
		value_release(&c->values[i]);
	free(c->values);
	free(c->problems);
	arena_release(&c->arena);
	free(c);
}
