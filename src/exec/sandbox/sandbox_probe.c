/* SPDX-License-Identifier: Apache-2.0 */
/* Is there a bubblewrap, and does the host let it work? Only a trial tells. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/str.h"
#include "exec/confine/limits_internal.h"
#include "exec/sandbox/sandbox.h"
#include "exec/spawn.h"

const char *sandbox_program(void)
{
	static const char *const places[] = {
	    "/usr/bin/bwrap", "/usr/local/bin/bwrap", "/bin/bwrap"};
	static char found[512];
	const char *path = getenv("PATH");
	struct str rest = str_of(path ? path : ""), dir;

	for (size_t i = 0; i < sizeof places / sizeof places[0]; i++)
		if (access(places[i], X_OK) == 0)
			return places[i];
	while (str_next(&rest, ':', &dir)) {
		snprintf(found, sizeof found, STR_FMT "/bwrap", STR_ARG(dir));
		if (found[0] == '/' && access(found, X_OK) == 0)
			return found;
	}
	return NULL;
}

/* 0 in any of these forbids it, each on some distribution. */
static const char *forbidden_by(void)
{
	static const struct {
		const char *file;
		int64_t forbids;
	} settings[] = {
	    {"/proc/sys/user/max_user_namespaces", 0},
	    {"/proc/sys/kernel/unprivileged_userns_clone", 0},
	    {"/proc/sys/kernel/apparmor_restrict_unprivileged_userns", 1},
	};

	for (size_t i = 0; i < sizeof settings / sizeof settings[0]; i++)
		if (limits_read_number(AT_FDCWD, settings[i].file) == settings[i].forbids)
			return settings[i].file;
	return NULL;
}

/* The program's exit code, and the first line it wrote. */
static int try_it(const char *program, char *said, size_t size)
{
	const char *argv[] = {program, "--unshare-user", "--unshare-pid", "--unshare-net",
	    "--ro-bind", "/", "/", "--proc", "/proc", "--dev", "/dev", "--", program, "--version",
	    NULL};
	const char *envp[] = {NULL};
	int fds[2], null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	struct spawned got;
	siginfo_t info = {0};
	ssize_t n;

	said[0] = 0;
	if (null_fd < 0 || pipe2(fds, O_CLOEXEC) < 0)
		return -1;
	spawn_process(&(struct spawn){.program = {.argv = argv, .env = envp, .umask = 022},
	                  .fds = {null_fd, null_fd, fds[1]},
	                  .n_fds = 3,
	                  .cgroup_fd = -1},
	    &got);
	close(fds[1]);
	close(null_fd);
	n = got.pid > 0 ? read(fds[0], said, size - 1) : 0;
	said[n > 0 ? n : 0] = 0;
	said[strcspn(said, "\n")] = 0;
	close(fds[0]);
	if (got.pid <= 0)
		return -1;
	while (waitid(P_PIDFD, (id_t)got.pidfd, &info, WEXITED) < 0 && errno == EINTR)
		;
	close(got.pidfd);
	return info.si_code == CLD_EXITED ? info.si_status : -1;
}

bool sandbox_available(char *why, size_t size)
{
	const char *program = sandbox_program(), *file;
	char said[200];

	if (!program) {
		snprintf(why, size, "there is no bubblewrap: install the package bubblewrap");
		return false;
	}
	if (try_it(program, said, sizeof said) == 0)
		return true;
	file = forbidden_by();
	if (file)
		snprintf(why, size, "%s does not let us make user namespaces (%s)", file, said);
	else
		snprintf(why, size, "%s fails: %s", program, said[0] ? said : "it cannot be run");
	return false;
}
