/* SPDX-License-Identifier: Apache-2.0 */
/* Folders of the server's own: made when missing, private. */
#ifndef SERVER_PATHS_H
#define SERVER_PATHS_H

#include "base/err.h"

int paths_make_dir(const char *path, struct problem *ret_problem);
int paths_make_parent(const char *path, struct problem *ret_problem);

#endif
