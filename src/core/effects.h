/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a step wants done. Rows go to the store in one batch; messages, replies, notices and reads
 * leave only after that batch is durable. Everything lives in the batch's arena.
 */
#ifndef CORE_EFFECTS_H
#define CORE_EFFECTS_H

#include "base/err.h"
#include "core/say.h"
#include "model/batch.h"
#include "model/query.h"

enum message_kind {
	MSG_WELCOME,
	MSG_REFUSED,
	MSG_RUN,
	MSG_NOTIFY,
	MSG_CHECK,
	MSG_KILL,
	MSG_ENDED_ACK,
	MSG_OUTPUT_ACK,
	MSG_BEAT_ACK,
	MSG_SETTINGS
};

/* What a worker is told about itself, with the welcome and with every answer to a beat. */
struct health_news {
	enum worker_state state;
	struct set_id set;
	uint64_t check; /* the last healthcheck that counts; 0: none yet */
};

struct run_ref {
	rid task;
	int64_t token;
};

struct message {
	enum message_kind kind;
	uint64_t link;
	rid task;
	int64_t token;
	union {
		struct {
			rid worker;
			uint64_t server; /* this process */
			struct timeouts timeouts;
			struct health_news news;
			uint64_t notify_seq; /* runs sent before it are stale */
			int32_t maxthreads;
			bool leave, restart; /* MSG_SETTINGS: drain and go; and come back as a new
			                        instance */
		} welcome;                   /* MSG_SETTINGS uses maxthreads */
		struct {
			struct str reason;
			enum hint_code hint; /* MSG_REFUSED: said after the reason */
			bool die,
			    restart; /* MSG_REFUSED: end all; it may come back as a new instance */
			bool forget; /* MSG_KILL */
		} why;
		struct {
			int32_t attempt, max_attempts; /* its number, and that of the last one
			                                  that it may have */
			struct str queue, plugin, body, env;
			struct str settings; /* the queue's object `run`; NULL: none */
			int64_t timeout_ms, output_max;
			int32_t output_mode;
			bool exit_codes;
			uint64_t number; /* on this link, from 1: a replay is known by it */
			uint64_t
			    notify_seq; /* the present one: older than the worker's is refused */
		} run;
		struct { /* answer which of these are not running */
			uint64_t seq;
			const struct run_ref *refs;
			size_t n;
		} notify;
		struct {
			uint64_t number;
			uint64_t beat; /* the newest beat heard on this link; 0: only the hello */
		} check;
		struct {
			int32_t stream;
			int64_t end;
			bool refused;
		} output;
		struct {
			uint64_t number; /* 0: not an answer, only news */
			struct health_news news;
		} beat;
	};
};

struct outcome { /* of one task in a command, in the order asked */
	rid id;
	int code;  /* 0, or an enum err */
	bool twin; /* submit: an older live task with the same unique key */
	int32_t status;
	const char *why;     /* static text when code is not 0 */
	enum hint_code hint; /* said after it */
};

struct reply {
	uint64_t ticket;
	int64_t time_ms; /* when it was carried out: what waited for the store came in earlier */
	int code;        /* 0, or an enum err with problem set */
	struct problem *problem;
	struct hint *hint; /* what to do about it, where that is a command; NULL: nothing */
	bool replayed;     /* answered from an idempotency record */
	rid id;            /* the queue, worker, schedule or batch it was about */
	const struct outcome *outcomes;
	size_t n;
};

/* For watchers: everything that happens, numbered without gaps. Durable ones also have a row. */
struct notice {
	uint64_t seq;
	int64_t time_ms;
	const char *kind; /* static: "task.succeeded", "queue.paused", … */
	rid task, queue, worker, batch, schedule;
	int32_t status, attempt;
	int32_t exit_code;
	int64_t tick_s;             /* schedule.fired, schedule.skipped: which; else 0 */
	struct str subject, detail; /* detail: JSON object text or NULL */
};

enum read_kind { READ_HEAD, READ_DUE, READ_KEYS, READ_TASKS, READ_TICKS };

struct key_ask {
	rid queue; /* unique key; 0: an idempotency key */
	struct str key;
};

struct read_ask {
	enum read_kind kind;
	uint64_t number;
	struct head_query head;
	struct due_query due;
	struct tick_query ticks;
	const struct key_ask *keys; /* with their strings they stay until the answer was given */
	const rid *ids;
	size_t n;
};

struct effects {
	struct batch batch;
	struct message *messages;
	size_t n_messages, cap_messages;
	struct reply *replies;
	size_t n_replies, cap_replies;
	struct notice *notices;
	size_t n_notices, cap_notices;
	struct read_ask *reads;
	size_t n_reads, cap_reads;
};

void effects_release(struct effects *e);
void effects_reset(struct effects *e, uint64_t seq);
bool effects_empty(const struct effects *e);
struct message *effects_message(struct effects *e, enum message_kind kind, uint64_t link);
struct reply *effects_reply(struct effects *e, uint64_t ticket);
/* As problem_hint(): for hints that name a command. Returns the problem's code. */
int reply_hint(struct reply *r, enum hint_code code, struct str name);
struct notice *effects_notice(struct effects *e, const char *kind);
struct read_ask *effects_read(struct effects *e, enum read_kind kind);

#endif
