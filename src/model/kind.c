/* SPDX-License-Identifier: Apache-2.0 */
#include "model/kind.h"

const char *const kind_names[N_KINDS] = {"schedule", "queue", "worker", "token"};
