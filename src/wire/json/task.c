/* SPDX-License-Identifier: Apache-2.0 */
#include "wire/json/task.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "model/limits.h"
#include "model/lines.h"
#include "wire/json/action.h"
#include "wire/json/fields.h"
#include "wire/json/settings.h"

#define CWD_MAX 4096

static int element_problem(const char *place, size_t i, const char *what, struct problem *p)
{
	char at[64];

	snprintf(at, sizeof at, "%s[%zu]", place, i);
	problem_set(p, ERR_INVALID, "%s", what);
	return problem_field(p, at);
}

static int read_queue(const struct fields_in *r, json_t *v, const char *place)
{
	struct str *name = &((struct task_given *)r->into)->queue;

	if (json_in_str(v, place, NAME_MAX_BYTES, name, r->problem))
		return ERR_INVALID;
	return name->n ? 0 : name_check(*name, place, r->problem);
}

static int read_command(const struct fields_in *r, json_t *v, const char *place)
{
	struct problem *p = r->problem;
	json_t *word;
	size_t i;

	if (!json_is_array(v)) {
		json_in_wrong(v, place, "an array of strings", p);
		if (json_is_string(v))
			problem_hint(p, "for a shell line write [\"sh\",\"-c\",\"…\"]");
		return ERR_INVALID;
	}
	if (json_array_size(v) == 0 ||
	    (json_is_string(json_array_get(v, 0)) && json_string_length(json_array_get(v, 0)) == 0))
		return element_problem(place, 0, "\"command\" names no program", p);
	json_array_foreach(v, i, word)
	{
		if (!json_is_string(word))
			return element_problem(
			    place, i, "every part of \"command\" is a string", p);
	}
	((struct task_given *)r->into)->command = v;
	return 0;
}

/* Understood here already, so that who submits it is told what is wrong with it. */
static int read_action(const struct fields_in *r, json_t *v, const char *place)
{
	AUTO(arena_release) struct arena a = {0};
	struct action *tree;

	((struct task_given *)r->into)->action = v;
	return json_in_object(v, place, r->problem) ? ERR_INVALID
	                                            : action_parse(v, &a, &tree, r->problem);
}

static int read_params(const struct fields_in *r, json_t *v, const char *place)
{
	if (json_in_object(v, place, r->problem) || json_in_depth(v, place, r->problem))
		return ERR_INVALID;
	((struct task_given *)r->into)->params = v;
	return 0;
}

int strings_check(json_t *v, const char *field, struct problem *p)
{
	const char *key;
	json_t *value;
	char place[64];

	if (json_in_object(v, field, p))
		return ERR_INVALID;
	json_object_foreach(v, key, value)
	{
		bool is_name = *key && !strchr(key, '=');

		if (is_name && json_is_string(value))
			continue;
		snprintf(place, sizeof place, "%s.%s", field, key);
		if (!json_is_string(value))
			return json_in_wrong(value, place, "a string", p);
		problem_set(
		    p, ERR_INVALID, "a name in \"%s\" is empty or holds an equals sign", field);
		return problem_field(p, place);
	}
	return 0;
}

static int read_env(const struct fields_in *r, json_t *v, const char *place)
{
	((struct task_given *)r->into)->env = v;
	return strings_check(v, place, r->problem);
}

int run_check(const json_t *v, struct problem *p)
{
	AUTO(arena_release) struct arena a = {0};
	struct run_settings settings;

	run_settings_default(&settings);
	return settings_parse(v, &a, &settings, p);
}

static int read_run(const struct fields_in *r, json_t *v, const char *place)
{
	if (!json_is_object(v) || json_object_size(v))
		((struct task_given *)r->into)->run = v;
	return run_check(v, r->problem);
}

static int read_cwd(const struct fields_in *r, json_t *v, const char *place)
{
	struct str *cwd = &((struct task_given *)r->into)->cwd;

	if (json_in_str(v, place, CWD_MAX, cwd, r->problem))
		return ERR_INVALID;
	if (cwd->n && cwd->p[0] == '/')
		return 0;
	fields_refuse(r, place, "is not an absolute path");
	return problem_hint(
	    r->problem, "begin it with /: the task runs on some worker, not where you are");
}

static int read_cwd_machine(const struct fields_in *r, json_t *v, const char *place)
{
	return json_in_str(
	    v, place, NAME_MAX_BYTES, &((struct task_given *)r->into)->cwd_machine, r->problem);
}

static int read_stdin(const struct fields_in *r, json_t *v, const char *place)
{
	if (json_is_string(v) && strcmp(json_string_value(v), "stream") == 0) {
		((struct task_given *)r->into)->spec.is_streamed = true;
		return 0;
	}
	fields_refuse(r, place, "can only be \"stream\"");
	return problem_hint(
	    r->problem, "a text that is known already goes into \"run\": {\"input\": …}");
}

static int read_run_after(const struct fields_in *r, json_t *v, const char *place)
{
	int64_t *at = &((struct task_given *)r->into)->spec.run_after_ms;

	if (json_in_time(v, place, r->now_ms, 1, at, r->problem))
		return ERR_INVALID;
	if (*at < 0 || *at > r->now_ms + DURATION_MAX_MS)
		return fields_refuse(r, place, "must lie within the next ten years");
	if (*at <= r->now_ms)
		*at = 0;
	return 0;
}

/* Said to be none is unlike not given. */
static int read_timeout(const struct fields_in *r, json_t *v, const char *place)
{
	int64_t *ms = &((struct task_given *)r->into)->spec.timeout_ms;
	int rc = json_in_duration(v, place, ms, r->problem);

	if (*ms == 0)
		*ms = -1;
	return rc;
}

static int read_key(const struct fields_in *r, json_t *v, const char *place)
{
	struct str key;

	if (json_in_str(v, place, KEY_MAX_BYTES, &key, r->problem))
		return ERR_INVALID;
	if (key.n == 0)
		return fields_refuse(r, place, "is empty; leave it out instead");
	((struct task_given *)r->into)->spec.key = arena_str(r->arena, key);
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

static int read_name(const struct fields_in *r, json_t *v, const char *place)
{
	struct str name;

	if (json_in_str(v, place, NAME_MAX_BYTES, &name, r->problem) ||
	    task_name_check(name, place, r->problem))
		return ERR_INVALID;
	if (str_is(name, "@last"))
		return name_check(name, place, r->problem);
	((struct task_given *)r->into)->spec.name = arena_str(r->arena, name);
	return 0;
}

static int check_label(const char *key, const json_t *value, const char *place, struct problem *p)
{
	if (strlen(key) + json_string_length(value) + 1 <= LABEL_MAX_BYTES && !strchr(key, '\n') &&
	    !strchr(json_string_value(value), '\n'))
		return 0;
	problem_set(p, ERR_INVALID, "a label is longer than %d bytes or holds a line break",
	    LABEL_MAX_BYTES);
	return problem_field(p, place);
}

int labels_in(json_t *v, const char *place, struct buf *b, struct arena *a, struct str *ret_lines,
    struct problem *p)
{
	const char *key;
	json_t *value;

	if (strings_check(v, place, p))
		return ERR_INVALID;
	if (json_object_size(v) > LABELS_MAX) {
		problem_set(p, ERR_INVALID, "there are more than %d labels", LABELS_MAX);
		return problem_field(p, place);
	}
	buf_reset(b);
	json_object_foreach(v, key, value)
	{
		if (check_label(key, value, place, p))
			return ERR_INVALID;
		buf_add_cstr(b, key);
		buf_add_char(b, '=');
		buf_add_cstr(b, json_string_value(value));
		buf_add_char(b, '\n');
	}
	*ret_lines = arena_str(a, buf_str(b));
	if (json_object_size(v) > 1)
		*ret_lines = lines_sorted(a, *ret_lines);
	return 0;
}

static int read_labels(const struct fields_in *r, json_t *v, const char *place)
{
	struct task_given *t = r->into;

	return labels_in(v, place, t->text, r->arena, &t->spec.labels, r->problem);
}

static int read_status(const struct fields_in *r, json_t *v, const char *place)
{
	int64_t n = 0;

	if (json_in_int(v, place, HELD_STATUS_MIN, TASK_QUEUED, &n, r->problem))
		return ERR_INVALID;
	((struct task_given *)r->into)->status = (int32_t)n;
	if (n == TASK_QUEUED || task_is_held((int)n))
		return 0;
	problem_set(
	    r->problem, ERR_INVALID, "a task cannot be submitted with status %lld", (long long)n);
	problem_hint(
	    r->problem, "leave it out, or give -4 or anything from -7 down to hold the task");
	return problem_field(r->problem, place);
}

static const char *const stdin_names[] = {"stream"};

#define GIVEN(name, kind, member, bits, text, ...)                           \
	FIELD(name, kind, task_given, member, .flags = FIELD_GIVEN | (bits), \
	    .about = text __VA_OPT__(, ) __VA_ARGS__)
#define F(name, kind, member, text, ...) \
	GIVEN(name, kind, member, 0, text __VA_OPT__(, ) __VA_ARGS__)
#define F_OR_NULL(name, kind, member, text, ...) \
	GIVEN(name, kind, member, FIELD_NULL_GIVEN, text __VA_OPT__(, ) __VA_ARGS__)
#define OBJECT .schema = "{\"type\":\"object\"}"
/* The members that most tasks have come first: they are looked for from the beginning. */
const struct field task_given_fields[] = {
    F("queue", FIELD_OBJECT_NAME, queue, "the queue that it goes into", .read = read_queue,
        .usual = "default"),
    F("command", FIELD_LINES, command, "the program, and its arguments", .read = read_command),
    F("action", FIELD_OTHER, action, "steps in place of a command", .read = read_action, OBJECT),
    F_OR_NULL("run", FIELD_RUN, run, "how its processes are run, limited, watched and ended",
        .read = read_run),
    F("params", FIELD_OTHER, params, "parameters for the queue's plugin", .read = read_params,
        OBJECT),
    F("env", FIELD_STRINGS, env, "variables of its environment", .read = read_env),
    F("cwd", FIELD_PATH, cwd, "the directory that it begins in", .read = read_cwd),
    F("cwd_machine", FIELD_TEXT, cwd_machine, "where cwd holds; elsewhere the task begins in /",
        .max = NAME_MAX_BYTES, .read = read_cwd_machine),
    F("stdin", FIELD_CHOICE, spec.is_streamed, "its standard input comes by appendTaskInput",
        .names = stdin_names, .n_names = 1, .read = read_stdin),
    F("priority", FIELD_I32, spec.priority, "higher first, in queues ordered by priority",
        .min = -PRIORITY_MAX, .max = PRIORITY_MAX),
    F("run_after", FIELD_TIME, spec.run_after_ms, "not before this time, or so long from now",
        .read = read_run_after),
    GIVEN("timeout", FIELD_DURATION, spec.timeout_ms, FIELD_NULL_GIVEN | FIELD_NEGATIVE_NONE,
        "terminate it when it runs longer; 0: never", .read = read_timeout),
    F("max_attempts", FIELD_I32, spec.max_attempts, "how often it may be tried", .min = 1,
        .max = ATTEMPTS_MAX),
    F("backoff", FIELD_DURATION, spec.backoff_ms, "pause before the second attempt; it doubles"),
    F("backoff_max", FIELD_DURATION, spec.backoff_max_ms, "the longest such pause"),
    F_OR_NULL("key", FIELD_TEXT, spec.key, "at most one unfinished task with this key in the queue",
        .max = KEY_MAX_BYTES, .read = read_key),
    F_OR_NULL("name", FIELD_TEXT, spec.name, "for people: shown in lists, and found by them",
        .max = NAME_MAX_BYTES, .read = read_name),
    F("labels", FIELD_LABELS, spec.labels, "for people and filters", .max = LABELS_MAX,
        .read = read_labels),
    F_OR_NULL("need", FIELD_NEED, spec.need, "what it needs of its worker"),
    F("status", FIELD_I32, status, "-4, or any from -7 down, holds it; else it is -2: queued",
        .min = HELD_STATUS_MIN, .max = TASK_QUEUED, .read = read_status),
    {NULL},
};

void task_given_default(struct task_given *ret, struct buf *scratch)
{
	*ret = (struct task_given){
	    .status = TASK_QUEUED,
	    .spec = {.backoff_ms = -1, .backoff_max_ms = -1},
	    .text = scratch,
	};
}
