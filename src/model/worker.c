/* SPDX-License-Identifier: Apache-2.0 */
#include "model/worker.h"

const char *const worker_state_names[N_WORKER_STATES] = {"connected", "away", "lost"};
