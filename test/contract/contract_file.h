/* SPDX-License-Identifier: Apache-2.0 */
/* What the tests of SQLite's files share: a store that is shut, changed behind its back and opened.
 */
#ifndef CONTRACT_CONTRACT_FILE_H
#define CONTRACT_CONTRACT_FILE_H

#include "contract.h"

int setup(void **state);
int teardown(void **state);
void shut(struct ctx *c);
int try_open(struct ctx *c, struct problem *ret_problem);
void assert_says(const char *text, const char *part);
void sql(struct ctx *c, const char *text); /* as somebody else would, who knows no checksums */
void fill(struct ctx *c, rid from, int n); /* with inserts of tasks into the batch */

#endif
