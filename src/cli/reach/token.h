/* SPDX-License-Identifier: Apache-2.0 */
/* The token that a server is shown. */
#ifndef CLI_TOKEN_H
#define CLI_TOKEN_H

#include "base/err.h"
#include "base/str.h"

/* The token: given, or the first line of the file. *ret_token stays empty when there is none. */
int token_read(
    const char *given, const char *file, struct buf *ret_token, struct problem *ret_problem);
/*
 * The token that a server on this machine made for itself: the first that may be read of `token`
 * in `configured` (a state directory), $XDG_STATE_HOME/reeve (or ~/.local/state/reeve),
 * /var/lib/reeve. Only for a server at a loopback address whose port is held by root, by ourselves
 * or by the file's owner: others must not be shown it.
 */
void token_find_local(const char *configured, const char *server, struct buf *ret_token);

#endif
