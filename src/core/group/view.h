/* SPDX-License-Identifier: Apache-2.0 */
/* A group as others see it: see core.h. */
#ifndef CORE_GROUP_VIEW_H
#define CORE_GROUP_VIEW_H

#include "core/core.h"
#include "model/objects/group.h"

struct group_view {
	const struct group_row *row;
	uint64_t news_batch; /* with the group's jobs, or its end: others hear of it once that is
	                        durable; 0: long ago */
	bool is_reading;     /* the graph and the jobs, before anything else is done */
	int64_t live;        /* jobs that wait for a worker, run, or are held; -1: not known */
	size_t bytes;        /* of memory, while it is active */
};
bool core_group(const struct core *c, rid id, struct group_view *ret_view);

/* The oldest group behind that one which was triggered and is to be drafted; 0: there is none. Its
 * text is what its owner says now; NULL: the owner is gone. */
rid core_owed(const struct core *c, rid after, struct arena *a, struct str *ret_text);

/* The task is a worker's, but its order waits for what it is to be shown. */
bool core_order_is_late(const struct core *c, rid task, int64_t token);

/* The oldest tasks that may not be pruned: a group that has not ended goes by all its jobs. */
bool core_may_prune(const struct core *c, rid task);

/* What holds a group: the reasons that it does not end, in the words of core/say.h. */
size_t core_group_why(
    const struct core *c, rid id, int64_t mono_ms, struct arena *a, struct why **ret_whys);
/* Jobs of it that could go on, by their tasks: first those that wait, one for each place and thing
 * that they wait for, then more of them, then those that run. Of a group that waits for its turn:
 * one of each group that dispatches, those that go on before those that stand still. Returns how
 * many. */
#define GROUP_LIVE_MAX 8
size_t core_group_live(const struct core *c, rid id, rid ret_jobs[GROUP_LIVE_MAX]);

#endif
