/* SPDX-License-Identifier: Apache-2.0 */
/* What the rest of this folder may know of the loop. */
#ifndef NET_LOOP_INTERNAL_H
#define NET_LOOP_INTERNAL_H

#include "net/loop/loop.h"

struct event_base;

struct event_base *loop_base(struct loop *l);

/*
 * A door that outlives its loop: a thread that may finish after loop_free() posts through it, and
 * learns that nobody is there any more instead of touching freed memory.
 */
struct loop_door;
struct loop_door *loop_door_take(struct loop *l);
void loop_door_drop(struct loop_door *d);
/*
 * False when the loop is gone: fn will not be called, arg stays the caller's. If it goes before
 * fn's turn has come, drop(arg) is called instead.
 */
bool loop_door_post(struct loop_door *d, loop_fn *fn, loop_fn *drop, void *arg);

#endif
