/* SPDX-License-Identifier: Apache-2.0 */
/* What services may hold. Every one of these is an error with its number in the text. */
#ifndef SERVICE_LIMITS_H
#define SERVICE_LIMITS_H

#define SERVICE_NAME_MAX 128 /* bytes: of services, workers, zones, targets, labels, domains */
#define SERVICE_WORKERS_MAX 100000
#define SERVICE_SERVICES_MAX 1000000
#define SERVICE_INDEX_MAX 99999       /* so a service has at most 100,000 instances */
#define SERVICE_INSTANCES_MAX 2000000 /* of all services together */
#define WORKER_INSTANCES_MAX 100000   /* how many one worker may hold */
#define WORKER_INSTANCES_USUAL 250
#define SERVICE_LABELS_MAX 64
#define SERVICE_AMOUNT_MAX (INT64_C(1) << 53) /* bytes, or thousandths of a core */
#define SERVICE_WEIGHT_MAX 10                 /* of starting instances and of bin packing */
#define SERVICE_REVISION_MAX 1000000000
#define SERVICE_CRASHES_MAX 1000000
#define SERVICE_WAIT_MAX_MS (INT64_C(3650) * 24 * 3600 * 1000)
#define SERVICE_FILE_MAX (INT64_C(512) << 20) /* bytes of a file */

#endif
