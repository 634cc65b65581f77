/* SPDX-License-Identifier: Apache-2.0 */
/* The processes that the benchmark starts: started, watched, and ended with it. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "bench/internal.h"

#define STOP_SECONDS 20

/* The caller's own settings must not decide what is measured. */
static void forget_settings(void)
{
	size_t kept = 0;

	for (size_t i = 0; environ[i]; i++)
		if (strncmp(environ[i], "REEVE_", 6) != 0)
			environ[kept++] = environ[i];
	environ[kept] = NULL;
}

static void child_become(const char *program, const char *const *argv, int log_fd)
{
	sigset_t none;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	setpgid(0, 0); /* Ctrl-C is for us: we stop them in order */
	dup2(open("/dev/null", O_RDONLY | O_CLOEXEC), STDIN_FILENO);
	dup2(log_fd, STDOUT_FILENO);
	dup2(log_fd, STDERR_FILENO);
	forget_settings();
	execvp(program, (char *const *)argv);
	_exit(127);
}

static pid_t start_program(
    const char *program, const char *const *argv, const char *log, struct problem *ret_problem)
{
	int fd = open(log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	pid_t pid;

	if (fd < 0)
		return problem_set(ret_problem, ERR_IO, "%s: %s", log, strerror(errno));
	pid = fork();
	if (pid == 0)
		child_become(program, argv, fd);
	close(fd);
	return pid > 0 ? pid : problem_set(ret_problem, ERR_IO, "fork: %s", strerror(errno));
}

pid_t child_start(const char *const *argv, const char *log, struct problem *ret_problem)
{
	return start_program("/proc/self/exe", argv, log, ret_problem);
}

pid_t child_start_other(const char *const *argv, const char *log, struct problem *ret_problem)
{
	return start_program(argv[0], argv, log, ret_problem);
}

bool child_is_alive(pid_t pid)
{
	siginfo_t info = {0};

	return pid > 0 && waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
	       info.si_pid == 0;
}

void child_stop(pid_t *pid)
{
	double end = bench_seconds() + STOP_SECONDS;

	if (*pid <= 0)
		return;
	kill(*pid, SIGTERM);
	while (child_is_alive(*pid) && bench_seconds() < end)
		usleep(5000);
	kill(*pid, SIGKILL); /* nobody else has this number until the child is waited for */
	waitpid(*pid, NULL, 0);
	*pid = 0;
}

int child_wait(pid_t *pid, int64_t limit_ms)
{
	double end = bench_seconds() + (double)limit_ms / 1000;
	int status = 0;

	while (child_is_alive(*pid)) {
		if (bench_seconds() > end || bench_interrupted()) {
			child_stop(pid);
			return ERR_TIMEOUT;
		}
		usleep(5000);
	}
	waitpid(*pid, &status, 0);
	*pid = 0;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int64_t child_rss_kb(pid_t pid, const char *field)
{
	char path[64], line[256];
	long long kb = 0;
	FILE *f;

	snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof line, f))
		if (strncmp(line, field, strlen(field)) == 0)
			kb = strtoll(line + strlen(field), NULL, 10);
	if (f)
		fclose(f);
	return kb;
}

void child_peak_forget(pid_t pid)
{
	char path[64];
	FILE *f;

	snprintf(path, sizeof path, "/proc/%d/clear_refs", (int)pid);
	f = fopen(path, "we");
	if (!f)
		return;
	fputs("5", f);
	fclose(f);
}

double child_cpu_seconds(pid_t pid)
{
	char path[64], text[1024];
	unsigned long user = 0, kernel = 0;
	char *after;
	FILE *f;

	snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
	f = fopen(path, "re");
	if (!f)
		return 0;
	text[fread(text, 1, sizeof text - 1, f)] = 0;
	fclose(f);
	after = strrchr(text, ')');
	if (!after || sscanf(after + 1, " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu",
	                  &user, &kernel) != 2)
		return 0;
	return (double)(user + kernel) / (double)sysconf(_SC_CLK_TCK);
}

double child_cpu_exact(pid_t pid)
{
	AUTO(free_cstr) char *path = xasprintf("/proc/%d/task", (int)pid);
	DIR *threads = opendir(path);
	double seconds = 0;
	struct dirent *e;

	while (threads && (e = readdir(threads))) {
		AUTO(free_cstr) char *stat = xasprintf("%s/%s/schedstat", path, e->d_name);
		FILE *f = e->d_name[0] == '.' ? NULL : fopen(stat, "re");
		unsigned long long ns;

		if (f && fscanf(f, "%llu", &ns) == 1)
			seconds += (double)ns / 1e9;
		if (f)
			fclose(f);
	}
	if (threads)
		closedir(threads);
	return seconds;
}

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *at)
{
	return remove(path);
}

int remove_tree(const char *path)
{
	return nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
}
