/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What evhttp lets pass and RFC 9112 does not: requests whose end two readers may see at different
 * places (a proxy and we, say), which is how a request is smuggled past the one to the other. They
 * are refused, and since nobody knows where the next one begins, the connection ends.
 */
#include <event2/keyvalq_struct.h>
#include <string.h>
#include <strings.h>

#include "net/http/http_internal.h"
#include "net/http/url.h"

/* The characters of a header's name (RFC 9110, token): above all no blank before the colon. */
static bool is_token(const char *s)
{
	static const bool token[256] = {['!'] = true,
	    ['#' ... '\''] = true,
	    ['*'] = true,
	    ['+'] = true,
	    ['-'] = true,
	    ['.'] = true,
	    ['0' ... '9'] = true,
	    ['A' ... 'Z'] = true,
	    ['^' ... 'z'] = true,
	    ['|'] = true,
	    ['~'] = true};
	const unsigned char *p = (const unsigned char *)s;

	while (token[*p])
		p++;
	return *s && *p == 0;
}

static bool is_digits(const char *s)
{
	return *s && s[strspn(s, "0123456789")] == 0;
}

/* Headers that mean one thing: of two, who reads along may believe the other. */
enum single {
	HOST,
	LENGTH,
	CODING,
	TYPE,
	AUTHORIZATION,
	ORIGIN,
	KEY,
	LAST_EVENT,
	EXPECT,
	N_SINGLE
};

#define SINGLE(name)                                                     \
	{                                                                \
		sizeof(name) - 1, name, name " is given more than once." \
	}

static const struct {
	size_t n;
	const char *name, *twice;
} singles[N_SINGLE] = {
    [HOST] = SINGLE("Host"),
    [LENGTH] = SINGLE("Content-Length"),
    [CODING] = SINGLE("Transfer-Encoding"),
    [TYPE] = SINGLE("Content-Type"),
    [AUTHORIZATION] = SINGLE("Authorization"),
    [ORIGIN] = SINGLE("Origin"),
    [KEY] = SINGLE("Idempotency-Key"),
    [LAST_EVENT] = SINGLE("Last-Event-ID"),
    [EXPECT] = SINGLE("Expect"),
};

/* The headers' values, as far as they are there; or what is wrong with a header by itself. */
static const char *sort(const struct evkeyvalq *headers, const char *values[N_SINGLE])
{
	const struct evkeyval *h;

	TAILQ_FOREACH (h, headers, next) {
		size_t n = strlen(h->key);

		if (!is_token(h->key))
			return "A header's name holds a character that is not allowed there.";
		for (int i = 0; i < N_SINGLE; i++) {
			if (n != singles[i].n || strcasecmp(h->key, singles[i].name) != 0)
				continue;
			if (values[i])
				return singles[i].twice;
			values[i] = h->value;
		}
	}
	return NULL;
}

static const char *check_body(const struct evhttp_request *ev, const char *values[N_SINGLE])
{
	const char *length = values[LENGTH], *coding = values[CODING];

	if (length && !is_digits(length))
		return "Content-Length is not a number.";
	if (coding && length)
		return "Transfer-Encoding and Content-Length exclude each other; send one of them.";
	if (coding && (strcasecmp(coding, "chunked") != 0 || ev->minor == 0))
		return "The only Transfer-Encoding that is understood is chunked, with HTTP/1.1.";
	if (ev->type == EVHTTP_REQ_HEAD && (coding || (length && length[strspn(length, "0")])))
		return "A HEAD request has no body.";
	return NULL;
}

/* "/…", "*" of OPTIONS, or "http://HOST/…" with the very host that Host names. Never a fragment:
 * who reads along may take it for a part of the path. */
static const char *check_target(const struct evhttp_request *ev, const char *host)
{
	struct str target = str_of(ev->uri), authority;

	if (!host && ev->minor > 0)
		return "An HTTP/1.1 request has one Host header.";
	if (memchr(ev->uri, '#', target.n))
		return "The request's target holds a #: what follows one is for the client alone.";
	if (target.n && target.p[0] == '/')
		return NULL;
	if (str_is(target, "*") && ev->type == EVHTTP_REQ_OPTIONS)
		return NULL;
	if (!url_authority(target, &authority))
		return "The request's target is neither a path nor an http address.";
	if (!host || strlen(host) != authority.n ||
	    strncasecmp(host, authority.p, authority.n) != 0)
		return "The target's host is not the one that the Host header names.";
	return NULL;
}

const char *http_check(const struct http_conn *c, const struct evhttp_request *ev)
{
	const char *values[N_SINGLE] = {0}, *wrong = c->scan.fault;

	if (!wrong)
		wrong = sort(ev->input_headers, values);
	if (!wrong)
		wrong = check_body(ev, values);
	return wrong ? wrong : check_target(ev, values[HOST]);
}
