/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The network: links that deliver in order, break at any point, go silent, and heal; and rules
 * that lose, double or delay single calls inside a link.
 */
#ifndef SIM_NET_H
#define SIM_NET_H

#include "agent/effects.h"
#include "core/effects.h"
#include "sim/world/world.h"

enum { TO_SERVER, TO_WORKER, N_DIRECTIONS };

/* A message on its way: a deep copy in one piece of memory. */
struct packet {
	uint64_t link, order; /* order: on this link and direction, from 1 */
	int direction;
	struct str clock; /* of a traced sender; the trace's */
	union {
		struct message to_worker;
		struct event to_server; /* EV_HELLO … EV_OUTPUT, without times */
	};
};

struct sim_link {
	uint64_t number;
	int slot;                /* SIM_RAW: a script's */
	uint64_t instance;       /* of the worker that dialled */
	bool open[N_DIRECTIONS]; /* the receiving side has it open */
	bool greeted;            /* the server has its hello */
	uint64_t sent[N_DIRECTIONS], arrived[N_DIRECTIONS];
	uint64_t dead_after[N_DIRECTIONS]; /* packets beyond this order never arrive */
	int64_t last_us[N_DIRECTIONS];     /* arrival of the latest: nobody overtakes it */
	int64_t lag_us; /* after a blockade it takes so long until it is tried again */
	struct sim_link *next;
};

/* What may happen to single calls. The first rule that matches a packet is used. */
enum sim_action {
	CALL_LOSE,
	CALL_DOUBLE,
	CALL_DELAY, /* the others overtake it */
	CALL_STALL, /* everything behind it on its link waits too, as when a segment is sent again
	             */
	N_CALL_ACTIONS,
};
struct net_rule {
	int slot; /* -1: any worker */
	int direction;
	int kind; /* enum message_kind or enum event_kind by direction; -1: any but Output */
	enum sim_action action;
	int per_mille; /* how often */
	int left;      /* so many times; -1: without end */
	int64_t until_us;
	int64_t delay_us; /* doubles and late ones come up to that much later; exact: just that */
	struct rng rng;
	struct net_rule *next;
};

struct sim_path {                               /* between one machine and the server */
	int64_t blocked_until_us[N_DIRECTIONS]; /* what is sent meanwhile comes after */
	int64_t extra_us;                       /* a slow line, until slow_until_us */
	int64_t slow_until_us;
};

struct sim_net {
	struct idmap by_number;
	struct sim_link *links; /* newest first */
	uint64_t last_number;
	struct sim_path *paths; /* per slot */
	struct net_rule *rules;
	/* A script's own ear: every message that arrives at a raw link. */
	void (*raw)(struct world *w, uint64_t link, const struct message *m, void *arg);
	void (*raw_down)(struct world *w, uint64_t link, void *arg);
	void *raw_arg;
};

void sim_net_init(struct world *w);
void sim_net_release(struct world *w);
/* A worker dials; it hears sim_worker_link() or tries again. */
void sim_net_dial(struct world *w, int slot);
/* What the brains want sent. Nothing happens when the sender's side of the link is closed. */
void sim_net_to_worker(struct world *w, const struct message *m);
void sim_net_to_server(struct world *w, uint64_t link, const struct event *ev);
/* The server or the worker closes its side; the other side notices after what was sent. */
void sim_net_close(struct world *w, uint64_t link, int closing_side_receives);
/* All links of a machine, the same way. */
void sim_net_cut_all(
    struct world *w, int slot, int share, int64_t server_notices_us, int64_t worker_notices_us);
/* Nothing passes in that direction until then; what was sent meanwhile arrives after. */
void sim_net_block(struct world *w, int slot, int direction, int64_t until_us);
void sim_net_slow(struct world *w, int slot, int64_t extra_us, int64_t until_us);
/* *rule is copied. */
void sim_net_rule(struct world *w, const struct net_rule *rule);
void sim_net_heal(struct world *w);
/* The server has ended: the kernel tells the others after a while (negative: nobody does). */
void sim_net_server_died(struct world *w, int share, int64_t notice_us);
void sim_net_worker_died(struct world *w, int slot, int share, int64_t notice_us);
/* Dials again after a growing while. */
void sim_net_redial(struct world *w, int slot);
struct sim_link *sim_link_find(const struct world *w, uint64_t number);

/* A script's link: says whatever it likes to the server, beginning with a hello. */
uint64_t sim_raw_open(struct world *w);
void sim_raw_send(struct world *w, uint64_t link, const struct event *ev);
void sim_raw_close(struct world *w, uint64_t link);

/* SE_PACKET, SE_LINK_DOWN, SE_DIAL, SE_DIALLED. */
void sim_net_event(struct world *w, struct sim_event *e);

/* packet.c */
struct packet *packet_of_message(const struct message *m);
struct packet *packet_of_event(const struct event *ev);
struct packet *packet_copy(const struct packet *p);
rid packet_task(const struct packet *p); /* the task that the packet is about; 0: none */
const char *packet_kind_name(int direction, int kind); /* by direction: event or message kind */
/* A packet's kind and what it is about, appended. */
void packet_words(struct world *w, const struct packet *p, struct buf *out);
void packet_tell(struct world *w, const char *what, const struct packet *p, int slot);
void packet_mix(struct world *w, const struct packet *p);

#endif
