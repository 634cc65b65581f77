/* SPDX-License-Identifier: Apache-2.0 */
/* Reading a scenario's values: whatever is wrong is said with the path to it and a hint. */
#include <stdarg.h>
#include <string.h>

#include "base/err.h"
#include "sim/play/play_internal.h"

#define NAMES_MAX 160

int play_wrong(
    struct play *p, const char *path, const char *key, const char *what, const char *hint, ...)
{
	va_list ap;

	if (p->problem.code)
		return ERR_INVALID; /* the first one counts */
	snprintf(p->path, sizeof p->path, "%s%s%s", path, key && *path ? "." : "", key ? key : "");
	problem_set(&p->problem, ERR_INVALID, "%s", what);
	va_start(ap, hint);
	vsnprintf(p->problem.hint, sizeof p->problem.hint, hint, ap);
	va_end(ap);
	return ERR_INVALID;
}

bool at_init(struct at *a, struct play *p, json_t *j, const char *fmt, ...)
{
	va_list ap;

	*a = (struct at){.p = p, .j = j};
	va_start(ap, fmt);
	vsnprintf(a->path, sizeof a->path, fmt, ap);
	va_end(ap);
	if (json_is_object(j))
		return true;
	play_wrong(p, a->path, NULL, "it is not an object", "write {…} here");
	return false;
}

static bool word_in(const char *words, const char *key)
{
	size_t n = strlen(key);

	for (const char *at = words; (at = strstr(at, key)); at += n)
		if ((at == words || at[-1] == ' ') && (at[n] == ' ' || !at[n]) && n)
			return true;
	return false;
}

static const char *nearest_word(const char *words, const char *key, char *room, size_t size)
{
	const char *names[NAMES_MAX];
	size_t n = 0;

	snprintf(room, size, "%s", words);
	for (char *save, *word = strtok_r(room, " ", &save); word && n < NAMES_MAX;
	     word = strtok_r(NULL, " ", &save))
		names[n++] = word;
	return str_nearest(str_of(key), names, n);
}

bool at_keys(struct at *a, const char *words)
{
	const char *key, *near;
	json_t *value;
	char room[600];

	json_object_foreach(a->j, key, value)
	{
		if (word_in(words, key))
			continue;
		near = nearest_word(words, key, room, sizeof room);
		if (near)
			play_wrong(
			    a->p, a->path, key, "there is no such key", "perhaps \"%s\"?", near);
		else
			play_wrong(
			    a->p, a->path, key, "there is no such key", "there are: %s", words);
		return false;
	}
	return true;
}

bool at_has(const struct at *a, const char *key)
{
	return json_object_get(a->j, key) != NULL;
}

const char *at_str(struct at *a, const char *key, const char *fallback)
{
	json_t *j = json_object_get(a->j, key);

	if (!j && fallback)
		return fallback;
	if (json_is_string(j))
		return json_string_value(j);
	play_wrong(a->p, a->path, key, j ? "it is not a string" : "it is missing",
	    "write \"%s\": \"…\"", key);
	return "";
}

int64_t at_int(struct at *a, const char *key, int64_t min, int64_t max, int64_t fallback)
{
	json_t *j = json_object_get(a->j, key);
	int64_t n = json_integer_value(j);

	if (!j)
		return fallback;
	if (!json_is_integer(j) || n < min || n > max)
		play_wrong(a->p, a->path, key, "it is not such a number", "from %lld to %lld",
		    (long long)min, (long long)max);
	return n;
}

bool at_bool(struct at *a, const char *key, bool fallback)
{
	json_t *j = json_object_get(a->j, key);

	if (!j)
		return fallback;
	if (!json_is_boolean(j))
		play_wrong(
		    a->p, a->path, key, "it is neither true nor false", "write true or false");
	return json_is_true(j);
}

bool json_ms(json_t *j, int64_t *ret_ms)
{
	struct str s = str_of(json_string_value(j));
	bool minus = s.n > 1 && s.p[0] == '-';
	int64_t n = json_integer_value(j);

	if (json_is_integer(j)) {
		if (n > PLAY_MS_MOST / 1000 || n < -PLAY_MS_MOST / 1000)
			n = n < 0 ? -PLAY_MS_MOST : PLAY_MS_MOST; /* too long in any case */
		*ret_ms = n * 1000;
		return true;
	}
	if (!s.p)
		return false;
	if (minus)
		s = (struct str){s.p + 1, s.n - 1};
	if (!str_to_duration_ms(s, ret_ms))
		return false;
	if (minus)
		*ret_ms = -*ret_ms;
	return true;
}

int64_t at_ms(struct at *a, const char *key, int64_t fallback)
{
	json_t *j = json_object_get(a->j, key);
	int64_t ms = 0;

	if (!j && fallback != INT64_MIN)
		return fallback;
	if (!j || !json_ms(j, &ms))
		play_wrong(a->p, a->path, key, j ? "it is not a time" : "it is missing",
		    "write seconds as a number, or \"15s\", \"250ms\", \"2m\"");
	if (ms <= PLAY_MS_MOST && ms >= -PLAY_MS_MOST)
		return ms;
	play_wrong(a->p, a->path, key, "it is too long", "at most %lldd",
	    (long long)(PLAY_MS_MOST / 86400000));
	return 0;
}

int64_t at_wait(struct at *a, const char *key, int64_t fallback)
{
	int64_t ms = at_ms(a, key, fallback);

	if (ms >= 0 || !at_has(a, key))
		return ms;
	play_wrong(a->p, a->path, key, "it is less than nothing", "write 0 or more");
	return 0;
}

int at_choice(struct at *a, const char *key, const char *const *names, size_t n, int fallback)
{
	json_t *j = json_object_get(a->j, key);
	const char *s = json_string_value(j);
	char all[400] = "";
	size_t used = 0;

	if (!j && fallback >= 0)
		return fallback;
	for (size_t i = 0; i < n; i++) {
		if (s && !strcmp(s, names[i]))
			return (int)i;
		used += (size_t)snprintf(all + used, used < sizeof all ? sizeof all - used : 0,
		    "%s%s", i ? ", " : "", names[i]);
		if (used >= sizeof all)
			used = sizeof all - 1;
	}
	play_wrong(
	    a->p, a->path, key, j ? "there is no such choice" : "it is missing", "one of: %s", all);
	return 0;
}

int find_actor(const struct play *p, const char *name)
{
	for (size_t i = 0; i < p->n_actors; i++)
		if (!strcmp(p->actors[i].name, name))
			return (int)i;
	return -1;
}

int find_task(const struct play *p, const char *name)
{
	for (size_t i = 0; i < p->n_tasks; i++)
		if (!strcmp(p->tasks[i].name, name))
			return (int)i;
	return -1;
}

struct actor *at_actor(struct at *a, const char *key)
{
	const char *name = at_str(a, key, NULL);
	int i = find_actor(a->p, name);

	if (i < 0)
		play_wrong(a->p, a->path, key, "there is no such worker",
		    "it must be one of \"workers\"%s%s", a->p->n_actors ? ", e.g. " : "",
		    a->p->n_actors ? a->p->actors[0].name : "");
	return &a->p->actors[i < 0 ? 0 : i];
}

int at_task(struct at *a, const char *key)
{
	const char *name = at_str(a, key, NULL);
	int i = find_task(a->p, name);

	if (i < 0)
		play_wrong(a->p, a->path, key, "there is no such task",
		    "it must be one of \"tasks\"%s%s", a->p->n_tasks ? ", e.g. " : "",
		    a->p->n_tasks ? a->p->tasks[0].name : "");
	return i;
}

int at_queue(struct at *a, const char *key)
{
	const char *name = at_str(a, key, "default");

	for (size_t i = 0; i < a->p->n_queues; i++)
		if (!strcmp(a->p->queues[i].name, name))
			return (int)i;
	play_wrong(a->p, a->path, key, "there is no such queue", "it must be one of \"queues\"");
	return 0;
}
