/* SPDX-License-Identifier: Apache-2.0 */
/* The worker at the other end: what it says is done in order, what it is told waits for it. */
#include <sys/epoll.h>
#include <unistd.h>

#include "keeper/internal.h"

#define MESSAGES_PER_TURN 32 /* processes that end want their turn, too */

void worker_attach(struct keeper *k, int fd)
{
	talk_init(&k->worker, fd);
	if (k->phase != PHASE_SERVING) /* not the first, for whom it was made */
		keeper_move(k, PHASE_SERVING);
	k->greeted = k->worker_writable_wanted = false;
	keeper_watch(k, fd, &k->worker_watch, EPOLLIN);
}

void worker_detach(struct keeper *k)
{
	if (k->worker.fd < 0)
		return;
	keeper_unwatch(k, k->worker.fd);
	talk_close(&k->worker);
}

/* However it went, its tasks are ended, or go on without it. */
static void worker_gone(struct keeper *k)
{
	worker_detach(k);
	if (k->phase != PHASE_SERVING)
		return;
	if (k->o.keep)
		end_alone(k);
	else
		end_begin(k, false);
}

void worker_flush(struct keeper *k)
{
	/* whether it is gone is for the reader to find out: something unread may be left of it */
	bool wanted = talk_flush(&k->worker) && talk_is_waiting(&k->worker);

	if (wanted != k->worker_writable_wanted)
		keeper_watch(k, k->worker.fd, &k->worker_watch, EPOLLIN | (wanted ? EPOLLOUT : 0u));
	k->worker_writable_wanted = wanted;
}

void worker_tell(struct keeper *k, const struct from_keeper *m, const int *fds, int n_fds)
{
	if (k->worker.fd < 0 || !k->greeted)
		return;
	buf_reset(&k->out);
	arena_reset(&k->arena);
	from_keeper_encode(m, &k->arena, &k->out);
	if (talk_send(&k->worker, buf_str(&k->out), fds, n_fds) &&
	    talk_is_waiting(&k->worker) != k->worker_writable_wanted)
		worker_flush(k);
}

static void freeze(struct keeper *k, bool on)
{
	freeze_all(k, on);
	if (on)
		worker_tell(k, &(struct from_keeper){.froze = true}, NULL, 0);
}

static void obey(struct keeper *k, const struct to_keeper *m, const int *fds, int n_fds)
{
	struct ward *w;

	if (m->open)
		keeper_open(k, m->open);
	else if (!k->opened)
		worker_gone(k);
	else if (m->start)
		ward_start(k, m->start, fds, n_fds);
	else if (m->signal)
		ward_signal(k, m->signal);
	else if (m->hold)
		ward_hold(k, m->hold, m->hold_note);
	else if (m->mark && (w = ward_find(k, m->mark->id)))
		w->mark = m->mark->mark;
	else if (m->release && (w = ward_find(k, m->release)))
		ward_release(k, w);
	if (m->ping)
		worker_tell(k, &(struct from_keeper){.pong = m->ping}, NULL, 0);
	if (m->has_deadline)
		k->deadline_ms = m->deadline_ms;
	if (m->has_frozen)
		freeze(k, m->frozen);
	if (m->leave)
		end_begin(k, true);
}

/* A peer that sends what cannot be read is not a worker of ours: it is as if it had gone. */
static bool one_message(struct keeper *k)
{
	struct arena a = {0};
	struct to_keeper m;
	int fds[KEEPER_FDS_MAX], n_fds, r = talk_recv(&k->worker, fds, &n_fds);

	if (r > 0 && to_keeper_decode(buf_str(&k->worker.in), &a, &m, NULL) < 0)
		r = -1;
	if (r > 0)
		obey(k, &m, fds, n_fds);
	for (int i = 0; r && i < n_fds; i++)
		close(fds[i]);
	arena_release(&a);
	if (r < 0)
		worker_gone(k);
	return r > 0 && k->worker.fd >= 0;
}

void worker_readable(struct keeper *k)
{
	for (int i = 0; i < MESSAGES_PER_TURN && k->worker.fd >= 0; i++)
		if (!one_message(k))
			break;
}
