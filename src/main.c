/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The only main(): joins the command line with the shells that live in the same binary. Each of
 * them brings its handler and its option table; everything else (help, man pages, completions)
 * follows.
 */
#include "cli/cli.h"

#if __has_include("server/commands.h")
#include "server/commands.h"

static const struct command shells[] = {
    {"dev", "start a server and a worker here, with nothing to configure", NULL, NULL,
        "reeve dev\tthen, in another terminal: reeve run -- echo hello\n", NULL, {dev_options},
        GROUP_SERVICES, 0, NULL, dev_command},
    {"server", "run the server", NULL, NULL, NULL, NULL, {server_options}, GROUP_SERVICES, 0, NULL,
        server_command},
    {"worker", "run a worker that serves a server", NULL, NULL, NULL, NULL, {worker_options},
        GROUP_SERVICES, 0, NULL, worker_command},
};
#define N_SHELLS (sizeof shells / sizeof shells[0])
#else
#define shells NULL
#define N_SHELLS 0
#endif

int main(int argc, char **argv)
{
	return cli_main(argc, argv, shells, N_SHELLS);
}
