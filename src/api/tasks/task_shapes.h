/* SPDX-License-Identifier: Apache-2.0 */
/* What requests about tasks may give; by these tables they are read, and documented. */
#ifndef API_TASK_SHAPES_H
#define API_TASK_SHAPES_H

#include "model/rows/field.h"

extern const struct field reason_fields[], task_change_fields[], bulk_fields[];

#endif
