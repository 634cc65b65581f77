/* SPDX-License-Identifier: Apache-2.0 */
/* What would change, or has changed between two revisions. */
#ifndef API_SERVICES_PLAN_H
#define API_SERVICES_PLAN_H

#include "api/services/services.h"

/* The member `changes`: of two objects as JSON text; an empty one is an object without members. */
void changes_write(struct buf *b, const struct buf *from, const struct buf *to);
/* To ask for it would change nothing. */
bool service_is_same(
    const struct call *c, const struct service_row *old, const struct service_row *next);

#endif
