/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is left of a group that has ended, read on a reader's thread: its graph, how its jobs stand,
 * and the rows of those that are chosen. What has ended does not change, so it may take its time.
 */
#ifndef API_LEFT_H
#define API_LEFT_H

#include "core/event.h"
#include "core/group/retry.h"
#include "store/store.h"

struct left_of_group {
	/* asked for */
	struct group_row group;
	struct id_space ids;
	int32_t what;   /* enum retry_what */
	struct str job; /* RETRY_FROM: its name, or its task's id */
	/* found */
	struct arena arena;
	struct submit_group submit;
	struct submit_task *tasks; /* of the heap */
	size_t n;
	struct problem problem; /* code 0: all is well */
};

void left_read(struct left_of_group *l, struct store_reader *r);
void left_release(struct left_of_group *l);

#endif
