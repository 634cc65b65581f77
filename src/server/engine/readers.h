/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reader threads: blocking queries run there, their answers come back on the loop. What may take
 * long stands in a line of its own, and one thread is always left for the rest.
 */
#ifndef SERVER_READERS_H
#define SERVER_READERS_H

#include "net/loop/loop.h"
#include "store/store.h"

struct readers;

struct readers *readers_new(
    struct loop *l, struct store *s, int threads, struct problem *ret_problem);
/* work(reader, job) on some reader's thread, then done(job) on the loop. In order if one thread. */
void readers_run(struct readers *r, bool is_long, void (*work)(struct store_reader *, void *job),
    void (*done)(void *job), void *job);
void readers_free(
    struct readers *r); /* after the loop has stopped; waits, then delivers what is left */

#endif
