/* SPDX-License-Identifier: Apache-2.0 */
/* Limits on what may come in, in one place; those of one kind only are in the kind's header. */
#ifndef MODEL_LIMITS_H
#define MODEL_LIMITS_H

#define NAME_MAX_BYTES 128       /* queue, worker, plugin, zone, target names */
#define LABELS_MAX 64            /* labels on one task or worker */
#define LABEL_MAX_BYTES 256      /* "key=value" */
#define KEY_MAX_BYTES 256        /* unique and idempotency keys */
#define TASK_BODY_MAX (1u << 20) /* a task's command, environment and params as JSON */
#define TASKS_PER_SUBMIT 100000  /* one NDJSON request */
#define JSON_DEPTH_MAX 64
#define JSON_NODES_MAX 20000 /* members, objects and arrays of one text */
#define PRIORITY_MAX 1000000 /* and the same below zero */
#define THREADS_MAX 1000000
#define ATTEMPTS_MAX 1000
#define DURATION_MAX_MS (10LL * 365 * 86400 * 1000)
#define HOST_MAX_BYTES 255
#define REASON_MAX_BYTES 512
#define HISTORY_MAX_BYTES 8192   /* earlier attempts; the oldest are dropped first */
#define DEEDS_MAX_BYTES 8192     /* what operators did; the oldest are dropped first */
#define OUTPUT_CHUNK_BYTES 65536 /* raw bytes in one stored chunk */
#define OUTPUT_INLINE_BYTES 8192 /* both streams together, kept in the task's own row */
#define OUTPUT_MAX_DEFAULT (256LL << 20)
#define OUTPUT_INLINE_MAX (16LL << 20) /* of each stream, in a queue of mode inline */
#define INPUT_PART_BYTES (1u << 20)    /* of streamed input, in one stored part */
#define INPUT_APPEND_MAX (1u << 20)    /* of streamed input, in one request */
#define INPUT_MAX_DEFAULT (1LL << 30)  /* of one task's streamed input */
#define INPUT_SILENCE_DEFAULT_MS 60000
#define NEEDS_SHOWN_MAX 256            /* jobs that one is shown of those that it needs */
#define NEEDS_RESULTS_MAX (256u << 10) /* bytes of their results together, else none of them */
#define PLUGINS_MAX 256
#define PORTS_MAX 64          /* given to one attempt */
#define DIAL_MAX (1LL << 56)  /* connections of one worker: 2^32 for each of 2^24 adoptions */
#define START_MAX (1LL << 56) /* which start under one lock; the first is a time in ms */

#define TAIL_LINES_MAX 100000      /* lines of a stream's end that may be asked for */
#define HELD_STATUS (-10)          /* what `hold` gives a task; the others are for programs */
#define HELD_STATUS_MIN (-1000000) /* held statuses lie in [min, -7], and -4 (blocked) */
#define PLUGIN_STATUS_MAX 1000000

#endif
