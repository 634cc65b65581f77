/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Needs as people write them: a JSON object, or one text, "memory=8G,cpu=2,gpu=1,label.zone=a".
 * Both become the canonical text of model/task/need.h.
 */
#ifndef WIRE_NEED_H
#define WIRE_NEED_H

#include "base/arena.h"
#include "model/task/need.h"
#include "wire/json/json_in.h"

/* null, an empty object and an empty text are no need: STR_NULL. */
int need_in(json_t *v, const char *field, struct arena *a, struct str *ret_need, struct problem *p);
/* One "name=amount" of a need or an offer, as "memory=8G". Zero is refused unless told otherwise.
 */
int amount_in(struct str name, struct str text, const char *field, bool zero_ok, int64_t *ret_n,
    struct problem *p);

#endif
