/* SPDX-License-Identifier: Apache-2.0 */
/* Kept graphs of packages: what their commands share. */
#ifndef CLI_GRAPHS_H
#define CLI_GRAPHS_H

#include "cli/nouns/noun.h"

extern const struct command_table graph_commands;

int cmd_graph_load(struct cli *c);
int cmd_graph_add(struct cli *c);
int cmd_graph_set(struct cli *c);
int cmd_graph_rm(struct cli *c);
int cmd_graph_show(struct cli *c);
int cmd_graph_check(struct cli *c);

extern const struct listing package_list;
extern const struct view package_view;

/* Jobs of the package in groups of the graph that are under way fail; adds those to the list. */
int graph_fail_live(
    struct cli *c, const char *graph, const char *package, const char *reason, json_t *failed);
void graph_tell_failed(struct cli *c, const json_t *failed);
/* The graph for machines, else a line about what was changed. */
void graph_tell(struct cli *c, json_t *graph);

#endif
