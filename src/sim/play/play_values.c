/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The words that the view can have at a place: a misspelt one would never fit, or, behind "not",
 * always. Found before anything is played.
 */
#include <string.h>

#include "base/err.h"
#include "sim/play/play_internal.h"

static const char *const lacks[] = {"nothing", "known", "beat", "check", "consensus", "life"};
static const char *const phases[] = {"serving", "leaving", "dying", "gone", "down", "puppet"};

#define X(code, n, name, http, exit, title) , name
static const char *const results[] = {"ok", "no answer" ERR_TABLE(X)};
#undef X

#define WORDS_MOST PLAY_ACTORS_MAX

struct words {
	const char *words[WORDS_MOST];
	size_t n;
};

static void add_all(struct words *w, const char *const *words, size_t n)
{
	for (size_t i = 0; i < n && w->n < WORDS_MOST; i++)
		w->words[w->n++] = words[i];
}

/* False: anything may stand there. */
static bool words_of(const struct play *p, const char *key, struct words *w)
{
	if (!strcmp(key, "state") || !strcmp(key, "self") || !strcmp(key, "own"))
		add_all(w, worker_state_names, N_WORKER_STATES);
	else if (!strcmp(key, "lack"))
		add_all(w, lacks, sizeof lacks / sizeof lacks[0]);
	else if (!strcmp(key, "phase"))
		add_all(w, phases, sizeof phases / sizeof phases[0]);
	else if (!strcmp(key, "status"))
		add_all(w, task_state_names, n_task_state_names);
	else if (!strcmp(key, "result"))
		add_all(w, results, sizeof results / sizeof results[0]);
	else if (!strcmp(key, "worker"))
		for (size_t i = 0; i < p->n_actors; i++)
			add_all(w, (const char *const[]){p->actors[i].name}, 1);
	return w->n > 0;
}

static bool word_check(struct play *p, const struct words *w, const char *word, const char *path)
{
	const char *near;

	for (size_t i = 0; i < w->n; i++)
		if (!strcmp(w->words[i], word))
			return true;
	near = str_nearest(str_of(word), w->words, w->n);
	play_wrong(p, path, NULL, "it is never that", "%s%s%s", near ? "perhaps " : "it is one of ",
	    near ? near : w->words[0], near ? "" : " and the like");
	return false;
}

/* All texts at this place, whatever operators stand around them. */
static bool texts_check(struct play *p, json_t *want, const struct words *w, const char *path)
{
	const char *key;
	json_t *part;
	size_t i;

	if (json_is_string(want))
		return word_check(p, w, json_string_value(want), path);
	json_object_foreach(want, key,
	    part) if (strcmp(key, "contains") != 0 && !texts_check(p, part, w, path)) return false;
	json_array_foreach(want, i, part) if (!texts_check(p, part, w, path)) return false;
	return true;
}

bool values_check(struct play *p, json_t *want, const char *path)
{
	const char *key;
	json_t *part;
	size_t i;
	char below[200];

	json_object_foreach(want, key, part)
	{
		struct words w = {.n = 0};

		snprintf(below, sizeof below, "%s.%s", path, key);
		if (words_of(p, key, &w) ? !texts_check(p, part, &w, below)
		                         : !values_check(p, part, below))
			return false;
	}
	json_array_foreach(want, i, part) if (!values_check(p, part, path)) return false;
	return true;
}
