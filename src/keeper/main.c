/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The keeper: a small program of its own, beside each worker. Descriptor 3 is the worker, 4 (if
 * open) a lock that tells the next worker to wait for us.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "base/data/heap.h"
#include "base/mem.h"
#include "exec/children.h"
#include "keeper/internal.h"

#define WORKER_FD 3
#define LAST_FD 4
#define EVENTS_PER_TURN 64
#define LAST_WAIT_MS 1000

int64_t keeper_now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_BOOTTIME, &ts);
	return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

void keeper_watch(struct keeper *k, int fd, struct watch *w, uint32_t events)
{
	struct epoll_event e = {.events = events, .data.ptr = w};

	if (epoll_ctl(k->epoll_fd, EPOLL_CTL_ADD, fd, &e) < 0 && errno == EEXIST)
		epoll_ctl(k->epoll_fd, EPOLL_CTL_MOD, fd, &e);
}

void keeper_unwatch(struct keeper *k, int fd)
{
	epoll_ctl(k->epoll_fd, EPOLL_CTL_DEL, fd, NULL);
}

/* Signals meant for the worker, or for its whole group or terminal, must not end us first. */
static void stand_apart(void)
{
	static const int ignored[] = {
	    SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGPIPE, SIGTSTP, SIGTTIN, SIGTTOU, SIGUSR1, SIGUSR2};

	for (size_t i = 0; i < sizeof ignored / sizeof ignored[0]; i++)
		signal(ignored[i], SIG_IGN);
	setsid();
	umask(022);
	prctl(PR_SET_NAME, "reeve-keeper");
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	prctl(PR_SET_DUMPABLE, 0); /* the keeper holds what rights there are */
	if (chdir("/") < 0)
		_exit(1);
	syscall(SYS_close_range, LAST_FD + 1u, ~0u, 0u);
	fcntl(WORKER_FD, F_SETFD, FD_CLOEXEC);
	fcntl(LAST_FD, F_SETFD, FD_CLOEXEC);
}

static int children_fd(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	sigprocmask(SIG_BLOCK, &set, NULL);
	return signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
}

static void set_up(struct keeper *k)
{
	*k = (struct keeper){.calls_fd = -1,
	    .deadline_ms = INT64_MAX,
	    .kill_ms = INT64_MAX,
	    .give_up_ms = INT64_MAX,
	    .look_ms = INT64_MAX,
	    .alarm_ms = INT64_MAX,
	    .worker_watch.kind = WATCH_WORKER,
	    .calls_watch.kind = WATCH_CALLS,
	    .time_watch.kind = WATCH_TIME,
	    .children_watch.kind = WATCH_CHILDREN,
	    .hand = {.null_fd = -1, .cgroups.dir_fd = -1}};
	TAILQ_INIT(&k->wards);
	TAILQ_INIT(&k->dead);
	k->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	k->timer_fd = timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK);
	k->signal_fd = children_fd();
	if (k->epoll_fd < 0 || k->timer_fd < 0 || k->signal_fd < 0)
		_exit(1);
	keeper_watch(k, k->timer_fd, &k->time_watch, EPOLLIN);
	keeper_watch(k, k->signal_fd, &k->children_watch, EPOLLIN);
	worker_attach(k, WORKER_FD);
}

/* A clock that runs on while the machine sleeps, as epoll's timeout does not. */
static void set_alarm(struct keeper *k)
{
	int64_t at = end_wake_ms(k);
	struct itimerspec when = {0};

	if (at == k->alarm_ms)
		return;
	k->alarm_ms = at;
	if (at != INT64_MAX) {
		if (at < 1)
			at = 1; /* 0 would mean: never */
		when.it_value.tv_sec = at / 1000;
		when.it_value.tv_nsec = at % 1000 * 1000000;
	}
	timerfd_settime(k->timer_fd, TFD_TIMER_ABSTIME, &when, NULL);
}

/*
 * Some child has ended: an orphan, perhaps. They are not in a hurry, and looking for them among
 * many children is slow; until that was done we do not even listen.
 */
static void on_children(struct keeper *k)
{
	struct signalfd_siginfo info;
	int64_t soon = keeper_now_ms() + 100;

	keeper_unwatch(k, k->signal_fd);
	k->deaf = true;
	while (read(k->signal_fd, &info, sizeof info) == (ssize_t)sizeof info)
		;
	if (soon < k->look_ms)
		k->look_ms = soon;
}

void keeper_listen(struct keeper *k)
{
	if (k->deaf)
		keeper_watch(k, k->signal_fd, &k->children_watch, EPOLLIN);
	k->deaf = false;
}

static void handle(struct keeper *k, struct watch *w, uint32_t events)
{
	uint64_t times;

	switch (w->kind) {
	case WATCH_WORKER:
		if (events & EPOLLOUT)
			worker_flush(k);
		if (events & ~(uint32_t)EPOLLOUT)
			worker_readable(k);
		break;
	case WATCH_CALLS: calls_accept(k); break;
	case WATCH_TIME:
		k->alarm_ms = INT64_MAX; /* the alarm has rung */
		if (read(k->timer_fd, &times, sizeof times) > 0)
			end_time(k);
		break;
	case WATCH_CHILDREN: on_children(k); break;
	case WATCH_LEADER: ward_leader_over(k, CONTAINER_OF(w, struct ward, leader)); break;
	case WATCH_TREE: ward_look(k, CONTAINER_OF(w, struct ward, tree)); break;
	}
}

static void free_dead(struct keeper *k)
{
	struct ward *w;

	while ((w = TAILQ_FIRST(&k->dead))) {
		TAILQ_REMOVE(&k->dead, w, entry);
		free(w);
	}
}

static void turn(struct keeper *k)
{
	struct epoll_event events[EVENTS_PER_TURN];
	int n = epoll_wait(k->epoll_fd, events, EVENTS_PER_TURN, -1);

	for (int i = 0; i < n; i++)
		handle(k, events[i].data.ptr, events[i].events);
	free_dead(k);
}

static void release(struct keeper *k)
{
	struct ward *w, *next;

	exec_end_children(LAST_WAIT_MS); /* no task is left: whoever is ours has escaped from one */
	worker_detach(k);
	TAILQ_FOREACH_SAFE (w, &k->wards, entry, next)
		ward_release(k, w);
	free_dead(k);
	if (k->calls_fd >= 0)
		unlink(k->o.socket.p);
	if (k->opened)
		limits_release(&k->limits);
	hand_release(&k->hand);
	idmap_release(&k->by_id);
	arena_release(&k->arena);
	arena_release(&k->memory);
	buf_release(&k->out);
}

int main(void)
{
	struct keeper k;

	stand_apart();
	set_up(&k);
	while (!end_reached(&k)) {
		set_alarm(&k);
		turn(&k);
	}
	release(&k);
	return 0;
}
