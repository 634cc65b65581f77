/* SPDX-License-Identifier: Apache-2.0 */
/* One entry of a list of a file to place, while it is read. */
#ifndef SERVICE_FILE_PLACE_INTERNAL_H
#define SERVICE_FILE_PLACE_INTERNAL_H

#include "graph/file/node.h"
#include "service/file/place_file.h"

#define N_OF(array) (sizeof(array) / sizeof(array)[0])

/* Anything that is told of one worker, one run or one piece of work. */
struct placing {
	struct place_file *file;
	struct place_worker worker;
	struct place_run run;
	struct place_entry entry;
	int64_t *amount;
};

/* Members that workers, runs and work have alike; `arg` is a struct placing. */
int place_set_known(const struct node *v, void *arg, struct problem *p); /* read before */
int place_set_memory(const struct node *v, void *arg, struct problem *p);
int place_set_disk(const struct node *v, void *arg, struct problem *p);
int place_set_cpu(const struct node *v, void *arg, struct problem *p);

/* `arg` is the file. */
int place_read_worker(const struct node *v, void *arg, struct problem *p);
int place_read_work(const struct node *v, void *arg, struct problem *p);

#endif
