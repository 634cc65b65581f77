/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an attempt used, as one column: "USER_US SYSTEM_US PEAK_MEMORY OOM_KILLS", or NULL. Four
 * columns would cost every write of a task, also the many that have nothing to say.
 */
#ifndef STORE_USAGE_TEXT_H
#define STORE_USAGE_TEXT_H

#include "base/str.h"
#include "model/run/usage.h"

#define USAGE_TEXT_MAX 84

/* Into out; STR_NULL: nothing was measured. */
struct str usage_format(const struct usage *u, char out[USAGE_TEXT_MAX]);
/* What does not parse counts as not measured. */
void usage_parse(struct str text, struct usage *ret_usage);

#endif
