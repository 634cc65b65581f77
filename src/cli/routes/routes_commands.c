/* SPDX-License-Identifier: Apache-2.0 */
/* Routes on the command line. */
#include "cli/output/output.h"
#include "cli/routes/routes.h"

static const struct option_def render_options[] = {
    {"from", 0, "FILE",
        "the state of routes as JSON, in place of the server's; - for standard input", NULL, 0,
        "file"},
    {"to", 0, "FILE", "what is written (default: standard output)", NULL, 0, "file"},
    {"check", 0, "COMMAND", "before the file takes its place: {} in its words is the new one"},
    {"exec", 0, "COMMAND", "then reloads the proxy: {} in its words is the file"},
    {"signal", 0, "PID-FILE", "or this process gets a HUP; USR2:PID-FILE sends a USR2"},
    {"once", 0, NULL, "one time (this is the default)"},
    {"watch", 0, NULL,
        "again and again: as the server tells of changes, when the file changes, or for each line "
        "of standard input"},
    {"interval", 0, "TIME", "at most once in this time, with --watch (default: 1s)"},
    {"timeout", 0, "TIME", "how long a command may take (default: 30s)"},
    {NULL},
};

static const struct command rows[] = {
    {"routes render", "write a proxy's configuration from routes, and reload the proxy", "TEMPLATE",
        "TEMPLATE is a text with values, loops and conditions over the state of routes: services "
        "with their instances, and which of them traffic may go to. docs/SERVICES.md describes "
        "both; examples/routes has templates for HAProxy and nginx. The file is written whole or "
        "not at all, and only if it is another text. A configuration that COMMAND of --check "
        "refuses is not put in place.\n"
        "Commands run without a shell: a COMMAND is words with blanks between them, or a list of "
        "texts in JSON. Nothing of the data ever becomes more than one word of the "
        "configuration.",
        "reeve routes render haproxy.cfg.tmpl\tshow it, of the server's routes\n"
        "reeve routes render haproxy.cfg.tmpl --to /etc/haproxy/haproxy.cfg "
        "--check 'haproxy -c -f {}' --signal USR2:/run/haproxy.pid --watch\tkeep a proxy up to "
        "date\n"
        "reeve routes render nginx.conf.tmpl --from routes.json --to /etc/nginx/reeve.conf "
        "--exec 'nginx -s reload' --watch\twhenever the file changes\n",
        "file", {render_options}, CHAPTER_OBJECTS, COMMAND_NEEDS_ARG, cmd_routes_render},
};

const struct command_table routes_commands = {rows, N_OF(rows), NULL};
