/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The hot path of bulk submits: one line, one task, no allocation but the parser's own. The body
 * (command or action, env, cwd, params, run) is kept as compact JSON text that nobody has to parse
 * again here.
 */
#include "api/tasks/task_in.h"

#include "api/frame/json_out.h"
#include "base/mem.h"
#include "model/limits.h"
#include "wire/json/fields.h"
#include "wire/json/settings.h"
#include "wire/json/task.h"

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

static void add_part(struct buf *b, const char *key, const json_t *v)
{
	if (!v)
		return;
	jw_key(b, key);
	jw_value(b, v);
}

static int take_body(struct task_in *in, struct task_given *t, struct problem *p)
{
	struct buf *b = &in->text;
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
	t->spec.body = arena_str(in->arena, buf_str(b));
	if (t->run)
		in->run = (struct str){t->spec.body.p + run_at, b->n - 1 - run_at};
	return 0;
}

/* Plugins and actions are given their task that way. */
static int check_stdin(const struct task_given *t, struct problem *p)
{
	if (!t->spec.is_streamed)
		return 0;
	if (!t->command)
		problem_set(p, ERR_INVALID, "\"stdin\" goes with a \"command\" only");
	else if (json_object_get(t->run, "input"))
		problem_set(p, ERR_INVALID, "the task has both \"stdin\" and \"run.input\"");
	else
		return 0;
	return problem_field(p, "stdin");
}

/* Tasks of a request that name the same queue have its name once. */
static struct str queue_named(const struct task_in *in, struct str name)
{
	return str_eq(name, in->queue) ? in->queue : arena_str(in->arena, name);
}

static int take_task(struct task_in *in, struct task_given *t, struct problem *p)
{
	int rc = check_stdin(t, p);

	in->run = STR_NULL;
	in->has_command = t->command;
	in->has_action = t->action;
	in->has_params = t->params;
	return rc ? rc : take_body(in, t, p);
}

int task_in_value(struct task_in *in, json_t *v, struct submit_task *ret, struct problem *p)
{
	struct task_given t;
	const struct fields_in r = {
	    .arena = in->arena, .into = &t, .problem = p, .now_ms = in->now_ms};
	int rc;

	task_given_default(&t, &in->text);
	if (!json_is_object(v))
		return problem_set(p, ERR_INVALID,
		    "this is %s, not an object; a task is a JSON object", json_in_type(v));
	rc = fields_read(&r, task_given_fields, v, "");
	if (!rc)
		rc = take_task(in, &t, p);
	if (rc)
		return rc;
	in->queue = queue_named(in, t.queue);
	ret->spec = t.spec;
	ret->status = t.status;
	return 0;
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
