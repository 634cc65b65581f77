/* SPDX-License-Identifier: Apache-2.0 */
#include "server/sockets.h"

#include <string.h>

#include "base/world/log.h"

static const char *const names[] = {
    [SOCKET_API_TCP] = "api", [SOCKET_API_UNIX] = "api", [SOCKET_LINK] = "link"};

static bool is_for(const struct passed *s, enum socket_use use)
{
	return strcmp(s->name, names[use]) == 0 && s->is_unix == (use == SOCKET_API_UNIX);
}

const struct passed *sockets_next(
    const struct sockets *s, enum socket_use use, const struct passed *at)
{
	for (at = at ? at + 1 : s->all; at < s->all + s->n; at++)
		if (is_for(at, use))
			return at;
	return NULL;
}

static int check_name(const struct passed *s, struct problem *p)
{
	for (enum socket_use use = SOCKET_API_TCP; use <= SOCKET_LINK; use++)
		if (is_for(s, use))
			return 0;
	problem_set(p, ERR_INVALID,
	    "the socket %s was passed to us under the name \"%s\", which says nothing of its use",
	    s->address, s->name);
	return problem_hint(
	    p, "FileDescriptorName=api is for clients, link for workers, who come by TCP only");
}

static int check_open(const struct config *c, const struct passed *s, struct problem *p)
{
	bool is_link = is_for(s, SOCKET_LINK);
	const char *token = is_link ? "server.join_token" : "server.token",
	           *cert = is_link ? "server.link_tls.cert" : "server.tls.cert";

	if (s->is_loopback)
		return 0;
	if (!config_secret_is_given(c, token)) {
		problem_set(p, ERR_INVALID,
		    "the socket %s was passed to us, which others can reach, but there is no token",
		    s->address);
		return problem_hint(p,
		    "set %s_file (make one: openssl rand -hex 32), or listen on 127.0.0.1", token);
	}
	if (!config_is_set(c, cert))
		log_warn("the socket %s is without TLS: the token can be overheard; set %s",
		    s->address, cert);
	return 0;
}

int sockets_take(const struct config *c, struct sockets *ret, struct problem *ret_problem)
{
	const struct passed *link;
	int e = passed_take(ret->all, &ret->n, ret_problem);

	for (size_t i = 0; i < ret->n && e == 0; i++) {
		e = check_name(&ret->all[i], ret_problem);
		if (e == 0)
			e = check_open(c, &ret->all[i], ret_problem);
	}
	link = e ? NULL : sockets_next(ret, SOCKET_LINK, NULL);
	if (link && sockets_next(ret, SOCKET_LINK, link))
		e = problem_set(ret_problem, ERR_INVALID,
		    "two sockets named link were passed to us: workers have one");
	return e;
}
