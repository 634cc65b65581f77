/* SPDX-License-Identifier: Apache-2.0 */
/* What a graph and a plan may hold. Every one of these is an error with its number in the text. */
#ifndef GRAPH_LIMITS_H
#define GRAPH_LIMITS_H

#define IDENT_PART_MAX 255      /* bytes of an origin, a name, a version or a release */
#define GRAPH_NAMES_MAX 1000000 /* packages, with those that are only depended on */
#define GRAPH_DEPS_MAX 5000000  /* dependencies of all packages together */
#define PACKAGE_DEPS_MAX 100000 /* of one package */
#define PACKAGE_TARGETS_MAX 64  /* of one package */
#define PACKAGE_REASON_MAX 1024 /* bytes: why a package cannot be built */
#define PLAN_ROUNDS_DEFAULT 3
#define PLAN_ROUNDS_MAX 100
#define PLAN_JOBS_MAX 2000000   /* of one plan */
#define PLAN_EDGES_MAX 20000000 /* between the jobs of one plan */
#define PLAN_WORKERS_MAX 1000000
#define JOB_NAME_MAX 255                                /* bytes */
#define JOB_NEEDS_MAX 100000                            /* of one job */
#define JOB_DURATION_MAX_MS (3660LL * 24 * 3600 * 1000) /* ten years; a sum of them fits */
#define MATRIX_AXES_MAX 8
#define MATRIX_CELLS_MAX 10000      /* elements of one job */
#define PLAN_FILE_MAX (512LL << 20) /* bytes of a file */
#define PLAN_FILE_DEPTH_MAX 32
#define PLAN_ENTRY_VALUES_MAX 400000 /* values of one package or one job in a file */

#endif
