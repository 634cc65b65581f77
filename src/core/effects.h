/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a step wants done. Rows go to the store in one batch; messages, replies, notices and reads
 * leave only after that batch is durable. Everything lives in the batch's arena.
 */
#ifndef CORE_EFFECTS_H
#define CORE_EFFECTS_H

#include "base/err.h"
#include "core/say.h"
#include "model/link/link.h"
#include "model/objects/kind.h"
#include "model/rows/batch.h"
#include "model/rows/query.h"

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
	MSG_SETTINGS,
	MSG_INPUT
};

struct message {
	enum message_kind kind;
	uint64_t link;
	enum hint_code hint; /* MSG_REFUSED: said after the reason */
	union {
		struct link_welcome welcome;
		struct link_refused refused;
		struct link_run run;
		struct link_notify notify;
		struct link_check check;
		struct link_kill kill;
		struct run_ref ended_ack;
		struct link_output_ack output_ack;
		struct link_input input;
		struct link_beat_ack beat_ack;
		struct link_settings settings;
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

struct input_standing {
	int64_t size;  /* so much there is */
	int64_t taken; /* and so much of it the present attempt has, as far as we heard */
	bool is_ended;
	int64_t silence_ms; /* so long unheard of, the sender is given up */
};

struct reply {
	uint64_t ticket;
	int64_t time_ms; /* when it was carried out: what waited for the store came in earlier */
	int code;        /* 0, or an enum err with problem set */
	struct problem *problem;
	struct hint *hint; /* what to do about it, where that is a command; NULL: nothing */
	bool replayed;     /* answered from an idempotency record */
	rid id;            /* the object or batch it was about */
	const struct outcome *outcomes;
	size_t n;
	struct input_standing input; /* EV_INPUT */
};

/* For watchers: everything that happens, numbered without gaps. Durable ones also have a row. */
struct notice {
	uint64_t seq;
	int64_t time_ms;
	const char *kind; /* static: "task.succeeded", "queue.paused", … */
	rid task, queue, worker, batch;
	struct owner owner; /* the object that has tasks, and which part of it; id 0: none */
	int32_t status, attempt;
	int32_t exit_code;
	int32_t wish; /* of a task: a job that was skipped is cancelled, and has WISH_SKIP */
	struct str subject, detail; /* detail: JSON object text or NULL */
};

enum read_kind { READ_HEAD, READ_DUE, READ_KEYS, READ_TASKS, READ_PARTS, READ_INPUT };

struct key_ask {
	rid queue; /* unique key; 0: an idempotency key */
	struct str key;
};

struct read_ask {
	enum read_kind kind;
	uint64_t number;
	struct head_query head;
	struct due_query due;
	struct part_query parts;
	const struct key_ask *keys; /* with their strings they stay until the answer was given */
	const rid *ids;
	size_t n;
	const rid *batches; /* READ_TASKS: of tasks */
	size_t n_batches;
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
	bool go_on; /* EV_GO_ON is wanted as soon as another set gathers */
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
