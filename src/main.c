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

static const struct command backup_row = {"backup",
    "copy the server's store into a file, while it runs", "FILE|-",
    "One file with all that the store holds at that moment: tasks with their output, queues, "
    "schedules, workers, tokens, the audit trail. The server goes on meanwhile. The copy is "
    "checked, every row against its checksum, before it gets its name. Run it on the server's "
    "machine, as root or as the server's user: it copies the store of the configuration, or of "
    "--store, and is refused when REEVE_SERVER names another server. - writes to standard output, "
    "when the copy is whole "
    "and checked; TMPDIR (else /var/tmp) must have room for it.",
    "reeve backup /backup/reeve-$(date +%F).db\tevery night\n"
    "reeve backup - | zstd >reeve.db.zst\tpacked\n",
    "file", {backup_options}, CHAPTER_SERVICES, COMMAND_NEEDS_ARG, NULL, backup_command};

static const struct command restore_row = {"restore",
    "put a backup in the place of the store, while no server uses it", "FILE|-",
    "The backup is copied and checked beside the store, and takes its place in one step: until "
    "then, whatever happens, the store is as it was. Refused while a server runs, and where there "
    "is a store, unless --force is given; a store that is too damaged to be read is kept beside "
    "it, as NAME.damaged. Run it as the server's user.",
    "reeve restore /backup/reeve-2026-11-18.db\ton a new machine\n"
    "zstd -dc reeve.db.zst | reeve restore --force -\tin the place of what is there\n",
    "file", {restore_options}, CHAPTER_SERVICES, COMMAND_NEEDS_ARG, NULL, restore_command};

static const struct command migrate_row = {"store migrate",
    "bring a store's schema up or down, while no server uses it", NULL,
    "On the way down, what the older schema cannot hold is set aside where the older reeve does "
    "not look, and is back on the way up: it says what, and how many. What cannot be set aside "
    "(below version 9 the hashes of the audit trail, below 8 the checksums of rows) is lost; "
    "without --lose nothing is done then. Make a backup first.",
    "reeve store migrate\tup to what this reeve knows\n"
    "reeve store migrate --to 11\tdown, for an older reeve\n",
    NULL, {store_options}, CHAPTER_SERVICES, 0, NULL, store_migrate_command};

int main(int argc, char **argv)
{
	const struct command shells[] = {
	    {"dev", "start a server and a worker here, with nothing to configure", NULL,
	        "The state (database, socket, the worker's lock) lies in --state-dir and is there "
	        "again at the next start.",
	        "reeve dev\tthen, in another terminal: reeve run -- echo hello\n", NULL,
	        {config_options(CONFIG_FOR_DAEMONS)}, CHAPTER_SERVICES, 0, NULL, dev_command},
	    {"server", "run the server", NULL, NULL,
	        "reeve server --listen 127.0.0.1:7400\tserve on loopback, SQLite in the state "
	        "directory\n",
	        NULL, {config_options(CONFIG_FOR_SERVER)}, CHAPTER_SERVICES, 0, NULL,
	        server_command},
	    {"worker", "run a worker that serves a server", NULL, NULL,
	        "reeve worker --join 127.0.0.1:7401 --maxthreads 8\tserve up to eight tasks at "
	        "once\n",
	        NULL, {config_options(CONFIG_FOR_WORKER)}, CHAPTER_SERVICES, 0, NULL,
	        worker_command},
	    backup_row,
	    restore_row,
	    migrate_row,
	    {"store version", "show a store's schema version", NULL, NULL, NULL, NULL,
	        {store_only_options}, CHAPTER_SERVICES, 0, NULL, store_version_command},
	    {"store check", "look for damage in a store, while no server uses it", NULL,
	        "Reads everything: the structure of the database, and every row against its "
	        "checksum. Names what is damaged, and exits 1 when anything is.",
	        "reeve store check --store sqlite:/backup/reeve.db\tis the backup whole?\n", NULL,
	        {store_only_options}, CHAPTER_SERVICES, 0, NULL, store_check_command},
	    {"config show", "show what is configured", NULL,
	        "From the strongest to the weakest: flags, the environment, conf.d, the file, the "
	        "defaults. Secrets are not shown.",
	        "reeve config show --origin\tand where each value came from\n", NULL,
	        {config_show_options}, CHAPTER_TOOLS, 0, NULL, config_show_command},
	    {"config check", "look for mistakes in a configuration file", "[FILE]",
	        "Every mistake, with its line and a hint. Exits 1 when there is one.",
	        "reeve config check /etc/reeve/reeve.json\tbefore a reload\n", "file",
	        {config_check_options}, CHAPTER_TOOLS, 0, NULL, config_check_command},
	    {"bench", "measure this machine, and Reeve on it", "[CASE]…", bench_about,
	        "reeve bench --scale 0.1 noop\ta quick look\n"
	        "reeve bench --dir /srv/bench >figures.json\teverything, on that disk\n",
	        NULL, {bench_options}, CHAPTER_TOOLS, 0, NULL, bench_command},
	    {"sim", "simulate clusters with faults, and check what must never happen", NULL,
	        "Runs the server's and the workers' own logic in a world of virtual time, with "
	        "crashes, lost messages, partitions, pauses, jumping clocks and a failing store, "
	        "each seed with its own mix. A seed that breaks an invariant is printed with the "
	        "command that shows it again; the exit code is then 1.",
	        "reeve sim --seeds 10000\tten thousand worlds\n"
	        "reeve sim --from 42 --seeds 1 --trace\tthe story of one\n"
	        "reeve sim --from 42 --seeds 1 --shrink\tthe smallest that fails like it\n",
	        NULL, {sim_command_options}, CHAPTER_TOOLS, 0, NULL, sim_command},
	    {"sim play", "play a scripted scenario, and check what it expects", "FILE…",
	        "A scenario is a JSON file: workers, tasks, events at times of a virtual clock, "
	        "and "
	        "what to print or expect. Exits 1 when an expectation does not hold, 2 when a file "
	        "is malformed. docs/SIMULATOR.md describes the format.",
	        "reeve sim play --trace story.json\tand tell every message\n", "file",
	        {sim_play_options}, CHAPTER_TOOLS, COMMAND_NEEDS_ARG, NULL, sim_play_command},
	    {"action", "run the action on standard input: a worker starts this", NULL, NULL, NULL,
	        NULL, {NULL}, CHAPTER_TOOLS, COMMAND_HIDDEN, NULL, action_main},
	    {"__audit-store", "`audit verify --store` starts this", NULL, NULL, NULL, NULL,
	        {audit_store_options}, CHAPTER_TOOLS, COMMAND_HIDDEN, NULL, audit_store_command},
	    {"__noop-plugin", "the benchmark's plugin", NULL, NULL, NULL, NULL, {NULL},
	        CHAPTER_TOOLS, COMMAND_HIDDEN, NULL, noop_plugin_command},
	};

	return cli_main(argc, argv, shells, sizeof shells / sizeof shells[0]);
}
