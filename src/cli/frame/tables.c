/* SPDX-License-Identifier: Apache-2.0 */
/* Option tables that several commands share. */
#include "cli/frame/command.h"

const struct option_def global_options[] = {
    {"server", 's', "URL", "the server: unix:PATH, http://HOST:PORT or https://HOST:PORT",
        "REEVE_SERVER"},
    /* the token itself is never an argument: everybody can read those of other processes */
    {"token-file", 0, "FILE", "a file that holds the token to show it (or set REEVE_TOKEN)",
        "REEVE_TOKEN_FILE", 0, "file"},
    {"ca-file", 0, "FILE", "the certificate authority to trust with https", "REEVE_CA_FILE", 0,
        "file"},
    {"cert-file", 0, "FILE", "your certificate, when the server demands one", "REEVE_CERT_FILE", 0,
        "file"},
    {"key-file", 0, "FILE", "the private key of that certificate", "REEVE_KEY_FILE", 0, "file"},
    {"server-timeout", 0, "TIME", "how long an unreachable server is tried again",
        "REEVE_SERVER_TIMEOUT"},
    {"color", 0, NULL, "colour on terminals; --no-color and NO_COLOR turn it off"},
    {"quiet", 'q', NULL, "no remarks, no progress"},
    {"help", 'h', NULL, "show this help"},
    {"version", 0, NULL, "show the version", NULL, OPTION_HIDDEN},
    {NULL},
};

const struct option_def output_options[] = {
    {"output", 'o', "FORMAT", "table, wide, json, jsonl or yaml", "REEVE_OUTPUT", 0, "format"},
    {NULL},
};

const struct option_def watch_options[] = {
    {"watch", 'w', "SECONDS", "show it again every 2 seconds, or so many", NULL, OPTION_MAYBE},
    {NULL},
};

const struct option_def limit_options[] = {
    {"limit", 'n', "N", "at most so many (0: all)"},
    {NULL},
};

/* Words of a task that are the same in JSON stand there: task_given_fields. */
const struct option_def task_options[] = {
    {"queue", 0, "NAME", "into this queue (default: \"default\")", "REEVE_QUEUE", 0, "queue"},
    {"priority", 'p', "N"},
    {"env", 'e', "KEY=VALUE", "set a variable; KEY alone copies yours", NULL, OPTION_REPEAT},
    {"cwd", 'C', "DIR", "run it in this directory, on whatever machine; . is this one", NULL, 0,
        "directory"},
    {"label", 'l', "KEY=VALUE", "attach a label", NULL, OPTION_REPEAT},
    {"need", 0, "LIST", "what it needs of a worker, as memory=8G,cpu=2,gpu=1,label.zone=a"},
    {"timeout", 0, "TIME"},
    {"max-attempts", 0, "N"},
    {"backoff", 0, "TIME"},
    {"backoff-max", 0, "TIME"},
    {"params", 0, "JSON", "parameters for the queue's plugin, an object"},
    {"action", 0, "JSON", "steps in place of a command, an object; @FILE reads one"},
    {NULL},
};

const struct option_def once_options[] = {
    {"name", 0, "NAME", "a name for people, shown in lists; of several tasks also their batch's"},
    {"key", 0, "KEY"},
    {"run-after", 0, "TIME"},
    {"hold", 0, NULL, "held back until it is released: reeve task release"},
    {NULL},
};

const struct option_def process_options[] = {
    {"user", 0, "NAME", "run it as this user, where the worker may"},
    {"nice", 0, "N", "its share of the processor: from -20, the most, to 19, the least"},
    {"memory", 0, "SIZE", "end it when all its processes together hold more, as 512M"},
    {"cpu", 0, "N", "so many processors at most, as 1.5"},
    {"pids", 0, "N", "so many processes at most"},
    {"kill-method", 0, "METHOD", "how it is ended: term_wait_kill, term or kill", NULL, 0,
        "kill-method"},
    {"kill-wait", 0, "TIME", "the time between TERM and KILL"},
    {"sandbox", 0, NULL, "in namespaces of its own, with a read-only root and no network"},
    {"result-file", 0, "FILE", "what it writes there (at most 50 KiB) is the task's result"},
    {"run", 0, "JSON", "all such settings as an object; the options above are put over it"},
    {NULL},
};

/* When: one of the three, and what they leave open. */
const struct option_def cron_options[] = {
    {"item", 0, "JSON", "an item, or a list of them; @FILE; - for standard input"},
    {"crontab", 0, "LINE", "the five time fields of a crontab line, or @daily and the like"},
    {"calendar", 0, "EXPR", "an expression as in systemd's OnCalendar="},
    {"dst", 0, "POLICY",
        "for --crontab and --calendar: vixie (default), or as skip,repeat_use_only_early", NULL, 0,
        "dst"},
    {"tz", 0, "ZONE", "the wall clock's zone: Europe/Berlin, UTC, +02:00, local", NULL, 0, "zone"},
    {NULL},
};

const struct option_def yes_options[] = {
    {"yes", 'y', NULL, "do not ask"},
    {NULL},
};
