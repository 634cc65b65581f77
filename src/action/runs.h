/* SPDX-License-Identifier: Apache-2.0 */
/* The programs of an action: started, ended in order (TERM, KILL, giving up), reaped. */
#ifndef ACTION_RUNS_H
#define ACTION_RUNS_H

#include <sys/types.h>

#include "action/tree.h"

#define RUN_KILL_MS 10000   /* from TERM to KILL */
#define RUN_GIVE_UP_MS 1000 /* and from KILL to leaving it alone */

struct run;

struct runs {
	struct tree *tree;
	struct run *first;
	bool has_daemons; /* programs that have left some behind which are wanted */
	int null_fd;
	int status_fd; /* -1: no status file is wanted */
	mode_t umask;
};

void runs_init(struct runs *r, struct tree *t);
void runs_start(struct runs *r, struct node *leaf);
void runs_end(struct runs *r, struct node *leaf, int64_t now_ms);
/* SIGCHLD came: take every status there is; also of descendants that were left to us. */
void runs_reap(struct runs *r);
void runs_wake(struct runs *r, int64_t now_ms);
int64_t runs_due_ms(const struct runs *r); /* when runs_wake() is needed; -1: never */
/* At the end: what was left behind and wanted is asked to end, and has RUN_KILL_MS for it. */
void runs_end_daemons(struct runs *r);
/* At the end: kills whatever descends from us, and waits for it, a second at most. */
void runs_sweep(struct runs *r);

/* "Exited with status 3", "Exited with signal 9 (SIGKILL)", as waitid() tells it. */
const char *run_end_text(int code, int status, char *out, size_t size);

#endif
