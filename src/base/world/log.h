/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The program's own log. Only shells log, once, where the decision is made; brains never do.
 * Outputs: stderr (human on a terminal, JSON lines otherwise, or as set), a file (reopened by
 * log_reopen, for rotation), journald (stderr with <priority> prefixes).
 */
#ifndef BASE_LOG_H
#define BASE_LOG_H

#include <stdbool.h>

enum log_level { LOG_ERROR, LOG_WARN, LOG_INFO, LOG_DEBUG };
enum log_format { LOG_AUTO, LOG_HUMAN, LOG_JSON };
enum log_output { LOG_STDERR, LOG_FILE, LOG_JOURNALD };

struct log_options {
	enum log_level level;
	enum log_format format;
	enum log_output output;
	const char *file;    /* with LOG_FILE */
	const char *program; /* "server", "worker": copied */
};

/* Returns 0 or -1 with errno when the file can't be opened; the old settings then stay. */
int log_setup(const struct log_options *o);
int log_reopen(void);
bool log_enabled(enum log_level level);
bool log_level_from_name(const char *name, enum log_level *ret_level);
/*
 * Thread-safe; one line per call, newlines and control bytes escaped. Never waits: what a slow
 * reader has no room for is dropped, counted, and told later.
 */
void log_line(enum log_level level, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#define log_error(...) log_line(LOG_ERROR, __VA_ARGS__)
#define log_warn(...) log_line(LOG_WARN, __VA_ARGS__)
#define log_info(...) log_line(LOG_INFO, __VA_ARGS__)
#define log_debug(...) (log_enabled(LOG_DEBUG) ? log_line(LOG_DEBUG, __VA_ARGS__) : (void)0)

#endif
