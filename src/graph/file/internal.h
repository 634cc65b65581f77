/* SPDX-License-Identifier: Apache-2.0 */
/* One entry of a list of a file at a time. */
#ifndef GRAPH_FILE_INTERNAL_H
#define GRAPH_FILE_INTERNAL_H

#include "graph/file/file.h"
#include "graph/file/node.h"

int file_read_package(struct plan_file *f, const struct node *v, struct problem *p);
/* "origin/name", or {"package":…,"reason":…} */
int file_read_blocked(struct plan_file *f, const struct node *v, struct problem *p);
int file_read_job(struct plan_file *f, const struct node *v, struct problem *p);

#endif
