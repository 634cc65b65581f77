/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A command's standard input: known whole it is a part of the task; else it follows the task, piece
 * by piece, each acknowledged before the next is sent. A broken connection goes on at what the
 * server has.
 */
#ifndef CLI_SENDER_H
#define CLI_SENDER_H

#include "cli/frame/cli.h"

struct sender {
	struct cli *c;
	const char *id; /* of the task */
	int fd;         /* read here; -1: nothing is to be sent */
	bool owns_fd;
	const char *name;  /* of what is read, for people */
	struct buf bytes;  /* read, and not acknowledged */
	size_t n_sent;     /* of these, by the call under way */
	bool at_end;       /* nothing follows them */
	bool is_sure;      /* we know how much the server has */
	bool waits;        /* not far ahead of what the process has read */
	int64_t acked;     /* so much the server has, */
	int64_t taken;     /* and so much of it the process */
	struct call *call; /* NULL: none is under way */
	int64_t ask_at_ms; /* when to say that we are still here, or to ask how far it is */
	int64_t pause_ms;  /* between two questions */
	int64_t failing_since_ms;
	bool done;
	int result; /* when done: 0; ERR_CONFLICT: the task takes no more */
};

void sender_release(struct sender *s);
/* Moves it on; never blocks, unless on a file. Call client_pump between. */
void sender_step(struct sender *s);
/* How long client_pump may wait at most; and it returns when there is something to read. */
int64_t sender_wait_ms(struct sender *s, int64_t most_ms);
/* All of it, at once. */
int sender_finish(struct sender *s);
/* The task cannot be given what it was promised: why is in the problem. */
void sender_cancel(struct sender *s);

/*
 * Reads what --stdin names, or our own `unasked`, as far as it is there. `is_whole`: to its end.
 * What is small and text becomes a part of the task. If the task is to be sent the rest, its fd is
 * not -1.
 */
int stdin_put(struct cli *c, bool unasked, bool is_whole, json_t *task, struct sender *ret_sender);

#endif
