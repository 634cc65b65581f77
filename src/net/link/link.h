/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A link: whole frames over one TCP (or TLS) connection, both ways. A frame is four bytes of
 * length (big endian), then that many bytes. What a frame means is not known here.
 * A link that broke is dead for good; the dialler dials a new one.
 */
#ifndef NET_LINK_H
#define NET_LINK_H

#include "base/err.h"
#include "base/str.h"
#include "net/loop/loop.h"
#include "net/loop/tls.h"

#define LINK_FRAME_MAX (8u << 20)

struct link;
struct link_listener;

/* What is wrong between the two ends, as far as this one can see. */
enum link_fault {
	LINK_FAULT_NONE,
	LINK_FAULT_UNTRUSTED,  /* the peer's certificate is over, or of no authority we trust */
	LINK_FAULT_NAME,       /* the peer's certificate is not for the name that we dialled */
	LINK_FAULT_DISTRUSTED, /* the peer does not believe our certificate */
	LINK_FAULT_NO_CERT,    /* we demand a certificate, and it has shown none */
	LINK_FAULT_WANTS_CERT, /* the peer seems to demand a certificate, and we showed none */
	LINK_FAULT_IS_PLAIN,   /* the peer does not speak TLS */
	LINK_FAULT_IS_TLS,     /* the peer seems to speak TLS, and we do not */
	N_LINK_FAULTS
};

struct link_events {
	void (*on_open)(struct link *l, void *arg); /* dialled and, with TLS, verified */
	void (*on_frame)(struct link *l, struct str payload, void *arg);
	/* The last callback. `why` is for people. The link is freed after it returns. */
	void (*on_close)(struct link *l, const char *why, void *arg);
	/* What was queued by link_send() has drained below half of the high mark. Optional. */
	void (*on_drain)(struct link *l, void *arg);
	/* One that was accepted failed in its handshake: nothing else is heard of it. `arg` is the
	 * listener's. Optional. */
	void (*on_stranger)(struct link *l, const char *why, void *arg);
};

struct link_options {
	size_t frame_max; /* 0: LINK_FRAME_MAX. A larger frame closes the link */
	int64_t open_ms;  /* time limit for connect + handshake (0: 10 s) */
	/* time limit for the first whole frame (0: 10 s for accepted links, none for dialled ones)
	 */
	int64_t first_ms;
	/* accepted links, until link_admit(); 0: no limit */
	size_t strangers_max;  /* beyond so many the oldest is closed */
	size_t stranger_frame; /* the largest frame from one (0: frame_max) */
	size_t buffered_max;   /* input of all links that is no whole frame yet (0: no limit) */
	size_t send_max;       /* queued bytes above which link_send() closes it (0: 64 MiB) */
	int passed_fd;         /* listens already, and is used instead of the address (0: none) */
};

/* `address` is "host:port", "[v6]:port". The accept callback sets arg for the link's events. */
typedef void *link_accept_fn(struct link *l, const char *peer, void *arg);
struct link_listener *link_listen(struct loop *loop, const char *address, struct tls *tls,
    const struct link_options *o, const struct link_events *ev, link_accept_fn *on_accept,
    void *arg, struct problem *ret_problem);
int link_listener_port(const struct link_listener *ll); /* the real one, if 0 was asked for */
void link_listener_free(struct link_listener *ll);      /* accepted links live on */

/* Never fails at once: failures arrive as on_close. */
struct link *link_dial(struct loop *loop, const char *address, struct tls *tls,
    const struct link_options *o, const struct link_events *ev, void *arg);

void link_send(struct link *l, struct str payload); /* copied and framed */
size_t link_pending(const struct link *l);          /* bytes not yet with the kernel */
void link_pause(struct link *l, bool pause);        /* stop reading: back-pressure by TCP */
void link_close(struct link *l, const char *why);   /* on_close follows, from the loop */
/* When the loop will not run again: sends what it can at once and frees it; no on_close follows. */
void link_end(struct link *l);
void link_expect(struct link *l); /* another first frame, within the same limit */
void link_admit(struct link *l);  /* the peer is no stranger any more: it may send large frames */
const char *link_peer(const struct link *l);
enum link_fault link_fault(const struct link *l); /* of one that closes */
/* False: the other end has shown a certificate, and it is not for that name (CN or DNS name). */
bool link_peer_may_be(const struct link *l, struct str name);
/* The address at this end; false: there is no connection. */
bool link_own_host(const struct link *l, char *ret_text, size_t size);
bool link_is_local(const struct link *l); /* the other end is on a loopback address */

#endif
