/* SPDX-License-Identifier: Apache-2.0 */
/* Commands as lists of words, run without a shell. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/world/clock.h"
#include "cli/routes/routes.h"

#define SAID_MAX 240 /* bytes of what it said that are repeated */

extern char **environ;

void argv_release(struct argv *a)
{
	for (size_t i = 0; i < a->n; i++)
		free(a->v[i]);
	*a = (struct argv){.n = 0};
}

static int add(struct argv *a, const char *option, struct str word, struct problem *p)
{
	if (a->n == COMMAND_WORDS_MAX)
		return problem_set(
		    p, ERR_INVALID, "--%s may have %d words", option, COMMAND_WORDS_MAX);
	a->v[a->n++] = xstrndup(word.p ? word.p : "", word.n);
	return 0;
}

static int parse_json(const char *option, const char *text, struct argv *a, struct problem *p)
{
	AUTO(json_drop) json_t *list = json_loads(text, 0, NULL);
	json_t *word;
	size_t i;
	int rc = 0;

	if (!json_is_array(list) || !json_array_size(list))
		return problem_set(p, ERR_INVALID, "--%s is no list of texts in JSON", option);
	json_array_foreach(list, i, word)
	{
		if (!json_is_string(word))
			return problem_set(
			    p, ERR_INVALID, "--%s is no list of texts in JSON", option);
		rc = add(a, option, str_of(json_string_value(word)), p);
		if (rc < 0)
			return rc;
	}
	return 0;
}

static int parse_words(const char *option, const char *text, struct argv *a, struct problem *p)
{
	struct str rest = str_of(text), word;
	int rc = 0;

	while (rc == 0 && rest.n && str_next(&rest, ' ', &word))
		if (word.n)
			rc = add(a, option, word, p);
	if (rc == 0 && a->n == 0)
		rc = problem_set(p, ERR_INVALID, "--%s is empty", option);
	return rc;
}

int argv_parse(const char *option, const char *text, struct argv *ret_argv, struct problem *p)
{
	struct argv a = {.n = 0};
	int rc = (*text == '[' ? parse_json : parse_words)(option, text, &a, p);

	if (rc < 0)
		argv_release(&a);
	else
		*ret_argv = a;
	return rc;
}

/* --- running --- */

/* {} is the path, wherever it stands. */
static char *word_with(const char *word, const char *path)
{
	struct buf b = {0};
	const char *at;

	for (; (at = strstr(word, "{}")); word = at + 2) {
		buf_add(&b, word, (size_t)(at - word));
		buf_add_cstr(&b, path);
	}
	buf_add_cstr(&b, word);
	return buf_take(&b);
}

/* In a group of its own, so that all of it can be ended; says into the pipe. */
static int start(char *const *words, int out, pid_t *ret_pid)
{
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attr;
	sigset_t none, usual;
	int error;

	sigemptyset(&none);
	sigemptyset(&usual);
	sigaddset(&usual, SIGPIPE);
	posix_spawnattr_init(&attr);
	posix_spawnattr_setflags(
	    &attr, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
	posix_spawnattr_setsigdefault(&attr, &usual);
	posix_spawnattr_setpgroup(&attr, 0);
	posix_spawnattr_setsigmask(&attr, &none);
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
	posix_spawn_file_actions_adddup2(&actions, out, STDERR_FILENO);
	error = posix_spawnp(ret_pid, words[0], &actions, &attr, words, environ);
	posix_spawn_file_actions_destroy(&actions);
	posix_spawnattr_destroy(&attr);
	return error;
}

/* The last bytes of what it says are kept; a daemon that stays behind may keep the pipe open. */
static void hear(int fd, struct buf *said)
{
	char chunk[4096];
	ssize_t n;

	while ((n = read(fd, chunk, sizeof chunk)) > 0) {
		buf_add(said, chunk, (size_t)n);
		if (said->n > SAID_MAX) {
			memmove(said->p, said->p + said->n - SAID_MAX, SAID_MAX);
			said->n = SAID_MAX;
			said->p[said->n] = 0;
		}
	}
}

/* The status of its end; -1: it took too long, and was ended. */
static int wait_for(pid_t pid, int fd, int64_t timeout_ms, struct buf *said)
{
	int64_t end = clock_mono_ms() + timeout_ms;
	int status;

	while (waitpid(pid, &status, WNOHANG) == 0) {
		struct pollfd p = {fd, POLLIN, 0};

		if (clock_mono_ms() >= end) {
			kill(-pid, SIGKILL);
			waitpid(pid, &status, 0);
			return -1;
		}
		if (poll(&p, 1, 20) > 0 && (p.revents & POLLIN))
			hear(fd, said);
		else if (p.revents)
			poll(NULL, 0, 20);
	}
	hear(fd, said);
	return status;
}

static void clean(struct buf *said)
{
	while (said->n && strchr(" \r\n", said->p[said->n - 1]))
		said->p[--said->n] = 0;
	for (size_t i = 0; i < said->n; i++)
		if ((unsigned char)said->p[i] < 0x20)
			said->p[i] = ' ';
}

static int judge(const char *name, int status, struct buf *said, struct problem *p)
{
	if (status == 0)
		return 0;
	clean(said);
	if (status < 0)
		problem_set(p, ERR_TIMEOUT, "%.60s took too long, and was ended", name);
	else if (WIFSIGNALED(status))
		problem_set(p, ERR_IO, "%.60s was ended by signal %d", name, WTERMSIG(status));
	else
		problem_set(p, ERR_IO, "%.60s ended with %d", name, WEXITSTATUS(status));
	return said->n ? problem_hint(p, "it said: %.*s", SAID_MAX, said->p) : p->code;
}

static int run(char *const *words, int64_t timeout_ms, struct problem *p)
{
	AUTO(buf_release) struct buf said = {0};
	int fds[2], error;
	pid_t pid;

	if (pipe2(fds, O_CLOEXEC) < 0)
		return problem_set(p, ERR_IO, "there is no pipe: %s", strerror(errno));
	fcntl(fds[0], F_SETFL, O_NONBLOCK);
	error = start(words, fds[1], &pid);
	close(fds[1]);
	if (!error)
		error = judge(words[0], wait_for(pid, fds[0], timeout_ms, &said), &said, p);
	else
		error = problem_set(p, ERR_IO, "cannot run %.100s: %s", words[0], strerror(error));
	close(fds[0]);
	return error;
}

int argv_run(const struct argv *a, const char *path, int64_t timeout_ms, struct problem *p)
{
	char *words[COMMAND_WORDS_MAX + 1] = {NULL};
	int rc;

	for (size_t i = 0; i < a->n; i++)
		words[i] = word_with(a->v[i], path);
	rc = run(words, timeout_ms, p);
	for (size_t i = 0; i < a->n; i++)
		free(words[i]);
	return rc;
}
