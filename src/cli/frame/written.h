/* SPDX-License-Identifier: Apache-2.0 */
/* Whether all that was meant for standard output got there. */
#ifndef CLI_WRITTEN_H
#define CLI_WRITTEN_H

/* Standard output and error keep their numbers when they are closed: else the next file or
 * connection would be written to in their place. */
void written_keep(void);
/* 0: all of it. Else errno, as a write said it. */
int written_error(void);

#endif
