/* SPDX-License-Identifier: Apache-2.0 */
#include "action/outcome.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "model/limits.h"
#include "wire/text.h"

#define FD_FLOOR 10
#define SAY_WAIT_MS 1000

enum { STATUS_SUCCEEDED = 1, STATUS_FAILED = 2 }; /* as in docs/PLUGINS.md */

int outcome_take_fd(void)
{
	int fd = fcntl(OUTCOME_FD, F_DUPFD_CLOEXEC, FD_FLOOR);

	if (fd >= 0)
		close(OUTCOME_FD);
	return fd;
}

/* Full pipes are waited for, but not for ever: an end must not hang on its own message. */
static void write_all(int fd, struct str s)
{
	struct pollfd ready = {.fd = fd, .events = POLLOUT};

	while (s.n > 0) {
		ssize_t n = write(fd, s.p, s.n);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN && poll(&ready, 1, SAY_WAIT_MS) > 0)
			continue;
		if (n <= 0)
			return;
		s.p += n;
		s.n -= (size_t)n;
	}
}

void outcome_text(const struct outcome *o, struct buf *b)
{
	const char *whole = o->kind == OUTCOME_GOOD ? "" : o->told ? o->told : o->text;
	AUTO(free_cstr) char *clean = xstrdup(whole);
	AUTO(free_cstr) char *json = NULL;
	struct str reason;
	json_t *v;

	text_clean(clean, strlen(clean));
	reason = text_head(str_of(clean), REASON_MAX_BYTES - 1);
	v = json_pack(
	    "{s:i}", "status", o->kind == OUTCOME_GOOD ? STATUS_SUCCEEDED : STATUS_FAILED);
	if (reason.n)
		json_object_set_new(v, "reason", json_stringn(reason.p, reason.n));
	json = json_dumps(v, JSON_COMPACT);
	MUST(json != NULL);
	buf_add_cstr(b, json);
	json_decref(v);
}

void outcome_write(int fd, const struct outcome *o)
{
	AUTO(buf_release) struct buf b = {0};

	if (fd < 0)
		return;
	outcome_text(o, &b);
	write_all(fd, buf_str(&b));
	close(fd);
}

void outcome_say(int fd, struct str source, const char *text)
{
	AUTO(buf_release) struct buf b = {0};

	if (source.n)
		buf_printf(&b, "[" STR_FMT "] ", STR_ARG(source));
	buf_add_cstr(&b, text);
	buf_add_char(&b, '\n');
	write_all(fd, buf_str(&b));
}
