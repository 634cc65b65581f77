/* SPDX-License-Identifier: Apache-2.0 */
/* The beginning of a conversation: with who made us, or with a later worker who takes over. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/mem.h"
#include "keeper/internal.h"

static void remember(struct keeper *k, const struct keeper_open *o)
{
	k->o = *o;
	k->o.lock = arena_str(&k->memory, o->lock);
	k->o.socket = arena_str(&k->memory, o->socket);
	k->o.users = k->o.groups = NULL;
	identities_keep(k, o);
}

static void answer(struct keeper *k, struct keeper_opened *a)
{
	k->greeted = true;
	a->version = KEEPER_VERSION;
	a->adoptions = k->adoptions;
	a->instance = k->o.instance;
	a->start = k->o.start;
	worker_tell(k, &(struct from_keeper){.opened = a}, NULL, 0);
}

/* What an earlier worker left running, though its keeper is gone too, is ended before all else. */
static void first_open(struct keeper *k, const struct keeper_open *o)
{
	struct keeper_opened a = {0};
	struct problem p = {0};

	remember(k, o);
	if (hand_init(&k->hand, k->o.lock.p, o->use_cgroups, &p) < 0) {
		if (k->hand.null_fd < 0)
			a.problem = str_of(p.what);
		else
			a.no_cgroups = str_of(p.what);
	}
	a.ended = (uint32_t)exec_end_leftovers(k->o.lock.p);
	limits_probe(&k->limits, k->o.lock.p, k->hand.cgroups.dir_fd);
	k->opened = true;
	if (o->keep)
		calls_listen(k);
	answer(k, &a);
}

static void tell_kept(struct keeper *k, struct ward *w)
{
	struct keeper_over over = {.id = w->id,
	    .exit_code = w->process.exit_code,
	    .signal = w->process.signal,
	    .usage = w->process.usage};
	struct keeper_kept m = {.id = w->id,
	    .note = w->note,
	    .mark = w->mark,
	    .pid = w->process.pid > 0 ? w->process.pid : 0,
	    .started_ms = w->started_ms,
	    .started_mono_ms = w->started_mono_ms,
	    .over = w->state == WARD_OVER ? &over : NULL};
	int fds[KEEPER_FDS_MAX];

	if (w->process.out[0] >= 0 && w->process.out[1] >= 0) {
		fds[m.n_fds++] = w->process.out[0];
		fds[m.n_fds++] = w->process.out[1];
		for (int i = 0; i < w->n_extra; i++)
			fds[m.n_fds++] = w->extra[i];
	}
	m.has_result = w->result_fd >= 0;
	if (m.has_result)
		fds[m.n_fds++] = w->result_fd;
	worker_tell(k, &(struct from_keeper){.kept = &m}, fds, (int)m.n_fds);
}

static void adopted(struct keeper *k)
{
	struct keeper_opened a = {0};
	struct ward *w;

	k->adoptions++;
	answer(k, &a);
	TAILQ_FOREACH (w, &k->wards, entry)
		if (w->kept)
			tell_kept(k, w);
	worker_tell(k, &(struct from_keeper){.all_kept = true}, NULL, 0);
}

/* Only once, and only from whoever made us: who comes later has perhaps fewer rights. */
void keeper_open(struct keeper *k, const struct keeper_open *o)
{
	if (!k->opened && !o->adopt)
		first_open(k, o);
	else if (k->opened && o->adopt && k->o.keep)
		adopted(k);
	else
		end_begin(k, false);
}

static int bind_socket(const char *path, uid_t uid)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	int fd;

	if (strlen(path) >= sizeof a.sun_path)
		return -1;
	memcpy(a.sun_path, path, strlen(path) + 1);
	fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -1;
	unlink(path);
	if (bind(fd, (struct sockaddr *)&a, sizeof a) < 0 || chmod(path, 0600) < 0 ||
	    (uid != geteuid() && chown(path, uid, (gid_t)-1) < 0) || listen(fd, 4) < 0) {
		close(fd);
		return -1;
	}
	return fd;
}

void calls_listen(struct keeper *k)
{
	k->calls_fd = k->o.socket.n ? bind_socket(k->o.socket.p, k->o.worker_uid) : -1;
	if (k->calls_fd < 0)
		k->o.keep = false; /* nobody could come back for them */
	else
		keeper_watch(k, k->calls_fd, &k->calls_watch, EPOLLIN);
}

void calls_accept(struct keeper *k)
{
	int fd = accept4(k->calls_fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	struct ucred who;
	socklen_t n = sizeof who;

	if (fd < 0)
		return;
	/* one worker at a time: while the old one is there the new one tries again */
	if (k->phase != PHASE_ALONE || getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &n) < 0 ||
	    (who.uid != 0 && who.uid != k->o.worker_uid)) {
		close(fd);
		return;
	}
	worker_attach(k, fd);
}
