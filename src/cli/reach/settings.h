/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Settings that a command line may leave open: flags, else the environment, else the configuration
 * file, which is read at the first need and never when the first two decide.
 */
#ifndef CLI_SETTINGS_H
#define CLI_SETTINGS_H

#include "cli/frame/cli.h"
#include "config/config.h"

/* The configuration as the command line sees it. A broken file is an error, a warning is not. */
int cli_config(struct cli *c, const struct config **ret_config);
/* An option that has a key cli.NAME ("ca-file": cli.ca_file). *ret is NULL when nobody says. */
int cli_setting(struct cli *c, const char *option, const char **ret_value);
/* The server to talk to: as set, or the socket of one on this machine. */
int cli_server(struct cli *c, struct buf *ret_url);
/* The token for that server; stays empty when there is none. */
int cli_token(struct cli *c, const char *server, struct buf *ret_token);
/* With https: whom to trust, and who we are. Nothing is set for other servers. */
int cli_certificates(struct cli *c, const char *server, struct client_options *ret_options);
/* How long an unreachable server is tried again; -1 when nobody says. */
int cli_patience(struct cli *c, int64_t *ret_ms);

#endif
