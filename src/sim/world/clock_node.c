/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/world/clock_node.h"

#define MILLION 1000000
#define JUMP_LIMIT_US (INT64_C(10) * 366 * 86400 * MILLION)
#define WALL_START_US (INT64_C(1767225600) * MILLION) /* 2026-01-01 */

void node_clock_init(struct node_clock *c, int64_t mono_ms, int64_t wall_ms)
{
	*c = (struct node_clock){
	    .mono_us = mono_ms * 1000, .wall_off_us = (wall_ms - mono_ms) * 1000};
}

static int64_t mono_us(const struct node_clock *c, int64_t true_us)
{
	int64_t d = true_us - c->anchor_us;

	return c->mono_us + d + d * c->ppm / MILLION;
}

int64_t node_clock_mono_ms(const struct node_clock *c, int64_t true_us)
{
	return mono_us(c, true_us) / 1000;
}

int64_t node_clock_wall_ms(const struct node_clock *c, int64_t true_us)
{
	return (c->stands ? c->wall_us : mono_us(c, true_us) + c->wall_off_us) / 1000;
}

int64_t node_clock_true_us(const struct node_clock *c, int64_t mono_ms)
{
	int64_t d, t;

	if (mono_ms > INT64_MAX / 4000)
		return INT64_MAX;
	d = mono_ms * 1000 - c->mono_us;
	t = c->anchor_us + (int64_t)((__int128)d * MILLION / (MILLION + c->ppm));
	while (mono_us(c, t) < mono_ms * 1000)
		t++;
	return t;
}

void node_clock_drift(struct node_clock *c, int64_t true_us, int64_t ppm)
{
	c->mono_us = mono_us(c, true_us);
	c->anchor_us = true_us;
	c->ppm = ppm;
}

void node_clock_jump(struct node_clock *c, int64_t by_ms)
{
	int64_t to = c->wall_off_us + by_ms * 1000, about = WALL_START_US;

	if (to > about + JUMP_LIMIT_US)
		to = about + JUMP_LIMIT_US;
	if (to < about - JUMP_LIMIT_US)
		to = about - JUMP_LIMIT_US;
	c->wall_us += to - c->wall_off_us;
	c->wall_off_us = to;
}

void node_clock_stop(struct node_clock *c, int64_t true_us)
{
	if (c->stands)
		return;
	c->wall_us = mono_us(c, true_us) + c->wall_off_us;
	c->stands = true;
}

void node_clock_go(struct node_clock *c, int64_t true_us)
{
	if (!c->stands)
		return;
	c->stands = false;
	c->wall_off_us = c->wall_us - mono_us(c, true_us);
}

void node_clock_boot(struct node_clock *c, int64_t true_us, int64_t to_ms)
{
	c->wall_off_us += mono_us(c, true_us) - to_ms * 1000;
	c->mono_us = to_ms * 1000;
	c->anchor_us = true_us;
}

void node_clock_correct(struct node_clock *c, int64_t true_us)
{
	c->stands = false;
	c->wall_off_us = WALL_START_US + true_us - mono_us(c, true_us);
}
