/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What requests about objects of every kind have in common: the path names one, If-Match its
 * version, a command changes it, and the answer is the object as it is then. The routes' tag says
 * which kind it is; a kind has a row in resource.c.
 */
#ifndef API_RESOURCE_H
#define API_RESOURCE_H

#include "api/frame/call.h"

struct resource {
	const char *tag; /* of its routes, and in its path: /v1/TAG/ID */
	enum kind kind;
	/* What the path names: c->about, and its version. False: the problem has been sent. */
	bool (*seek)(struct call *c, int64_t *ret_version);
	void (*answer)(struct call *c, rid id, int status);
};

bool queue_seek(struct call *c, int64_t *ret_version);
void queue_answer(struct call *c, rid id, int status);
bool schedule_seek(struct call *c, int64_t *ret_version);
void schedule_answer(struct call *c, rid id, int status);
bool worker_seek(struct call *c, int64_t *ret_version);
void worker_answer(struct call *c, rid id, int status);

/* The command is about what the path names, at the version that If-Match demands. False: the
 * problem has been sent. */
bool resource_begin(struct call *c, struct event *ev);
/* A kind's own verb, answered with the object. */
void resource_do(struct call *c, enum verb verb);
/* Replies: 201 with its place, 200, 204. */
void resource_made(struct call *c, const struct reply *r);
void resource_changed(struct call *c, const struct reply *r);
void resource_gone(struct call *c, const struct reply *r);

#endif
