/* SPDX-License-Identifier: Apache-2.0 */
/* Processes in the keeper's care, as their owners in the worker see them. */
#include "keeper/client.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"

#define MESSAGES_PER_TURN 64
#define MOVED_MS 1000 /* a deadline later by less than this is not worth a wakeup … */
#define NEAR_MS 5000  /* … unless the one it knows is as near as this */

static void close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

static bool tell(struct keeper_client *c, const struct to_keeper *m, const int *fds, int n_fds)
{
	buf_reset(&c->out);
	arena_reset(&c->arena);
	to_keeper_encode(m, &c->arena, &c->out);
	return talk_send(&c->talk, buf_str(&c->out), fds, n_fds);
}

int keeper_fd(const struct keeper_client *c)
{
	return c->talk.fd;
}

bool keeper_is_waiting(const struct keeper_client *c)
{
	return talk_is_waiting(&c->talk);
}

bool keeper_writable(struct keeper_client *c)
{
	return talk_flush(&c->talk);
}

static void list(struct keeper_client *c, struct kept *k)
{
	idmap_put(&c->by_id, k->id, k);
	TAILQ_INSERT_TAIL(&c->all, k, entry);
}

static void unlist(struct kept *k)
{
	if (!k->client)
		return;
	idmap_del(&k->client->by_id, k->id);
	TAILQ_REMOVE(&k->client->all, k, entry);
	k->client = NULL;
}

bool keeper_start(struct keeper_client *c, struct keeper_start *s, const int *fds, int n_fds,
    struct kept *k, const struct kept_fns *fns)
{
	*k = (struct kept){.client = c,
	    .id = ++c->last_id,
	    .fns = fns,
	    .in = -1,
	    .out = {-1, -1},
	    .result_fd = -1,
	    .exit_code = -1};
	s->id = k->id;
	list(c, k);
	return tell(c, &(struct to_keeper){.start = s}, fds, n_fds);
}

void kept_adopt(
    struct keeper_client *c, struct kept *k, struct kept_adopted *a, const struct kept_fns *fns)
{
	*k = (struct kept){.client = c,
	    .id = a->id,
	    .fns = fns,
	    .pid = a->pid,
	    .in = -1,
	    .out = {a->n_fds > 0 ? a->fds[0] : -1, a->n_fds > 1 ? a->fds[1] : -1},
	    .result_fd = a->result_fd,
	    .is_over = a->is_over,
	    .exit_code = a->is_over ? a->over.exit_code : -1,
	    .signal = a->is_over ? a->over.signal : 0,
	    .usage = a->is_over ? a->over.usage : (struct usage){0}};
	list(c, k);
}

uint64_t keeper_hold(struct keeper_client *c, struct str note)
{
	uint64_t id = ++c->last_id;

	tell(c, &(struct to_keeper){.hold = id, .hold_note = note}, NULL, 0);
	return id;
}

uint64_t keeper_ping(struct keeper_client *c)
{
	uint64_t missing = c->pinged - c->ponged;

	tell(c, &(struct to_keeper){.ping = ++c->pinged}, NULL, 0);
	return missing;
}

void keeper_release(struct keeper_client *c, uint64_t id)
{
	tell(c, &(struct to_keeper){.release = id}, NULL, 0);
}

void kept_signal(struct kept *k, int signal, enum kill_to to)
{
	struct keeper_signal s = {k->id, signal, to};

	if (k->client && !k->is_over)
		tell(k->client, &(struct to_keeper){.signal = &s}, NULL, 0);
}

void kept_mark(struct kept *k, uint64_t mark)
{
	struct keeper_mark m = {k->id, mark};

	if (k->client && !k->is_over)
		tell(k->client, &(struct to_keeper){.mark = &m}, NULL, 0);
}

void kept_leave(struct kept *k)
{
	unlist(k);
	close_fd(&k->in);
	close_fd(&k->out[0]);
	close_fd(&k->out[1]);
	close_fd(&k->result_fd);
}

void kept_drop(struct kept *k)
{
	kept_signal(k, SIGKILL, KILL_TO_CGROUP);
	kept_leave(k);
}

static int64_t now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_BOOTTIME, &ts);
	return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

void keeper_deadline(struct keeper_client *c, int64_t by_ms)
{
	int64_t told = c->told_deadline_ms;
	bool little = by_ms > told && by_ms != INT64_MAX && by_ms - told < MOVED_MS;

	if (by_ms == told || (little && told - now_ms() > NEAR_MS))
		return;
	if (tell(c, &(struct to_keeper){.has_deadline = true, .deadline_ms = by_ms}, NULL, 0))
		c->told_deadline_ms = by_ms;
}

static void on_started(struct kept *k, const struct keeper_started *s, int *fds, int *n_fds)
{
	k->pid = s->pid;
	k->out[0] = *n_fds > 0 ? fds[0] : -1;
	k->out[1] = *n_fds > 1 ? fds[1] : -1;
	k->in = *n_fds > 2 ? fds[2] : -1;
	*n_fds = *n_fds > 3 ? *n_fds - 3 : 0;
	k->warning = s->warning.p;
	k->fns->started(k);
}

static void on_not_started(struct kept *k, const struct keeper_not_started *s)
{
	unlist(k);
	k->is_over = true;
	k->fns->not_started(k, s->exit_code, s->reason);
}

static void on_over(struct kept *k, const struct keeper_over *o, const int *fds, int *n_fds)
{
	k->is_over = true;
	k->result_fd = *n_fds == 1 ? fds[0] : -1;
	*n_fds = *n_fds == 1 ? 0 : *n_fds;
	k->exit_code = o->exit_code;
	k->signal = o->signal;
	k->usage = o->usage;
	k->fns->over(k);
}

static void take_answer(struct keeper_client *c, const struct from_keeper *m, int *fds, int *n_fds)
{
	struct kept *k;

	c->frozen |= m->froze;
	if (m->pong > c->ponged)
		c->ponged = m->pong;
	if (m->started && (k = idmap_get(&c->by_id, m->started->id)))
		on_started(k, m->started, fds, n_fds);
	else if (m->not_started && (k = idmap_get(&c->by_id, m->not_started->id)))
		on_not_started(k, m->not_started);
	else if (m->over && (k = idmap_get(&c->by_id, m->over->id)))
		on_over(k, m->over, fds, n_fds);
}

/*
 * One that was ordered and not yet answered for may have been started: it counts as started, and
 * it is over.
 */
static void lose(struct kept *k)
{
	unlist(k);
	if (k->is_over)
		return;
	if (!k->pid)
		k->fns->started(k);
	k->is_over = k->lost = true;
	k->signal = SIGKILL;
	k->fns->over(k);
}

void keeper_lost(struct keeper_client *c)
{
	struct kept_list all = TAILQ_HEAD_INITIALIZER(all);
	struct kept *k;

	talk_close(&c->talk);
	TAILQ_CONCAT(&all, &c->all, entry);
	TAILQ_FOREACH (k, &all, entry)
		idmap_del(&c->by_id, k->id);
	while ((k = TAILQ_FIRST(&all))) {
		TAILQ_REMOVE(&all, k, entry);
		TAILQ_INSERT_TAIL(&c->all, k, entry);
		lose(k);
	}
}

bool keeper_readable(struct keeper_client *c)
{
	int r = 1;

	for (int i = 0; i < MESSAGES_PER_TURN && r > 0 && c->talk.fd >= 0; i++) {
		int fds[KEEPER_FDS_MAX], n_fds;
		struct arena a = {0};
		struct from_keeper m;

		r = talk_recv(&c->talk, fds, &n_fds);
		if (r > 0 && from_keeper_decode(buf_str(&c->talk.in), &a, &m, NULL) < 0)
			r = -1;
		if (r > 0)
			take_answer(c, &m, fds, &n_fds);
		for (int n = 0; n < n_fds; n++) /* nobody took them */
			close(fds[n]);
		arena_release(&a);
	}
	return r >= 0;
}
