/* SPDX-License-Identifier: Apache-2.0 */
/* The commands about batches. */
#include "cli/frame/cmds.h"
#include "cli/nouns/noun.h"

static const struct option_def ls_options[] = {
    {"name", 0, "NAME", "whose name begins so"},
    {NULL},
};

static const struct command batch_rows[] = {
    {"batch ls", "list batches, newest first, and how far they are", NULL,
        "A batch is what was submitted together: by `submit --array` or `--ndjson`, or by one "
        "request of a program. It goes when its last task is pruned. The rate is that of the last "
        "minute.",
        "reeve batch ls --watch\tlive\n"
        "reeve batch ls --name nightly\tthose of that name\n",
        NULL, {LIST_OPTIONS, ls_options}, CHAPTER_OBJECTS, COMMAND_NO_ARGS, noun_ls},
    {"batch show", "show how a batch stands", "BATCH…",
        "By its id, its name (the newest that has it) or @last. wait, cancel, retry, why, logs, "
        "task hold and task release take a batch, too.",
        "reeve batch show @last --watch\twhat was submitted last, live\n"
        "reeve batch show nightly -o json\tfor programs\n",
        "batch", {output_options, watch_options}, CHAPTER_OBJECTS, COMMAND_NEEDS_ARG,
        cmd_batch_show},
};

const struct command_table batch_commands = {batch_rows, N_OF(batch_rows)};
