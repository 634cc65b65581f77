/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Planted bugs. In a build with -Dmutants=true one of them can be switched on, and the simulator
 * has to notice: `tools/mutants` keeps the score. In every other build MUTANT() is the constant
 * false and the compiler removes it.
 */
#ifndef BASE_MUTANT_H
#define BASE_MUTANT_H

#include <stdbool.h>

enum mutant {
	MUTANT_NONE,
#define X(name, what) MUTANT_##name,
#include "base/mutants.def"
#undef X
	N_MUTANTS,
};

#ifdef REEVE_MUTANTS
extern enum mutant mutant_now;
#define MUTANT(name) (mutant_now == MUTANT_##name)
#else
#define MUTANT(name) false
#endif

/*
 * Two fences stand before an early end of the initial wait: what workers say of their set, and what
 * the store says of them. A bug in the first shows only while the second is down.
 */
#define MUTANT_OF_SETS                                                                 \
	(MUTANT(CONSENSUS_BATCHES_RETURNING) || MUTANT(CONSENSUS_TOLD_IS_KNOWN) ||     \
	    MUTANT(CONSENSUS_FOREIGN_COUNTS) || MUTANT(CONSENSUS_FOLLOWS_STRANGERS) || \
	    MUTANT(CONSENSUS_IGNORES_OTHERS) || MUTANT(CONSENSUS_PERMITS_BATCHED) ||   \
	    MUTANT(CONSENSUS_INITIAL_SUBSET) || MUTANT(CONSENSUS_EMPTY_AGREES) ||      \
	    MUTANT(ANY_SERVERS_SET_COUNTS) || MUTANT(REMOVED_FORGOTTEN))

extern const char *const mutant_names[N_MUTANTS]; /* "WORKER_WITHOUT_MARGIN" */
extern const char *const mutant_texts[N_MUTANTS];

#endif
