/* SPDX-License-Identifier: Apache-2.0 */
/* The token of a server on this machine, for its loopback address; and who listens there. */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "cli/reach/server.h"
#include "cli/reach/token.h"
#include "config/config.h"

#define STATE_LISTEN 0x0a /* in /proc/net/tcp */

/* "http://host:port/base" → "host:port" */
static bool host_port(const char *url, char *ret_text, size_t size)
{
	const char *at = strstr(url, "://");
	size_t n;

	if (!at)
		return false;
	at += 3;
	n = strcspn(at, "/?#");
	if (n >= size || memchr(at, '@', n))
		return false;
	memcpy(ret_text, at, n);
	ret_text[n] = 0;
	return true;
}

/* Counts who listens on the port; false: somebody does who is neither of these users nor root. */
static bool listeners_are(const char *table, unsigned port, uid_t a, uid_t b, int *ret_n)
{
	FILE *f = fopen(table, "re");
	char line[512];
	bool good = true;

	while (f && fgets(line, sizeof line, f)) {
		unsigned local, state, uid;

		if (sscanf(line, "%*u: %*[0-9A-Fa-f]:%x %*s %x %*s %*s %*s %u", &local, &state,
		        &uid) != 3 ||
		    state != STATE_LISTEN || local != port)
			continue;
		(*ret_n)++;
		good = good && (uid == 0 || uid == a || uid == b);
	}
	if (f)
		fclose(f);
	return good;
}

/* Any user may listen on a free port and wait for tokens there. */
static bool port_is_trusted(unsigned port, uid_t owner)
{
	int n = 0;

	return listeners_are("/proc/net/tcp", port, owner, getuid(), &n) &&
	       listeners_are("/proc/net/tcp6", port, owner, getuid(), &n) && n > 0;
}

static bool take_token(const char *dir, unsigned port, struct buf *ret_token)
{
	AUTO(free_cstr) char *path = xasprintf("%s/token", dir);
	struct problem none;
	struct stat st;

	if (access(path, R_OK) != 0 || stat(path, &st) != 0 || !S_ISREG(st.st_mode) ||
	    !port_is_trusted(port, st.st_uid))
		return false;
	buf_reset(ret_token);
	return token_read(NULL, path, ret_token, &none) == 0;
}

void token_find_local(const char *configured, const char *server, struct buf *ret_token)
{
	AUTO(buf_release) struct buf state = {0};
	char address[128];
	int64_t port;

	if (!host_port(server, address, sizeof address) || !config_address_is_loopback(address) ||
	    !str_to_i64(str_of(strrchr(address, ':') + 1), 1, 65535, &port))
		return;
	if (configured && take_token(configured, (unsigned)port, ret_token))
		return;
	if (state_dir(&state) && take_token(state.p, (unsigned)port, ret_token))
		return;
	if (!take_token("/var/lib/reeve", (unsigned)port, ret_token))
		buf_reset(ret_token);
}
