/* SPDX-License-Identifier: Apache-2.0 */
/* The objects of the interface as JSON. On the loop only: names come from the core. */
#ifndef API_SHOW_H
#define API_SHOW_H

#include "api/frame/call.h"

/* SHOW_SUMMARY: of tasks in lists; SHOW_COUNTS and SHOW_REASON: of queues, where these are the
 * caller's business. */
enum show_flags {
	SHOW_FULL = 1,
	SHOW_TWIN = 2,
	SHOW_COUNTS = 4,
	SHOW_REASON = 8,
	SHOW_SUMMARY = 16,
};

/* The same with two places for text: its standard output and its standard error come later. */
void show_task_around(
    struct buf *b, const struct api *a, const struct task_row *t, size_t ret_at[N_STREAMS]);
void show_task(struct buf *b, const struct api *a, const struct task_row *t, unsigned flags);
void show_queue(struct buf *b, const struct api *a, const struct queue_row *q, unsigned flags);
extern const struct field worker_fields[];
void show_worker(struct buf *b, const struct api *a, const struct worker_view *w);
void show_notice(struct buf *b, const struct api *a, const struct notice *n);
void show_event(struct buf *b, const struct event_row *e);
/* The member `reasons`: what holds something up, and what would lift it. */
void show_whys(struct buf *b, struct arena *a, const struct why *whys, size_t n);
/* The first of them in a line, or why there are none. */
struct str why_summary(struct arena *a, const struct task_row *t, const struct why *whys, size_t n);
/* Members of the status: the present worker set, and all that the server waits for. */
void show_worker_set(struct call *c);
void show_waiting(struct call *c, bool no_worker);
/* A page of a list ends before it holds more, and says where the next one begins. */
#define PAGE_BYTES (512u << 10)
void show_page_begin(struct call *c); /* `{"items":[` */
/* `],"next":…}` and the answer */
void show_page_end(struct call *c, rid next);

#endif
