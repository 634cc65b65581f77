/* SPDX-License-Identifier: Apache-2.0 */
/* The tokens that a server makes for itself at its first start, for whoever may read its state. */
#ifndef SERVER_OWN_TOKEN_H
#define SERVER_OWN_TOKEN_H

#include "base/err.h"

/* Makes the file, with 256 random bits for its owner alone, unless it is there already. */
int own_token_make(const char *path, struct problem *ret_problem);

#endif
