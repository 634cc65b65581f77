/* SPDX-License-Identifier: Apache-2.0 */
/* The commands about kept graphs of packages. */
#include "cli/nouns/graphs.h"

static const struct option_def load_options[] = {
    {"replace", 0, NULL, "what is not in FILE goes; else FILE is added to what is there"},
    {NULL},
};

static const struct option_def add_options[] = {
    {"runtime", 0, "NAMES", "what it needs while it runs; with commas", NULL, OPTION_REPEAT},
    {"build", 0, "NAMES", "what it needs to be built; with commas", NULL, OPTION_REPEAT},
    {"strong", 0, "NAMES", "what it needs to be built, of the same round; with commas", NULL,
        OPTION_REPEAT},
    {"target", 0, "NAMES", "the platforms it is built for; with commas", NULL, OPTION_REPEAT},
    {"duration", 0, "TIME", "what a build takes: 90s, 5m"},
    {"unbuildable", 0, "REASON", "it cannot be built, for this reason"},
    {NULL},
};

static const struct option_def set_options[] = {
    {"unbuildable", 0, "REASON", "they cannot be built, for this reason"},
    {"buildable", 0, NULL, "they can be built again"},
    {"live", 0, NULL, "with --unbuildable: their jobs in groups that are under way fail, too"},
    {NULL},
};

static const struct option_def show_options[] = {
    {"name", 0, "PREFIX", "only packages whose names begin so: core/ or core/gc"},
    {NULL},
};

static const struct option_def check_options[] = {
    {"file", 'f', "FILE", "of packages, without a server; - reads standard input", NULL, 0, "file"},
    {NULL},
};

static const struct completion graph_completions[] = {
    {"event", {"graph", "graph.created", "graph.changed", "graph.deleted"}},
    {NULL},
};

static const struct command graph_rows[] = {
    {"graph load", "load a file of packages into a graph", "GRAPH FILE",
        "FILE is JSON or YAML with packages, as for `reeve group plan`; - reads standard input. A "
        "graph that is not there is made. Of each package the newest upload counts: those of FILE "
        "that are older than what is there change nothing. With --replace FILE is all that there "
        "is afterwards.\n"
        "A file that closes a loop of runtime dependencies is refused, and the loop is named; then "
        "nothing is changed. Loops of builds are fine.",
        "reeve graph load core packages.json\tmake it, or add to it\n"
        "reeve graph load core packages.json --replace\tand nothing else\n",
        "graph", {load_options, output_options}, CHAPTER_OBJECTS, COMMAND_NEEDS_ARG,
        cmd_graph_load},
    {"graph add", "upload packages to a graph", "GRAPH IDENT…",
        "IDENT is origin/name/version/release. A newer upload replaces what the older one needed. "
        "Several packages of one line have the same needs, and are added all or none.",
        "reeve graph add core core/gcc/9.1.0/1 --runtime core/glibc --build core/make\ta new gcc\n",
        "graph", {add_options, output_options}, CHAPTER_OBJECTS, COMMAND_NEEDS_ARG, cmd_graph_add},
    {"graph set", "say whether packages of a graph can be built", "GRAPH PACKAGE…",
        "What cannot be built is left out of plans, with all that depends on it. The next upload "
        "of the package says it anew.\n"
        "With --live its jobs fail, with that reason, in all groups that were triggered from this "
        "graph, or are of the series with its name, and have not ended. The rest of these goes on "
        "by their policies. A group that is being planned at that moment may still have the "
        "package: the same command again finds it there.",
        "reeve graph set core core/php --unbuildable \"plan disconnected\"\tleave it out\n"
        "reeve graph set core core/php --unbuildable \"access denied\" --live\tof running groups, "
        "too\n"
        "reeve graph set core core/php --buildable\ttake it in again\n",
        "graph", {set_options, output_options}, CHAPTER_OBJECTS, COMMAND_NEEDS_ARG, cmd_graph_set},
    {"graph rm", "remove packages from a graph, or a graph", "GRAPH [PACKAGE…]",
        "Without a package the graph goes with all of them.",
        "reeve graph rm core core/old\ta package\nreeve graph rm core\tall of it\n", "graph",
        {yes_options, output_options}, CHAPTER_OBJECTS, COMMAND_NEEDS_ARG, cmd_graph_rm},
    {"graph ls", "list graphs", NULL, NULL, NULL, NULL, {LIST_OPTIONS}, CHAPTER_OBJECTS,
        COMMAND_NO_ARGS, noun_ls},
    {"graph show", "show a graph's packages, or one with those that need it", "GRAPH [PACKAGE…]",
        NULL,
        "reeve graph show core --name core/g\tpackages that begin so\n"
        "reeve graph show core core/gcc\twhat it needs, and who needs it\n",
        "graph", {show_options, LIST_OPTIONS}, CHAPTER_OBJECTS, COMMAND_NEEDS_ARG, cmd_graph_show},
    {"graph check", "tell what is wrong with a graph", "[GRAPH]",
        "Loops of runtime dependencies, cycles whose order contradicts itself, dependencies that "
        "nobody has uploaded, packages that cannot be built. Exits with 1 if there is a loop or a "
        "contradiction. With --file it needs no server.",
        "reeve graph check core\ta kept one\nreeve graph check --file packages.json\ta file\n",
        "graph", {check_options, output_options}, CHAPTER_OBJECTS, 0, cmd_graph_check},
};

const struct command_table graph_commands = {graph_rows, N_OF(graph_rows), graph_completions};
