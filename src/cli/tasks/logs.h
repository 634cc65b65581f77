/* SPDX-License-Identifier: Apache-2.0 */
/* The output of one task, or of several, each line then with its task before it. */
#ifndef CLI_LOGS_H
#define CLI_LOGS_H

#include "cli/tasks/work.h"

#define FOLLOWED_AT_ONCE 32 /* tasks; each has two connections */
#define LOGS_TASKS_MAX 10000

struct shown_task;

struct logs {
	struct cli *c;
	struct shown_task **tasks;
	size_t n, cap;
	bool follow;
	bool is_prefixed; /* also if there is one task only */
	int64_t since_ms; /* 0: any */
	/* Tasks that are not known yet: it adds them. False: no more will come. NULL: all are
	 * there. */
	bool (*more)(struct logs *l);
	void (*more_release)(struct logs *l);
	int more_result; /* negative: why no more came */
	void *arg;
};

/* `name` stands before its lines; NULL: its id. */
void logs_add(struct logs *l, const char *id, const char *name);
bool logs_has(const struct logs *l, const char *id);
/* "web/3" of a start of an instance; NULL: it is none. The caller frees it. */
char *logs_name(const json_t *task);
/*
 * Starts of a service that are not over, and those that come later, without an end. `url` lists
 * its tasks; `index`: only of that instance; -1: of all.
 */
int logs_follow_service(struct logs *l, const char *url, int64_t index);
/* The present, or last, starts of a service's instances, or as above; `index` -1: of all. */
int logs_add_service(struct logs *l, const char *name, int64_t index);
/* What every task would be refused for is said once. */
int logs_check(struct cli *c);
/* --since */
int logs_get_since(struct logs *l);
bool logs_wants(const struct logs *l, const json_t *task);
/* All jobs of a group that were started; when it is followed, also those that will be. */
int logs_add_group(struct logs *l, const char *group);
/* All of them, as the line's options say. */
int logs_show(struct logs *l);
void logs_release(struct logs *l);

#endif
