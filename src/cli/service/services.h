/* SPDX-License-Identifier: Apache-2.0 */
/* Services and domains that a server keeps: what the files about them share. */
#ifndef CLI_SERVICE_SERVICES_H
#define CLI_SERVICE_SERVICES_H

#include "cli/nouns/noun.h"

extern const struct command_table domain_commands, desired_commands;
extern const struct option_def service_options[], content_options[];

/* service_body.c: what the options say of a service; `old` NULL: it is a new one. */
int service_put_options(struct cli *c, const json_t *old, json_t *body);
bool service_needs_old(const struct cli *c);
/* "web/3": the name, and the index; -1: none was given. The caller frees the name. */
int instance_name(struct cli *c, const char *text, char **ret_name, int64_t *ret_index);
/* service_view.c: what differs, a line each. */
void changes_print(struct cli *c, const json_t *changes);

int cmd_service_add(struct cli *c);
int cmd_service_apply(struct cli *c);
int cmd_service_set(struct cli *c);
int cmd_service_scale(struct cli *c);
int cmd_service_deploy(struct cli *c);
int cmd_service_diff(struct cli *c);
int cmd_service_promote(struct cli *c);
int cmd_service_rollback(struct cli *c);
int cmd_service_restart(struct cli *c);
int cmd_service_stop(struct cli *c);
int cmd_service_rm(struct cli *c);
int cmd_service_history(struct cli *c);
int cmd_service_instances(struct cli *c);
int cmd_service_why(struct cli *c);
int cmd_service_logs(struct cli *c);
/* `index` -1: of the whole service. */
int service_why(struct cli *c, const char *name, int64_t index);
/* Completions: names of services; of "web/" its instances. */
void instance_names(struct cli *c, const char *typed, struct buf *out);
/* The table of its instances, below a service; at most so many. */
int instances_print(struct cli *c, const char *service, size_t most);

int cmd_domain_set(struct cli *c);
int cmd_domain_fresh(struct cli *c);
int cmd_domain_stale(struct cli *c);

#endif
