/* SPDX-License-Identifier: Apache-2.0 */
/* Where the last lines of a stream begin. */
#ifndef API_LOG_TAIL_H
#define API_LOG_TAIL_H

#include "store/store.h"

#define TAIL_BYTES_MAX (16 << 20) /* so far back is looked, however long the lines are */

/* On a reader's thread. A last line without a newline counts as one. */
int log_tail(struct store_reader *r, rid task, int64_t token, int stream, int64_t lines,
    int64_t *ret_offset);

#endif
