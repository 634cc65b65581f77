/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A group's jobs, followed until it ends: first its graph, then the stream of changes, over broken
 * connections. After each of these the graph is read anew, so that nothing is missed.
 */
#ifndef CLI_GROUP_STREAM_H
#define CLI_GROUP_STREAM_H

#include "cli/frame/cli.h"
#include "cli/group/live.h"
#include "cli/reach/sse.h"

struct group_stream {
	struct cli *c;
	const char *group;                       /* as it was named */
	live_fn *on_job;                         /* a job has moved */
	void (*on_load)(struct group_stream *s); /* there is a graph, or a new one; may be NULL */
	/* everything as it comes; may be NULL */
	void (*on_event)(struct group_stream *s, const char *kind, json_t *data);
	void *arg;

	struct live live; /* the view's group is NULL until there is one */
	bool is_over;     /* the group has ended */
	int result;       /* negative: it cannot be followed */

	struct sse sse;
	struct call *call;
	json_t *early;  /* changes that came before the graph */
	bool is_begun;  /* the stream has said something since it was connected */
	bool is_loaded; /* the graph was read since then */
	int tries;
	int64_t retry_at_ms, failing_since_ms;
};

/* Moves it on; waits only for the graph. Call client_pump between. False: it is over. */
bool group_stream_step(struct group_stream *s);
void group_stream_release(struct group_stream *s);

#endif
