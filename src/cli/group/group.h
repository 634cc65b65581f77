/* SPDX-License-Identifier: Apache-2.0 */
/* Groups on the command line: plans without a server, and groups that run. */
#ifndef CLI_GROUP_GROUP_H
#define CLI_GROUP_GROUP_H

#include "cli/frame/cli.h"
#include "cli/tasks/work.h"
#include "graph/write/report.h"

extern const struct command_table group_commands;

int cmd_group_plan(struct cli *c);
int cmd_group_submit(struct cli *c);
int cmd_group_trigger(struct cli *c);
int cmd_group_retry(struct cli *c);
int cmd_group_show(struct cli *c);
int cmd_group_watch(struct cli *c);
int cmd_group_why(struct cli *c);
int cmd_group_cancel(struct cli *c);
int cmd_group_fail(struct cli *c);
int cmd_group_graph(struct cli *c);
int cmd_group_log(struct cli *c);

/* For people: the jobs, what was left out, and what can be said of all. */
void plan_show(struct cli *c, const struct report *r);
/* Graphviz's text through its program `dot` to standard output, as SVG. */
int graphviz_draw(struct str dot, struct problem *p);

/* What the command line wants to know of a file. */
struct group_said {
	bool has_queue;
	struct buf lost; /* "./x of the job y": the first that is looked for in /; empty: none */
};
void group_said_release(struct group_said *s);
/* A file that is to run is looked at before anything is sent. */
int group_file_check(struct str text, struct group_said *ret_said, struct problem *p);
/* The request's body; `said` goes before what the file says. Jobs that name no directory run in
   `cwd`; NULL: wherever they do. */
int group_body(
    struct str text, const json_t *said, const char *cwd, struct buf *ret_body, struct problem *p);
/* What of a kept graph is to be built, as the line says: the command begins at that argument. */
int group_trigger_body(struct cli *c, const char *graph, size_t n_names, json_t *body);
/* What is wrong with how it shall be waited for is said before anything is sent. */
int group_check_wait(struct cli *c);
/* A new group: told, remembered, and waited for or watched if the line says so. */
int group_submitted(struct cli *c, json_t *group);

/* Until it has ended; its exit code. */
int group_wait(struct cli *c, const char *id, int64_t timeout_ms);
int group_watch(struct cli *c, const char *group);
int group_end_early(struct cli *c, const char *group);
int group_explain(struct cli *c, const char *group);
/* left_out.c: what it was to build and cannot */
/* Of a group that has ended; says why it is no success if packages that were named are missing. */
int group_exit_code(struct cli *c, const json_t *group);
void left_out_tell(struct cli *c, const json_t *from, FILE *to);
int left_out_get(struct cli *c, const char *group, json_t **ret);
int left_out_show(struct cli *c, const char *group);
struct counts group_counts_of(const json_t *group);
/* What the first job waits for that could go on and does not; or the group, for its turn. Empty:
   nothing is known to hold it. */
int group_waits_for(struct cli *c, const json_t *group, struct buf *words);
/* "group nightly failed: 3 built, 1 failed, in 2m10s; …" */
void group_outcome(const json_t *group, struct buf *out);
/* Jobs that have failed, with their reasons, as a table; nothing without any. */
int group_show_failures(struct cli *c, const json_t *group);

struct live;
int group_get_live(struct cli *c, const char *group, struct live *ret_live);

#endif
