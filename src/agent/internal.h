/* SPDX-License-Identifier: Apache-2.0 */
/* Inside the worker's brain: one record per attempt that the server counts on us for. */
#ifndef AGENT_INTERNAL_H
#define AGENT_INTERNAL_H

#include <bsd/sys/queue.h>

#include "agent/agent.h"
#include "agent/output.h"
#include "base/err.h"
#include "base/heap.h"
#include "base/idmap.h"

/*
 *   waiting --older attempt gone--> starting --started--> running --exited--> ended --acked-->
 * (gone)
 */
enum held_state { HELD_WAITING, HELD_STARTING, HELD_RUNNING, HELD_ENDED };

/* Why we ended it; the first cause stays. */
enum stop_cause { CAUSE_NONE, CAUSE_KILL, CAUSE_TIMEOUT, CAUSE_LEAVE, CAUSE_SILENCE };

struct held {
	TAILQ_ENTRY(held) all;
	TAILQ_ENTRY(held) paused_entry;
	struct held *older; /* an earlier attempt of the same task that is still here */
	rid task;
	int64_t token;
	uint64_t serial;
	enum held_state state;
	enum stop_cause cause;
	bool stopping, forget, exit_codes, paused;
	int64_t timeout_ms;
	int64_t started_ms;
	char *kill_reason;
	struct agent_run *waiting_run; /* copied; while waiting */
	struct heap_node deadline;     /* the time limit, then the kill */
	struct heap_node flush;
	struct output output;
	struct agent_ended end;
	char *end_reason;
};

TAILQ_HEAD(held_list, held);

enum link_state { LINK_DOWN, LINK_HELLO, LINK_WELCOME };

#define BEATS_KEPT 64

struct agent {
	struct agent_options o;
	enum agent_phase phase;
	enum link_state link;
	struct idmap by_task; /* the newest attempt of each task */
	struct held_list all; /* in the order accepted */
	struct held_list paused;
	size_t n_held, n_live;
	uint64_t serial;
	struct heap deadlines, flushes;
	size_t unacked; /* output bytes, of all tasks */
	/* the lease */
	int64_t heartbeat_ms, lose_after_ms;
	int64_t hello_sent_ms;
	int64_t acked_ms; /* when the last acknowledged beat was SENT; -1: never welcomed */
	uint64_t beat;    /* number of the last one sent */
	uint64_t beat_acked;
	int64_t beat_sent_ms[BEATS_KEPT];
	int64_t next_beat_ms;
	/* leaving */
	uint64_t leaving_beat; /* 0: not sent on a link yet */
	int64_t leave_by_ms;   /* once all is over; INT64_MAX: not yet */
	int exit_code;
	char *exit_reason;
	int32_t maxthreads;
};

/* tasks.c */
struct held *held_find(const struct agent *a, rid task, int64_t token);
void held_drop(
    struct agent *a, struct held *h, const struct agent_event *in, struct agent_effects *out);
void held_free_all(struct agent *a);
int on_run(struct agent *a, const struct agent_event *in, struct agent_effects *out);
int on_kill(struct agent *a, const struct agent_event *in, struct agent_effects *out);
int on_ended_ack(struct agent *a, const struct agent_event *in, struct agent_effects *out);
int on_started(struct agent *a, const struct agent_event *in, struct agent_effects *out);
int on_exited(struct agent *a, const struct agent_event *in, struct agent_effects *out);
void send_ended(const struct agent *a, struct held *h, struct agent_effects *out);
/* stop.c */
void stop_held(struct agent *a, struct held *h, enum stop_cause cause, int64_t mono_ms,
    struct agent_effects *out);
void on_deadlines(struct agent *a, const struct agent_event *in, struct agent_effects *out);
/* flow.c */
int on_output(struct agent *a, const struct agent_event *in, struct agent_effects *out);
int on_output_ack(struct agent *a, const struct agent_event *in, struct agent_effects *out);
void on_flushes(struct agent *a, int64_t mono_ms, struct agent_effects *out);
void send_output(struct agent *a, struct held *h, bool partial, struct agent_effects *out);
void output_give_up(struct agent *a, struct held *h, struct agent_effects *out);
void output_forget(struct agent *a, struct held *h);
/* lease.c */
int on_link_up(struct agent *a, const struct agent_event *in, struct agent_effects *out);
int on_link_down(struct agent *a, const struct agent_event *in, struct agent_effects *out);
int on_welcome(struct agent *a, const struct agent_event *in, struct agent_effects *out);
int on_refused(struct agent *a, const struct agent_event *in, struct agent_effects *out);
int on_beat_ack(struct agent *a, const struct agent_event *in, struct agent_effects *out);
void on_lease_time(struct agent *a, int64_t mono_ms, struct agent_effects *out);
void send_beat(struct agent *a, int64_t mono_ms, struct agent_effects *out);
int64_t lease_wake_ms(const struct agent *a);
void start_dying(struct agent *a, int64_t mono_ms, struct agent_effects *out, const char *why);
int64_t lease_margin_ms(const struct agent *a);
/* outcome.c */
void outcome_of(struct held *h, const struct agent_exit *x, int64_t now_ms);
/* agent.c */
void note(struct agent_effects *out, const struct agent_event *in, const char *text);

#endif
