/* SPDX-License-Identifier: Apache-2.0 */
#include "base/mutant.h"

#ifdef REEVE_MUTANTS
enum mutant mutant_now = MUTANT_NONE;
#endif

const char *const mutant_names[N_MUTANTS] = {
    "NONE",
#define X(name, what) #name,
#include "base/mutants.def"
#undef X
};

const char *const mutant_texts[N_MUTANTS] = {
    "the code as it is",
#define X(name, what) what,
#include "base/mutants.def"
#undef X
};
