/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `reeve dev`: a server and one worker, nothing to configure. The worker is a child process of its
 * own, as in production; it is started again if it dies, and drained before the server stops.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/world/log.h"
#include "config/flags.h"
#include "server/server.h"

#define RESTART_MS 1000
#define SUSPEND_MS 5000 /* for the tasks to stand still */
#define WORDS_MAX 64

struct dev {
	int argc;
	char **argv;
	const struct config *config;
	struct loop *loop;
	struct loop_signal *child, *suspend;
	struct loop_timer *again;
	int link_port;
	pid_t worker; /* 0: none */
	bool stopping;
};

static void add_word(char **words, size_t *n, char *word)
{
	MUST(*n < WORDS_MAX - 1);
	words[(*n)++] = word;
	words[*n] = NULL;
}

/* A value as a flag takes it: what config_write_value() gives is for files, and quoted. */
static char *flag_word(const struct config *c, const struct config_key *k)
{
	const char *const *items;
	struct buf value = {0};
	size_t n;

	switch (k->type) {
	case KEY_BOOL: return xasprintf("--%s%s", config_bool(c, k->name) ? "" : "no-", k->flag);
	case KEY_LIST:
		n = config_list(c, k->name, &items);
		for (size_t i = 0; i < n; i++)
			buf_printf(&value, "%s%s", i ? "," : "", items[i]);
		break;
	case KEY_MAP: config_json(c, k->name, &value); break;
	case KEY_INT: buf_printf(&value, "%lld", (long long)config_int(c, k->name)); break;
	case KEY_DURATION:
		buf_printf(&value, "%lldms", (long long)config_duration_ms(c, k->name));
		break;
	default: buf_add_cstr(&value, config_str(c, k->name)); break;
	}
	char *word = xasprintf("--%s=%s", k->flag, buf_str(&value).p);

	buf_release(&value);
	return word;
}

/* The worker reads the same files and environment; only what came by flags is passed on. */
static void pass_flags(const struct dev *d, char **words, size_t *n)
{
	for (size_t i = 0; i < n_config_keys; i++) {
		const struct config_key *k = &config_keys[i];

		if (!(k->users & CONFIG_FOR_WORKER) || !k->flag ||
		    strcmp(k->flag, "state-dir") == 0 || strcmp(k->flag, "join") == 0 ||
		    strncmp(config_origin(d->config, k->name), "--", 2) != 0)
			continue;
		add_word(words, n, flag_word(d->config, k));
	}
}

static void worker_words(const struct dev *d, char **words)
{
	size_t n = 0;

	add_word(words, &n, xstrdup("reeve"));
	add_word(words, &n, xstrdup("worker"));
	add_word(words, &n, xasprintf("--join=127.0.0.1:%d", d->link_port));
	add_word(words, &n,
	    xasprintf("--state-dir=%s/worker", config_str(d->config, "server.state_dir")));
	if (config_file(d->config))
		add_word(words, &n, xasprintf("--config=%s", config_file(d->config)));
	if (!config_secret_is_given(d->config, "server.join_token"))
		add_word(words, &n,
		    xasprintf("--token-file=%s", config_str(d->config, "server.join_token_file")));
	/* one file for both: each event is appended whole */
	if (strncmp(config_origin(d->config, "server.trace_shiviz"), "--", 2) == 0)
		add_word(words, &n,
		    xasprintf("--trace-shiviz=%s", config_str(d->config, "server.trace_shiviz")));
	pass_flags(d, words, &n);
}

/* In the child, between fork and exec: nothing here may allocate or lock. */
static _Noreturn void become_worker(char **words, pid_t dev)
{
	sigset_t none;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	/* a group of its own: Ctrl-C is for us, and we then ask the worker once, not twice */
	setpgid(0, 0);
	/* but never without us: it would hold the state directory against the next `reeve dev` */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() == dev)
		execv("/proc/self/exe", words);
	_exit(127);
}

static void start_worker(struct dev *d)
{
	char *words[WORDS_MAX];
	pid_t self = getpid();

	worker_words(d, words);
	d->worker = fork();
	if (d->worker == 0)
		become_worker(words, self);
	for (size_t i = 0; words[i]; i++)
		free(words[i]);
	if (d->worker < 0) {
		log_error("the worker could not be started: %s", strerror(errno));
		d->worker = 0;
		loop_timer_set(d->again, RESTART_MS);
	}
}

static void start_again(void *arg)
{
	start_worker(arg);
}

static void on_child(int signo, void *arg)
{
	struct dev *d = arg;
	int status;

	if (!d->worker || waitpid(d->worker, &status, WNOHANG) != d->worker)
		return;
	d->worker = 0;
	if (d->stopping) {
		loop_stop(d->loop);
		return;
	}
	log_warn("the worker ended (status %d), starting another", status);
	loop_timer_set(d->again, RESTART_MS);
}

static bool worker_has_stopped(const struct dev *d)
{
	siginfo_t info = {0};

	return waitid(P_PID, (id_t)d->worker, &info, WSTOPPED | WEXITED | WNOHANG | WNOWAIT) == 0 &&
	       info.si_pid != 0;
}

/* Ctrl-Z: the tasks first, then the worker, then we; and back in the other order. */
static void on_suspend(int signo, void *arg)
{
	struct dev *d = arg;
	struct timespec pause = {0, 10000000};

	if (d->worker)
		kill(d->worker, SIGTSTP);
	for (int ms = 0; d->worker && ms < SUSPEND_MS && !worker_has_stopped(d); ms += 10)
		nanosleep(&pause, NULL);
	raise(SIGSTOP);
	if (d->worker)
		kill(d->worker, SIGCONT);
}

/* For those who would rather use HTTP: where the token is, not what it is. */
static void greet_http(const struct server_info *info, const struct config *c)
{
	AUTO(free_cstr) char *token = NULL;

	if (!*info->url)
		return;
	token = config_is_given(c, "server.token")
	            ? xstrdup("TOKEN")
	            : xasprintf("$(cat %s)", config_str(c, "server.token_file"));
	printf("  curl -H \"Authorization: Bearer %s\" %s/v1/status\n", token, info->url);
}

static void greet(const struct server_info *info, const struct config *c)
{
	printf("Reeve is running: %s\n"
	       "  socket: %s\n"
	       "Try, in another terminal:\n",
	    info->url, info->socket);
	if (config_is_given(c, "server.state_dir") || config_is_given(c, "server.socket"))
		printf("  export REEVE_SERVER=unix:%s\n", info->socket);
	printf("  reeve run -- echo hello\n"
	       "  seq 20 | reeve submit --array - --wait -- sh -c 'sleep 0.2; echo {}'\n"
	       "  reeve top\n");
	greet_http(info, c);
	printf("Ctrl-C stops it; what is queued waits for the next start.\n");
	fflush(stdout);
}

static bool on_ready(struct loop *l, const struct server_info *info, void *arg)
{
	struct dev *d = arg;

	d->loop = l;
	d->link_port = info->link_port;
	d->child = loop_signal_new(l, SIGCHLD, on_child, d);
	d->suspend = loop_signal_new(l, SIGTSTP, on_suspend, d);
	d->again = loop_timer_new(l, start_again, d);
	greet(info, d->config);
	unsetenv("NOTIFY_SOCKET"); /* a service manager hears of us from us alone */
	start_worker(d);
	return true;
}

/* The worker drains first, while the server still takes its reports. */
static void on_stop(struct loop *l, void *arg)
{
	struct dev *d = arg;

	d->stopping = true;
	loop_timer_set(d->again, -1);
	if (!d->worker)
		loop_stop(l);
	else
		kill(d->worker, SIGTERM);
}

static void on_end(void *arg)
{
	struct dev *d = arg;

	loop_signal_free(d->child);
	loop_signal_free(d->suspend);
	loop_timer_free(d->again);
}

static struct config *load(struct dev *d, int *ret_code)
{
	return config_for("reeve dev", CONFIG_FOR_DAEMONS, d->argc, d->argv, ret_code);
}

static struct config *reload(void *arg)
{
	struct dev *d = arg;
	int code;

	if (d->worker)
		kill(d->worker, SIGHUP);
	return load(d, &code);
}

int dev_command(int argc, char **argv)
{
	struct dev d = {.argc = argc, .argv = argv};
	struct server_hooks hooks = {on_ready, on_stop, on_end, reload, &d};
	int code = 0;
	struct config *c = load(&d, &code);

	if (!c)
		return code;
	d.config = c;
	code = server_run(c, &hooks);
	config_free(c);
	return code;
}
