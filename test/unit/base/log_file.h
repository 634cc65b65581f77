/* SPDX-License-Identifier: Apache-2.0 */
/* A temporary log file and its contents, for the tests of the log. */
#ifndef TEST_LOG_FILE_H
#define TEST_LOG_FILE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/str.h"
#include "base/world/log.h"

static char log_path[64];

static inline int log_to_file(enum log_format format, enum log_output output, enum log_level level)
{
	struct log_options o = {.level = level,
	    .format = format,
	    .output = output,
	    .file = log_path,
	    .program = "test"};
	int fd;

	snprintf(log_path, sizeof log_path, "/tmp/reeve-log-XXXXXX");
	fd = mkstemp(log_path);
	if (fd < 0)
		return -1;
	close(fd);
	return log_setup(&o);
}

/* All of the file; *b must be zero. */
static inline void read_log(const char *path, struct buf *b)
{
	FILE *f = fopen(path, "r");
	char chunk[4096];
	size_t n;

	buf_reserve(b, 1);
	b->p[0] = 0;
	if (!f)
		return;
	while ((n = fread(chunk, 1, sizeof chunk, f)) > 0)
		buf_add(b, chunk, n);
	fclose(f);
}

static inline void log_done(void)
{
	struct log_options plain = {.level = LOG_INFO};

	log_setup(&plain);
	unlink(log_path);
}

#endif
