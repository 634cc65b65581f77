/* SPDX-License-Identifier: Apache-2.0 */
/* The commands about services that a server keeps. */
#include "cli/service/services.h"
#include "model/objects/service.h"

/* What is not said here is said of the members: service_fields. */
const struct option_def service_options[] = {
    {"instances", 'i', "N"},
    {"domain", 0, "NAME", "who says which services are desired; none: nobody", NULL, 0, "domain"},
    {"ports", 0, "N"},
    {"need", 0, "LIST",
        "what each instance needs of its worker, as memory=1G,cpu=0.5,label.zone=a"},
    {"needs", 0, "SERVICE", "a service that must be ready before it starts; none: nothing", NULL,
        OPTION_REPEAT, "service"},
    {"queue", 0, "NAME", "the queue whose settings hold", NULL, 0, "queue"},
    {"label", 'l', "KEY=VALUE", "for people and templates of routes", NULL, OPTION_REPEAT},
    {"annotation", 0, "TEXT"},
    {"routes", 0, "JSON", "what there is to say about traffic; @FILE reads it"},
    {"singleton"},
    {"strategy", 0, "KIND", "how a new revision comes in: rolling (default), recreate or canary",
        NULL, 0, "strategy"},
    {"max-surge", 0, "N", "meanwhile so many more than are wanted (default: 1)"},
    {"max-unavailable", 0, "N", "and so many fewer that are ready (default: 0)"},
    {"canary", 0, "N", "with the strategy canary: so many, before it is promoted (default: 1)"},
    {"min-healthy", 0, "TIME", "ready for so long is healthy (default: 10s)"},
    {"deadline", 0, "TIME", "the longest time without a step forward (default: 10m; 0: none)"},
    {"auto-rollback", 0, NULL, "go back by itself when it is too late"},
    {"crash-at-once", 0, "N", "so many crashes start again at once (default: 2)"},
    {"crash-wait", 0, "TIME", "then the first wait (default: 30s)"},
    {"crash-wait-max", 0, "TIME", "and the longest (default: 16m)"},
    {"crash-stop-at", 0, "N", "at this many crashes it is over (default: 200; 0: never)"},
    {"crash-reset-after", 0, "TIME", "running for so long, the count begins anew (default: 5m)"},
    {"reason", 0, "TEXT", "why: kept with the revision"},
    {NULL},
};

const struct option_def content_options[] = {
    {"env", 'e', "KEY=VALUE", "set a variable; KEY alone copies yours", NULL, OPTION_REPEAT},
    {"cwd", 'C', "DIR", "run it in this directory, on whatever machine; . is this one", NULL, 0,
        "directory"},
    {"params", 0, "JSON", "parameters for the queue's plugin, an object"},
    {"action", 0, "JSON", "steps in place of a command, an object; @FILE reads one"},
    {NULL},
};

static const struct option_def rename_options[] = {
    {"name", 0, "NAME", "rename it"},
    {NULL},
};

static const struct option_def apply_options[] = {
    {"file", 'f', "FILE", "JSON or YAML; - reads standard input", NULL, 0, "file"},
    {"plan", 0, NULL, "only say what would change"},
    {NULL},
};

static const struct option_def ls_options[] = {
    {"name", 0, "TEXT", "whose name begins with this"},
    {"domain", 0, "NAME", "of this domain", NULL, 0, "domain"},
    {"queue", 0, "NAME", "for which the settings of this queue hold", NULL, 0, "queue"},
    {"state", 0, "STATE", "whose deploy is in this state; several with commas", NULL, OPTION_REPEAT,
        "deploy"},
    {NULL},
};

static const struct option_def rollback_options[] = {
    {"to", 0, "REVISION", "to this one (default: the last of which all instances were healthy)"},
    {NULL},
};

static const struct option_def log_options[] = {
    {"follow", 'f', NULL, "go on as it is written, also what starts later"},
    {"stdout", 0, NULL, "only what they wrote to their standard output"},
    {"stderr", 0, NULL, "only what they wrote to their standard error"},
    {"tail", 'n', "N", "only the last N lines of each stream, and what comes after them"},
    {"prefix", 0, NULL,
        "each line with its instance before it, as of a service; --no-prefix: never"},
    {NULL},
};

static const struct completion completions[] = {
    {"deploy", .names = service_deploy_names, .n_names = SERVICE_DEPLOY_STATES},
    {"strategy", .names = service_strategy_names, .n_names = N_STRATEGY_KINDS},
    {"event", {"service", "service.created", "service.changed", "service.deployed",
                  "service.promoted", "service.rolled_back", "service.deleted"}},
    {NULL},
};

static const struct command rows[] = {
    {"service add", "keep instances of a program running, from now on", "NAME [COMMAND [ARG]…]",
        "The command stands after \"--\". It is told its ports by PORT, PORT0, PORT1 and so on. "
        "Checks, and how it is stopped, are in --run, as of tasks.",
        "reeve service add web -i 3 --ports 1 -- sh -c 'exec ./server --listen $PORT'\tthree\n"
        "reeve service add db --singleton --need label.disk=ssd -- ./db\tnever two at once\n",
        NULL, {service_options, content_options, process_options, output_options}, CHAPTER_SERVICES,
        0, cmd_service_add, .fields = service_fields},
    {"service apply", "bring services to what a file says", NULL,
        "FILE has the members of a service as PUT /v1/services/NAME takes them, with its name; or "
        "a list \"services\" of them. What the file does not say is as in a new service. All are "
        "checked before the first is changed. What is as it shall be stays untouched.",
        "reeve service apply -f web.yaml --plan\twhat would change\n"
        "reeve service apply -f web.yaml\tand do it\n",
        NULL, {apply_options, output_options}, CHAPTER_SERVICES, COMMAND_NO_ARGS,
        cmd_service_apply},
    {"service ls", "list services: how many are wanted, run and are ready", NULL, NULL,
        "reeve service ls --state stalled,rolling-back\twhose deploy is in trouble\n", NULL,
        {LIST_OPTIONS, ls_options}, CHAPTER_SERVICES, COMMAND_NO_ARGS, noun_ls},
    {"service show", "show a service, its instances and its revisions", "NAME…",
        "At most 30 instances are listed, one for each index; `reeve service instances` has all.",
        NULL, "service", {output_options}, CHAPTER_SERVICES, COMMAND_NEEDS_ARG, noun_show},
    {"service instances", "list the instances of a service, one row for each index", "NAME", NULL,
        NULL, "service", {LIST_OPTIONS}, CHAPTER_SERVICES, COMMAND_NEEDS_ARG,
        cmd_service_instances},
    {"service why", "say why a service, or an instance, is as it is", "NAME[/INDEX]…",
        "Of a service: what its deploy waits for, and every reason of the first ten instances that "
        "are not ready.",
        "reeve service why web/3\tevery reason, and what would lift it\n"
        "reeve service why web\tall that is not ready\n",
        "instance", {output_options}, CHAPTER_SERVICES, COMMAND_NEEDS_ARG, cmd_service_why},
    {"service logs", "show what instances of a service write", "NAME[/INDEX]…",
        "Of each its present start, or the last one if it does not run; `reeve logs --service` has "
        "all starts whose output is kept. Of a service, each line has its instance before it, as "
        "in \"[web/3] text\". With --follow also of what starts later, until Ctrl-C; 32 of them "
        "at the same time.",
        "reeve service logs -f web\tall instances, live\n"
        "reeve service logs --tail 100 web/3\tone of them\n",
        "instance", {log_options}, CHAPTER_SERVICES, COMMAND_NEEDS_ARG, cmd_service_logs},
    {"service scale", "say how many instances there shall be", "NAME N | NAME=N…", NULL,
        "reeve service scale web 5\tno instance starts anew\n"
        "reeve service scale web=5 api=2\tseveral at once\n",
        "service", {output_options}, CHAPTER_SERVICES, COMMAND_NEEDS_ARG, cmd_service_scale},
    {"service set", "change a service", "NAME [COMMAND [ARG]…]",
        "What it runs, its ports, its queue and what it needs make a new revision, which is "
        "deployed by its strategy. Everything else changes without that. Of what it runs, what is "
        "given is put over what there is; KEY= with nothing removes a variable or a label.",
        "reeve service set web --env LEVEL=debug --reason 'case 17'\ta new revision\n"
        "reeve service set web -- sh -c 'exec ./server-2 --listen $PORT'\tanother program\n",
        "service",
        {service_options, content_options, process_options, rename_options, output_options},
        CHAPTER_SERVICES, COMMAND_NEEDS_ARG, cmd_service_set, .fields = service_fields},
    {"service deploy", "bring a service's instances to a revision that is kept", "NAME REVISION",
        "By its strategy, as a new one. What is new is deployed by `reeve service set` and "
        "`reeve service apply`.",
        NULL, "service", {output_options}, CHAPTER_SERVICES, COMMAND_NEEDS_ARG, cmd_service_deploy},
    {"service diff", "show how two revisions of a service differ", "NAME [FROM [TO]]",
        "FROM is usually the last that was healthy, or the one before; TO the one that is wanted.",
        "reeve service diff web\twhat the present deploy changes\n"
        "reeve service diff web 3 7\tbetween these two\n",
        "service", {output_options}, CHAPTER_SERVICES, COMMAND_NEEDS_ARG, cmd_service_diff},
    {"service promote", "let a deploy go on after its canary", "NAME…", NULL, NULL, "service",
        {output_options}, CHAPTER_SERVICES, COMMAND_NEEDS_ARG, cmd_service_promote},
    {"service rollback", "go back to the last revision that was healthy", "NAME", NULL, NULL,
        "service", {rollback_options, output_options}, CHAPTER_SERVICES, COMMAND_NEEDS_ARG,
        cmd_service_rollback},
    {"service restart", "start instances anew", "NAME[/INDEX]…",
        "One instance at once, also when it waits after a crash; a whole service one instance "
        "after the other.",
        "reeve service restart web/3\tthat one\n", "instance", {output_options}, CHAPTER_SERVICES,
        COMMAND_NEEDS_ARG, cmd_service_restart},
    {"service stop", "stop an instance; if it is wanted, it is started again", "NAME/INDEX…", NULL,
        NULL, "instance", {output_options}, CHAPTER_SERVICES, COMMAND_NEEDS_ARG, cmd_service_stop},
    {"service rm", "delete a service, and end its instances", "NAME…",
        "It goes with its last instance. On a terminal you are asked first when some run.", NULL,
        "service", {yes_options}, CHAPTER_SERVICES, COMMAND_NEEDS_ARG, cmd_service_rm},
    {"service history", "list the revisions of a service, newest first", "NAME", NULL, NULL,
        "service", {LIST_OPTIONS}, CHAPTER_SERVICES, COMMAND_NEEDS_ARG, cmd_service_history},
};

const struct command_table desired_commands = {rows, N_OF(rows), completions};
