/* SPDX-License-Identifier: Apache-2.0 */
/* Inside exec: the files and directories of cgroup v2 that a task may have changed. */
#ifndef EXEC_CGROUP_INTERNAL_H
#define EXEC_CGROUP_INTERNAL_H

#include "exec/confine/cgroup.h"

/* The directory of that lock, below our own cgroup; NULL: there is no hierarchy of version 2. */
char *cgroup_home(const char *lock, char **ret_inside);
int cgroup_write(int dir, const char *name, const char *text); /* -1 with errno */
bool cgroup_events_empty(int events_fd);
/* Every cgroup below that one, down to the last; what is not empty stays, and what is above it. */
void cgroup_tree_remove(int dir);
/* Nobody in it, nothing below it, every value as the kernel made it. */
bool cgroup_is_as_new(struct cgroups *g, struct cgroup *c);
bool cgroup_thaw(struct cgroup *c); /* false: somebody has removed it */
void cgroup_forget_values(struct cgroup *c);

#endif
