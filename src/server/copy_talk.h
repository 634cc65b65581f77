/* SPDX-License-Identifier: Apache-2.0 */
/* What is said while a store is copied: how far it is, on a terminal; what is damaged; how it
 * ended. And who may stop it: the first signal, after which what was begun is cleaned up. */
#ifndef SERVER_COPY_TALK_H
#define SERVER_COPY_TALK_H

#include <stdio.h>

#include "base/options.h"
#include "store/store.h"

struct copy_talk {
	int64_t begun_ms, drawn_ms;
	int64_t n_damaged;
};

/* With --force and --damaged as they are given. */
struct store_copying copy_talk_begin(struct copy_talk *t, const struct options *o);
/* Both return the exit code. `then`: how things stand now. */
int copy_talk_failed(struct copy_talk *t, const char *then, struct problem *problem);
int copy_talk_done(struct copy_talk *t, FILE *to, const char *what, const char *from,
    const struct store_copy *copy);

#endif
