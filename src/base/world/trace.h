/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A trace for ShiViz: who did what, and what each had heard of by then. Every event is two lines,
 * "host {clock}" and its text, written with one call before anything else happens: so no message
 * leaves whose sending is not in the file, and processes may share a file. docs/TRACES.md.
 */
#ifndef BASE_TRACE_H
#define BASE_TRACE_H

#include "base/data/vclock.h"
#include "base/err.h"

#define TRACE_TEXT_MAX 2048 /* longer events are cut */

struct trace;      /* a file */
struct trace_host; /* somebody in it, with a clock */

/*
 * Appends to the file, or with `afresh` empties it first. Only its owner may read a new one.
 */
int trace_open(
    const char *path, bool afresh, struct trace **ret_trace, struct problem *ret_problem);
/* NULL is fine. Hosts must be gone. */
void trace_close(struct trace *t);
/* 0, or the errno that ended the trace: nothing is written after a failure. */
int trace_error(const struct trace *t);

/* Characters that a trace cannot have are replaced; too long names are cut. */
struct trace_host *trace_host_new(struct trace *t, struct str name);
void trace_host_free(struct trace_host *h);
const char *trace_host_name(const struct trace_host *h);
/* "NAME.3f2a91bc": one process of that name, since each begins to count at 1. */
void trace_process_name(struct str name, uint64_t process, struct buf *out);

/* What happens inside. All texts: any bytes; line breaks and control bytes are escaped. */
void trace_local(struct trace_host *h, struct str text);
/* The clock to send along; good until the next call with this host. Empty once it has failed. */
struct str trace_send(struct trace_host *h, struct str text);
/* With the clock that came along: none (empty) or a bad one only makes a local event. */
void trace_receive(struct trace_host *h, struct str clock, struct str text);

#endif
