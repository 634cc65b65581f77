/* SPDX-License-Identifier: Apache-2.0 */
/*
 * State machines. Each has one table of the moves that are allowed, with what causes them, and one
 * function that makes them all, by moves_make(). docs/STATES.md is drawn from the tables by
 * tools/states, which also looks that nobody assigns to the state past its door. A beginning is an
 * initialiser: (struct door){.state = DOOR_SHUT}.
 *
 *   const struct moves door_moves = {
 *       "door",
 *       {[DOOR_OPEN] = "open", [DOOR_SHUT] = "shut"},
 *       {
 *           {DOOR_OPEN, DOOR_SHUT, "somebody shuts it"},
 *           {DOOR_SHUT, DOOR_OPEN, "somebody opens it"},
 *       },
 *   };
 *
 *   void door_move(struct door *d, enum door_state to)
 *   {
 *       d->state = moves_make(&door_moves, d->state, to);
 *   }
 */
#ifndef BASE_MOVES_H
#define BASE_MOVES_H

#include <stdbool.h>

#define MOVES_STATES_MAX 9
#define MOVES_MAX 24

/* The enum begins with 0 and has no gaps; what is not filled in is not there. */
struct moves {
	const char *machine; /* as docs/STATES.md calls it */
	const char *states[MOVES_STATES_MAX];
	struct move {
		unsigned from, to;
		const char *why; /* for people; NULL: there are no more */
	} moves[MOVES_MAX];
	/* "struct.member" for tools/states, if the door does not assign what moves_make() gives */
	const char *kept_in;
};

unsigned moves_count(const struct moves *m); /* of the states */

static inline bool moves_allowed(const struct moves *m, unsigned from, unsigned to)
{
	for (const struct move *v = m->moves; v < m->moves + MOVES_MAX && v->why; v++)
		if (v->from == from && v->to == to)
			return true;
	return false;
}

/* A move that is not in the table is a bug: it is named, and the process ends. */
__attribute__((noreturn, cold)) void moves_failed(
    const struct moves *m, unsigned from, unsigned to);

/* The state that is to be written; for the machine's one door. */
static inline unsigned moves_make(const struct moves *m, unsigned from, unsigned to)
{
	if (!moves_allowed(m, from, to))
		moves_failed(m, from, to);
	return to;
}

#endif
