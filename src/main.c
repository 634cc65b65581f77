/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The only main(): joins the command line with the shells that live in the same binary. Each of
 * them brings its handler and its option table; everything else (help, man pages, completions)
 * follows.
 */
#include "action/action.h"
#include "bench/bench.h"
#include "cli/frame/cli.h"
#include "config/flags.h"
#include "server/server.h"
#include "sim/play/play.h"
#include "sim/sim.h"
#include "worker/command.h"

int main(int argc, char **argv)
{
	const struct command shells[] = {
	    {"dev", "start a server and a worker here, with nothing to configure", NULL,
	        "The state (database, socket, the worker's lock) lies in --state-dir and is there "
	        "again at the next start.",
	        "reeve dev\tthen, in another terminal: reeve run -- echo hello\n", NULL,
	        {config_options(CONFIG_FOR_DAEMONS)}, GROUP_SERVICES, 0, NULL, dev_command},
	    {"server", "run the server", NULL, NULL,
	        "reeve server --listen 127.0.0.1:7400\tserve on loopback, SQLite in the state "
	        "directory\n",
	        NULL, {config_options(CONFIG_FOR_SERVER)}, GROUP_SERVICES, 0, NULL, server_command},
	    {"worker", "run a worker that serves a server", NULL, NULL,
	        "reeve worker --join 127.0.0.1:7401 --maxthreads 8\tserve up to eight tasks at "
	        "once\n",
	        NULL, {config_options(CONFIG_FOR_WORKER)}, GROUP_SERVICES, 0, NULL, worker_command},
	    {"store migrate", "bring a store's schema up or down, while no server uses it", NULL,
	        NULL, "reeve store migrate\tup to what this reeve knows\n", NULL, {store_options},
	        GROUP_SERVICES, 0, NULL, store_migrate_command},
	    {"store version", "show a store's schema version", NULL, NULL, NULL, NULL,
	        {store_only_options}, GROUP_SERVICES, 0, NULL, store_version_command},
	    {"store check", "look for damage in a store, while no server uses it", NULL,
	        "Reads everything: the structure of the database, and every row against its "
	        "checksum. Names what is damaged, and exits 1 when anything is.",
	        "reeve store check --store sqlite:/backup/reeve.db\tis the backup whole?\n", NULL,
	        {store_only_options}, GROUP_SERVICES, 0, NULL, store_check_command},
	    {"config show", "show what is configured", NULL,
	        "From the strongest to the weakest: flags, the environment, conf.d, the file, the "
	        "defaults. Secrets are not shown.",
	        "reeve config show --origin\tand where each value came from\n", NULL,
	        {config_show_options}, GROUP_TOOLS, 0, NULL, config_show_command},
	    {"config check", "look for mistakes in a configuration file", "[FILE]",
	        "Every mistake, with its line and a hint. Exits 1 when there is one.",
	        "reeve config check /etc/reeve/reeve.json\tbefore a reload\n", "file",
	        {config_check_options}, GROUP_TOOLS, 0, NULL, config_check_command},
	    {"bench", "measure this machine, and Reeve on it", "[CASE]…", bench_about,
	        "reeve bench --scale 0.1 noop\ta quick look\n"
	        "reeve bench --dir /srv/bench >figures.json\teverything, on that disk\n",
	        NULL, {bench_options}, GROUP_TOOLS, 0, NULL, bench_command},
	    {"sim", "simulate clusters with faults, and check what must never happen", NULL,
	        "Runs the server's and the workers' own logic in a world of virtual time, with "
	        "crashes, lost messages, partitions, pauses, jumping clocks and a failing store, "
	        "each seed with its own mix. A seed that breaks an invariant is printed with the "
	        "command that shows it again; the exit code is then 1.",
	        "reeve sim --seeds 10000\tten thousand worlds\n"
	        "reeve sim --from 42 --seeds 1 --trace\tthe story of one\n"
	        "reeve sim --from 42 --seeds 1 --shrink\tthe smallest that fails like it\n",
	        NULL, {sim_command_options}, GROUP_TOOLS, 0, NULL, sim_command},
	    {"sim play", "play a scripted scenario, and check what it expects", "FILE…",
	        "A scenario is a JSON file: workers, tasks, events at times of a virtual clock, "
	        "and "
	        "what to print or expect. Exits 1 when an expectation does not hold, 2 when a file "
	        "is malformed. docs/SIMULATOR.md describes the format.",
	        "reeve sim play --trace story.json\tand tell every message\n", "file",
	        {sim_play_options}, GROUP_TOOLS, COMMAND_NEEDS_ARG, NULL, sim_play_command},
	    {"action", "run the action on standard input: a worker starts this", NULL, NULL, NULL,
	        NULL, {NULL}, GROUP_TOOLS, COMMAND_HIDDEN, NULL, action_main},
	    {"__audit-store", "`audit verify --store` starts this", NULL, NULL, NULL, NULL,
	        {audit_store_options}, GROUP_TOOLS, COMMAND_HIDDEN, NULL, audit_store_command},
	    {"__noop-plugin", "the benchmark's plugin", NULL, NULL, NULL, NULL, {NULL}, GROUP_TOOLS,
	        COMMAND_HIDDEN, NULL, noop_plugin_command},
	};

	return cli_main(argc, argv, shells, sizeof shells / sizeof shells[0]);
}
