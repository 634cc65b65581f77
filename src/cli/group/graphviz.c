/* SPDX-License-Identifier: Apache-2.0 */
/* The layout of a graph is Graphviz's: its program reads the text and writes to our own output. */
#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/group/group.h"

extern char **environ;

/* A file in memory: however long the text is, nobody waits for a pipe to be read. */
static int text_file(struct str text, struct problem *p)
{
	int fd = memfd_create("plan.dot", MFD_CLOEXEC);

	for (size_t at = 0; fd >= 0 && at < text.n;) {
		ssize_t n = write(fd, text.p + at, text.n - at);

		if (n < 0 && errno != EINTR) {
			close(fd);
			fd = -1;
		}
		at += n > 0 ? (size_t)n : 0;
	}
	if (fd < 0 || lseek(fd, 0, SEEK_SET) < 0)
		return problem_set(p, ERR_IO, "cannot hand the graph to dot: %s", strerror(errno));
	return fd;
}

static int start_dot(int fd, pid_t *ret_pid)
{
	char *const argv[] = {"dot", "-Tsvg", NULL};
	posix_spawn_file_actions_t actions;
	int error;

	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, fd, STDIN_FILENO);
	error = posix_spawnp(ret_pid, "dot", &actions, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	return error;
}

int graphviz_draw(struct str dot, struct problem *p)
{
	int fd = text_file(dot, p), error, status;
	pid_t pid;

	if (fd < 0)
		return fd;
	fflush(stdout);
	error = start_dot(fd, &pid);
	close(fd);
	if (error) {
		problem_set(p, ERR_IO, "cannot start dot, which draws: %s", strerror(error));
		return problem_hint(
		    p, "install Graphviz (apt-get install graphviz), or take -o dot");
	}
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
		return 0;
	if (WIFSIGNALED(status) && WTERMSIG(status) == SIGPIPE)
		return 0; /* nobody wants to see the rest */
	return problem_set(p, ERR_IO, "dot ended with %s %d", WIFEXITED(status) ? "code" : "signal",
	    WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status));
}
