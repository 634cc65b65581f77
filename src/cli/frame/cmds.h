/* SPDX-License-Identifier: Apache-2.0 */
/* Handlers behind the table of commands, beside the verbs of nouns (cli/nouns/noun.h). */
#ifndef CLI_CMDS_H
#define CLI_CMDS_H

#include "cli/frame/cli.h"

int cmd_submit(struct cli *c);
int cmd_run(struct cli *c);
int cmd_wait(struct cli *c);
int cmd_logs(struct cli *c);
int cmd_why(struct cli *c);
int cmd_cancel(struct cli *c);
int cmd_retry(struct cli *c);
int cmd_status(struct cli *c);
int cmd_top(struct cli *c);
int cmd_events(struct cli *c);
int cmd_audit_verify(struct cli *c);
int cmd_task_history(struct cli *c);
int cmd_task_hold(struct cli *c);
int cmd_task_release(struct cli *c);
int cmd_task_set(struct cli *c);
int cmd_batch_show(struct cli *c);
int cmd_queue_rm(struct cli *c);
int cmd_token_create(struct cli *c);
int cmd_worker_stop(struct cli *c);
int cmd_worker_restart(struct cli *c);
int cmd_worker_drain(struct cli *c);
int cmd_worker_undrain(struct cli *c);
int cmd_cron_next(struct cli *c);
int cmd_cron_check(struct cli *c);
int cmd_cron_explain(struct cli *c);
int cmd_cron_play(struct cli *c);
int cmd_cron_import(struct cli *c);
int cmd_doctor(struct cli *c);
int cmd_completion(struct cli *c);
int cmd_complete(struct cli *c);
int cmd_gen_man(struct cli *c);
int cmd_help(struct cli *c);
int cmd_version(struct cli *c);

extern const struct command_table work_commands, task_commands, queue_commands, worker_commands,
    token_commands, cron_commands, batch_commands;

#endif
