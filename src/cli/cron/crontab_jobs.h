/* SPDX-License-Identifier: Apache-2.0 */
/* The lines of a crontab as jobs. */
#ifndef CLI_CRONTAB_JOBS_H
#define CLI_CRONTAB_JOBS_H

#include "cli/frame/cli.h"

/*
 * *ret_jobs: a list of {"line","schedule","item","words","zone","command","env","user","stdin",
 * "notes"}, of all lines that can be translated; set whatever is returned. The others are
 * complained about with their numbers; the exit code so far is returned. Takes the options
 * --system, --tz and
 * --dst. `fallback_zone`: of lines that have none otherwise; NULL: those are wrong.
 */
int crontab_jobs(struct cli *c, const char *path, const char *fallback_zone, json_t **ret_jobs);

#endif
