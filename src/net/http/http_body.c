/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bodies in one piece, as handlers want them. evhttp has them in many; a long one is put together
 * a little per turn of the loop, so that nobody waits while sixty megabytes are copied; and its
 * pages are given back in the same way.
 */
#include <stdlib.h>
#include <sys/mman.h>

#include "base/mem.h"
#include "net/http/http_internal.h"

#define AT_ONCE_BYTES (1u << 20)
#define GIVE_BACK_BYTES ((size_t)4 << 20) /* whole pages */

static void again(struct http_server *s)
{
	static const struct timeval now = {0, 0};

	if (!TAILQ_EMPTY(&s->gathering) || s->n_old)
		event_add(s->gather_event, &now);
}

static void nobody_to_tell(void *arg)
{
}

bool http_body_is_long(const struct http_request *r)
{
	return evbuffer_get_length(r->ev->input_buffer) > AT_ONCE_BYTES;
}

void http_body_gather(struct http_request *r)
{
	struct http_server *s = r->server;

	r->gathering = true;
	r->body_cap = evbuffer_get_length(r->ev->input_buffer);
	r->body =
	    mmap(NULL, r->body_cap, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	MUST(r->body != MAP_FAILED);
	TAILQ_INSERT_TAIL(&s->gathering, r, entry);
	again(s);
}

/* The client is gone before the handler ever heard of it. */
void http_body_forget(struct http_request *r)
{
	TAILQ_REMOVE(&r->server->gathering, r, entry);
	r->gathering = false;
	r->on_close = nobody_to_tell;
}

void http_body_free(struct http_request *r)
{
	struct http_server *s = r->server;

	if (!r->body)
		return;
	if (!s) {
		munmap(r->body, r->body_cap);
		return;
	}
	GROW(s->old, s->cap_old, s->n_old + 1);
	s->old[s->n_old++] = (struct old_body){r->body, r->body_cap};
	again(s);
}

/* From its end, a little per turn. */
static void give_back(struct http_server *s)
{
	struct old_body *b = &s->old[s->n_old - 1];
	size_t from = b->n > GIVE_BACK_BYTES ? (b->n - 1) / GIVE_BACK_BYTES * GIVE_BACK_BYTES : 0;

	munmap(b->p + from, b->n - from);
	b->n = from;
	if (from == 0)
		s->n_old--;
}

void http_bodies_release(struct http_server *s)
{
	while (s->n_old)
		give_back(s);
	free(s->old);
}

static void gather_more(struct http_server *s, struct http_request *r)
{
	size_t left;
	int n;

	left = r->body_cap - r->body_n;
	n = evbuffer_remove(
	    r->ev->input_buffer, r->body + r->body_n, left < AT_ONCE_BYTES ? left : AT_ONCE_BYTES);
	MUST(n > 0);
	r->body_n += (size_t)n;
	TAILQ_REMOVE(&s->gathering, r, entry);
	if (r->body_n < r->body_cap) {
		TAILQ_INSERT_TAIL(&s->gathering, r, entry); /* the others' turn */
	} else {
		r->gathering = false;
		s->fn(r, s->arg);
	}
}

void http_body_work(evutil_socket_t fd, short what, void *server)
{
	struct http_server *s = server;
	struct http_request *r = TAILQ_FIRST(&s->gathering);

	if (s->n_old)
		give_back(s);
	if (r)
		gather_more(s, r);
	again(s);
}

struct str http_body(struct http_request *r)
{
	struct evbuffer *in = r->ev->input_buffer;
	size_t n = evbuffer_get_length(in);

	if (r->body)
		return (struct str){r->body, r->body_n};
	if (n == 0)
		return (struct str){"", 0};
	return (struct str){(char *)evbuffer_pullup(in, -1), n};
}
