/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Completions. The shells' scripts hand the line to `reeve __complete line WORD…`, so that there is
 * one engine, it knows the table of commands, and it can ask the server for live names.
 */
#ifndef CLI_COMPLETE_H
#define CLI_COMPLETE_H

#include "base/str.h"

struct cli;

/* Calls `names` for kinds that only a server knows ("queue", "worker", "task"). */
struct completer {
	void (*names)(const char *kind, struct buf *out, void *arg);
	void *arg;
};

/*
 * Candidates for the last of `words` (the ones after "reeve"), one a line: "word\tdescription".
 * The single line ":file" or ":directory" asks the shell to complete paths.
 */
void complete_line(const struct completer *k, const char *const *words, size_t n, struct buf *out);
/* Every word of a kind, unfiltered: "state", "format", "queue" … */
void complete_kind(const struct completer *k, const char *kind, struct buf *out);

#endif
