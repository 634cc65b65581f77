/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What requests about objects of every kind have in common: the path names one, If-Match its
 * version, a command changes it, and the answer is the object as it is then. The section of the
 * interface that a route belongs to says which kind it is.
 */
#ifndef API_RESOURCE_H
#define API_RESOURCE_H

#include "api/frame/call.h"

/* How an object to which tasks belong is named in them, and in what is told of it. */
struct owner_names {
	enum query query;             /* asks for the object's tasks and events */
	const char *name, *id, *part; /* a part is a second, */
	bool part_is_name;            /* or what the task is called, */
	bool part_is_number;          /* or just a number from 0 */
	const char *cause;            /* why its tasks came to be: in their history; NULL: submit */
};

struct metrics;

#define LOOKED_AT_MAX 20000 /* of one page: what matches rarely is found in several */

struct resource {
	enum kind kind;
	/* Whether it lies within the caller's limits; NULL: that is not asked. */
	bool (*covers)(const struct call *c, rid id);
	/* How many tasks the object has, with the ids behind its own. It lies within the limits if
	 * all of these tasks do: they are looked at before any request about it, and c->covered
	 * says so. NULL: the tasks need not be looked at. */
	int64_t (*n_tasks)(const struct core *core, rid id);
	/* The batch with the last of what it consists of, which must be durable before anything is
	 * said of it; 0: long ago. NULL: one row is all of it. */
	uint64_t (*news_batch)(const struct core *core, rid id);
	void (*show)(struct call *c, rid id); /* as the caller may see it, into c->out */
	/* In a list: whole only if that is asked for. NULL: as it is shown alone. */
	void (*show_listed)(struct call *c, rid id, bool full);
	/* What to do when there is none of that name; NULL: see the list. */
	void (*hint)(const struct call *c, struct str text, struct problem *p);
	const char *gone;          /* what has become of one that is not there any more */
	const char *const *states; /* lists can be narrowed to some of them; NULL: they cannot */
	int n_states;
	int (*state)(const struct call *c, rid id);
	/* A bit for each of these words that holds besides its state; NULL: none does. */
	unsigned (*also)(const struct call *c, rid id);
	rid (*queue)(const struct call *c, rid id); /* the same for its queue; NULL: it has none */
	bool (*fits)(const struct call *c, rid id); /* the query's further filters; NULL: any */
	bool by_name;                               /* lists are in order of names, not of ids */
	bool holds_tasks;                           /* what is done to it is done to all of them */
	const struct owner_names *owner;            /* NULL: tasks do not belong to it */
	/* Figures: something happened to one, and what to say of all; NULL: none. */
	void (*saw)(struct metrics *m, const struct notice *n);
	void (*figures)(const struct metrics *m, const struct api_host *h, struct buf *b);
};

struct state_words {
	const char *const *names;
	int n;
	const char *of;
};
bool call_states(struct call *c, const struct state_words *words, unsigned *ret_states);
/* The states that the query names, a bit for each; 0: any. False: the problem has been sent. */
bool resource_states(struct call *c, unsigned *ret_states);
/* NULL: that kind, or that part, has none. */
const struct resource *resource_of(enum kind kind);
const struct resource *resource_at(const char *tag);
/* Among those that the core holds, by name or id. What lies outside a token's limits is not there,
 * in the very words of what nobody has; hints name only what the caller may see. 0: not there. */
rid find_object(
    const struct call *c, enum kind kind, struct str text, const char *field, struct problem *p);
/* By a query that names an owner of tasks; NULL: that is none. */
const struct resource *resource_asked(enum query q);
/* The owner that the query names, with no part; its id is 0 if none does. */
int resource_owner(struct call *c, struct owner *ret_owner);

/* The command is about what the path names, at the version that If-Match demands. False: the
 * problem has been sent. */
bool resource_begin(struct call *c, struct event *ev);
/* A kind's own verb, answered with the object. */
void resource_do(struct call *c, enum verb verb);
extern const struct field pause_fields[];
/* Replies: 201 with its place, 200, 204. */
void resource_made(struct call *c, const struct reply *r);
void resource_changed(struct call *c, const struct reply *r);

#endif
