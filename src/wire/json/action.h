/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A task's action from JSON. The server refuses bad ones when they are submitted; the worker's
 * runner parses them once more, since it trusts nobody.
 */
#ifndef WIRE_ACTION_H
#define WIRE_ACTION_H

#include <jansson.h>

#include "base/arena.h"
#include "base/err.h"
#include "model/run/action.h"

/*
 * 0 and *ret in the arena (nothing in it points into the JSON), or ERR_INVALID: the problem names
 * the member by its path ("action.serial.actions[2].run.path") and says what to write instead.
 */
int action_parse(const json_t *object, struct arena *a, struct action **ret, struct problem *p);

/* "run", "emit_progress" … */
extern const char *const action_kind_names[N_ACTION_KINDS];
extern const char *const action_digest_names[N_ACTION_DIGESTS]; /* "none", "md5" … */
/* Bytes of such a checksum. */
size_t action_digest_size(enum action_digest d);

#endif
