/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Join tokens of the store (`reeve token create --join`): lasting or for one worker, of one zone or
 * any. A secret is looked at on a reader's thread; until then its bearer is told to come again,
 * which workers do by themselves.
 */
#ifndef SERVER_JOIN_H
#define SERVER_JOIN_H

#include "server/engine/engine.h"
#include "server/engine/readers.h"

struct join;
struct join *join_new(struct engine *e, struct readers *r);
void join_free(struct join *j); /* after the readers */

enum join_answer { JOIN_YES, JOIN_NO, JOIN_LATER };
/*
 * May the worker of this name, which has proven this key (hex), join with this token? Who has
 * joined before under the same name and key may, whatever has become of its token. Who may not is
 * written down.
 */
struct join_terms {       /* valid until the next step */
	struct str zone;  /* the zone that the worker must be of; NULL: any */
	struct str token; /* the name of what let it in; NULL: it was here before */
	rid id;           /* of that token; 0: none */
};
enum join_answer join_ask(struct join *j, struct str token, struct str shard, struct str key,
    struct join_terms *ret_terms);

/* A knock that comes to nothing, for the trail. claimed: the name of its token, unproven; or NULL
 */
void join_write_down(
    struct join *j, struct str actor, struct str claimed, struct str shard, const char *why);

#endif
