/* SPDX-License-Identifier: Apache-2.0 */
/* Where the server is, which token to show it, and what was submitted last. */
#ifndef CLI_PLACE_H
#define CLI_PLACE_H

#include "base/err.h"
#include "base/str.h"

/*
 * A server on this machine: the first socket that exists of `configured`,
 * $XDG_RUNTIME_DIR/reeve, $XDG_STATE_HOME/reeve (or ~/.local/state/reeve), /run/reeve,
 * /var/lib/reeve.
 */
int place_find(const char *configured, struct buf *ret_url, struct problem *ret_problem);
/* Checks and completes what a person typed: "unix:PATH", "PATH", "host:port", "http(s)://…". */
int place_normalise(const char *given, struct buf *ret_url, struct problem *ret_problem);
/* The token: given, or the first line of the file. *ret_token stays empty when there is none. */
int place_token(
    const char *given, const char *file, struct buf *ret_token, struct problem *ret_problem);
/*
 * The token that a server on this machine made for itself: the first that may be read of `token`
 * in `configured` (a state directory), $XDG_STATE_HOME/reeve (or ~/.local/state/reeve),
 * /var/lib/reeve. Only for a server at a loopback address whose port is held by root, by ourselves
 * or by the file's owner: others must not be shown it.
 */
void place_local_token(const char *configured, const char *server, struct buf *ret_token);
/* $XDG_STATE_HOME/reeve or ~/.local/state/reeve; false when there is no home. */
bool place_state_dir(struct buf *ret_dir);

enum last_kind { LAST_TASK, LAST_BATCH };
/* Remembers what this user submitted last; failing to is not worth an error. */
void last_save(enum last_kind kind, const char *id);
int last_load(enum last_kind *ret_kind, char ret_id[25], struct problem *ret_problem);
/* 24 hex digits. */
bool is_id(const char *text);
/* An id as typed, or @last, which must then be a task. */
int id_resolve(const char *typed, char ret_id[25], struct problem *ret_problem);
/* The same for a batch. */
int batch_resolve(const char *typed, char ret_id[25], struct problem *ret_problem);

#endif
