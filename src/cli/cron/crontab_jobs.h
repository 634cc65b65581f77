/* SPDX-License-Identifier: Apache-2.0 */
/* The lines of a crontab as jobs. */
#ifndef CLI_CRONTAB_JOBS_H
#define CLI_CRONTAB_JOBS_H

#include "cli/frame/cli.h"

/*
 * *ret_jobs: a list of objects as `cron import` prints them, of all lines that can be translated;
 * set whatever is returned. The others are complained about with their numbers; the exit code so
 * far is returned. Takes the options --system, --tz and --dst. `fallback_zone`: of lines that have
 * none otherwise; NULL: those are wrong.
 */
int crontab_jobs(struct cli *c, const char *path, const char *fallback_zone, json_t **ret_jobs);

/* "cron-backup.sh-5f0c9a1e": the same for the same user and command, whenever it runs. */
void crontab_name(const char *prefix, const char *user, const char *command, struct buf *out);
/* The next one of the same name: NAME-2, NAME-3. `taken`: an object that counts them. */
void crontab_name_unique(json_t *taken, struct buf *name);
/* For columns: the line that a job's shell is given. */
char *crontab_line_words(const struct cli *c, const json_t *job);

#endif
