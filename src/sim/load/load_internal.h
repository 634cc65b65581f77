/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the load share: one request of a client, and how it becomes a command. */
#ifndef SIM_LOAD_INTERNAL_H
#define SIM_LOAD_INTERNAL_H

#include "model/rows/row.h"
#include "sim/kind.h"
#include "sim/world/server.h"

#define QUEUES_MOST 4
#define SUBMIT_MOST 12
#define KEYS_MOST 6

struct request {
	struct request *next, **prev;
	struct world *w;
	unsigned number;
	enum event_kind kind;
	enum kind of;     /* EV_CREATE to EV_DO, or what a submit makes: of what */
	bool makes;       /* EV_SUBMIT: an object of that kind */
	enum verb verb;   /* EV_DO, */
	const char *word; /* and what that is called */
	int queue, slot;
	int pending, tries;
	bool repeat; /* what got no answer is sent again */
	bool idem;   /* with an idempotency key */
	bool remembered, force, flag, given_up;
	int got_code;
	/* submits */
	int n, key; /* key: 0 none */
	rid batch;  /* the batch that the tasks join; 0: none */
	rid made;   /* the batch of the first answer */
	int max_attempts;
	int32_t priority, status;
	int64_t timeout_ms, delay_ms;
	struct str need; /* static */
	/* tasks: asked for, or given by the first answer */
	rid ids[SUBMIT_MOST];
	size_t n_ids;
	bool acked;
	int64_t value;
	struct queue_row row; /* queue commands */
	uint64_t fields;
	void *own; /* what only this kind asks for; freed with it */
};

struct load {
	int n_queues;
	struct request *requests;
	unsigned last_request;
	int n_open;
	rid *tasks; /* the tasks that clients know of */
	rid batch;  /* the batch that was made last, as far as they know */
	size_t n_tasks, cap_tasks;
	struct sim_sender *senders; /* of streamed input: load_input.c */
};

/* Room for what a command's event points to. */
struct command_parts {
	struct submit_task tasks[SUBMIT_MOST];
	char bodies[SUBMIT_MOST][32];
	char key[16], idem[16], name[16];
	struct queue_row queue;
	struct worker_row worker;
	struct arena arena; /* of a long submit, unless it was given away */
};

/* load.c */
struct request *load_request(struct world *w, struct load *l, enum event_kind kind);
/* EV_CREATE to EV_DO */
struct request *load_command(struct world *w, struct load *l, enum event_kind kind, enum kind of);
/* Some of the columns, as drawn: bit i is that of offsets[i]. */
uint64_t load_fields(const struct row_table *t, const size_t *offsets, size_t n, unsigned drawn);
void load_send(struct world *w, struct request *r, int64_t in_us);
/* load_draw.c */
void load_draw(struct world *w, struct load *l);
void load_make_queue(struct world *w, struct load *l, int queue);
/* load_input.c */
bool load_is_streamed(const struct request *r);
void load_input_begin(struct world *w, rid task); /* whoever submitted it sends it */
void load_inputs_free(struct load *l);
/* load_objects.c */
extern const struct sim_kind sim_kind_queue, sim_kind_worker;
/* load_command.c: false when what it names is not there. */
bool load_event_of(
    struct world *w, const struct request *r, struct event *ev, struct command_parts *parts);
/* What was answered, to the judge; and one idempotency key gives one answer. */
void load_judge(struct world *w, struct request *r, const struct reply *reply);

#endif
