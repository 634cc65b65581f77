/* SPDX-License-Identifier: Apache-2.0 */
#include "base/world/trace.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/world/log.h"

#define PROCESS_DIGITS 9 /* a dot and eight hex digits */

struct trace {
	int fd;
	int error;
	struct buf line;
};

struct trace_host {
	struct trace *trace;
	char name[VCLOCK_NAME_MAX + 1];
	struct vclock clock;
	struct buf bytes; /* the clock, for the one who sends */
	bool is_full;     /* and the trace says so */
};

int trace_open(const char *path, bool afresh, struct trace **ret_trace, struct problem *ret_problem)
{
	struct trace *t;
	int flags = O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | (afresh ? O_TRUNC : 0);
	int fd = open(path, flags, 0600);

	*ret_trace = NULL;
	if (fd < 0) {
		problem_set(
		    ret_problem, ERR_IO, "the trace %s can't be opened: %s", path, strerror(errno));
		problem_hint(ret_problem, "--trace-shiviz takes a file in an existing folder");
		return ERR_IO;
	}
	t = xcalloc(1, sizeof *t);
	t->fd = fd;
	*ret_trace = t;
	return 0;
}

void trace_close(struct trace *t)
{
	if (!t)
		return;
	close(t->fd);
	buf_release(&t->line);
	free(t);
}

int trace_error(const struct trace *t)
{
	return t->error;
}

static void clean_name(struct str name, size_t most, struct buf *out)
{
	for (size_t i = 0; i < name.n && i < most; i++) {
		struct str one = {name.p + i, 1};

		buf_add_char(out, vclock_name_is_valid(one) ? name.p[i] : '_');
	}
	if (!name.n)
		buf_add_char(out, '_');
}

void trace_process_name(struct str name, uint64_t process, struct buf *out)
{
	clean_name(name, VCLOCK_NAME_MAX - PROCESS_DIGITS, out);
	buf_printf(out, ".%08x", (unsigned)(process ^ process >> 32));
}

struct trace_host *trace_host_new(struct trace *t, struct str name)
{
	struct trace_host *h = xcalloc(1, sizeof *h);
	struct buf clean = {0};

	clean_name(name, VCLOCK_NAME_MAX, &clean);
	memcpy(h->name, clean.p, clean.n);
	buf_release(&clean);
	h->trace = t;
	return h;
}

void trace_host_free(struct trace_host *h)
{
	if (!h)
		return;
	vclock_release(&h->clock);
	buf_release(&h->bytes);
	free(h);
}

const char *trace_host_name(const struct trace_host *h)
{
	return h->name;
}

static void put_text(struct buf *b, struct str text)
{
	size_t n = text.n < TRACE_TEXT_MAX ? text.n : TRACE_TEXT_MAX;

	/* not in the middle of a character */
	while (n && n < text.n && ((unsigned char)text.p[n] & 0xc0) == 0x80)
		n--;
	for (size_t i = 0; i < n; i++) {
		unsigned char c = (unsigned char)text.p[i];

		if (c == '\n')
			buf_add_cstr(b, "\\n");
		else if (c == '\\')
			buf_add_cstr(b, "\\\\");
		else if (c < ' ' || c == 0x7f)
			buf_printf(b, "\\x%02x", c);
		else
			buf_add_char(b, (char)c);
	}
	if (n < text.n)
		buf_add_cstr(b, " …");
	buf_add_char(b, '\n');
}

/* A file that lacks an event would tell lies about all that follow: it ends with the first one. */
static void write_out(struct trace *t)
{
	ssize_t n;

	do
		n = write(t->fd, t->line.p, t->line.n);
	while (n < 0 && errno == EINTR);
	if (n == (ssize_t)t->line.n)
		return;
	t->error = n < 0 ? errno : ENOSPC;
	log_error("the trace ends here, it could not be written: %s", strerror(t->error));
}

static void add_event(struct trace_host *h, struct str text)
{
	struct trace *t = h->trace;

	if (t->error || !vclock_tick(&h->clock, str_of(h->name)))
		return;
	buf_reset(&t->line);
	buf_add_cstr(&t->line, h->name);
	buf_add_char(&t->line, ' ');
	vclock_json(&h->clock, &t->line);
	buf_add_char(&t->line, '\n');
	put_text(&t->line, text);
	write_out(t);
}

void trace_local(struct trace_host *h, struct str text)
{
	add_event(h, text);
}

struct str trace_send(struct trace_host *h, struct str text)
{
	add_event(h, text);
	if (h->trace->error)
		return STR_NULL;
	buf_reset(&h->bytes);
	vclock_encode(&h->clock, &h->bytes);
	return buf_str(&h->bytes);
}

void trace_receive(struct trace_host *h, struct str clock, struct str text)
{
	struct vclock heard;
	bool whole = true;

	if (clock.n && vclock_decode(clock, &heard)) {
		/* our own place comes first: others must not be able to take the last one */
		if (!vclock_get(&h->clock, str_of(h->name)))
			trace_local(h, STR("begins"));
		whole = vclock_merge(&h->clock, &heard, str_of(h->name));
		vclock_release(&heard);
	}
	add_event(h, text);
	if (whole || h->is_full)
		return;
	h->is_full = true;
	trace_local(h, STR("knows of too many processes: from here on some are left out"));
}
