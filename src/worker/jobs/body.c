/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/jobs/body.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exec/process.h"
#include "wire/text.h"
#include "worker/jobs/needs.h"

/* Behind the string that begins at i, or n. */
static size_t skip_string(struct str s, size_t i)
{
	for (i++; i < s.n && s.p[i] != '"'; i++)
		if (s.p[i] == '\\')
			i++;
	return i < s.n ? i + 1 : s.n;
}

static size_t skip_space(struct str s, size_t i)
{
	while (i < s.n && strchr(" \t\r\n", s.p[i]) && s.p[i])
		i++;
	return i;
}

/* Behind the value that begins at i: brackets are counted, strings skipped. */
static size_t skip_value(struct str s, size_t i)
{
	int depth = 0;

	if (i < s.n && s.p[i] == '"')
		return skip_string(s, i);
	for (; i < s.n; i++) {
		char c = s.p[i];

		if (c == '"')
			i = skip_string(s, i) - 1;
		else if (c == '{' || c == '[')
			depth++;
		else if ((c == '}' || c == ']') && depth > 0 && --depth == 0)
			return i + 1;
		else if (depth == 0 && (c == ',' || c == '}' || c == ']'))
			return i; /* a bare value ends where its object goes on */
	}
	return s.n;
}

static struct str trimmed(struct str s, size_t from, size_t to)
{
	while (to > from && strchr(" \t\r\n", s.p[to - 1]) && s.p[to - 1])
		to--;
	return (struct str){s.p + from, to - from};
}

struct str json_member(struct str s, const char *key)
{
	size_t i = skip_space(s, 0), end;
	struct str name;

	if (i >= s.n || s.p[i] != '{')
		return STR_NULL;
	for (i = skip_space(s, i + 1); i < s.n && s.p[i] == '"';) {
		end = skip_string(s, i);
		name = (struct str){s.p + i + 1, end - i >= 2 ? end - i - 2 : 0};
		i = skip_space(s, end);
		if (i >= s.n || s.p[i] != ':')
			return STR_NULL;
		i = skip_space(s, i + 1);
		end = skip_value(s, i);
		if (str_is(name, key))
			return end > i ? trimmed(s, i, end) : STR_NULL;
		i = skip_space(s, end);
		if (i >= s.n || s.p[i] != ',')
			return STR_NULL;
		i = skip_space(s, i + 1);
	}
	return STR_NULL;
}

void json_quote(struct buf *b, struct str text)
{
	size_t start;

	buf_add_char(b, '"');
	start = b->n;
	for (size_t i = 0; i < text.n; i++) {
		unsigned char c = (unsigned char)text.p[i];

		if (c == '"' || c == '\\')
			buf_add_char(b, '\\');
		if (c < 0x20)
			buf_printf(b, "\\u%04x", c);
		else
			buf_add_char(b, (char)c);
	}
	text_clean(b->p + start, b->n - start);
	buf_add_char(b, '"');
}

static void write_merged_env(struct str queue, struct str task, struct buf *b)
{
	json_t *all = json_loadb(queue.p, queue.n, 0, NULL);
	json_t *own = json_loadb(task.p, task.n, 0, NULL);
	char *text;

	if (all && own && json_object_update(all, own) == 0 &&
	    (text = json_dumps(all, JSON_COMPACT))) {
		buf_add_cstr(b, text);
		free(text);
	} else {
		buf_add_str(b, task);
	}
	json_decref(all);
	json_decref(own);
}

void run_write(const struct link_run *r, const struct id_space *ids, struct buf *b)
{
	struct str params = json_member(r->body, "params"), env = json_member(r->body, "env");
	char id[ID_TEXT];

	buf_add_cstr(b, "{\"id\":\"");
	buf_add_cstr(b, id_format(ids, r->task, id));
	buf_add_cstr(b, "\",\"token\":");
	buf_add_i64(b, r->token);
	buf_add_cstr(b, ",\"attempt\":");
	buf_add_i64(b, r->attempt);
	buf_add_cstr(b, ",\"max_attempts\":");
	buf_add_i64(b, r->max_attempts);
	buf_add_cstr(b, ",\"queue\":");
	json_quote(b, r->queue);
	buf_add_cstr(b, ",\"params\":");
	buf_add_str(b, params.p ? params : STR("{}"));
	if (env.p || r->env.p) {
		buf_add_cstr(b, ",\"env\":");
		if (env.p && r->env.p)
			write_merged_env(r->env, env, b);
		else
			buf_add_str(b, env.p ? env : r->env);
	}
	if (r->n_needs) {
		buf_add_cstr(b, ",\"needs\":");
		needs_write(r, ids, b);
	}
	buf_add_char(b, '}');
}

static int parse_argv(json_t *list, struct arena *a, struct command *ret, const char **ret_why)
{
	size_t n = json_array_size(list);

	*ret_why = "the task's command is not a list of strings";
	if (!json_is_array(list) || n == 0)
		return -1;
	ret->argv = arena_alloc(a, (n + 1) * sizeof *ret->argv);
	for (size_t i = 0; i < n; i++) {
		json_t *s = json_array_get(list, i);

		if (!json_is_string(s) || strlen(json_string_value(s)) != json_string_length(s))
			return -1;
		ret->argv[i] = arena_strdup(a, json_string_value(s));
	}
	ret->argv[n] = NULL;
	return 0;
}

/* A caller's own directory means something on the caller's machine only. */
static const char *directory_of(const json_t *o, const char *machine)
{
	const char *cwd = json_string_value(json_object_get(o, "cwd"));
	const char *holds_on = json_string_value(json_object_get(o, "cwd_machine"));

	return cwd && *cwd && (!holds_on || !strcmp(holds_on, machine)) ? cwd : NULL;
}

int command_parse(struct str body, const char *machine, struct arena *a, struct command *ret,
    const char **ret_why)
{
	json_t *o = json_loadb(body.p ? body.p : "", body.n, 0, NULL);
	json_t *command = json_object_get(o, "command");
	const char *cwd = directory_of(o, machine);
	int r = 0;

	*ret = (struct command){0};
	if (!json_is_object(o)) {
		*ret_why = "the task's body is not a JSON object";
		r = -1;
	} else if (cwd) {
		ret->cwd = arena_strdup(a, cwd);
	}
	if (r == 0 && command)
		r = parse_argv(command, a, ret, ret_why);
	json_decref(o);
	return r;
}

static int add_json_env(struct env *e, struct str text, const char **ret_why)
{
	json_t *o, *v;
	const char *name;
	int r = 0;

	if (!text.p)
		return 0;
	o = json_loadb(text.p, text.n, 0, NULL);
	*ret_why = "an environment is not a JSON object of strings";
	if (!json_is_object(o))
		r = -1;
	json_object_foreach(o, name, v)
	{
		struct str value = {json_string_value(v), json_string_length(v)};

		if (!json_is_string(v) || !env_set(e, str_of(name), value))
			r = -1;
	}
	json_decref(o);
	return r;
}

static void add_number(struct env *e, const char *name, int64_t n)
{
	char text[32];

	snprintf(text, sizeof text, "%" PRId64, n);
	env_set(e, str_of(name), str_of(text));
}

int run_env(const struct link_run *r, const struct id_space *ids, const char *const *plugin_env,
    const char *worker, const char *lock, struct env *e, const char **ret_why)
{
	char id[ID_TEXT];

	for (; plugin_env && *plugin_env; plugin_env++) {
		struct str rest = str_of(*plugin_env), name;

		if (str_next(&rest, '=', &name))
			env_set(e, name, rest);
	}
	if (r && (add_json_env(e, r->env, ret_why) < 0 ||
	             add_json_env(e, json_member(r->body, "env"), ret_why) < 0))
		return -1;
	if (r) {
		env_set(e, STR("REEVE_TASK_ID"), str_of(id_format(ids, r->task, id)));
		add_number(e, "REEVE_ATTEMPT", r->attempt);
		add_number(e, "REEVE_TASK_TOKEN", r->token);
		env_set(e, STR("REEVE_TASK_QUEUE"), r->queue);
	}
	env_set(e, STR("REEVE_WORKER"), str_of(worker));
	env_set(e, STR(EXEC_LOCK_VARIABLE), str_of(lock));
	return 0;
}
