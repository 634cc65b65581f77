/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What evhttp lets pass and RFC 9112 does not: requests whose end two readers may see at different
 * places (a proxy and we, say), which is how a request is smuggled past the one to the other. They
 * are refused, and since nobody knows where the next one begins, the connection ends.
 */
#include <event2/keyvalq_struct.h>
#include <string.h>
#include <strings.h>

#include "net/http_internal.h"

/* The characters of a header's name (RFC 9110, token): above all no blank before the colon. */
static bool is_token(const char *s)
{
	static const char token[] = "!#$%&'*+-.^_`|~0123456789"
	                            "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

	return *s && s[strspn(s, token)] == 0;
}

static bool is_digits(const char *s)
{
	return *s && s[strspn(s, "0123456789")] == 0;
}

struct seen {
	int hosts, lengths, codings;
	bool bad_name, bad_length, bad_coding, has_body;
};

static void look(const struct evkeyval *h, struct seen *s)
{
	s->bad_name |= !is_token(h->key);
	if (strcasecmp(h->key, "Host") == 0) {
		s->hosts++;
	} else if (strcasecmp(h->key, "Content-Length") == 0) {
		s->lengths++;
		s->bad_length |= !is_digits(h->value);
		s->has_body |= h->value[strspn(h->value, "0")] != 0;
	} else if (strcasecmp(h->key, "Transfer-Encoding") == 0) {
		s->codings++;
		s->bad_coding |= strcasecmp(h->value, "chunked") != 0;
		s->has_body = true;
	}
}

const char *http_check(const struct http_conn *c, const struct evhttp_request *ev)
{
	struct seen s = {0};
	const struct evkeyval *h;

	TAILQ_FOREACH (h, ev->input_headers, next)
		look(h, &s);
	if (c->scan.nul)
		return "The request's head holds a NUL byte.";
	if (s.bad_name)
		return "A header's name holds a character that is not allowed there.";
	if (s.lengths > 1)
		return "Content-Length is given more than once.";
	if (s.bad_length)
		return "Content-Length is not a number.";
	if (s.codings && s.lengths)
		return "Transfer-Encoding and Content-Length exclude each other; send one of them.";
	if (s.bad_coding || s.codings > 1 || (s.codings && ev->minor == 0))
		return "The only Transfer-Encoding that is understood is chunked, with HTTP/1.1.";
	if (s.has_body && ev->type == EVHTTP_REQ_HEAD)
		return "A HEAD request has no body.";
	if (s.hosts > 1 || (s.hosts == 0 && ev->minor > 0))
		return "An HTTP/1.1 request has one Host header.";
	return NULL;
}
