/* SPDX-License-Identifier: Apache-2.0 */
/* Which machine this is. */
#ifndef BASE_MACHINE_H
#define BASE_MACHINE_H

#define MACHINE_ID_MAX 128
#define MACHINE_MARK_MAX 17

/* /etc/machine-id, or the host's name where there is none. */
void machine_id(char ret_id[MACHINE_ID_MAX]);
/* A hash of it, which may be shown: two processes with the same one are on the same machine. */
void machine_mark(char ret_mark[MACHINE_MARK_MAX]);

#endif
