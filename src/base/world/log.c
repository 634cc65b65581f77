/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One line is formatted in full, then written with a single write(2): lines never interleave.
 *
 * Nobody ever waits for the log: when its reader stops reading, lines are dropped and counted, and
 * the count is told when there is room again. The O_NONBLOCK flag of stderr is not ours to set (it
 * belongs to the open file, which the shell and our children share), so a pipe or terminal is
 * opened once more, for an open file of our own; a socket is written with MSG_DONTWAIT.
 */
#include "base/world/log.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/str.h"
#include "base/timefmt.h"
#include "base/world/clock.h"

enum way {
	WAY_POLL,  /* shared and perhaps blocking: asked before each small piece */
	WAY_PLAIN, /* a regular file, or an open file of our own that does not block */
	WAY_SEND   /* a socket: journald's, say */
};

static struct {
	pthread_mutex_t lock;
	struct log_options o;
	char file[4096];
	char program[32];
	int fd;
	enum way way;
	struct buf rest;  /* of a line that was taken in part: it goes first */
	uint64_t dropped; /* lines, since the last one that was written */
	bool json, color;
} lg = {.lock = PTHREAD_MUTEX_INITIALIZER, .o.level = LOG_INFO, .fd = STDERR_FILENO};

static const struct {
	const char *name;
	const char *color;
	int syslog;
} levels[] = {
    [LOG_ERROR] = {"error", "\033[31m", 3},
    [LOG_WARN] = {"warn", "\033[33m", 4},
    [LOG_INFO] = {"info", "", 6},
    [LOG_DEBUG] = {"debug", "\033[2m", 7},
};

bool log_level_from_name(const char *name, enum log_level *ret_level)
{
	for (size_t i = 0; i < sizeof levels / sizeof levels[0]; i++)
		if (strcmp(levels[i].name, name) == 0) {
			*ret_level = (enum log_level)i;
			return true;
		}
	return false;
}

/* Not waiting: a FIFO without a reader is an error, not a hang. */
static int open_file(const char *path)
{
	return open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0640);
}

static int open_stderr(enum way *ret_way)
{
	struct stat st;
	int fd;

	*ret_way = WAY_PLAIN;
	if (fstat(STDERR_FILENO, &st) != 0 || S_ISREG(st.st_mode))
		return STDERR_FILENO;
	*ret_way = WAY_SEND;
	if (S_ISSOCK(st.st_mode))
		return STDERR_FILENO;
	*ret_way = WAY_PLAIN;
	fd = open("/proc/self/fd/2", O_WRONLY | O_APPEND | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd >= 0)
		return fd;
	*ret_way = WAY_POLL; /* another user's terminal, or no /proc */
	return STDERR_FILENO;
}

static void use(int fd, enum way way)
{
	if (lg.fd != STDERR_FILENO)
		close(lg.fd);
	lg.fd = fd;
	lg.way = way;
	buf_release(&lg.rest); /* the rest belonged to the old descriptor */
}

int log_setup(const struct log_options *o)
{
	enum way way = WAY_PLAIN;
	int fd = o->output == LOG_FILE ? open_file(o->file) : open_stderr(&way);

	if (fd < 0)
		return -1;
	pthread_mutex_lock(&lg.lock);
	use(fd, way);
	lg.o = *o;
	snprintf(lg.file, sizeof lg.file, "%s", o->file ? o->file : "");
	snprintf(lg.program, sizeof lg.program, "%s", o->program ? o->program : "");
	lg.json = o->format == LOG_JSON || (o->format == LOG_AUTO && !isatty(fd));
	lg.color = !lg.json && isatty(fd) && !getenv("NO_COLOR");
	pthread_mutex_unlock(&lg.lock);
	return 0;
}

int log_reopen(void)
{
	int fd;

	if (lg.o.output != LOG_FILE)
		return 0;
	if ((fd = open_file(lg.file)) < 0)
		return -1;
	pthread_mutex_lock(&lg.lock);
	use(fd, WAY_PLAIN);
	pthread_mutex_unlock(&lg.lock);
	return 0;
}

bool log_enabled(enum log_level level)
{
	return level <= lg.o.level;
}

static void add_escaped(struct buf *b, const char *s, bool json)
{
	for (; *s; s++) {
		unsigned char c = (unsigned char)*s;

		if (c == '\n')
			buf_add_cstr(b, "\\n");
		else if (json && (c == '"' || c == '\\'))
			buf_printf(b, "\\%c", c);
		else if (c < 0x20 || c == 0x7f)
			buf_printf(b, "\\u%04x", c);
		else
			buf_add_char(b, (char)c);
	}
}

static void add_json(struct buf *b, enum log_level level, const char *text)
{
	char when[TIME_TEXT_MAX];

	if (lg.o.output == LOG_JOURNALD)
		buf_printf(b, "<%d>", levels[level].syslog);
	buf_printf(b, "{\"time\":\"%s\",\"level\":\"%s\",\"program\":\"%s\",\"message\":\"",
	    time_format_ms(clock_wall_ms(), when), levels[level].name, lg.program);
	add_escaped(b, text, true);
	buf_add_cstr(b, "\"}\n");
}

static void add_human(struct buf *b, enum log_level level, const char *text)
{
	char when[TIME_TEXT_MAX];

	if (lg.o.output == LOG_JOURNALD)
		buf_printf(b, "<%d>", levels[level].syslog);
	else
		buf_printf(b, "%.19sZ ", time_format_ms(clock_wall_ms(), when));
	buf_printf(b, "%s%-5s%s %s%s", lg.color ? levels[level].color : "", levels[level].name,
	    lg.color ? "\033[0m" : "", lg.program, lg.program[0] ? ": " : "");
	add_escaped(b, text, false);
	buf_add_char(b, '\n');
}

static ssize_t write_some(const char *p, size_t n)
{
	struct pollfd ready = {.fd = lg.fd, .events = POLLOUT};

	if (lg.way == WAY_SEND)
		return send(lg.fd, p, n, MSG_DONTWAIT | MSG_NOSIGNAL);
	if (lg.way == WAY_PLAIN)
		return write(lg.fd, p, n);
	if (poll(&ready, 1, 0) != 1) {
		errno = EAGAIN;
		return -1;
	}
	/* A pipe that has room at all has it for this much. */
	return write(lg.fd, p, n < PIPE_BUF ? n : PIPE_BUF);
}

/* How much was taken; less than n when there is no room for more. */
static size_t write_all(const char *p, size_t n)
{
	size_t done = 0;
	ssize_t k;

	while (done < n) {
		k = write_some(p + done, n - done);
		if (k > 0)
			done += (size_t)k;
		else if (k == 0 || errno != EINTR)
			break;
	}
	return done;
}

static bool put_rest(void)
{
	size_t done = write_all(lg.rest.p, lg.rest.n);
	bool all = done == lg.rest.n;

	if (all) {
		buf_release(&lg.rest);
	} else {
		memmove(lg.rest.p, lg.rest.p + done, lg.rest.n - done);
		lg.rest.n -= done;
	}
	return all;
}

/* False: nothing of it was taken. */
static bool put_line(enum log_level level, const char *text)
{
	struct buf line = {0};
	size_t done;

	(lg.json ? add_json : add_human)(&line, level, text);
	done = write_all(line.p, line.n);
	if (done > 0 && done < line.n)
		buf_add(&lg.rest, line.p + done, line.n - done);
	buf_release(&line);
	return done > 0;
}

static bool tell_dropped(void)
{
	char text[96];

	if (lg.dropped == 0)
		return true;
	snprintf(text, sizeof text, "%llu log line%s dropped: there was no room for them",
	    (unsigned long long)lg.dropped, lg.dropped == 1 ? " was" : "s were");
	if (!put_line(LOG_WARN, text))
		return false;
	lg.dropped = 0;
	return lg.rest.n == 0;
}

void log_line(enum log_level level, const char *fmt, ...)
{
	struct buf text = {0};
	va_list ap;
	char small[512];
	int n;

	if (!log_enabled(level))
		return;
	va_start(ap, fmt);
	n = vsnprintf(small, sizeof small, fmt, ap);
	va_end(ap);
	buf_add_cstr(&text, small);
	if (n >= (int)sizeof small) {
		buf_reset(&text);
		buf_reserve(&text, (size_t)n);
		va_start(ap, fmt);
		vsnprintf(text.p, (size_t)n + 1, fmt, ap);
		va_end(ap);
	}
	pthread_mutex_lock(&lg.lock);
	if (!put_rest() || !tell_dropped() || !put_line(level, text.p))
		lg.dropped++;
	pthread_mutex_unlock(&lg.lock);
	buf_release(&text);
}
