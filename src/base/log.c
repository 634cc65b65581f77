/* SPDX-License-Identifier: Apache-2.0 */
/* One line is formatted in full, then written with a single write(2): lines never interleave. */
#include "base/log.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/str.h"
#include "base/timefmt.h"

static struct {
	pthread_mutex_t lock;
	struct log_options o;
	char file[4096];
	char program[32];
	int fd;
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

static int open_file(const char *path)
{
	return open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0640);
}

int log_setup(const struct log_options *o)
{
	int fd = STDERR_FILENO;

	if (o->output == LOG_FILE && (fd = open_file(o->file)) < 0)
		return -1;
	pthread_mutex_lock(&lg.lock);
	if (lg.fd != STDERR_FILENO)
		close(lg.fd);
	lg.fd = fd;
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
	close(lg.fd);
	lg.fd = fd;
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

void log_line(enum log_level level, const char *fmt, ...)
{
	struct buf text = {0}, line = {0};
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
	(lg.json ? add_json : add_human)(&line, level, text.p);
	if (write(lg.fd, line.p, line.n) < 0 && errno == EINTR)
		(void)!write(lg.fd, line.p, line.n);
	pthread_mutex_unlock(&lg.lock);
	buf_release(&text);
	buf_release(&line);
}
