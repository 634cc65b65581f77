/* SPDX-License-Identifier: Apache-2.0 */
/* One loop: signals (children's ends, orders to stop), transfers, and the tree's time limits. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "action/action.h"
#include "action/outcome.h"
#include "action/runs.h"
#include "action/transfers.h"
#include "base/mem.h"
#include "base/world/clock.h"
#include "model/limits.h"
#include "wire/json/action.h"

struct runner {
	struct tree tree;
	struct runs runs;
	struct transfers transfers;
	int signal_fd;
};

static void on_start(void *arg, struct node *leaf)
{
	struct runner *r = arg;

	if (leaf->action->kind == ACTION_RUN)
		runs_start(&r->runs, leaf);
	else
		transfers_start(&r->transfers, leaf);
}

static void on_end(void *arg, struct node *leaf)
{
	struct runner *r = arg;

	if (leaf->action->kind == ACTION_RUN)
		runs_end(&r->runs, leaf, clock_mono_ms());
	else
		transfers_end(&r->transfers, leaf);
}

static void on_say(void *arg, const struct node *n, bool is_error, const char *text)
{
	outcome_say(is_error ? STDERR_FILENO : STDOUT_FILENO, n->log_source, text);
}

/* Signals that end us, and SIGCHLD, come as bytes; before any thread of libcurl's is there. */
static int take_signals(void)
{
	sigset_t set;
	int fd;

	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGQUIT);
	sigaddset(&set, SIGHUP);
	MUST(sigprocmask(SIG_BLOCK, &set, NULL) == 0);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGCHLD, SIG_DFL); /* ignored, there would be no statuses */
	fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	MUST(fd >= 0);
	return fd;
}

static void read_signals(struct runner *r)
{
	struct signalfd_siginfo s;

	while (read(r->signal_fd, &s, sizeof s) == (ssize_t)sizeof s)
		if (s.ssi_signo != SIGCHLD && !r->tree.cancelled) {
			outcome_say(STDERR_FILENO, r->tree.root->log_source, "Cancelled");
			tree_cancel(&r->tree);
		}
	runs_reap(&r->runs);
}

static int64_t earlier(int64_t a, int64_t b)
{
	return a < 0 ? b : b < 0 || a < b ? a : b;
}

static void wait_for_something(struct runner *r)
{
	int64_t due = earlier(tree_due_ms(&r->tree), runs_due_ms(&r->runs)), left;

	left = due < 0 ? -1 : due - clock_mono_ms();
	transfers_wait(&r->transfers, r->signal_fd, due >= 0 && left < 0 ? 0 : left);
}

static struct outcome run(struct runner *r, const struct action *root, bool is_monitored)
{
	struct tree_hands hands = {on_start, on_end, on_say, r};

	r->signal_fd = take_signals();
	tree_init(&r->tree, root, &hands);
	r->tree.is_monitored = is_monitored;
	runs_init(&r->runs, &r->tree);
	transfers_init(&r->transfers, &r->tree);
	tree_start(&r->tree, clock_mono_ms());
	while (!r->tree.is_over) {
		wait_for_something(r);
		read_signals(r);
		runs_wake(&r->runs, clock_mono_ms());
		transfers_step(&r->transfers);
		tree_step(&r->tree, clock_mono_ms());
	}
	transfers_release(&r->transfers);
	runs_end_daemons(&r->runs);
	runs_sweep(&r->runs);
	return tree_outcome(&r->tree);
}

/* All of standard input; ERR_INVALID when it is more than a task may have. */
static int read_all(struct buf *b, struct problem *p)
{
	char piece[16384];
	ssize_t n;

	while ((n = read(STDIN_FILENO, piece, sizeof piece)) != 0) {
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return problem_set(p, ERR_IO,
			    "the action cannot be read from standard "
			    "input: %s",
			    strerror(errno));
		if (b->n + (size_t)n > TASK_BODY_MAX)
			return problem_set(
			    p, ERR_INVALID, "the action has more than %u bytes", TASK_BODY_MAX);
		buf_add(b, piece, (size_t)n);
	}
	return 0;
}

static int read_action(struct arena *a, struct action **ret, struct problem *p)
{
	AUTO(buf_release) struct buf text = {0};
	json_error_t e;
	json_t *json;
	int r = read_all(&text, p);

	if (r < 0)
		return r;
	json = json_loadb(text.p ? text.p : "", text.n, JSON_REJECT_DUPLICATES, &e);
	if (!json)
		return problem_set(p, ERR_INVALID,
		    "the action on standard input is not JSON: %s (line %d, column %d)", e.text,
		    e.line, e.column);
	r = action_parse(json, a, ret, p);
	json_decref(json);
	return r;
}

static struct outcome refused(const struct problem *p, struct arena *a)
{
	const char *text = arena_printf(a, "The action is not valid: %s%s%s%s", p->what,
	    p->field[0] ? " (" : "", p->field, p->field[0] ? ")" : "");

	outcome_say(STDERR_FILENO, STR_NULL, text);
	if (p->hint[0])
		outcome_say(STDERR_FILENO, STR_NULL, arena_printf(a, "hint: %s", p->hint));
	return (struct outcome){OUTCOME_FAILED, 1, text, NULL};
}

int action_main(int argc, char **argv)
{
	int result_fd = outcome_take_fd(),
	    code; /* first of all: 3 may be free, and become another */
	struct runner r = {0};
	struct problem p = {0};
	struct arena a = {0};
	struct action *root;
	struct outcome o;

	if (read_action(&a, &root, &p) < 0)
		o = refused(&p, &a);
	else
		o = run(&r, root, argc > 0 && strcmp(argv[0], "--monitored") == 0);
	outcome_write(result_fd, &o);
	code = o.kind == OUTCOME_GOOD ? 0 : 1;
	if (code && r.tree.root && root->kind == ACTION_RUN)
		code = o.exit_code;
	tree_release(&r.tree);
	arena_release(&a);
	return code;
}
