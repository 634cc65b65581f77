/* SPDX-License-Identifier: Apache-2.0 */
/* A list that is shown page by page, so that its first lines are there before its last are asked
 * for, and memory holds one page, however long it is. */
#ifndef CLI_STREAM_H
#define CLI_STREAM_H

#include "cli/output/output.h"

struct stream {
	struct cli *c;
	size_t n; /* items so far */
	struct layout layout;
};

/* For programs: the same text as print_json() of the whole list. */
void stream_json(struct stream *s, json_t *items);
void stream_json_end(struct stream *s, const char *next);
/* For people. */
void stream_rows(
    struct stream *s, const struct heading *columns, size_t n_columns, const json_t *items);
/* Shows what there is. False: nobody reads it any more. */
bool stream_flush(struct stream *s);

#endif
