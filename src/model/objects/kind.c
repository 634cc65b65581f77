/* SPDX-License-Identifier: Apache-2.0 */
#include "model/objects/kind.h"

const char *const kind_names[N_KINDS] = {
#define X(id, name) #name,
    KIND_TABLE(X)
#undef X
};
