/* SPDX-License-Identifier: Apache-2.0 */
/* What people audit, and how its details are written down; and who was not allowed something. */
#ifndef CORE_AUDIT_H
#define CORE_AUDIT_H

#include "core/effects.h"
#include "core/object.h"
#include "core/timer.h"

struct core;
struct event;
struct queue;
struct worker;

/* Callers that were refused something within the last minute: see refusal.c. */
struct refusals {
	struct refuser *of;
	size_t n, cap;
	struct timer timer; /* monotonic: something is to be told */
};

/* refusal.c */
void refusal(struct core *c, const struct event *ev, struct effects *out);
void refusals_release(struct core *c);

/* audit.c */
void audit(struct core *c, const char *kind, struct str subject, rid queue, rid worker,
    struct str actor, struct str detail, struct effects *out);
/* About an object that is there. */
void audit_object(struct core *c, const char *kind, const struct object *o, struct str actor,
    struct str detail, struct effects *out);
void save_worker(struct core *c, struct worker *w, struct effects *out);
/* "name":"value" pairs as a JSON object; strings are escaped */
struct str detail_of(struct arena *a, const char *name, struct str value);
struct detail {
	const char *name;
	struct str value; /* NULL: it is left out */
};
struct str details_of(struct arena *a, const struct detail *d, size_t n);
void detail_add_str(struct buf *b, struct str s); /* as JSON has strings */

#endif
