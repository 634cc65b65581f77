/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The hub: tells watchers what has become durable. The newest notices are kept in a ring, so that
 * a watcher who was away for a moment can catch up.
 */
#ifndef SERVER_HUB_H
#define SERVER_HUB_H

#include "core/effects.h"

#define HUB_RING 16384

struct hub;

typedef void hub_notice_fn(const struct notice *n, void *arg);
typedef void hub_fn(void *arg);

struct hub *hub_new(void);
void hub_free(struct hub *h);
/* One batch's effects, after it is durable: notices in order, then NULL; then output watchers. */
void hub_release(struct hub *h, const struct effects *fx);
void *hub_watch(struct hub *h, hub_notice_fn *fn, void *arg);
void hub_unwatch(struct hub *h, void *handle); /* also from within a callback */
/* What is in the ring, until fn says that it is enough. False: the ring does not reach so far. */
bool hub_replay(
    struct hub *h, uint64_t after, bool (*fn)(const struct notice *n, void *arg), void *arg);
uint64_t hub_last_seq(const struct hub *h);
void *hub_watch_output(struct hub *h, rid task, hub_fn *fn, void *arg);
void hub_unwatch_output(struct hub *h, void *handle);
/* Told of a task that somebody watches now, and of one that nobody watches any more. */
typedef void hub_follow_fn(rid task, bool is_followed, void *arg);
void hub_on_follow(struct hub *h, hub_follow_fn *fn, void *arg);
bool hub_is_followed(const struct hub *h, rid task);
/* All of them, by fn with true; returns how many. */
size_t hub_each_followed(const struct hub *h, hub_follow_fn *fn, void *arg);

#endif
