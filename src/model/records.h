/* SPDX-License-Identifier: Apache-2.0 */
/* What is written down beside the objects that people know: events, answers, output, settings. */
#ifndef MODEL_RECORDS_H
#define MODEL_RECORDS_H

#include "model/id.h"

/* What people audit. Task events live only in the server's memory (see docs/API.md). */
struct event_row {
	uint64_t seq;
	int64_t time_ms;
	struct str kind;    /* "queue.created", "worker.lost", … */
	struct str subject; /* name or id of what it is about */
	struct str actor;   /* who caused it: "uid=0", "token:ci", "reeve" */
	struct str detail;  /* JSON object text */
	/* set by the store: the event before it, and the hash over both */
	uint64_t prev;
	struct str hash;
};

struct idem_row {
	struct str key;
	uint64_t fingerprint; /* of the request */
	int64_t time_ms;
	struct str result; /* what the core answered, packed: see core/ask/idem.h */
	bool damaged;      /* the rest is not certain; not stored */
};

struct output_row {
	rid task;
	int64_t token;
	int32_t stream;
	int64_t offset; /* of the first raw byte, in the kept stream */
	int32_t raw_bytes;
	int32_t codec; /* 0: as it is, 1: zstd */
	struct str data;
};

/* Ten hex digits: the middle of every id. */
#define META_INSTALLATION "installation"

struct meta_row {
	struct str name;
	struct str value;
};

extern const struct row_table event_table, idem_table, output_table,
    meta_table; /* model/rows/row.h */

#endif
