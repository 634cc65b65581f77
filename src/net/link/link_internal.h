/* SPDX-License-Identifier: Apache-2.0 */
/* A link's inside, shared by its dialler, its listener and its traffic. */
#ifndef NET_LINK_INTERNAL_H
#define NET_LINK_INTERNAL_H

#include <event2/bufferevent.h>
#include <event2/event.h>

#include <bsd/sys/queue.h>

#include "net/link/link.h"
#include "net/loop/address.h"
#include "net/loop/resolve.h"

/* Of one listener. */
struct link_quota {
	size_t strangers_max, buffered_max; /* 0: no limit */
	size_t n_strangers, buffered;
	TAILQ_HEAD(, link) strangers; /* the oldest first */
	LIST_HEAD(, link) all;
};

struct link {
	struct loop *loop;
	struct link_options o;
	size_t frame_max; /* at present */
	struct link_events ev;
	void *arg;
	struct tls *tls;
	struct bufferevent *bev; /* NULL until there is a connection */
	struct evbuffer *early;  /* what was sent before that */
	struct event *timer;     /* the limit of the present phase */
	struct event *close_event;
	char peer[300];
	char why[200];
	enum link_fault fault;
	bool accepted;  /* by a listener, else dialled */
	bool announced; /* the user knows this link: on_close is owed */
	bool open;
	bool lost; /* by the peer or the network: nothing more can be written */
	bool closing;
	bool paused;
	bool reading_ahead;
	bool got_frame;
	bool above_half; /* queued more than half of send_max since the last on_drain */
	bool local;
	/* accepting only */
	LIST_ENTRY(link) handshake_entry; /* the listener's, until the user hears of it */
	bool in_handshake;
	struct link_quota *quota; /* NULL: dialled, closing, or its listener is gone */
	LIST_ENTRY(link) quota_entry;
	TAILQ_ENTRY(link) stranger_entry;
	bool is_stranger;
	size_t buffered; /* of its input, as counted in the quota */
	link_accept_fn *on_accept;
	void *accept_arg;
	/* dialling only */
	struct address address;
	struct resolve *resolve;
	struct addrinfo *addresses, *next_address;
	struct event *connect_event;
	int connect_fd; /* -1 when there is none */
};

struct link *link_new(struct loop *loop, const struct link_options *o, const struct link_events *ev,
    struct tls *tls, void *arg);
/* Takes over a connected descriptor; with TLS the handshake begins. */
void link_adopt(struct link *l, int fd);
void link_limit(struct link *l, int64_t ms);
void link_opened(struct link *l);
void link_fail(struct link *l, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Without a word to anybody. */
void link_free(struct link *l);
void link_dial_release(struct link *l);
enum link_fault fault_of_tls(const struct link *l, unsigned long e);
enum link_fault fault_of_silence(const struct link *l);
const char *fault_in_certificate(const struct link *l);
bool fault_looks_like_tls(struct str first);
void fault_let_alert_out(const struct link *l);
void quota_init(struct link_quota *q, const struct link_options *o);
void quota_enter(struct link_quota *q, struct link *l);
void quota_admit(struct link *l);
void quota_leave(struct link *l);
void quota_count(struct link *l, size_t buffered); /* so much of its input is there now */
void quota_release(struct link_quota *q);

#endif
