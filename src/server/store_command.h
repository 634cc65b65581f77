/* SPDX-License-Identifier: Apache-2.0 */
/* What the commands about a store have in common: which one it is, and what went wrong with it. */
#ifndef SERVER_STORE_COMMAND_H
#define SERVER_STORE_COMMAND_H

#include "base/options.h"
#include "config/config.h"

/* --store, or the server's own; NULL: *ret_code says how to leave. It lives as long as the
 * configuration, which the caller frees. */
const char *store_url(const struct options *o, struct config **ret_config, int *ret_code);
/* On standard error; returns the exit code. */
int store_explain(const struct problem *p);

#endif
