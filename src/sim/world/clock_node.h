/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The two clocks of one node, as functions of the true time of the world. The monotonic one runs
 * a little fast or slow and goes on while the node is paused; the wall clock may also jump, and
 * stand still for a while.
 */
#ifndef SIM_CLOCK_NODE_H
#define SIM_CLOCK_NODE_H

#include <stdbool.h>
#include <stdint.h>

struct node_clock {
	int64_t ppm;         /* the clock runs that much too fast */
	int64_t anchor_us;   /* true time, */
	int64_t mono_us;     /* and what the monotonic clock said then */
	int64_t wall_off_us; /* wall - monotonic */
	bool stands;         /* the wall clock: it says wall_us until it goes on from there */
	int64_t wall_us;
};

/* wall_ms: what the wall clock says at true time 0. */
void node_clock_init(struct node_clock *c, int64_t mono_ms, int64_t wall_ms);
int64_t node_clock_mono_ms(const struct node_clock *c, int64_t true_us);
int64_t node_clock_wall_ms(const struct node_clock *c, int64_t true_us);
/* The first true time at which the monotonic clock says mono_ms; INT64_MAX stays. */
int64_t node_clock_true_us(const struct node_clock *c, int64_t mono_ms);
void node_clock_drift(struct node_clock *c, int64_t true_us, int64_t ppm);
/* The wall clock jumps; it stays within some ten years of its start. */
void node_clock_jump(struct node_clock *c, int64_t by_ms);
/* The wall clock stops; and goes on from where it stood. */
void node_clock_stop(struct node_clock *c, int64_t true_us);
void node_clock_go(struct node_clock *c, int64_t true_us);
/* The machine boots: the monotonic clock begins anew, the wall clock is what it was. */
void node_clock_boot(struct node_clock *c, int64_t true_us, int64_t mono_ms);
/* The wall clock is set right. */
void node_clock_correct(struct node_clock *c, int64_t true_us);

#endif
