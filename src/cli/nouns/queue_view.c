/* SPDX-License-Identifier: Apache-2.0 */
/* Queues for people: in a list, and all about one. */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "cli/nouns/noun.h"
#include "model/objects/queue.h"

static char *state_words(const struct cli *c, const json_t *queue)
{
	return xstrdup(jb(queue, "paused") ? "paused" : "active");
}

static char *running_words(const struct cli *c, const json_t *queue)
{
	const json_t *counts = json_object_get(queue, "counts");
	char text[TIME_TEXT_MAX];

	if (!jhas(counts, "running")) /* a token with labels is not told */
		return NULL;
	return xstrdup(human_count(ji(counts, "running", 0) + ji(counts, "claimed", 0), text));
}

static const struct heading columns[] = {
    {"QUEUE", HEADING_STRETCH, {SHOWN_TEXT, "name"}},
    {"STATE", HEADING_STATE, {.words = state_words}},
    {"THREADS", HEADING_RIGHT, {SHOWN_NUMBER, "threads"}},
    {"QUEUED", HEADING_RIGHT, {SHOWN_COUNT, "counts.queued"}},
    {"DELAYED", HEADING_RIGHT | HEADING_WIDE, {SHOWN_COUNT, "counts.delayed"}},
    {"HELD", HEADING_RIGHT | HEADING_WIDE, {SHOWN_COUNT, "counts.held"}},
    {"RUNNING", HEADING_RIGHT, {.words = running_words}},
    {"OLDEST", HEADING_RIGHT, {SHOWN_COARSE, "oldest_ms"}},
    {"WORKERS", HEADING_RIGHT, {SHOWN_NUMBER, "workers", "0"}},
    {"ORDER", HEADING_WIDE, {SHOWN_TEXT, "order"}},
    {"PLUGIN", HEADING_STRETCH, {SHOWN_TEXT, "plugin"}},
    {"REASON", HEADING_STRETCH | HEADING_WIDE, {SHOWN_TEXT, "pause_reason"}},
};

const struct listing queue_list = {.columns = columns,
    .n_columns = N_OF(columns),
    .most = 1000000,
    .none = "there are no queues yet; the first task makes one"};

static char *pause_words(const struct cli *c, const json_t *queue)
{
	char ago[TIME_TEXT_MAX];

	if (!jb(queue, "paused"))
		return NULL;
	return xasprintf("%s%s%s", *js(queue, "pause_reason") ? js(queue, "pause_reason") : "yes",
	    jhas(queue, "paused_until") ? "; resumes " : "",
	    jhas(queue, "paused_until") ? jago(queue, "paused_until", ago) : "");
}

static char *exit_words(const struct cli *c, const json_t *queue)
{
	return xstrdup(jb(queue, "exit_codes") ? "99 skip, 100 permanent, 111 temporary"
	                                       : "0 succeeded, others failed");
}

static char *output_words(const struct cli *c, const json_t *queue)
{
	bool is_inline = !strcmp(js(queue, "output"), output_mode_names[OUTPUT_MODE_INLINE]);
	struct queue_row q = {.output_mode = is_inline ? OUTPUT_MODE_INLINE : OUTPUT_MODE_AUTO,
	    .output_max = ji(queue, "output_max", 0)};
	char text[TIME_TEXT_MAX];

	return xasprintf("%s, at most %s of each stream", js(queue, "output"),
	    human_bytes(queue_output_max(&q), text));
}

static char *words_of(const json_t *queue, const char *const *names)
{
	const json_t *counts = json_object_get(queue, "counts");
	AUTO(buf_release) struct buf words = {0};

	if (!json_is_object(counts)) /* a token with labels is not told */
		return NULL;
	for (; *names; names++)
		if (ji(counts, *names, 0) > 0)
			buf_printf(&words, "%s%lld %s", words.n ? ", " : "",
			    (long long)ji(counts, *names, 0), *names);
	return xstrdup(words.p ? words.p : "none");
}

static char *tasks_words(const struct cli *c, const json_t *queue)
{
	return words_of(
	    queue, (const char *const[]){"queued", "delayed", "held", "claimed", "running", NULL});
}

/* Not tasks: one that is retried ends more than once. */
static char *endings_words(const struct cli *c, const json_t *queue)
{
	return words_of(queue, (const char *const[]){"succeeded", "failed", "other", NULL});
}

static const struct fact facts[] = {
    {"queue", {SHOWN_TEXT, "name"}},
    {"id", {SHOWN_TEXT, "id"}},
    {"paused", {.words = pause_words}},
    {"plugin", {SHOWN_TEXT, "plugin"}},
    {"threads", {SHOWN_NUMBER, "threads", "no limit"}},
    {"order", {SHOWN_TEXT, "order"}},
    {"needs", {SHOWN_NEED, "need"}},
    {"placement", {SHOWN_TEXT, "placement"}},
    {"time limit", {SHOWN_SPAN, "timeout_ms", "none"}},
    {"max attempts", {SHOWN_NUMBER, "max_attempts", "1"}},
    {"backoff", {SHOWN_SPAN, "backoff_ms", "none"}},
    {"backoff max", {SHOWN_SPAN, "backoff_max_ms", "none"}},
    {"exit codes", {.words = exit_words}},
    {"env", {SHOWN_PAIRS, "env"}},
    {"run", {SHOWN_OBJECT, "run"}},
    {"output", {.words = output_words}},
    {"tasks", {.words = tasks_words}},
    {"endings", {.words = endings_words}},
    {"workers", {SHOWN_NUMBER, "workers", "0"}},
};

const struct view queue_view = {facts, N_OF(facts)};
