/* SPDX-License-Identifier: Apache-2.0 */
/* Groups as the interface shows them. */
#ifndef API_GROUPS_H
#define API_GROUPS_H

#include "api/objects/resource.h"
#include "core/group/view.h"

extern const struct field group_said_fields[], group_retry_fields[], group_fail_fields[];
extern const struct resource group_resource;
call_fn groups_list, groups_submit, group_get, group_cancel, group_retry, group_why, group_jobs,
    group_job, group_fail, group_compact, group_stream, group_left_out;

void show_group(struct buf *b, const struct api *a, const struct group_row *g);

/* A group on its way to the core, which takes long ones as they are: then *tasks is NULL. */
struct group_load {
	const struct submit_group *group;
	struct submit_task **tasks; /* of the heap */
	size_t n;
	struct arena *arena; /* of all that they say */
};
void group_send(struct call *c, const struct group_load *l, call_reply_fn *then);
/* The jobs of a group that was triggered, from what its owner asks for. */
void groups_draft(struct call *c, struct str text, rid owed);
void group_figures(const struct metrics *m, const struct api_host *h, struct buf *b);
/* Good until the core's next step; NULL: there is none. */
const struct group_row *group_row(const struct core *core, rid id);
/* The group that the path names is c->about; its row is good until the core's next step. NULL: the
 * problem has been sent. */
const struct group_row *path_group(struct call *c);

#endif
