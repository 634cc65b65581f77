/* SPDX-License-Identifier: Apache-2.0 */
/* The worker and its keeper: made or taken over, listened to, and replaced when it dies. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/world/log.h"
#include "exec/children.h"
#include "worker/internal.h"

#define OTHER_WAIT_MS 40000 /* longer than a keeper takes to end what a worker left */
#define TRY_MS 20
#define PING_MS 3000
#define PINGS_LOST 4
#define LEFTOVERS_WAIT_MS 5000

/* The keeper has a lock of its own: it outlives us, and must never meet the next one's tasks. */
static int keeper_lock(const char *path)
{
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0640);

	if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) < 0)
		process_close(&fd);
	return fd;
}

static void tell_opened(struct worker *w)
{
	const struct keeper_opened *o = &w->keeper.opened;

	if (o->no_cgroups.p)
		log_warn("no cgroups: " STR_FMT "; process groups are used instead",
		    STR_ARG(o->no_cgroups));
	if (o->ended > 0)
		log_warn("ended %u processes that an earlier worker left behind", o->ended);
	if (o->adoptions) { /* to the server we are still the same */
		w->facts.instance = o->instance;
		w->facts.start = o->start;
		log_info("took over %zu tasks from an earlier worker", w->keeper.n_adopted);
	}
}

static struct keeper_options options_of(const struct worker *w, int held_fd)
{
	return (struct keeper_options){.lock = w->lock,
	    .socket = w->keeper_socket,
	    .held_fd = held_fd,
	    .use_cgroups = !w->o->no_cgroup,
	    .term_wait_ms = w->o->term_wait_ms > 0 ? w->o->term_wait_ms : KILL_WAIT_DEFAULT_MS,
	    .instance = w->facts.instance,
	    .start = w->facts.start};
}

/* An earlier worker kept its tasks; we are told not to: they end, as ours will. */
static void dismiss(const struct worker *w)
{
	AUTO(free_cstr) char *path = xasprintf("%s/keeper.sock", w->o->state_dir);
	struct keeper_options o = options_of(w, -1);
	struct keeper_client c = {.talk.fd = -1};

	o.socket = path;
	if (!keeper_adopt(&c, &o))
		return;
	log_warn("ending %zu tasks that an earlier worker kept: worker.on_worker_exit is kill now",
	    c.n_adopted);
	for (size_t i = 0; i < c.n_adopted; i++) {
		for (int fd = 0; fd < c.adopted[i].n_fds; fd++)
			close(c.adopted[i].fds[fd]);
		process_close(&c.adopted[i].result_fd);
	}
	keeper_close(&c, true, OTHER_WAIT_MS);
}

int keeping_open(struct worker *w, struct problem *p)
{
	AUTO(free_cstr) char *path = xasprintf("%s/keeper", w->o->state_dir);
	struct timespec pause = {0, TRY_MS * 1000000};
	struct keeper_options o = options_of(w, -1);
	int r = identities_gather(w, &o, p);

	if (r < 0)
		return r;
	for (int ms = 0; (o.held_fd = keeper_lock(path)) < 0; ms += TRY_MS) {
		if (errno != EWOULDBLOCK)
			return problem_set(p, ERR_IO, "%s: %s", path, strerror(errno));
		if (o.socket && keeper_adopt(&w->keeper, &o)) {
			tell_opened(w);
			return 0;
		}
		if (!o.socket)
			dismiss(w);
		if (ms >= OTHER_WAIT_MS) {
			problem_set(p, ERR_CONFLICT,
			    "the keeper of an earlier worker is still ending its processes");
			return problem_hint(
			    p, "look for processes that cannot be killed; then start again");
		}
		nanosleep(&pause, NULL);
	}
	r = keeper_make(&w->keeper, &o, p);
	process_close(&o.held_fd);
	if (r == 0)
		tell_opened(w);
	return r;
}

/* False: somebody lives whom we have no right to end. */
static bool end_all(struct worker *w)
{
	bool ended = exec_end_cgroups(w->lock);

	exec_end_leftovers(w->lock);
	return exec_end_children(LEFTOVERS_WAIT_MS) && (ended || exec_end_cgroups(w->lock));
}

static void take_list(struct keeper_client *to, struct keeper_client *from)
{
	struct kept *k;

	TAILQ_INIT(&to->all);
	TAILQ_CONCAT(&to->all, &from->all, entry);
	TAILQ_FOREACH (k, &to->all, entry)
		k->client = to;
}

/*
 * Nothing is told about the tasks that we cannot end: the next instance, with the rights that we
 * gave up, ends them first.
 */
static void leave_at_once(struct worker *w, const struct problem *p)
{
	log_error("%s%s%s; leaving at once, to be started anew", p->what, p->hint[0] ? "; " : "",
	    p->hint);
	w->detached = true;
	w->exit_code = 1;
	loop_stop(w->loop);
}

/*
 * The keeper's children died with it, and what they forked is ended here. A worker that has given
 * up its rights cannot make another keeper that has them: then it leaves, to be started anew.
 */
static void replace(struct worker *w)
{
	struct keeper_client dead = w->keeper;
	struct problem p = {0};
	bool ended;
	int r;

	take_list(&dead, &w->keeper);
	log_error(
	    "the keeper is gone, and %s with it", TAILQ_EMPTY(&dead.all) ? "nothing" : "the tasks");
	ended = end_all(w);
	w->keeper = (struct keeper_client){.talk.fd = -1};
	r = keeping_open(w, &p);
	if (r < 0 && !ended) {
		w->keeper = dead;
		take_list(&w->keeper, &dead);
		leave_at_once(w, &p);
		return;
	}
	if (r == 0) {
		w->keeper.last_id = dead.last_id; /* records may still name its numbers */
		keeping_watch(w);
	} else {
		log_error("%s; leaving, to be started anew", p.what);
		w->broken = true;
		TAILQ_INIT(&w->keeper.all);
		worker_feed(w, (struct agent_event){.kind = AE_LEAVE});
	}
	keeper_lost(&dead);
	keeper_close(&dead, false, 0);
}

static void on_keeper(int fd, bool readable, bool writable, void *arg)
{
	struct worker *w = arg;

	if ((!writable || keeper_writable(&w->keeper)) &&
	    (!readable || keeper_readable(&w->keeper))) {
		keeping_flush(w);
		return;
	}
	loop_watch_free(w->keeper_watch);
	w->keeper_watch = NULL;
	if (!w->closing)
		replace(w);
}

/*
 * A keeper that somebody has stopped can neither start nor end anything. It is ended, which its
 * socket tells us, and another one takes its place.
 */
static void on_ping(void *arg)
{
	struct worker *w = arg;
	pid_t pid = keeper_pid(&w->keeper);

	loop_timer_set(w->keeper_ping, PING_MS);
	/* what lies there counts: it may be us who were stopped */
	if (!w->keeper_watch || !keeper_readable(&w->keeper) ||
	    keeper_ping(&w->keeper) < PINGS_LOST)
		return;
	/* one with more rights than ours only an operator can have stopped */
	if (pid > 0 && kill(pid, SIGKILL) == 0)
		log_error("the keeper does not answer; it is ended");
}

void keeping_watch(struct worker *w)
{
	if (!w->keeper_ping)
		w->keeper_ping = loop_timer_new(w->loop, on_ping, w);
	loop_timer_set(w->keeper_ping, PING_MS);
	w->keeper_watch = loop_watch_new(w->loop, keeper_fd(&w->keeper), on_keeper, w);
	w->keeper_writing = keeper_is_waiting(&w->keeper);
	loop_watch_set(w->keeper_watch, true, w->keeper_writing);
}

void keeping_flush(struct worker *w)
{
	bool writing = w->keeper_watch && keeper_is_waiting(&w->keeper);

	if (!w->keeper_watch || writing == w->keeper_writing)
		return;
	w->keeper_writing = writing;
	loop_watch_set(w->keeper_watch, true, writing);
}

/* Outside the loop: for a while, or until fn says that it is enough. */
void keeping_wait(struct worker *w, int64_t ms, bool (*is_enough)(const struct worker *w))
{
	int64_t until = worker_mono_ms() + ms, left;

	while (!is_enough(w) && (left = until - worker_mono_ms()) > 0) {
		struct pollfd pf = {keeper_fd(&w->keeper), POLLIN, 0};

		if (pf.fd < 0 || poll(&pf, 1, (int)left) <= 0 || !keeper_readable(&w->keeper))
			return;
	}
}
