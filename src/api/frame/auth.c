/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whose pages may ask: the Host and Origin checks keep web pages that the operator happens to visit
 * from asking in his name. Who asks at all is access.c's matter.
 */
#include <arpa/inet.h>
#include <string.h>
#include <strings.h>

#include "api/frame/call.h"
#include "model/lines.h"

/* Nothing, or a colon and a number. */
static bool is_port(struct str s)
{
	if (s.n > 6 || (s.n && s.p[0] != ':'))
		return false;
	for (size_t i = 1; i < s.n; i++)
		if (s.p[i] < '0' || s.p[i] > '9')
			return false;
	return true;
}

/* "name", "name:port", "[::1]", "[::1]:port" -> the name, without brackets; else nothing */
static struct str host_name(struct str host)
{
	bool bracket = host.n && host.p[0] == '[';
	struct str name = bracket ? (struct str){host.p + 1, host.n - 1} : host, rest = STR_NULL;
	const char *end = name.n ? memchr(name.p, bracket ? ']' : ':', name.n) : NULL;

	if (end) {
		name.n = (size_t)(end - name.p);
		end += bracket;
		rest = (struct str){end, (size_t)(host.p + host.n - end)};
	}
	if ((bracket && (!end || !memchr(name.p, ':', name.n))) || !is_port(rest))
		return STR_NULL;
	return name;
}

static bool is_address(struct str name)
{
	unsigned char out[sizeof(struct in6_addr)];
	char text[64];

	if (name.n >= sizeof text)
		return false;
	memcpy(text, name.p, name.n);
	text[name.n] = 0;
	return strlen(text) == name.n &&
	       (inet_pton(AF_INET, text, out) == 1 || inet_pton(AF_INET6, text, out) == 1);
}

static bool lines_has_host(struct str lines, struct str host)
{
	struct str item, name = host_name(host);

	while (lines_next(&lines, &item))
		if ((item.n == host.n && strncasecmp(item.p, host.p, host.n) == 0) ||
		    (name.n && host_name(item).n == name.n &&
		        strncasecmp(host_name(item).p, name.p, name.n) == 0) ||
		    str_is(item, "*"))
			return true;
	return false;
}

/* Another site's name can be made to point here, but not an address: those need no listing. */
static bool host_ok(const struct call *c)
{
	struct str host = c->req.host, name = host_name(host);
	const struct api_options *o = &c->api->opt;

	if (c->req.is_unix || !host.p)
		return true;
	if (name.n == 9 && strncasecmp(name.p, "localhost", 9) == 0)
		return true;
	return (name.n && is_address(name)) || lines_has_host(str_of(o->allow_hosts), host) ||
	       lines_has_host(str_of(o->facts.listen), host);
}

static bool origin_ok(struct call *c)
{
	struct str origin = c->req.origin, allowed = str_of(c->api->opt.allow_origins);
	const char *at;

	if (!origin.p)
		return true;
	at = memmem(origin.p, origin.n, "://", 3);
	if (at && c->req.host.p) {
		size_t skip = (size_t)(at - origin.p) + 3;

		if (str_eq((struct str){origin.p + skip, origin.n - skip}, c->req.host))
			return true;
	}
	if (!lines_has(allowed, origin) && !lines_has(allowed, STR("*")))
		return false;
	if (origin.n < 256 && !memchr(origin.p, '\r', origin.n) &&
	    !memchr(origin.p, '\n', origin.n)) {
		char text[256];

		memcpy(text, origin.p, origin.n);
		text[origin.n] = 0;
		call_header(c, "Access-Control-Allow-Origin", text);
		call_header(c, "Vary", "Origin");
	}
	return true;
}

bool call_allowed(struct call *c)
{
	struct problem *p = &c->problem;

	if (!host_ok(c)) {
		problem_set(p, ERR_DENIED, "this server does not answer to the name \"%.*s\"",
		    c->req.host.n > 100 ? 100 : (int)c->req.host.n, c->req.host.p);
		problem_hint(p, "use its address, or add the name to allow_hosts");
	} else if (!origin_ok(c)) {
		problem_set(p, ERR_DENIED, "pages of \"%.*s\" may not use this server",
		    c->req.origin.n > 100 ? 100 : (int)c->req.origin.n, c->req.origin.p);
		problem_hint(p, "add that origin to allow_origins if they should");
	} else {
		return true;
	}
	access_refuse(c);
	return false;
}
