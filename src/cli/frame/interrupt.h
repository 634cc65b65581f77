/* SPDX-License-Identifier: Apache-2.0 */
/* Ctrl-C as something that can be waited for: counted, and visible to poll(). */
#ifndef CLI_INTERRUPT_H
#define CLI_INTERRUPT_H

/* From now on SIGINT, SIGTERM and SIGHUP are counted instead of ending the program. */
void interrupt_catch(void);
/* How often, since interrupt_catch. Always 0 before it. */
int interrupt_count(void);
/* The signal that was counted last; 0: none. */
int interrupt_signal(void);
/* Readable while a signal has come that interrupt_drain has not seen; -1 before interrupt_catch. */
int interrupt_fd(void);
void interrupt_drain(void);

#endif
