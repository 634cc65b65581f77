/* SPDX-License-Identifier: Apache-2.0 */
#include "base/moves.h"

#include <stdio.h>
#include <stdlib.h>

unsigned moves_count(const struct moves *m)
{
	unsigned n = 0;

	while (n < MOVES_STATES_MAX && m->states[n])
		n++;
	return n;
}

static const char *name_of(const struct moves *m, unsigned state)
{
	return state < moves_count(m) ? m->states[state] : "no state of it";
}

void moves_failed(const struct moves *m, unsigned from, unsigned to)
{
	fprintf(stderr, "reeve: bug: %s: from %s (%u) to %s (%u) is no move\n", m->machine,
	    name_of(m, from), from, name_of(m, to), to);
	abort();
}
