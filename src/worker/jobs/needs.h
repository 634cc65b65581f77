/* SPDX-License-Identifier: Apache-2.0 */
/* What a job's process is shown of the jobs that it needs: one JSON object, by their names. */
#ifndef WORKER_NEEDS_H
#define WORKER_NEEDS_H

#include "base/mem.h"
#include "model/id.h"
#include "model/link/link.h"

/* {"fetch":{"task":…,"state":"built","result":{…},"artifacts":[…],…},…} */
void needs_write(const struct link_run *r, const struct id_space *ids, struct buf *b);

#endif
