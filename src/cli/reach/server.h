/* SPDX-License-Identifier: Apache-2.0 */
/* Where the server is. */
#ifndef CLI_SERVER_H
#define CLI_SERVER_H

#include "base/err.h"
#include "base/str.h"

/*
 * A server on this machine: the first socket that exists of `configured`,
 * $XDG_RUNTIME_DIR/reeve, $XDG_STATE_HOME/reeve (or ~/.local/state/reeve), /run/reeve,
 * /var/lib/reeve.
 */
int server_find(const char *configured, struct buf *ret_url, struct problem *ret_problem);
/* Checks and completes what a person typed: "unix:PATH", "PATH", "host:port", "http(s)://…". */
int server_normalise(const char *given, struct buf *ret_url, struct problem *ret_problem);
/* $XDG_STATE_HOME/reeve or ~/.local/state/reeve; false when there is no home. */
bool state_dir(struct buf *ret_dir);

#endif
