/* SPDX-License-Identifier: Apache-2.0 */
/* "host:port": is it one, and does it stay on this machine? */
#include <arpa/inet.h>
#include <string.h>

#include "config/internal.h"

#define HOST_MAX 253

/* Splits at the last colon; the brackets of an IPv6 address are taken off. */
static bool split(struct str a, struct str *ret_host, struct str *ret_port)
{
	const char *colon = a.n ? memrchr(a.p, ':', a.n) : NULL;
	size_t n;

	if (!colon)
		return false;
	n = (size_t)(colon - a.p);
	*ret_port = (struct str){colon + 1, a.n - n - 1};
	*ret_host = (struct str){a.p, n};
	if (n >= 2 && a.p[0] == '[' && a.p[n - 1] == ']')
		*ret_host = (struct str){a.p + 1, n - 2};
	else if (n && memchr(a.p, ':', n))
		return false; /* a bare IPv6 address: which colon is the port's? */
	return true;
}

static bool is_host(struct str h)
{
	for (size_t i = 0; i < h.n; i++)
		if (h.p[i] <= ' ' || h.p[i] == 0x7f || strchr("/[]@\"'", h.p[i]))
			return false;
	return h.n > 0 && h.n <= HOST_MAX;
}

bool address_check(struct str address, const char **ret_why)
{
	struct str host, port;
	int64_t n;

	if (!split(address, &host, &port)) {
		*ret_why = "write host:port, or [address]:port for IPv6";
		return false;
	}
	if (!host.n || str_is(host, "*")) {
		*ret_why = "write 0.0.0.0:port (or [::]:port) for every interface";
		return false;
	}
	if (!is_host(host)) {
		*ret_why = "write host:port, without a scheme or a path";
		return false;
	}
	if (!str_to_i64(port, 0, 65535, &n)) {
		*ret_why = "the port is a number from 0 to 65535";
		return false;
	}
	return true;
}

bool config_address_is_loopback(const char *address)
{
	struct str host, port;
	struct in6_addr v6;
	struct in_addr v4;
	char text[HOST_MAX + 1];

	if (!split(str_of(address), &host, &port) || host.n > HOST_MAX)
		return false;
	memcpy(text, host.p, host.n);
	text[host.n] = '\0';
	if (!strcmp(text, "localhost"))
		return true;
	if (inet_pton(AF_INET, text, &v4) == 1)
		return ntohl(v4.s_addr) >> 24 == 127;
	return inet_pton(AF_INET6, text, &v6) == 1 && IN6_IS_ADDR_LOOPBACK(&v6);
}
