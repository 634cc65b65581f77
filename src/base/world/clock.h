/* SPDX-License-Identifier: Apache-2.0 */
/* The clocks and the true randomness. Brains may not include this: time comes in events. */
#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

#include <stdint.h>

int64_t clock_wall_ms(void); /* since 1970, UTC */
int64_t clock_mono_ms(void);
int64_t clock_mono_us(void);
int64_t clock_thread_us(void); /* processor time of the calling thread */
uint64_t clock_random(void);   /* from the kernel */

#endif
