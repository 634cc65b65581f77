/* SPDX-License-Identifier: Apache-2.0 */
/* Tasks for people: in a list, and all about one, with its attempts and output. */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/world/clock.h"
#include "cli/nouns/noun.h"
#include "cli/tasks/work.h"
#include "model/task/task.h"

#define OUTPUT_SHOWN 2000

static bool is_delayed(const json_t *task)
{
	return ji(task, "status", 0) == TASK_QUEUED && jtime(task, "due") > clock_wall_ms();
}

static char *state_word(const struct cli *c, const json_t *task)
{
	const char *state = js(task, "state");

	if (!strcmp(state, "finished")) /* a plugin's own: its number says more */
		return xasprintf("finished %lld", (long long)ji(task, "status", 0));
	return xstrdup(is_delayed(task) ? "delayed" : state);
}

/* What it is: its name, or else what it runs. */
static char *name_words(const struct cli *c, const json_t *task)
{
	return xstrdup(jhas(task, "name") ? js(task, "name") : js(task, "summary"));
}

/* What a task with a name runs: of others that is the name. */
static char *command_words(const struct cli *c, const json_t *task)
{
	return jhas(task, "name") ? xstrdup(js(task, "summary")) : NULL;
}

static char *age_words(const struct cli *c, const json_t *task)
{
	char text[TIME_TEXT_MAX];

	return xstrdup(human_short(clock_wall_ms() - jtime(task, "ctime"), text));
}

static char *took_words(const struct cli *c, const json_t *task)
{
	int64_t began = jtime(task, "started"), ended = jtime(task, "ended");
	bool running = ji(task, "status", 0) == TASK_RUNNING;
	char text[TIME_TEXT_MAX];

	if (!began || (!ended && !running))
		return NULL;
	return xstrdup(time_human_ms((running ? clock_wall_ms() : ended) - began, text));
}

static char *exit_words(const struct cli *c, const json_t *task)
{
	int64_t signal = ji(task, "signal", 0), code = ji(task, "exit_code", -1);

	if (signal > 0)
		return xasprintf("sig %lld", (long long)signal);
	return code >= 0 ? xasprintf("%lld", (long long)code) : NULL;
}

static char *reason_words(const struct cli *c, const json_t *task)
{
	char text[TIME_TEXT_MAX];

	if (is_delayed(task)) { /* between two looks at the clock its time may have come */
		int64_t left_ms = jtime(task, "due") - clock_wall_ms();

		return xasprintf("starts in %s", human_short(left_ms > 0 ? left_ms : 0, text));
	}
	return xstrdup(jb(task, "cancelling") ? "being cancelled"
	               : jb(task, "unsure")   ? "unsure: was it started?"
	                                      : js(task, "reason"));
}

static const struct heading columns[] = {
    {"ID", 0, {SHOWN_TEXT, "id"}},
    {"NAME", HEADING_STRETCH | HEADING_NAME, {.words = name_words}},
    {"QUEUE", HEADING_STRETCH, {SHOWN_TEXT, "queue"}},
    {"STATE", HEADING_STATE, {.words = state_word}},
    {"TRY", HEADING_RIGHT | HEADING_SPARE, {SHOWN_NUMBER, "attempt", "0"}},
    {"AGE", HEADING_RIGHT, {.words = age_words}},
    {"TOOK", HEADING_RIGHT | HEADING_SPARE, {.words = took_words}},
    {"WORKER", HEADING_STRETCH | HEADING_SPARE, {SHOWN_TEXT, "worker"}},
    {"EXIT", HEADING_RIGHT | HEADING_WIDE, {.words = exit_words}},
    {"PRIORITY", HEADING_RIGHT | HEADING_WIDE, {SHOWN_NUMBER, "priority", "0"}},
    {"KEY", HEADING_STRETCH | HEADING_WIDE, {SHOWN_TEXT, "key"}},
    {"BY", HEADING_STRETCH | HEADING_WIDE, {SHOWN_TEXT, "actor"}},
    {"SUBMITTED", HEADING_WIDE, {SHOWN_TEXT, "ctime"}},
    {"LABELS", HEADING_STRETCH | HEADING_WIDE, {SHOWN_PAIRS, "labels"}},
    {"COMMAND", HEADING_STRETCH | HEADING_WIDE, {.words = command_words}},
    {"REASON", HEADING_STRETCH | HEADING_SPARE, {.words = reason_words}},
};

/* A person who looks for a part of a word has found a way to get no answer at all. */
static void hint_at_beginnings(struct cli *c)
{
	const char *words = options_get(&c->options, "search");

	if (words && !strchr(words, '*'))
		cli_note(c,
		    "  hint: --search finds whole words; with an asterisk, as in build*, those "
		    "that begin so");
}

const struct listing task_list = {.columns = columns,
    .n_columns = N_OF(columns),
    .usual = 50,
    .most = 10000000,
    .none = "there are no such tasks",
    .nothing = hint_at_beginnings};

static char *state_words(const struct cli *c, const json_t *task)
{
	AUTO(buf_release) struct buf words = {0};

	buf_printf(&words, "%s ", state_glyph(js(task, "state"), c->term.utf8));
	task_outcome(task, &words);
	return buf_take(&words);
}

static char *usage_words(const struct cli *c, const json_t *task)
{
	const json_t *usage = json_object_get(task, "usage");
	char user[TIME_TEXT_MAX], system[TIME_TEXT_MAX], memory[TIME_TEXT_MAX];
	int64_t kills = ji(usage, "oom_kills", 0);

	if (!json_is_object(usage))
		return NULL;
	return xasprintf("%s user, %s system, %s%s", time_human_ms(ji(usage, "user_ms", 0), user),
	    time_human_ms(ji(usage, "system_ms", 0), system),
	    human_bytes(ji(usage, "peak_memory", 0), memory),
	    kills ? "; the kernel ended some of it for lack of memory" : "");
}

static const struct {
	const char *word;
	char *(*of_task)(const struct cli *c, const json_t *task);
} owners[] = {
#define X(word) {#word, word##_of_task},
    OWNER_TABLE(X)
#undef X
};

char *task_origin(const struct cli *c, const json_t *task)
{
	for (size_t i = 0; i < N_OF(owners); i++) {
		AUTO(free_cstr) char *words = owners[i].of_task(c, task);

		if (words)
			return xasprintf("the %s %s", owners[i].word, words);
	}
	return NULL;
}

static char *attempts_words(const struct cli *c, const json_t *task)
{
	return xasprintf("%lld of at most %lld", (long long)ji(task, "attempt", 0),
	    (long long)(ji(task, "attempts_before", 0) + ji(task, "max_attempts", 1)));
}

static char *doubt_words(const struct cli *c, const json_t *task)
{
	return jb(task, "times_doubtful")
	           ? xstrdup("doubtful: the clock of its worker differs from the server's")
	           : NULL;
}

static char *damage_words(const struct cli *c, const json_t *task)
{
	return jb(task, "damaged")
	           ? xstrdup("a part of it does not fit its checksum in the store, and is left out")
	           : NULL;
}

static const struct fact facts[] = {
    {"task", {SHOWN_TEXT, "id"}},
    {"name", {SHOWN_TEXT, "name"}},
    {"queue", {SHOWN_TEXT, "queue"}},
    {"state", {.words = state_words}},
    {"command", {SHOWN_COMMAND, "command"}},
    {"action", {SHOWN_JSON, "action"}},
    {"params", {SHOWN_JSON, "params"}},
    {"cwd", {SHOWN_TEXT, "cwd"}},
    {"env", {SHOWN_PAIRS, "env"}},
    {"run", {SHOWN_OBJECT, "run"}},
    {"labels", {SHOWN_PAIRS, "labels"}},
    {"needs", {SHOWN_NEED, "need"}},
    {"holds", {SHOWN_NEED, "holds"}},
    {"key", {SHOWN_TEXT, "key"}},
    {"batch", {SHOWN_TEXT, "batch"}},
#define X(word) {#word, {.words = word##_of_task}},
    OWNER_TABLE(X)
#undef X
        {"priority", {SHOWN_NUMBER, "priority", "0"}},
    {"attempts", {.words = attempts_words}},
    {"time limit", {SHOWN_SPAN, "timeout_ms"}},
    {"submitted", {SHOWN_TIME, "ctime"}},
    {"by", {SHOWN_TEXT, "actor"}},
    {"due", {SHOWN_TIME, "due"}},
    {"started", {SHOWN_TIME, "started"}},
    {"ended", {SHOWN_TIME, "ended"}},
    {"times", {.words = doubt_words}},
    {"damaged", {.words = damage_words}},
    {"used", {.words = usage_words}},
};

static char *started_words(const struct cli *c, const json_t *attempt)
{
	return xasprintf("%s%s", js(attempt, "started"), jb(attempt, "times_doubtful") ? " ?" : "");
}

static void show_attempts(struct cli *c, const json_t *task)
{
	static const struct heading attempt_columns[] = {
	    {"ATTEMPT", HEADING_RIGHT, {SHOWN_NUMBER, "attempt"}},
	    {"STATE", HEADING_STATE, {SHOWN_TEXT, "state"}},
	    {"STARTED", 0, {.words = started_words}},
	    {"TOOK", HEADING_RIGHT, {.words = took_words}},
	    {"EXIT", HEADING_RIGHT, {.words = exit_words}},
	    {"REASON", HEADING_STRETCH, {SHOWN_TEXT, "reason"}},
	};
	const json_t *attempts = json_object_get(task, "attempts");

	if (json_array_size(attempts) < 2)
		return;
	putchar('\n');
	table_show(c, attempt_columns, N_OF(attempt_columns), attempts);
}

/* The end of a stream that is not part of the task itself. False: it cannot be had now. */
static bool get_tail(
    struct cli *c, const json_t *task, const char *stream, int64_t bytes, struct buf *ret_text)
{
	AUTO(buf_release) struct buf path = {0};
	AUTO(reply_release) struct reply reply = {0};
	struct problem none = {0};
	struct request q = {.method = "GET"};
	char offset[24];

	snprintf(offset, sizeof offset, "%lld",
	    (long long)(bytes > OUTPUT_SHOWN ? bytes - OUTPUT_SHOWN : 0));
	buf_add_cstr(&path, "/v1/tasks");
	url_add_path(&path, js(task, "id"));
	buf_add_cstr(&path, "/logs");
	url_add(&path, "stream", stream);
	url_add(&path, "offset", offset);
	q.path = path.p;
	if (client_do(c->client, &q, &reply, &none) < 0)
		return false;
	buf_add(ret_text, reply.body.p ? reply.body.p : "", reply.body.n);
	return true;
}

static void show_lines(struct str text)
{
	struct str line;

	while (str_next(&text, '\n', &line)) {
		AUTO(buf_release) struct buf clean = {0};

		text_add_clean(&clean, line);
		if (text.n > 0 || line.n > 0)
			printf("  %s\n", clean.p ? clean.p : "");
	}
}

static void show_output(struct cli *c, const json_t *task, const char *stream)
{
	AUTO(free_cstr) char *member = xasprintf("%s_bytes", stream);
	AUTO(buf_release) struct buf text = {0};
	int64_t bytes = ji(task, member, 0);
	char size[TIME_TEXT_MAX];
	struct str shown;

	if (bytes == 0)
		return;
	printf("\n%s%s%s (%s)\n", term_on(c->term.out_colour, COLOUR_BOLD), stream,
	    term_off(c->term.out_colour), human_bytes(bytes, size));
	buf_add_cstr(&text, js(task, stream));
	if (text.n == 0 && !get_tail(c, task, stream, bytes, &text)) {
		say(stdout, "  `reeve logs --%s %s` shows it", stream, js(task, "id"));
		return;
	}
	shown = buf_str(&text);
	if (shown.n > OUTPUT_SHOWN)
		shown = (struct str){shown.p + shown.n - OUTPUT_SHOWN, OUTPUT_SHOWN};
	if (bytes > (int64_t)shown.n)
		printf("  %s\n", c->term.utf8 ? "…" : "...");
	show_lines(shown);
}

static void show_result(struct cli *c, const json_t *task)
{
	struct str text = str_of(js(task, "result"));
	char size[TIME_TEXT_MAX];

	if (text.n == 0)
		return;
	printf("\n%sresult%s (%s)\n", term_on(c->term.out_colour, COLOUR_BOLD),
	    term_off(c->term.out_colour), human_bytes((int64_t)text.n, size));
	show_lines(text);
}

static int show_more(struct cli *c, const json_t *task)
{
	show_attempts(c, task);
	show_result(c, task);
	show_output(c, task, "stdout");
	show_output(c, task, "stderr");
	if (!task_is_ended((int)ji(task, "status", 0)))
		say(stdout, "\n`reeve why %s` says what it waits for", js(task, "id"));
	return EXIT_OK;
}

const struct view task_view = {facts, N_OF(facts), show_more};
