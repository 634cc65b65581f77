/* SPDX-License-Identifier: Apache-2.0 */
/* Error replies (RFC 9457) as the program's own problems. */
#ifndef CLI_PROBLEM_H
#define CLI_PROBLEM_H

#include "base/err.h"
#include "base/str.h"

/* Fills the problem from a reply of status >= 400, whatever its body is; returns its code. */
int problem_from_reply(int status, struct str body, struct problem *ret_problem);

#endif
