/* SPDX-License-Identifier: Apache-2.0 */
/* Inside the pools of persistent plugins. */
#ifndef WORKER_POOL_H
#define WORKER_POOL_H

#include "base/moves.h"
#include "worker/internal.h"
#include "worker/plugins/frames.h"

/*
 *   greeting --hello--> ready --recycled, stopped or broken--> retiring --process gone--> (freed)
 *       '-----------no hello in time, garbage, not started-------^
 *
 * The table is in plug.c; plug_move() makes every move.
 */
enum plug_state { PLUG_GREETING, PLUG_READY, PLUG_RETIRING };

struct plug { /* one process */
	TAILQ_ENTRY(plug) entry;
	struct pool *pool;
	enum plug_state state;
	struct kept kept;
	struct loop_watch *in_watch, *out_watch[N_STREAMS];
	struct loop_timer *timer; /* for the hello; later to make sure that it goes */
	struct buf in;            /* to be written, from in_at on */
	size_t in_at;
	struct buf read; /* not yet understood, from read_at on */
	size_t read_at;
	struct plugin_jobs jobs;
	int n_jobs, concurrency, done;
	bool can_cancel;
	bool dirty;    /* in has grown in this turn */
	bool deaf;     /* what it wrote was garbage: nothing more is believed */
	int n_paused;  /* of its tasks, whose output the server cannot take now */
	bool stopped;  /* on purpose: no backoff for that */
	char why[256]; /* why the process had to go; empty: it went by itself */
};

TAILQ_HEAD(plug_list, plug);

struct pool { /* one plugin */
	struct worker *w;
	const struct plugin_options *o;
	struct plug_list plugs;
	int n_plugs, n_starting, max;
	struct plugin_jobs waiting;
	int failures; /* in a row, before a hello */
	int64_t backoff_ms, not_before_ms;
	struct loop_timer *retry;
};

/* pool.c */
void pool_pump(struct pool *p);
bool pool_is_ready(const struct pool *p); /* has it a process that said hello? */
void pool_fail_waiting(struct pool *p, enum agent_exit_kind kind, int code, const char *reason);
/* plug.c */
extern const struct moves plug_moves;
void plug_move(struct plug *g, enum plug_state to);
void plug_start(struct pool *p);
void plug_retire(struct plug *g, const char *why); /* kills it; its tasks fail with the reason */
void plug_recycle(struct plug *g);                 /* asks it to go, once it has nothing to do */
void plug_closed(struct plug *g);                  /* the plugin's stdout has ended */
void plug_lose(struct plug *g, struct job *j);     /* the task is no longer its */
void plug_give(struct plug *g, struct job *j);
void plug_flush(struct plug *g);
void plug_free(struct plug *g);
/* replies.c */
void on_plug_output(int fd, bool readable, bool writable, void *arg);
void on_plug_errors(int fd, bool readable, bool writable, void *arg);

#endif
