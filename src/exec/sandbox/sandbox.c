/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Options go to bubblewrap through a descriptor, not its command line, which everybody may read:
 * they hold the environment. Bubblewrap itself runs with an empty one, because what the user sets
 * (LD_PRELOAD, PATH) is for inside.
 */
#include "exec/sandbox/sandbox.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/world/memory_file.h"
#include "exec/process.h"
#include "exec/sandbox/sandbox_internal.h"

#define OPTIONS_MAX 8192 /* bubblewrap itself stops at 9000 */

static void sandbox_option(struct making *m, const char *word)
{
	buf_add(&m->options, word, strlen(word) + 1);
	m->n++;
}

void sandbox_option2(struct making *m, const char *word, const char *a)
{
	sandbox_option(m, word);
	sandbox_option(m, a);
}

void sandbox_option3(struct making *m, const char *word, const char *a, const char *b)
{
	sandbox_option2(m, word, a);
	sandbox_option(m, b);
}

/* The sandbox's own reaper stays process 1 (no --as-pid-1): a command is not made to wait for
 * orphans. */
static void add_namespaces(struct making *m)
{
	if (!m->s->privileged)
		sandbox_option(m, "--unshare-user");
	sandbox_option(m, "--unshare-pid");
	sandbox_option(m, "--unshare-ipc");
	sandbox_option(m, "--unshare-uts");
	sandbox_option(m, "--unshare-cgroup");
	if (!m->s->sandbox->network)
		sandbox_option(m, "--unshare-net");
	sandbox_option(m, "--die-with-parent");
	/* no terminal to type into, and a process group that can be asked to stop */
	sandbox_option(m, "--new-session");
}

static void add_capabilities(struct making *m)
{
	if (m->s->keep_capabilities) {
		sandbox_option2(m, "--cap-add", "ALL");
		return;
	}
	sandbox_option2(m, "--cap-drop", "ALL");
	for (size_t i = 0; i < m->s->n_capabilities; i++) {
		char *name = arena_printf(m->arena, "cap_" STR_FMT, STR_ARG(m->s->capabilities[i]));

		for (char *c = name; *c; c++)
			*c = (char)toupper((unsigned char)*c);
		sandbox_option2(m, "--cap-add", name);
	}
}

static void add_environment(struct making *m)
{
	sandbox_option(m, "--clearenv");
	for (const char *const *e = m->s->envp; *e; e++) {
		const char *value = strchr(*e, '=');

		if (value && value > *e) {
			struct str name = {*e, (size_t)(value - *e)};

			sandbox_option3(m, "--setenv", arena_str(m->arena, name).p, value + 1);
		}
	}
}

static void add_number(struct making *m, const char *word, int number)
{
	sandbox_option2(m, word, arena_printf(m->arena, "%d", number));
}

static int file_of(const char *name, struct str content, struct problem *p)
{
	int fd = memory_file(name, content);

	return fd >= 0 ? fd
	               : problem_set(
	                     p, ERR_IO, "a file in memory for the sandbox: %s", strerror(errno));
}

/* A reader moves the position, so each sandbox opens the filter anew. */
static int open_again(int fd, struct problem *p)
{
	char path[32];
	int again;

	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	again = open(path, O_RDONLY | O_CLOEXEC);
	if (again < 0)
		return problem_set(p, ERR_IO, "the filter of the sandbox: %s", strerror(errno));
	return again;
}

/* In order: options, status, filter. The options name the numbers of the other two. */
static int add_descriptors(struct making *m, struct sandboxed *ret)
{
	bool filter = m->s->filter_fd >= 0 && !m->s->sandbox->no_seccomp;
	int first = m->s->first_fd;

	add_number(m, "--json-status-fd", first + 1);
	if (filter)
		add_number(m, "--seccomp", first + 2);
	if (m->n > OPTIONS_MAX)
		return problem_set(m->problem, ERR_TOO_LARGE,
		    "the sandbox has too many paths and variables: at most %d words", OPTIONS_MAX);
	ret->fds[0] = file_of("sandbox-options", buf_str(&m->options), m->problem);
	ret->status_fd = ret->fds[SANDBOX_STATUS_AT] =
	    file_of("sandbox-status", STR(""), m->problem);
	ret->n_fds = 2;
	if (filter)
		ret->fds[ret->n_fds++] = open_again(m->s->filter_fd, m->problem);
	for (int i = 0; i < ret->n_fds; i++)
		if (ret->fds[i] < 0)
			return ERR_IO;
	return 0;
}

static void set_command(struct making *m, struct sandboxed *ret)
{
	const char **argv, **envp = arena_zalloc(m->arena, 2 * sizeof *envp);
	size_t n = 0;

	while (m->s->argv[n])
		n++;
	argv = arena_zalloc(m->arena, (n + 5) * sizeof *argv);
	argv[0] = sandbox_program();
	argv[1] = "--args";
	argv[2] = arena_printf(m->arena, "%d", m->s->first_fd);
	argv[3] = "--";
	memcpy(argv + 4, m->s->argv, n * sizeof *argv);
	for (const char *const *e = m->s->envp; *e; e++) /* by this leftovers are known */
		if (strncmp(*e, EXEC_LOCK_VARIABLE "=", sizeof EXEC_LOCK_VARIABLE) == 0)
			envp[0] = *e;
	ret->argv = argv;
	ret->envp = envp;
}

static int no_program(struct problem *p)
{
	problem_set(
	    p, ERR_INVALID, "the task asks for a sandbox, and this worker has no bubblewrap");
	problem_hint(p, "install the package bubblewrap on the worker");
	return ERR_INVALID;
}

int sandbox_prepare(
    const struct sandbox_spec *s, struct arena *a, struct sandboxed *ret, struct problem *p)
{
	struct making m = {.s = s, .arena = a, .problem = p};
	int r;

	*ret = (struct sandboxed){.fds = {-1, -1, -1}, .status_fd = -1};
	if (!sandbox_program())
		return no_program(p);
	add_namespaces(&m);
	add_capabilities(&m);
	r = sandbox_add_paths(&m);
	if (r == 0) {
		sandbox_option2(&m, "--chdir", s->cwd ? s->cwd : "/");
		add_environment(&m);
		r = add_descriptors(&m, ret);
	}
	if (r == 0)
		set_command(&m, ret);
	else
		sandbox_release(ret);
	buf_release(&m.options);
	return r;
}

void sandbox_started(struct sandboxed *b)
{
	for (int i = 0; i < b->n_fds; i++)
		if (b->fds[i] != b->status_fd)
			process_close(&b->fds[i]);
	b->n_fds = 0;
}

void sandbox_release(struct sandboxed *b)
{
	sandbox_started(b);
	process_close(&b->status_fd);
}

bool sandbox_ran(int status_fd)
{
	char text[4096];
	ssize_t n = pread(status_fd, text, sizeof text - 1, 0);

	text[n > 0 ? n : 0] = 0;
	return strstr(text, "\"exit-code\"") != NULL;
}
