/* SPDX-License-Identifier: Apache-2.0 */
/* Scores and times in JSON, beside what graph/write/json_text.h has. */
#ifndef SERVICE_WRITE_WRITE_H
#define SERVICE_WRITE_WRITE_H

#include "base/str.h"

void json_score(struct buf *b, int64_t score); /* of SCORE_ONE: 0.25 */
void json_key_time(struct buf *b, const char *name, int64_t ms);
void json_key_bool(struct buf *b, const char *name, bool x);

#endif
