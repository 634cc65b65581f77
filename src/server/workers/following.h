/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tells workers whose output somebody reads along. That changes nothing that is decided or kept, so
 * the brain has no part in it; a word that is lost is said again soon.
 */
#ifndef SERVER_FOLLOWING_H
#define SERVER_FOLLOWING_H

#include "server/workers/sessions.h"

struct following;

struct following *following_new(struct loop *l, struct engine *e, struct sessions *s);
void following_free(struct following *f); /* before the engine and the sessions */

#endif
