/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The hot path of bulk submits: one line, one task, no allocation but the parser's own. The body
 * (command or action, env, cwd, params, run) is kept as compact JSON text that nobody has to parse
 * again here.
 */
#include "api/tasks/task_in.h"

#include <stdio.h>
#include <string.h>

#include "api/frame/json_out.h"
#include "base/mem.h"
#include "model/limits.h"
#include "model/lines.h"
#include "wire/json/action.h"
#include "wire/json/json_in.h"
#include "wire/json/need.h"
#include "wire/json/settings.h"

#define CWD_MAX 4096

struct taking {
	struct task_in *in;
	struct submit_task *task;
	json_t *command, *action, *env, *params, *run;
	struct str cwd, cwd_machine;
	bool named; /* the task names a queue */
};

static int set_queue(json_t *v, const char *field, void *arg, struct problem *p)
{
	struct taking *t = arg;
	struct str name;

	if (json_in_str(v, field, NAME_MAX_BYTES, &name, p))
		return ERR_INVALID;
	if (name.n == 0)
		return name_check(name, field, p);
	t->named = true;
	t->in->queue = str_eq(name, t->in->queue) ? t->in->queue : arena_str(t->in->arena, name);
	return 0;
}

static int element_problem(const char *field, size_t i, const char *what, struct problem *p)
{
	char place[64];

	snprintf(place, sizeof place, "%s[%zu]", field, i);
	problem_set(p, ERR_INVALID, "%s", what);
	return problem_field(p, place);
}

static int set_command(json_t *v, const char *field, void *arg, struct problem *p)
{
	struct taking *t = arg;
	json_t *word;
	size_t i;

	if (!json_is_array(v)) {
		json_in_wrong(v, field, "an array of strings", p);
		if (json_is_string(v))
			problem_hint(p, "for a shell line write [\"sh\",\"-c\",\"…\"]");
		return ERR_INVALID;
	}
	if (json_array_size(v) == 0 ||
	    (json_is_string(json_array_get(v, 0)) && json_string_length(json_array_get(v, 0)) == 0))
		return element_problem(field, 0, "\"command\" names no program", p);
	json_array_foreach(v, i, word)
	{
		if (!json_is_string(word))
			return element_problem(
			    field, i, "every part of \"command\" is a string", p);
	}
	t->command = v;
	return 0;
}

/* Understood here already, so that who submits it is told what is wrong with it. */
static int check_action(json_t *v, const char *field, struct problem *p)
{
	struct arena a = {0};
	struct action *tree;
	int r = json_in_object(v, field, p) ? ERR_INVALID : action_parse(v, &a, &tree, p);

	arena_release(&a);
	return r;
}

static int set_action(json_t *v, const char *field, void *arg, struct problem *p)
{
	((struct taking *)arg)->action = v;
	return check_action(v, field, p);
}

static int set_params(json_t *v, const char *field, void *arg, struct problem *p)
{
	struct taking *t = arg;

	if (json_in_object(v, field, p) || json_in_depth(v, field, p))
		return ERR_INVALID;
	t->params = v;
	return 0;
}

static int strings_check(json_t *v, const char *field, struct problem *p)
{
	const char *key;
	json_t *value;
	char place[64];

	if (json_in_object(v, field, p))
		return ERR_INVALID;
	json_object_foreach(v, key, value)
	{
		snprintf(place, sizeof place, "%s.%s", field, key);
		if (!json_is_string(value))
			return json_in_wrong(value, place, "a string", p);
		if (*key == 0 || strchr(key, '=')) {
			problem_set(p, ERR_INVALID,
			    "a name in \"%s\" is empty or holds an equals sign", field);
			return problem_field(p, place);
		}
	}
	return 0;
}

static int fits(const struct buf *out, const char *field, struct problem *p)
{
	if (out->n <= TASK_BODY_MAX)
		return 0;
	problem_set(p, ERR_TOO_LARGE, "\"%s\" has %zu bytes; at most %u are allowed", field, out->n,
	    TASK_BODY_MAX);
	return problem_field(p, field);
}

int env_in(json_t *v, const char *field, struct buf *out, struct problem *p)
{
	if (strings_check(v, field, p))
		return ERR_INVALID;
	jw_value(out, v);
	return fits(out, field, p);
}

static int run_check(const json_t *v, struct problem *p)
{
	AUTO(arena_release) struct arena a = {0};
	struct run_settings settings;

	run_settings_default(&settings);
	return settings_parse(v, &a, &settings, p);
}

int run_in(json_t *v, const char *field, struct buf *out, struct problem *p)
{
	if (json_is_null(v))
		return 0;
	if (run_check(v, p))
		return ERR_INVALID;
	if (json_object_size(v))
		jw_value(out, v);
	return fits(out, field, p);
}

static int set_run(json_t *v, const char *field, void *arg, struct problem *p)
{
	if (json_is_null(v))
		return 0;
	((struct taking *)arg)->run = json_is_object(v) && json_object_size(v) == 0 ? NULL : v;
	return run_check(v, p);
}

static int set_env(json_t *v, const char *field, void *arg, struct problem *p)
{
	((struct taking *)arg)->env = v;
	return strings_check(v, field, p);
}

static int set_cwd(json_t *v, const char *field, void *arg, struct problem *p)
{
	struct taking *t = arg;

	if (json_in_str(v, field, CWD_MAX, &t->cwd, p))
		return ERR_INVALID;
	if (t->cwd.n && t->cwd.p[0] == '/')
		return 0;
	problem_set(p, ERR_INVALID, "\"%s\" is not an absolute path", field);
	problem_hint(p, "begin it with /: the task runs on some worker, not where you are");
	return problem_field(p, field);
}

static int set_stdin(json_t *v, const char *field, void *arg, struct problem *p)
{
	if (json_is_string(v) && strcmp(json_string_value(v), "stream") == 0) {
		((struct taking *)arg)->task->spec.is_streamed = true;
		return 0;
	}
	problem_set(p, ERR_INVALID, "\"%s\" can only be \"stream\"", field);
	problem_hint(p, "a text that is known already goes into \"run\": {\"input\": …}");
	return problem_field(p, field);
}

/* The directory of a caller who did not name one: elsewhere it means nothing. */
static int set_cwd_machine(json_t *v, const char *field, void *arg, struct problem *p)
{
	return json_in_str(v, field, NAME_MAX_BYTES, &((struct taking *)arg)->cwd_machine, p);
}

static int set_priority(json_t *v, const char *field, void *arg, struct problem *p)
{
	int64_t n = 0;
	int rc = json_in_int(v, field, -PRIORITY_MAX, PRIORITY_MAX, &n, p);

	((struct taking *)arg)->task->spec.priority = (int32_t)n;
	return rc;
}

static int set_run_after(json_t *v, const char *field, void *arg, struct problem *p)
{
	struct taking *t = arg;
	int64_t *at = &t->task->spec.run_after_ms;

	if (json_in_time(v, field, t->in->now_ms, 1, at, p))
		return ERR_INVALID;
	if (*at < 0 || *at > t->in->now_ms + DURATION_MAX_MS) {
		problem_set(p, ERR_INVALID, "\"%s\" must lie within the next ten years", field);
		return problem_field(p, field);
	}
	if (*at <= t->in->now_ms)
		*at = 0;
	return 0;
}

static int set_timeout(json_t *v, const char *field, void *arg, struct problem *p)
{
	int64_t *ms = &((struct taking *)arg)->task->spec.timeout_ms;
	int rc = json_is_null(v) ? 0 : json_in_duration(v, field, ms, p);

	if (*ms == 0)
		*ms = -1; /* said to be none, unlike one not given */
	return rc;
}

static int set_attempts(json_t *v, const char *field, void *arg, struct problem *p)
{
	int64_t n = 0;
	int rc = json_in_int(v, field, 1, ATTEMPTS_MAX, &n, p);

	((struct taking *)arg)->task->spec.max_attempts = (int32_t)n;
	return rc;
}

static int set_backoff(json_t *v, const char *field, void *arg, struct problem *p)
{
	return json_in_duration(v, field, &((struct taking *)arg)->task->spec.backoff_ms, p);
}

static int set_backoff_max(json_t *v, const char *field, void *arg, struct problem *p)
{
	return json_in_duration(v, field, &((struct taking *)arg)->task->spec.backoff_max_ms, p);
}

static int set_key(json_t *v, const char *field, void *arg, struct problem *p)
{
	struct taking *t = arg;
	struct str key;

	if (json_is_null(v))
		return 0;
	if (json_in_str(v, field, KEY_MAX_BYTES, &key, p))
		return ERR_INVALID;
	if (key.n == 0) {
		problem_set(p, ERR_INVALID, "\"%s\" is empty; leave it out instead", field);
		return problem_field(p, field);
	}
	t->task->spec.key = arena_str(t->in->arena, key);
	return 0;
}

int task_name_check(struct str name, const char *field, struct problem *p)
{
	const char *why = name.n == 0 ? "is empty; leave it out instead" : NULL;

	for (size_t i = 0; !why && i < name.n; i++)
		if ((unsigned char)name.p[i] < 0x20 || name.p[i] == 0x7f)
			why = "holds a control character";
	if (!why)
		return 0;
	problem_set(p, ERR_INVALID, "\"%s\" %s", field, why);
	return problem_field(p, field);
}

static int set_name(json_t *v, const char *field, void *arg, struct problem *p)
{
	struct taking *t = arg;
	struct str name;

	if (json_is_null(v))
		return 0;
	if (json_in_str(v, field, NAME_MAX_BYTES, &name, p) || task_name_check(name, field, p))
		return ERR_INVALID;
	if (str_is(name, "@last"))
		return name_check(name, field, p);
	t->task->spec.name = arena_str(t->in->arena, name);
	return 0;
}

static int set_labels(json_t *v, const char *field, void *arg, struct problem *p)
{
	struct taking *t = arg;
	struct buf *b = &t->in->text;
	const char *key;
	json_t *value;

	if (strings_check(v, field, p))
		return ERR_INVALID;
	if (json_object_size(v) > LABELS_MAX) {
		problem_set(p, ERR_INVALID, "there are more than %d labels", LABELS_MAX);
		return problem_field(p, field);
	}
	buf_reset(b);
	json_object_foreach(v, key, value)
	{
		if (strlen(key) + json_string_length(value) + 1 > LABEL_MAX_BYTES ||
		    strchr(key, '\n') || strchr(json_string_value(value), '\n')) {
			problem_set(p, ERR_INVALID,
			    "a label is longer than %d bytes or holds a line break",
			    LABEL_MAX_BYTES);
			return problem_field(p, field);
		}
		buf_add_cstr(b, key);
		buf_add_char(b, '=');
		buf_add_cstr(b, json_string_value(value));
		buf_add_char(b, '\n');
	}
	t->task->spec.labels =
	    json_object_size(v) < 2 && b->n
	        ? arena_str(t->in->arena, buf_str(b))
	        : lines_sorted(t->in->arena, arena_str(t->in->arena, buf_str(b)));
	return 0;
}

static int set_need(json_t *v, const char *field, void *arg, struct problem *p)
{
	struct taking *t = arg;

	return need_in(v, field, t->in->arena, &t->task->spec.need, p);
}

static int set_status(json_t *v, const char *field, void *arg, struct problem *p)
{
	int64_t n = 0;

	if (json_in_int(v, field, HELD_STATUS_MIN, TASK_QUEUED, &n, p))
		return ERR_INVALID;
	((struct taking *)arg)->task->status = (int32_t)n;
	if (n == TASK_QUEUED || task_is_held((int)n))
		return 0;
	problem_set(p, ERR_INVALID, "a task cannot be submitted with status %lld", (long long)n);
	problem_hint(p, "leave it out, or give -4 or anything from -7 down to hold the task");
	return problem_field(p, field);
}

static const struct json_member members[] = {{"queue", set_queue}, {"command", set_command},
    {"action", set_action}, {"run", set_run}, {"params", set_params}, {"env", set_env},
    {"cwd", set_cwd}, {"cwd_machine", set_cwd_machine}, {"stdin", set_stdin},
    {"priority", set_priority}, {"run_after", set_run_after}, {"timeout", set_timeout},
    {"max_attempts", set_attempts}, {"backoff", set_backoff}, {"backoff_max", set_backoff_max},
    {"key", set_key}, {"name", set_name}, {"labels", set_labels}, {"need", set_need},
    {"status", set_status}};

static void add_part(struct buf *b, const char *key, json_t *v)
{
	if (!v)
		return;
	jw_key(b, key);
	jw_value(b, v);
}

static int take_body(struct taking *t, struct problem *p)
{
	struct buf *b = &t->in->text;
	size_t run_at = 0;

	buf_reset(b);
	jw_open(b, '{');
	add_part(b, "command", t->command);
	add_part(b, "action", t->action);
	add_part(b, "env", t->env);
	if (t->cwd.p)
		jw_mstr(b, "cwd", t->cwd);
	if (t->cwd_machine.p)
		jw_mstr(b, "cwd_machine", t->cwd_machine);
	add_part(b, "params", t->params);
	if (t->run) {
		jw_key(b, "run");
		run_at = b->n;
		jw_value(b, t->run);
	}
	jw_close(b, '}');
	if (b->n > TASK_BODY_MAX) {
		problem_set(p, ERR_TOO_LARGE,
		    "command, env, params and run together have %zu bytes; at most %u are allowed",
		    b->n, TASK_BODY_MAX);
		return problem_hint(p, "put large data into a file or an object store, and pass "
		                       "its name");
	}
	t->task->spec.body = arena_str(t->in->arena, buf_str(b));
	if (t->run)
		t->in->run = (struct str){t->task->spec.body.p + run_at, b->n - 1 - run_at};
	return 0;
}

/* Plugins and actions are given their task that way. */
static int check_stdin(const struct taking *t, struct problem *p)
{
	if (!t->task->spec.is_streamed)
		return 0;
	if (!t->command)
		problem_set(p, ERR_INVALID, "\"stdin\" goes with a \"command\" only");
	else if (json_object_get(t->run, "input"))
		problem_set(p, ERR_INVALID, "the task has both \"stdin\" and \"run.input\"");
	else
		return 0;
	return problem_field(p, "stdin");
}

int task_in_value(struct task_in *in, json_t *v, struct submit_task *ret, struct problem *p)
{
	struct taking t = {.in = in, .task = ret};
	struct str last = in->queue;
	int rc;

	*ret = (struct submit_task){
	    .status = TASK_QUEUED, .spec = {.backoff_ms = -1, .backoff_max_ms = -1}};
	if (!json_is_object(v))
		return problem_set(p, ERR_INVALID,
		    "this is %s, not an object; a task is a JSON object", json_in_type(v));
	rc = json_in_members(v, "", members, sizeof members / sizeof members[0], &t, p);
	if (!t.named)
		in->queue = STR_NULL;
	in->has_command = t.command;
	in->has_action = t.action;
	in->has_params = t.params;
	in->run = STR_NULL;
	if (!rc)
		rc = check_stdin(&t, p);
	if (!rc)
		rc = take_body(&t, p);
	if (rc)
		in->queue = last;
	return rc;
}

int task_in_size(struct str text, struct problem *p)
{
	if (text.n <= TASK_TEXT_MAX)
		return 0;
	problem_set(p, ERR_TOO_LARGE, "the task has %zu bytes of JSON; its body may have %u",
	    text.n, TASK_BODY_MAX);
	return problem_hint(p, "put large data into a file or an object store, and pass its name");
}

int task_in_text(struct task_in *in, struct str text, struct submit_task *ret, struct problem *p)
{
	json_t *v;
	int rc = task_in_size(text, p);

	if (!rc)
		rc = json_in_parse(text, &v, p);
	if (rc)
		return rc;
	rc = task_in_value(in, v, ret, p);
	json_decref(v);
	return rc;
}

static int fits_commands(const struct task_in *in, const struct queue_row *q, struct problem *p)
{
	if (in->has_command != in->has_action)
		return 0;
	if (in->has_command)
		problem_set(p, ERR_INVALID, "the task has both a \"command\" and an \"action\"");
	else
		problem_set(p, ERR_INVALID, "the task has no \"command\"");
	problem_hint(p,
	    "queue \"%.*s\" runs commands: give an array of strings, or an action instead",
	    STR_ARG(q->name));
	return problem_field(p, "command");
}

static int fits_plugin(const struct task_in *in, const struct queue_row *q, struct problem *p)
{
	if (!in->has_command && !in->has_action)
		return 0;
	problem_set(p, ERR_INVALID, "queue \"%.*s\" runs the plugin \"%.*s\", not commands",
	    STR_ARG(q->name), STR_ARG(q->plugin));
	problem_hint(
	    p, "give it \"params\", or submit to a queue with plugin \"%s\"", PLUGIN_COMMAND);
	return problem_field(p, in->has_command ? "command" : "action");
}

int task_in_fits(const struct task_in *in, const struct queue_row *q, struct problem *p)
{
	AUTO(arena_release) struct arena a = {0};
	struct run_settings settings;
	bool commands = str_is(q->plugin, PLUGIN_COMMAND);
	int rc = commands ? fits_commands(in, q, p) : fits_plugin(in, q, p);

	if (rc || !in->run.n || !q->run.n)
		return rc;
	/* each is right by itself; together they may not be */
	return settings_merge(q->run, in->run, &a, &settings, p);
}
