/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/tasks/logs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "cli/output/output.h"
#include "model/limits.h"

#define PUMP_MS 100

struct shown_task {
	char id[25];
	char *name, *prefix;
	struct follower streams[2];
	struct log_lines lines[2];
	bool begun;
};

void logs_add(struct logs *l, const char *id, const char *name)
{
	struct shown_task *t = xcalloc(1, sizeof *t);

	GROW(l->tasks, l->cap, l->n + 1);
	memcpy(t->id, id, 24);
	t->name = name ? xstrdup(name) : NULL;
	l->tasks[l->n++] = t;
}

bool logs_has(const struct logs *l, const char *id)
{
	for (size_t i = l->n; i-- > 0;)
		if (!strncmp(l->tasks[i]->id, id, 24))
			return true;
	return false;
}

static const char *prefix_of(struct logs *l, size_t i)
{
	static const enum term_colour colours[] = {
	    COLOUR_CYAN, COLOUR_GREEN, COLOUR_YELLOW, COLOUR_BLUE};
	bool colour = l->c->term.out_colour;

	struct shown_task *t = l->tasks[i];
	AUTO(buf_release) struct buf clean = {0};

	if (t->prefix)
		return t->prefix;
	text_add_clean(&clean, str_of(t->name ? t->name : t->id));
	t->prefix = xasprintf(
	    "%s[%s]%s ", term_on(colour, colours[i % N_OF(colours)]), clean.p, term_off(colour));
	return t->prefix;
}

/* A start of an instance has one attempt only: commands about these have no such option. */
static bool asks_for_attempts(const struct cli *c)
{
	bool negated;

	return options_find(&c->options, STR("attempt"), &negated) != NULL;
}

static void begin(struct logs *l, size_t i)
{
	const struct options *o = &l->c->options;
	bool out = options_switch(o, "stdout", false), err = options_switch(o, "stderr", false);
	bool prefixed = options_switch(o, "prefix", l->n > 1 || l->more || l->is_prefixed);
	struct shown_task *t = l->tasks[i];

	t->begun = true;
	for (int k = 0; k < 2; k++) {
		t->lines[k].prefix = prefixed ? prefix_of(l, i) : NULL;
		t->streams[k] = (struct follower){.c = l->c,
		    .id = t->id,
		    .stream = k ? "stderr" : "stdout",
		    .attempt = asks_for_attempts(l->c) ? options_get(o, "attempt") : NULL,
		    .tail = options_get(o, "tail"),
		    .lines = prefixed ? &t->lines[k] : NULL,
		    .follow = l->follow,
		    .fd = STDOUT_FILENO,
		    .done = k ? out && !err : err && !out};
	}
}

static void end(struct logs *l, size_t i)
{
	for (int k = 0; k < 2; k++) {
		call_abort(l->tasks[i]->streams[k].call);
		l->tasks[i]->streams[k].call = NULL;
		log_lines_release(&l->tasks[i]->lines[k]);
	}
	free(l->tasks[i]->prefix);
	l->tasks[i]->prefix = NULL;
}

/* The first failure counts; of several tasks, the others are shown all the same. */
static int outcome(struct logs *l, size_t i, int before)
{
	for (int k = 0; k < 2; k++) {
		int r = l->tasks[i]->streams[k].result;

		if (r < 0 && (l->n > 1 || l->more)) {
			cli_complain(&l->c->term, &l->c->problem);
			return before < 0 ? before : EXIT_FAILED;
		}
		if (r < 0)
			return r;
	}
	return before;
}

int logs_check(struct cli *c)
{
	int64_t tail, n = 0;

	if (options_i64(&c->options, "tail", 0, TAIL_LINES_MAX, &tail, &c->problem) < 0)
		return c->problem.code;
	if (!asks_for_attempts(c))
		return 0;
	if (options_i64(&c->options, "attempt", -INT32_MAX, INT32_MAX, &n, &c->problem) < 0)
		return c->problem.code;
	if (options_given(&c->options, "attempt") && n == 0)
		return problem_set(
		    &c->problem, ERR_INVALID, "--attempt counts from 1, or back from -1");
	return 0;
}

/* The tasks that are shown at the same time lie in order between the first that is not over and
 * the next that has not begun. */
int logs_show(struct logs *l)
{
	size_t next = 0, first = 0, live = 0, most = l->follow ? FOLLOWED_AT_ONCE : 1;
	bool closed = false, more = true;
	int r = EXIT_OK;

	while (!closed && ((more = more && l->more && l->more(l)) || first < l->n)) {
		for (; next < l->n && live < most; live++)
			begin(l, next++);
		for (size_t i = first; i < next; i++) {
			struct follower *f = l->tasks[i]->streams;

			if (!l->tasks[i]->begun)
				continue;
			if (followers_step(f, !l->follow)) {
				closed |= f[0].write_error || f[1].write_error;
				continue;
			}
			r = outcome(l, i, r);
			end(l, i);
			l->tasks[i]->begun = false;
			live--;
		}
		while (first < next && !l->tasks[first]->begun)
			first++;
		if ((more || first < l->n) && (live == most || next == l->n))
			client_pump(l->c->client, PUMP_MS);
	}
	return r == EXIT_OK ? l->more_result : r;
}

void logs_release(struct logs *l)
{
	if (l->more_release)
		l->more_release(l);
	for (size_t i = 0; i < l->n; i++) {
		if (l->tasks[i]->begun)
			end(l, i);
		free(l->tasks[i]->name);
		free(l->tasks[i]->prefix);
		free(l->tasks[i]);
	}
	free(l->tasks);
}
