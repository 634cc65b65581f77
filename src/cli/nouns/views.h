/* SPDX-License-Identifier: Apache-2.0 */
/* Tables that more than one command shows. */
#ifndef CLI_VIEWS_H
#define CLI_VIEWS_H

#include "cli/output/output.h"

void queue_table_init(struct table *t);
void queue_table_add(struct table *t, const json_t *queue);
void worker_table_init(struct table *t);
void worker_table_add(struct table *t, const json_t *worker);
/* A line for each that gets no tasks or has unsure ones: why, and until when. */
void worker_notes(const struct cli *c, const json_t *workers, struct buf *out);
void worker_show(struct cli *c, const json_t *worker);
/* The lines of `reeve status`. */
void status_render(struct cli *c, const json_t *status, struct buf *out);

#endif
