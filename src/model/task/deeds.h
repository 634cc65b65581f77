/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What operators did to a task, as text in its row: one line each, oldest first, tab-separated.
 * Most tasks have none, for nobody has to do anything about them.
 */
#ifndef MODEL_DEEDS_H
#define MODEL_DEEDS_H

#include "base/arena.h"
#include "model/task/task.h"

#define DEED_TABLE(X)           \
	X(CANCEL, "cancel")     \
	X(RETRY, "retry")       \
	X(HOLD, "hold")         \
	X(RELEASE, "release")   \
	X(PRIORITY, "priority") \
	X(FAIL, "fail")

enum deed_verb {
#define X(id, name) DEED_##id,
	DEED_TABLE(X)
#undef X
	    N_DEEDS
};
extern const char *const deed_names[N_DEEDS];

struct deed {
	int64_t number; /* from 1 on: what is missing before the first was dropped. 0: it was held
	                   by its submit */
	int64_t time_ms;
	enum deed_verb verb;
	int32_t status;  /* of the task, after it */
	int32_t attempt; /* the attempt that the task had begun last */
	struct str actor, reason;
};

/* Numbers it, and appends it; the oldest go when they grow too long. */
struct str deeds_append(struct arena *a, struct str deeds, const struct deed *d);
/* The deeds of a task that is submitted with a status that holds it. */
struct str deeds_held(struct arena *a, int64_t time_ms, int32_t status);
bool deeds_next(struct str *rest, struct deed *ret_deed);

#endif
