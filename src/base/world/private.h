/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which other users may change what we keep. A state directory that others may write lets them put
 * their own database there; a token that others may read is theirs too. All of these answer 0, or
 * ERR_DENIED with what to do; what is not there is not their business.
 */
#ifndef BASE_PRIVATE_H
#define BASE_PRIVATE_H

#include <sys/types.h>

#include "base/err.h"

/* Only root, we and `other` (0: nobody else) may put anything there, or put another in its place.
 */
int private_dir(const char *path, uid_t other, struct problem *ret_problem);
/* The folder that a file lies in, and the file: both of the above. */
int private_place(const char *path, struct problem *ret_problem);
/* An open file with a secret: no stranger may read it, and only root and we may write it. */
int private_secret(int fd, const char *path, struct problem *ret_problem);

#endif
