/* SPDX-License-Identifier: Apache-2.0 */
/* Services and domains that a server keeps: what the files about them share. */
#ifndef CLI_SERVICE_SERVICES_H
#define CLI_SERVICE_SERVICES_H

#include "cli/nouns/noun.h"

extern const struct command_table domain_commands;

int cmd_domain_set(struct cli *c);
int cmd_domain_fresh(struct cli *c);
int cmd_domain_stale(struct cli *c);

#endif
