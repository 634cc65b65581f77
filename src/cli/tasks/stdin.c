/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A command's standard input: read whole before the task is submitted, since it becomes a part of
 * the task. `run` takes its own unasked, unless that is a terminal or was closed.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "cli/tasks/work.h"
#include "wire/settings.h"

#define SAY_AFTER_MS 2000

static int keep_elsewhere(struct cli *c)
{
	return problem_hint(&c->problem,
	    "put it into a file that the worker can read, and name the file in the command");
}

static int too_long(struct cli *c, const char *name)
{
	problem_set(&c->problem, ERR_TOO_LARGE,
	    "%.200s is too long: a task's standard input has at most %u bytes (%u KiB)", name,
	    RUN_INPUT_MAX, RUN_INPUT_MAX >> 10);
	return keep_elsewhere(c);
}

/* One who did not mean to give any would not know what we wait for. */
static void wait_for_more(const struct cli *c, int fd, bool *said)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};

	if (poll(&p, 1, *said ? -1 : SAY_AFTER_MS) != 0 || *said)
		return;
	*said = true;
	cli_note(c, "reeve: reading standard input to its end; with </dev/null there is none");
	poll(&p, 1, -1);
}

static int read_all(struct cli *c, int fd, const char *name, struct buf *out)
{
	char chunk[16384];
	bool said = false;

	for (;;) {
		ssize_t n;

		wait_for_more(c, fd, &said);
		n = read(fd, chunk, sizeof chunk);
		if (n == 0)
			return 0;
		if (n < 0 && errno != EINTR && errno != EAGAIN)
			return problem_set(&c->problem, ERR_IO, "%.200s cannot be read: %s", name,
			    strerror(errno));
		if (n > 0)
			buf_add(out, chunk, (size_t)n);
		if (out->n > RUN_INPUT_MAX)
			return too_long(c, name);
	}
}

static int read_named(struct cli *c, const char *file, struct buf *out)
{
	int fd, r;

	if (!strcmp(file, "-"))
		return read_all(c, STDIN_FILENO, "standard input", out);
	fd = open(file, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return problem_set(
		    &c->problem, ERR_IO, "%.200s cannot be read: %s", file, strerror(errno));
	r = read_all(c, fd, file, out);
	close(fd);
	return r;
}

static int put(struct cli *c, const struct buf *text, json_t *task)
{
	json_t *run = json_object_get(task, "run"), *input;

	input = memchr(text->p, 0, text->n) ? NULL : json_stringn(text->p, text->n);
	if (!input) {
		problem_set(&c->problem, ERR_INVALID,
		    "the standard input is not text in UTF-8: a task cannot hold it");
		return keep_elsewhere(c);
	}
	if (!run) {
		run = json_object();
		json_object_set_new(task, "run", run);
	}
	return json_object_set_new(run, "input", input);
}

static bool is_there(void)
{
	return fcntl(STDIN_FILENO, F_GETFD) >= 0 && !isatty(STDIN_FILENO);
}

int stdin_put(struct cli *c, bool unasked, json_t *task)
{
	const char *file = options_get(&c->options, "stdin");
	bool command = json_object_get(task, "command");
	AUTO(buf_release) struct buf text = {0};
	int r;

	if (file && !command) {
		problem_set(&c->problem, ERR_INVALID, "--stdin goes with a command only");
		return problem_hint(
		    &c->problem, "plugins and actions are given their task that way");
	}
	if (!file && unasked && command && is_there() &&
	    !json_object_get(json_object_get(task, "run"), "input"))
		file = "-";
	if (!file)
		return 0;
	r = read_named(c, file, &text);
	return r < 0 || text.n == 0 ? r : put(c, &text, task);
}
