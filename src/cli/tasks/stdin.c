/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What becomes of a command's standard input. A small text that is there whole is a part of the
 * task: one request, and every attempt and every retry reads it. Everything else is sent after it.
 * `run` takes its own unasked, unless that is a terminal or was closed.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/world/clock.h"
#include "cli/tasks/sender.h"
#include "wire/json/settings.h"

#define SAY_AFTER_MS 2000
#define AT_ONCE_MS 20 /* `run` waits so long for the end of its input before it submits */

struct source {
	struct cli *c;
	int fd;
	const char *name;
	bool is_whole; /* to its end, however long that takes */
	bool said;
	bool at_end;
	struct buf bytes;
};

static int too_long(struct source *s)
{
	problem_set(&s->c->problem, ERR_TOO_LARGE,
	    "%.200s is too long: with --array, standard input has at most %u bytes (%u KiB)",
	    s->name, RUN_INPUT_MAX, RUN_INPUT_MAX >> 10);
	return problem_hint(&s->c->problem,
	    "put it into a file that the workers can read, and name the file in the command");
}

/* One who did not mean to give any would not know what we wait for. */
static void wait_for_more(struct source *s)
{
	struct pollfd p = {.fd = s->fd, .events = POLLIN};

	if (poll(&p, 1, s->said ? -1 : SAY_AFTER_MS) != 0 || s->said)
		return;
	s->said = true;
	cli_note(s->c, "reeve: reading standard input to its end; with </dev/null there is none");
	poll(&p, 1, -1);
}

static bool is_there_by(const struct source *s, int64_t until_ms)
{
	struct pollfd p = {.fd = s->fd, .events = POLLIN};
	int64_t left = until_ms - clock_mono_ms();

	return poll(&p, 1, left > 0 ? (int)left : 0) > 0;
}

/* To its end, to more than a task holds, or to where it must be waited for. */
static int read_start(struct source *s)
{
	int64_t until_ms = clock_mono_ms() + AT_ONCE_MS;
	char chunk[16384];

	while (!s->at_end && s->bytes.n <= RUN_INPUT_MAX) {
		ssize_t n;

		if (s->is_whole)
			wait_for_more(s);
		else if (!is_there_by(s, until_ms))
			return 0;
		n = read(s->fd, chunk, sizeof chunk);
		if (n < 0 && errno != EINTR && errno != EAGAIN)
			return problem_set(&s->c->problem, ERR_IO, "%.200s cannot be read: %s",
			    s->name, strerror(errno));
		s->at_end = n == 0;
		if (n > 0)
			buf_add(&s->bytes, chunk, (size_t)n);
	}
	return 0;
}

static json_t *as_text(const struct source *s)
{
	if (!s->at_end || s->bytes.n > RUN_INPUT_MAX || memchr(s->bytes.p, 0, s->bytes.n))
		return NULL;
	return json_stringn(s->bytes.p, s->bytes.n);
}

static void put_text(json_t *task, json_t *text)
{
	json_t *run = json_object_get(task, "run");

	if (!run) {
		run = json_object();
		json_object_set_new(task, "run", run);
	}
	json_object_set_new(run, "input", text);
}

static int put(struct source *s, json_t *task, struct sender *ret)
{
	bool is_array = s->is_whole && options_given(&s->c->options, "array");
	json_t *text;

	if (s->at_end && s->bytes.n == 0)
		return 0;
	text = as_text(s);
	if (text) {
		put_text(task, text);
		return 0;
	}
	if (is_array && s->bytes.n > RUN_INPUT_MAX)
		return too_long(s);
	if (is_array)
		return problem_set(&s->c->problem, ERR_INVALID,
		    "with --array, standard input must be text in UTF-8 without NUL bytes");
	json_object_set_new(task, "stdin", json_string("stream"));
	*ret = (struct sender){.c = s->c,
	    .fd = s->fd,
	    .owns_fd = s->fd != STDIN_FILENO,
	    .name = s->name,
	    .bytes = s->bytes,
	    .at_end = s->at_end,
	    .is_sure = true};
	s->bytes = (struct buf){0};
	s->fd = -1;
	return 0;
}

static int take(struct cli *c, const char *file, bool is_whole, json_t *task, struct sender *ret)
{
	bool is_ours = !strcmp(file, "-");
	struct source s = {.c = c,
	    .fd = is_ours ? STDIN_FILENO : open(file, O_RDONLY | O_CLOEXEC),
	    .name = is_ours ? "standard input" : file,
	    .is_whole = is_whole};
	int r;

	if (s.fd < 0)
		return problem_set(
		    &c->problem, ERR_IO, "%.200s cannot be read: %s", file, strerror(errno));
	r = read_start(&s);
	if (r == 0)
		r = put(&s, task, ret);
	if (!is_ours && s.fd >= 0)
		close(s.fd);
	buf_release(&s.bytes);
	return r;
}

static bool is_there(void)
{
	return fcntl(STDIN_FILENO, F_GETFD) >= 0 && !isatty(STDIN_FILENO);
}

int stdin_put(struct cli *c, bool unasked, bool is_whole, json_t *task, struct sender *ret)
{
	const char *file = options_get(&c->options, "stdin");
	bool command = json_object_get(task, "command");

	*ret = (struct sender){.c = c, .fd = -1};
	if (file && !command) {
		problem_set(&c->problem, ERR_INVALID, "--stdin goes with a command only");
		return problem_hint(
		    &c->problem, "plugins and actions are given their task that way");
	}
	if (!file && unasked && command && is_there() &&
	    !json_object_get(json_object_get(task, "run"), "input"))
		file = "-";
	return file ? take(c, file, is_whole, task, ret) : 0;
}
