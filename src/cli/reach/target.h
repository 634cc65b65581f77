/* SPDX-License-Identifier: Apache-2.0 */
/* A task, a batch of tasks, a group of jobs, a service or an instance of one, as people name it
 * where each of them may stand. */
#ifndef CLI_TARGET_H
#define CLI_TARGET_H

#include "cli/frame/cli.h"

enum target_kind { TARGET_TASK, TARGET_BATCH, TARGET_GROUP, TARGET_SERVICE };
struct target {
	enum target_kind kind;
	char id[25];
	int64_t index; /* of a service's instance; -1: all of it is meant */
};
/*
 * By an id, which the server knows as one of them; by @last; by a batch's or a group's name; or a
 * job by GROUP/JOB. An id that is a batch's and a task's (of a batch from before these had ids of
 * their own) is the task's.
 */
int target_find(struct cli *c, const char *typed, struct target *ret_target);
/* The same, or a service by its name, or an instance of it by NAME/INDEX. */
int target_find_any(struct cli *c, const char *typed, struct target *ret_target);
/* A batch by its id, @last or its name. Says so where several have that name, and of what is no
 * batch, what else it is. */
int batch_find(struct cli *c, const char *typed, char ret_id[25]);
/* "/v1/batches/…" */
int batch_get(struct cli *c, const char *name, json_t **ret_batch);
/* The same for groups: "/v1/groups/…". One that was deleted is known by its id while there are
 * tasks of it. */
int group_id_of(struct cli *c, const char *typed, char ret_id[25]);
int group_fetch(struct cli *c, const char *name, json_t **ret_group);
/* "/v1/groups/…/jobs/…" of GROUP/JOB, or of a job's name in a group */
int group_job_get(struct cli *c, const char *group, const char *job, json_t **ret_job);

/* A task by its id or @last, or a job by GROUP/JOB. */
int task_id_of(struct cli *c, const char *typed, char ret_id[25]);
/* Nothing of the wanted kind has that id or name: a hint at what has. */
void target_hint(struct cli *c, const char *typed, enum target_kind wanted);

#endif
