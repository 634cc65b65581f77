/* SPDX-License-Identifier: Apache-2.0 */
/* The lines of `reeve status`, which `reeve top` shows, too. */
#ifndef CLI_STATUS_H
#define CLI_STATUS_H

#include "cli/output/output.h"

void status_render(struct cli *c, const json_t *status, struct buf *out);

#endif
