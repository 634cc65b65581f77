/* SPDX-License-Identifier: Apache-2.0 */
/* worker.plugins: name -> {exec, mode, processes, env, recycle_after, recycle_memory}. */
#include <string.h>

#include "base/mem.h"
#include "config/internal.h"
#include "model/limits.h"
#include "model/objects/queue.h"

#define ARGS_MAX 256
#define PROCESSES_MAX 4096

struct plugin_check {
	struct config *c;
	struct where w;   /* of the member under the lens */
	const char *name; /* of the plugin, fit for messages */
	bool good;
};

static void wrong(struct plugin_check *at, const char *member, const char *what)
{
	report(at->c, &at->w, "worker.plugins: %s of \"%s\" %s", member, at->name, what);
	at->good = false;
}

static bool is_argument(const json_t *json)
{
	return json_is_string(json) && json_string_length(json) <= 4096;
}

static void check_exec(struct plugin_check *at, json_t *exec)
{
	json_t *first = json_is_array(exec) ? json_array_get(exec, 0) : exec;
	const char *path;

	if (!is_argument(first) || !json_string_length(first)) {
		wrong(at, "exec", "must be a list: the program, then its arguments");
		return;
	}
	path = json_string_value(first);
	if (strchr(path, '/') && path[0] != '/') {
		wrong(at, "exec", "must be an absolute path, or a bare name that PATH finds");
		return;
	}
	for (size_t i = 0; i < json_array_size(exec); i++)
		if (!is_argument(json_array_get(exec, i)) || i >= ARGS_MAX) {
			wrong(at, "exec", "must hold at most 256 strings");
			return;
		}
}

static void check_mode(struct plugin_check *at, json_t *mode)
{
	const char *s = json_string_value(mode);

	if (!s || (strcmp(s, "once") && strcmp(s, "persistent")))
		wrong(at, "mode", "must be \"once\" or \"persistent\"");
}

static void check_processes(struct plugin_check *at, json_t *n)
{
	if (!json_is_integer(n) || json_integer_value(n) < 1 ||
	    json_integer_value(n) > PROCESSES_MAX)
		wrong(at, "processes", "must be a whole number from 1 to 4096");
}

static void check_recycle(struct plugin_check *at, json_t *n)
{
	if (!json_is_integer(n) || json_integer_value(n) < 0 || json_integer_value(n) > INT32_MAX)
		wrong(at, "recycle_after", "must be a number of tasks; 0: never");
}

/* A number of bytes, or a text such as "512M". False: neither. */
static bool bytes_of(const json_t *v, int64_t *ret_bytes)
{
	*ret_bytes = json_integer_value(v);
	if (json_is_string(v))
		return str_to_bytes(str_of(json_string_value(v)), ret_bytes);
	return !v || (json_is_integer(v) && *ret_bytes >= 0);
}

static void check_memory(struct plugin_check *at, json_t *v)
{
	int64_t bytes;

	if (!bytes_of(v, &bytes))
		wrong(at, "recycle_memory", "must be a size such as \"512M\"; 0: never");
}

static void check_env(struct plugin_check *at, json_t *env)
{
	const char *key;
	json_t *item;

	if (!json_is_object(env)) {
		wrong(at, "env", "must be an object of strings");
		return;
	}
	json_object_foreach(env, key, item) if (!*key || strchr(key, '=') || !json_is_string(item))
	{
		wrong(at, "env", "must be an object of strings, with no = in the names");
		return;
	}
}

static const struct {
	const char *name;
	void (*check)(struct plugin_check *, json_t *);
} members[] = {
    {"exec", check_exec},
    {"mode", check_mode},
    {"processes", check_processes},
    {"recycle_after", check_recycle},
    {"recycle_memory", check_memory},
    {"env", check_env},
};
#define N_MEMBERS (sizeof members / sizeof members[0])

static void check_unknown(struct plugin_check *at, const char *key)
{
	const char *names[N_MEMBERS];
	const char *near;

	for (size_t i = 0; i < N_MEMBERS; i++)
		names[i] = members[i].name;
	near = strlen(key) <= 64 ? str_nearest(str_of(key), names, N_MEMBERS) : NULL;
	report(at->c, &at->w, "unknown key \"%s\" in plugin \"%s\"",
	    report_quote(at->c, str_of(key)), at->name);
	if (near)
		report_hint(at->c, "did you mean \"%s\"?", near);
	at->good = false;
}

static void check_members(struct plugin_check *at, json_t *plugin)
{
	uint64_t path = at->w.path;
	const char *key;
	json_t *item;
	size_t i;

	json_object_foreach(plugin, key, item)
	{
		at->w.path = path_key(path, str_of(key));
		for (i = 0; i < N_MEMBERS && strcmp(members[i].name, key); i++)
			;
		if (i < N_MEMBERS)
			members[i].check(at, item);
		else
			check_unknown(at, key);
	}
	at->w.path = path;
}

static bool check_name(struct plugin_check *at, const char *name)
{
	if (!*name || strlen(name) > NAME_MAX_BYTES || strpbrk(name, " \t\r\n\"/")) {
		report(at->c, &at->w, "worker.plugins: \"%s\" cannot be a plugin's name", at->name);
		return false;
	}
	if (!strcmp(name, PLUGIN_COMMAND)) {
		report(at->c, &at->w, "worker.plugins: \"%s\" is the built-in plugin", name);
		report_hint(at->c, "allow or forbid it by worker.allow_commands");
		return false;
	}
	return true;
}

bool plugins_check(
    struct config *c, const struct where *w, const struct config_key *k, json_t *json)
{
	struct plugin_check at = {.c = c, .good = true};
	const char *name;
	json_t *plugin;

	if (json_object_size(json) > PLUGINS_MAX) {
		report(c, w, "%s has more than %d plugins", k->name, PLUGINS_MAX);
		return false;
	}
	json_object_foreach(json, name, plugin)
	{
		at.name = report_quote(c, str_of(name));
		at.w = *w;
		at.w.path = path_key(w->path, str_of(name));
		if (!check_name(&at, name)) {
			at.good = false;
			continue;
		}
		if (json_is_object(plugin) && json_object_get(plugin, "exec")) {
			check_members(&at, plugin);
			continue;
		}
		report(c, &at.w, "worker.plugins: \"%s\" does not say what to run", at.name);
		report_hint(c, "write {\"exec\": [\"/path/to/program\"]}");
		at.good = false;
	}
	return at.good;
}

static const char *const *argv_of(struct config *c, json_t *exec, size_t *ret_n)
{
	size_t n = json_is_array(exec) ? json_array_size(exec) : 1;
	const char **argv = arena_zalloc(&c->arena, (n + 1) * sizeof *argv);

	for (size_t i = 0; i < n; i++)
		argv[i] = arena_strdup(&c->arena,
		    json_string_value(json_is_array(exec) ? json_array_get(exec, i) : exec));
	*ret_n = n;
	return argv;
}

static const char *const *env_of(struct config *c, json_t *env, size_t *ret_n)
{
	const char **list = arena_zalloc(&c->arena, (json_object_size(env) + 1) * sizeof *list);
	const char *key;
	json_t *item;

	*ret_n = 0;
	json_object_foreach(env, key, item) list[(*ret_n)++] =
	    arena_printf(&c->arena, "%s=%s", key, json_string_value(item));
	return list;
}

void plugins_build(struct config *c)
{
	json_t *json = config_value(c, "worker.plugins")->json, *plugin;
	const char *name;

	c->plugins = arena_zalloc(&c->arena, (json_object_size(json) + 1) * sizeof *c->plugins);
	json_object_foreach(json, name, plugin)
	{
		const char *mode = json_string_value(json_object_get(plugin, "mode"));
		struct config_plugin *p = &c->plugins[c->n_plugins++];

		p->name = arena_strdup(&c->arena, name);
		p->argv = argv_of(c, json_object_get(plugin, "exec"), &p->argc);
		p->is_persistent = mode && !strcmp(mode, "persistent");
		p->processes = (int)json_integer_value(json_object_get(plugin, "processes"));
		p->recycle_after =
		    (int)json_integer_value(json_object_get(plugin, "recycle_after"));
		bytes_of(json_object_get(plugin, "recycle_memory"), &p->recycle_memory);
		p->env = env_of(c, json_object_get(plugin, "env"), &p->n_env);
	}
}

size_t config_plugin_count(const struct config *c)
{
	return c->n_plugins;
}

const struct config_plugin *config_plugin_at(const struct config *c, size_t i)
{
	MUST(i < c->n_plugins);
	return &c->plugins[i];
}
