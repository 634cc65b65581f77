/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A file that is there whole or not at all: it has no name until it is complete, and then takes
 * the place of an older one. Where the file system cannot do that it has a temporary name beside
 * the target.
 */
#ifndef ACTION_SINK_H
#define ACTION_SINK_H

#include <limits.h>

#include "model/run/action.h"

struct sink {
	int fd; /* -1: not open */
	char target[PATH_MAX];
	char temporary[PATH_MAX]; /* "" while it has no name */
};

#define SINK_CLOSED ((struct sink){.fd = -1})

/* 0, or ERR_IO with the reason in words. */
int sink_open(struct sink *s, const char *target, char *why, size_t size);
int sink_write(struct sink *s, const void *p, size_t n, char *why, size_t size);
/* ACTION_MODE_UNSET: as the umask has it. Open or not, the sink is closed afterwards. */
int sink_commit(struct sink *s, int mode, char *why, size_t size);
void sink_abandon(struct sink *s);

#endif
