/* SPDX-License-Identifier: Apache-2.0 */
/* The members of each kind of action: one table a kind, one small reader a member. */
#include <stdio.h>
#include <string.h>

#include "model/limits.h"
#include "wire/json/action_internal.h"

const char *const action_digest_names[N_ACTION_DIGESTS] = {"none", "md5", "sha1", "sha256"};

size_t action_digest_size(enum action_digest d)
{
	static const size_t sizes[N_ACTION_DIGESTS] = {0, 16, 20, 32};

	return sizes[d];
}

/* A string without NUL, copied. */
static int read_text(struct action_parser *s, const json_t *v, size_t max, struct str *ret)
{
	struct str text = {json_string_value(v), json_string_length(v)};

	if (!json_is_string(v))
		return action_wrong_type(s, v, "a string");
	if (memchr(text.p, 0, text.n))
		return action_wrong(s, "the text holds a NUL character (\\u0000)");
	if (text.n > max)
		return action_wrong(
		    s, "the text has %zu bytes; at most %zu are allowed", text.n, max);
	*ret = arena_str(s->arena, text);
	return 0;
}

static int read_name(struct action_parser *s, const json_t *v, struct str *ret)
{
	int r = read_text(s, v, ACTION_PATH_MAX - 1, ret);

	return r == 0 && ret->n == 0 ? action_wrong(s, "the text is empty") : r;
}

static int read_duration(struct action_parser *s, const json_t *v, int64_t *ret_ms)
{
	double seconds = json_is_number(v) ? json_number_value(v) : 0;
	int64_t ms = 0;
	bool good;

	if (json_is_string(v))
		good = str_to_duration_ms(
		    (struct str){json_string_value(v), json_string_length(v)}, &ms);
	else if (!json_is_number(v))
		return action_wrong_type(s, v, "a duration");
	else if ((good = seconds > 0 && seconds <= DURATION_MAX_MS / 1000.0))
		ms = (int64_t)(seconds * 1000 + 0.5);
	if (!good || ms <= 0 || ms > DURATION_MAX_MS) {
		action_wrong(s, "this is not a duration above 0 and up to ten years");
		problem_hint(s->p, "write 90s, 5m, 2h, 1d, PT1H30M, or a number of seconds");
		return ERR_INVALID;
	}
	*ret_ms = ms;
	return 0;
}

static int set_log_source(struct action_parser *s, const json_t *v, struct action *a)
{
	return read_text(s, v, NAME_MAX_BYTES, &a->log_source);
}

/* -- run */

/* The words behind the first `skip` places, which the caller fills. */
static int read_words(struct action_parser *s, const json_t *v, size_t skip, struct action *a)
{
	size_t n = json_array_size(v), before = s->n;
	const char **argv;
	struct str word;
	int r;

	if (!json_is_array(v))
		return action_wrong_type(s, v, "an array of strings");
	argv = arena_zalloc(s->arena, (skip + n + 1) * sizeof *argv);
	for (size_t i = 0; i < n; i++) {
		action_down(s, "[%zu]", i);
		r = read_text(s, json_array_get(v, i), TASK_BODY_MAX, &word);
		if (r < 0)
			return r;
		argv[skip + i] = word.p;
		action_back(s, before);
	}
	a->run.argv = argv;
	a->run.n_argv = skip + n;
	return 0;
}

/* check_run() knows both and joins them. */
static int set_path(struct action_parser *s, const json_t *v, struct action *a)
{
	struct str path;

	return read_name(s, v, &path);
}

static int set_args(struct action_parser *s, const json_t *v, struct action *a)
{
	return read_words(s, v, 1, a);
}

static int set_command(struct action_parser *s, const json_t *v, struct action *a)
{
	return read_words(s, v, 0, a);
}

static int set_dir(struct action_parser *s, const json_t *v, struct action *a)
{
	struct str dir;
	int r = read_name(s, v, &dir);

	if (r == 0)
		a->run.dir = dir.p;
	return r;
}

static int set_env(struct action_parser *s, const json_t *v, struct action *a)
{
	struct action_variable *env;
	size_t before = s->n;
	const char *key;
	json_t *value;
	int r;

	if (!json_is_object(v))
		return action_wrong_type(s, v, "an object of strings");
	env = arena_zalloc(s->arena, (json_object_size(v) + 1) * sizeof *env);
	json_object_foreach((json_t *)v, key, value)
	{
		if (!*key || strchr(key, '='))
			return action_wrong(s, "a variable's name is empty or has a \"=\" in it");
		action_down(s, ".%.64s", key);
		env[a->run.n_env].name = arena_str(s->arena, str_of(key));
		r = read_text(s, value, TASK_BODY_MAX, &env[a->run.n_env].value);
		if (r < 0)
			return r;
		a->run.n_env++;
		action_back(s, before);
	}
	a->run.env = env;
	return 0;
}

static int check_run(struct action_parser *s, const json_t *body, struct action *a)
{
	json_t *path = json_object_get(body, "path"), *command = json_object_get(body, "command");
	const char **argv = (const char **)a->run.argv;

	if (!path == !command || (command && json_object_get(body, "args"))) {
		action_wrong(s, "a run action has either \"path\" (and \"args\") or \"command\"");
		problem_hint(s->p, "write {\"run\": {\"command\": [\"sh\", \"-c\", \"…\"]}}");
		return ERR_INVALID;
	}
	if (path && !argv) {
		argv = arena_zalloc(s->arena, 2 * sizeof *argv);
		a->run.n_argv = 1;
	}
	if (path)
		argv[0] = arena_strdup(s->arena, json_string_value(path));
	a->run.argv = argv;
	if (a->run.n_argv == 0 || !*argv[0]) {
		action_down(s, ".command");
		return action_wrong(s, "the command is empty: there is nothing to run");
	}
	return 0;
}

/* -- those with actions in them */

static int check_list(struct action_parser *s, const json_t *body, struct action *a)
{
	if (a->n_inner > 0)
		return 0;
	action_down(s, ".actions");
	action_wrong(s, "there are no actions here");
	problem_hint(s->p, "write {\"%s\": {\"actions\": [{…}, {…}]}}", action_kind_names[a->kind]);
	return ERR_INVALID;
}

static int check_one(struct action_parser *s, const json_t *body, struct action *a)
{
	if (a->n_inner > 0)
		return 0;
	action_down(s, ".action");
	action_wrong(s, "there is no action here");
	problem_hint(s->p, "write {\"%s\": {\"action\": {…}}}", action_kind_names[a->kind]);
	return ERR_INVALID;
}

static int set_setup(struct action_parser *s, const json_t *v, struct action *a)
{
	struct action box = {0};
	int r = action_set_one(s, v, &box);

	if (r == 0)
		a->sidecars.setup = box.inner[0];
	return r;
}

static int set_main(struct action_parser *s, const json_t *v, struct action *a)
{
	struct action box = {0};
	int r = action_set_one(s, v, &box);

	if (r == 0)
		a->sidecars.main = box.inner[0];
	return r;
}

static int set_sidecars(struct action_parser *s, const json_t *v, struct action *a)
{
	struct action box = {0};
	int r = action_set_list(s, v, &box);

	a->sidecars.sidecars = box.inner;
	a->sidecars.n_sidecars = box.n_inner;
	return r;
}

static int check_sidecars(struct action_parser *s, const json_t *body, struct action *a)
{
	const struct action_sidecars *all = &a->sidecars;

	if (!all->main)
		return check_one(s, body, a);
	a->inner = arena_alloc(s->arena, (all->n_sidecars + 2) * sizeof *a->inner);
	if (all->setup)
		a->inner[a->n_inner++] = all->setup;
	a->inner[a->n_inner++] = all->main;
	for (size_t i = 0; i < all->n_sidecars; i++)
		a->inner[a->n_inner++] = all->sidecars[i];
	return 0;
}

static int set_timeout(struct action_parser *s, const json_t *v, struct action *a)
{
	return read_duration(s, v, &a->timeout_ms);
}

static int check_timeout(struct action_parser *s, const json_t *body, struct action *a)
{
	if (a->timeout_ms > 0)
		return check_one(s, body, a);
	action_down(s, ".timeout");
	action_wrong(s, "the timeout action does not say how long");
	problem_hint(s->p, "write {\"timeout\": {\"timeout\": \"30s\", \"action\": {…}}}");
	return ERR_INVALID;
}

static int set_start(struct action_parser *s, const json_t *v, struct action *a)
{
	return read_text(s, v, ACTION_TEXT_MAX, &a->progress.start);
}

static int set_success(struct action_parser *s, const json_t *v, struct action *a)
{
	return read_text(s, v, ACTION_TEXT_MAX, &a->progress.success);
}

static int set_failure(struct action_parser *s, const json_t *v, struct action *a)
{
	return read_text(s, v, ACTION_TEXT_MAX, &a->progress.failure_prefix);
}

/* -- download and upload */

static int read_url(struct action_parser *s, const json_t *v, struct str *ret)
{
	int r = read_name(s, v, ret);

	if (r < 0)
		return r;
	if (!str_starts(*ret, "http://") && !str_starts(*ret, "https://") &&
	    !str_starts(*ret, "file:///")) {
		action_wrong(s, "the URL begins with neither http://, https:// nor file:///");
		problem_hint(s->p, "write http(s)://host/path, or file:///absolute/path");
		return ERR_INVALID;
	}
	for (size_t i = 0; i < ret->n; i++)
		if ((unsigned char)ret->p[i] <= ' ' || ret->p[i] == 0x7f) {
			action_wrong(s, "the URL has a space or control character in it");
			problem_hint(s->p, "write %%%02X instead", (unsigned char)ret->p[i]);
			return ERR_INVALID;
		}
	return 0;
}

static int set_from(struct action_parser *s, const json_t *v, struct action *a)
{
	if (a->kind == ACTION_DOWNLOAD)
		return read_url(s, v, &a->transfer.from);
	return read_name(s, v, &a->transfer.from);
}

static int set_to(struct action_parser *s, const json_t *v, struct action *a)
{
	if (a->kind == ACTION_UPLOAD)
		return read_url(s, v, &a->transfer.to);
	return read_name(s, v, &a->transfer.to);
}

static int set_artifact(struct action_parser *s, const json_t *v, struct action *a)
{
	return read_text(s, v, NAME_MAX_BYTES, &a->transfer.artifact);
}

static int hex_value(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c = (char)(c | 0x20);
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static bool read_hex(struct str hex, unsigned char *out, size_t size)
{
	if (hex.n != size * 2)
		return false;
	for (size_t i = 0; i < size; i++) {
		int high = hex_value(hex.p[2 * i]), low = hex_value(hex.p[2 * i + 1]);

		if (high < 0 || low < 0)
			return false;
		out[i] = (unsigned char)(high << 4 | low);
	}
	return true;
}

static int set_checksum(struct action_parser *s, const json_t *v, struct action *a)
{
	struct action_transfer *t = &a->transfer;
	struct str text, kind;
	int r = read_name(s, v, &text);

	if (r < 0)
		return r;
	str_next(&text, ':', &kind);
	for (int i = DIGEST_NONE + 1; i < N_ACTION_DIGESTS; i++) {
		if (!str_is(kind, action_digest_names[i]))
			continue;
		t->digest = i;
		if (read_hex(text, t->checksum, action_digest_size(i)))
			return 0;
		return action_wrong(s, "a %s checksum has %zu hex digits", action_digest_names[i],
		    2 * action_digest_size(i));
	}
	action_wrong(s, "this is not a checksum");
	problem_hint(s->p, "write sha256:HEX (or sha1, md5), as sha256sum prints it");
	return ERR_INVALID;
}

static int set_mode(struct action_parser *s, const json_t *v, struct action *a)
{
	struct str text;
	int r = read_text(s, v, 8, &text), mode = 0;
	bool good = r == 0 && text.n >= 3;

	for (size_t i = 0; good && i < text.n; i++) {
		good = text.p[i] >= '0' && text.p[i] <= '7' && mode <= 0777;
		mode = mode * 8 + (text.p[i] - '0');
	}
	if (r < 0)
		return r;
	if (!good || mode > 0777) {
		action_wrong(s, "this is not a file's mode");
		problem_hint(s->p, "write three octal digits, like \"0644\" or \"0755\"");
		return ERR_INVALID;
	}
	a->transfer.mode = mode;
	return 0;
}

static int set_max_bytes(struct action_parser *s, const json_t *v, struct action *a)
{
	if (!json_is_integer(v))
		return action_wrong_type(s, v, "a number of bytes");
	if (json_integer_value(v) < 1)
		return action_wrong(s, "the limit is below 1 byte");
	a->transfer.max_bytes = json_integer_value(v);
	return 0;
}

static int set_connect(struct action_parser *s, const json_t *v, struct action *a)
{
	return read_duration(s, v, &a->transfer.connect_ms);
}

static int set_idle(struct action_parser *s, const json_t *v, struct action *a)
{
	return read_duration(s, v, &a->transfer.idle_ms);
}

static int check_transfer(struct action_parser *s, const json_t *body, struct action *a)
{
	const char *missing = !a->transfer.from.p ? "from" : !a->transfer.to.p ? "to" : NULL;

	if (!missing)
		return 0;
	action_down(s, ".%s", missing);
	action_wrong(s, "\"%s\" is missing", missing);
	problem_hint(
	    s->p, a->kind == ACTION_DOWNLOAD
	              ? "write {\"download\": {\"from\": \"https://…\", \"to\": \"/path\"}}"
	              : "write {\"upload\": {\"from\": \"/path\", \"to\": \"https://…\"}}");
	return ERR_INVALID;
}

/* -- the tables */

#define EVERY                           \
	{"log_source", set_log_source}, \
	{                               \
		NULL, NULL              \
	}

static const struct action_member run_members[] = {{"path", set_path}, {"args", set_args},
    {"command", set_command}, {"dir", set_dir}, {"env", set_env}, EVERY};
static const struct action_member list_members[] = {{"actions", action_set_list}, EVERY};
static const struct action_member sidecars_members[] = {
    {"setup", set_setup}, {"action", set_main}, {"sidecars", set_sidecars}, EVERY};
static const struct action_member timeout_members[] = {
    {"action", action_set_one}, {"timeout", set_timeout}, EVERY};
static const struct action_member try_members[] = {{"action", action_set_one}, EVERY};
static const struct action_member progress_members[] = {{"action", action_set_one},
    {"start_message", set_start}, {"success_message", set_success},
    {"failure_message_prefix", set_failure}, EVERY};
static const struct action_member download_members[] = {{"from", set_from}, {"to", set_to},
    {"checksum", set_checksum}, {"mode", set_mode}, {"artifact", set_artifact},
    {"max_bytes", set_max_bytes}, {"connect_timeout", set_connect}, {"idle_timeout", set_idle},
    EVERY};
static const struct action_member upload_members[] = {{"from", set_from}, {"to", set_to},
    {"checksum", set_checksum}, {"artifact", set_artifact}, {"max_bytes", set_max_bytes},
    {"connect_timeout", set_connect}, {"idle_timeout", set_idle}, EVERY};

const struct action_form action_forms[N_ACTION_KINDS] = {
    [ACTION_RUN] = {run_members, check_run},
    [ACTION_SERIAL] = {list_members, check_list},
    [ACTION_PARALLEL] = {list_members, check_list},
    [ACTION_CODEPENDENT] = {list_members, check_list},
    [ACTION_WITH_SIDECARS] = {sidecars_members, check_sidecars},
    [ACTION_TIMEOUT] = {timeout_members, check_timeout},
    [ACTION_TRY] = {try_members, check_one},
    [ACTION_EMIT_PROGRESS] = {progress_members, check_one},
    [ACTION_DOWNLOAD] = {download_members, check_transfer},
    [ACTION_UPLOAD] = {upload_members, check_transfer},
};
