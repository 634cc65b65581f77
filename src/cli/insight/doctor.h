/* SPDX-License-Identifier: Apache-2.0 */
/* Between cmd_doctor.c and the checks that have a file of their own. */
#ifndef CLI_DOCTOR_H
#define CLI_DOCTOR_H

#include <jansson.h>
#include <stdbool.h>

struct cli;

struct doctor {
	struct cli *c;
	json_t *checks; /* {"check","result","text","fix"} */
	json_t *status;
	bool failed;
};

/* result: "ok", "warn", "fail" or "skip"; fix may be NULL. */
void doctor_found(struct doctor *d, const char *check, const char *result, const char *fix,
    const char *fmt, ...) __attribute__((format(printf, 5, 6)));
/* What a worker that is started from here could do with its tasks. */
void doctor_host(struct doctor *d);

#endif
