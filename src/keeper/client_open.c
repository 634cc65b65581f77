/* SPDX-License-Identifier: Apache-2.0 */
/* Finding a keeper, or making one; and parting with it. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "keeper/client.h"

#define ANSWER_MS 30000 /* ending what an earlier worker left may take a while */

/* One message, waited for. Its strings live in c->memory, descriptors are the caller's. */
static int wait_message(
    struct keeper_client *c, struct from_keeper *ret, int *fds, int *n_fds, int64_t ms)
{
	struct pollfd pf = {c->talk.fd, POLLIN, 0};
	int r;

	while ((r = talk_recv(&c->talk, fds, n_fds)) == 0)
		if (poll(&pf, 1, (int)ms) == 0)
			return -1;
	if (r < 0 || from_keeper_decode(buf_str(&c->talk.in), &c->memory, ret, NULL) < 0)
		return -1;
	return 0;
}

static int say_open(
    struct keeper_client *c, const struct keeper_options *o, bool adopt, struct problem *p)
{
	struct keeper_open open = {.version = KEEPER_VERSION,
	    .lock = str_of(o->lock),
	    .socket = str_of(o->socket),
	    .keep = o->socket != NULL,
	    .adopt = adopt,
	    .use_cgroups = o->use_cgroups,
	    .term_wait_ms = o->term_wait_ms,
	    .capabilities = o->capabilities,
	    .worker_uid = o->worker_uid,
	    .users = o->users,
	    .n_users = o->n_users,
	    .groups = o->groups,
	    .n_groups = o->n_groups,
	    .instance = o->instance,
	    .start = o->start};
	struct from_keeper m;
	int fds[KEEPER_FDS_MAX], n_fds;

	to_keeper_encode(&(struct to_keeper){.open = &open}, &c->arena, &c->out);
	if (!talk_send(&c->talk, buf_str(&c->out), NULL, 0) ||
	    wait_message(c, &m, fds, &n_fds, ANSWER_MS) < 0 || !m.opened) {
		problem_set(p, ERR_IO, "the keeper does not answer");
		return problem_hint(
		    p, "it is executed from memory: does a security policy forbid that here?");
	}
	c->opened = *m.opened;
	if (c->opened.problem.p)
		return problem_set(p, ERR_IO, "the keeper: " STR_FMT, STR_ARG(c->opened.problem));
	return 0;
}

static void add_adopted(struct keeper_client *c, const struct keeper_kept *k, const int *fds, int n)
{
	struct kept_adopted *a;

	GROW(c->adopted, c->cap_adopted, c->n_adopted + 1);
	a = &c->adopted[c->n_adopted++];
	*a = (struct kept_adopted){.id = k->id,
	    .note = k->note,
	    .mark = k->mark,
	    .pid = k->pid,
	    .started_ms = k->started_ms,
	    .started_mono_ms = k->started_mono_ms,
	    .is_over = k->over != NULL,
	    .n_fds = n};
	if (k->over)
		a->over = *k->over;
	a->result_fd = k->has_result && n > 0 ? fds[--a->n_fds] : -1;
	memcpy(a->fds, fds, sizeof *fds * (size_t)a->n_fds);
	if (k->id > c->last_id)
		c->last_id = k->id;
}

static int take_all(struct keeper_client *c)
{
	struct from_keeper m;
	int fds[KEEPER_FDS_MAX], n_fds;

	for (;;) {
		if (wait_message(c, &m, fds, &n_fds, ANSWER_MS) < 0)
			return -1;
		if (m.all_kept)
			return 0;
		if (m.kept)
			add_adopted(c, m.kept, fds, n_fds);
	}
}

static int call(const char *path)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	int fd;

	if (!path || strlen(path) >= sizeof a.sun_path)
		return -1;
	memcpy(a.sun_path, path, strlen(path) + 1);
	fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	if (fd >= 0 && connect(fd, (struct sockaddr *)&a, sizeof a) < 0) {
		close(fd);
		fd = -1;
	}
	return fd;
}

static void start_anew(struct keeper_client *c, const struct keeper_options *o, int fd)
{
	*c = (struct keeper_client){.told_deadline_ms = INT64_MAX, .keeps = o->socket != NULL};
	TAILQ_INIT(&c->all);
	talk_init(&c->talk, fd);
}

/* One that speaks another language is sent away, and what it kept is ended. */
bool keeper_adopt(struct keeper_client *c, const struct keeper_options *o)
{
	struct problem p = {0};
	int fd = call(o->socket);

	if (fd < 0)
		return false;
	start_anew(c, o, fd);
	if (say_open(c, o, true, &p) < 0 || c->opened.version != KEEPER_VERSION ||
	    take_all(c) < 0) {
		keeper_close(c, true, ANSWER_MS);
		return false;
	}
	return true;
}

int keeper_make(struct keeper_client *c, const struct keeper_options *o, struct problem *p)
{
	pid_t pid;
	int fd = keeper_launch(o->held_fd, &pid, p);

	if (fd < 0)
		return ERR_IO;
	start_anew(c, o, fd);
	c->pid = pid;
	if (say_open(c, o, false, p) < 0) {
		keeper_close(c, true, 0);
		return ERR_IO;
	}
	return 0;
}

pid_t keeper_pid(const struct keeper_client *c)
{
	struct ucred who = {0};
	socklen_t n = sizeof who;

	if (c->pid > 0)
		return c->pid;
	return getsockopt(c->talk.fd, SOL_SOCKET, SO_PEERCRED, &who, &n) < 0 ? 0 : who.pid;
}

/* What the owners were to be told in the meantime is told as always. */
void keeper_freeze(struct keeper_client *c, bool on, int64_t wait_ms)
{
	struct pollfd pf = {c->talk.fd, POLLIN, 0};

	buf_reset(&c->out);
	to_keeper_encode(&(struct to_keeper){.has_frozen = true, .frozen = on}, &c->arena, &c->out);
	c->frozen = false;
	if (!talk_send(&c->talk, buf_str(&c->out), NULL, 0))
		return;
	while (on && !c->frozen && poll(&pf, 1, (int)wait_ms) > 0 && keeper_readable(c))
		;
}

/* The keeper closes its end when it goes; false: it did not in that time. */
static bool wait_gone(struct keeper_client *c, int64_t wait_ms)
{
	struct pollfd pf = {c->talk.fd, POLLIN, 0};
	int fds[KEEPER_FDS_MAX], n_fds, r;

	while ((r = talk_recv(&c->talk, fds, &n_fds)) >= 0) {
		for (int i = 0; r > 0 && i < n_fds; i++)
			close(fds[i]);
		if (r == 0 && poll(&pf, 1, (int)wait_ms) <= 0)
			return false;
	}
	return true;
}

/* One that does not go was stopped for good: then it is ended, if we may. */
static void send_away(struct keeper_client *c, int64_t wait_ms)
{
	bool gone;

	buf_reset(&c->out);
	to_keeper_encode(&(struct to_keeper){.leave = true}, &c->arena, &c->out);
	talk_send(&c->talk, buf_str(&c->out), NULL, 0);
	gone = wait_gone(c, wait_ms);
	if (c->pid <= 0)
		return;
	if (!gone && wait_ms > 0)
		gone = kill(c->pid, SIGKILL) == 0;
	waitpid(c->pid, NULL, gone ? 0 : WNOHANG);
}

void keeper_close(struct keeper_client *c, bool leave, int64_t wait_ms)
{
	if (c->talk.fd >= 0 && leave)
		send_away(c, wait_ms);
	talk_close(&c->talk);
	idmap_release(&c->by_id);
	arena_release(&c->arena);
	arena_release(&c->memory);
	buf_release(&c->out);
	free(c->adopted);
	*c = (struct keeper_client){.talk.fd = -1};
}
