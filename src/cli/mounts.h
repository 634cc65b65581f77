/* SPDX-License-Identifier: Apache-2.0 */
/* Where the kernel's hierarchies are mounted here. */
#ifndef CLI_MOUNTS_H
#define CLI_MOUNTS_H

#include "base/str.h"

/* The first cgroup v2 mount in the text of /proc/self/mountinfo; false when there is none. */
bool mounts_cgroup2(struct str mountinfo, struct buf *ret_path);

#endif
