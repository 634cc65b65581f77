/* SPDX-License-Identifier: Apache-2.0 */
/* Services on the command line: so far, what the brain says of files, without a server. */
#ifndef CLI_SERVICE_SERVICE_H
#define CLI_SERVICE_SERVICE_H

#include "cli/frame/cli.h"
#include "cli/output/output.h"

extern const struct command_table service_commands;

int cmd_place(struct cli *c);
int cmd_service_converge(struct cli *c);
int cmd_service_crash(struct cli *c);
int cmd_service_reconcile(struct cli *c);
int cmd_service_rollout(struct cli *c);

/* The text of the one FILE that the command takes. */
int offline_read(struct cli *c, struct buf *ret_text);
/* How an answer is shown to people: a table of one of its lists. */
struct offline_view {
	const char *list;
	const struct heading *columns;
	size_t n_columns;
	const char *none; /* when the list is empty */
};
/* The answer as it is with -o json, else as is asked for. `after` may be NULL. */
int offline_print(struct cli *c, struct str json, const struct offline_view *view,
    void (*after)(struct cli *c, const json_t *answer));

#endif
