/* SPDX-License-Identifier: Apache-2.0 */
/* Between the files of limits_*.c, and for their tests. */
#ifndef EXEC_LIMITS_INTERNAL_H
#define EXEC_LIMITS_INTERNAL_H

#include <sys/types.h>

#include "base/str.h"
#include "exec/confine/limits.h"

#define CPU_PERIOD_US 100000
#define CPU_PERIOD_LONG_US 1000000 /* the kernel takes no quota below 1 ms */

struct limits_place {
	const char *root; /* before every path: tests have hosts of their own; "" */
	const char *lock;
	int v2_dir_fd;
	bool look_only; /* enable nothing, move nobody */
};
void limits_probe_at(struct limits_host *h, const struct limits_place *place);

/* What to write where. A name may be missing on the host where `optional`. */
struct limit_file {
	const char *name;
	char text[48];
	bool optional;
};
#define LIMIT_FILES_MAX 4
int limits_v2_files(
    enum limit_on on, const struct run_limits *l, struct limit_file files[LIMIT_FILES_MAX]);
int limits_v1_files(
    enum limit_on on, const struct run_limits *l, struct limit_file files[LIMIT_FILES_MAX]);
/* 0, or -1 with errno; ret_name is the file that refused. */
int limits_write_files(int dir, const struct limit_file *files, int n, const char **ret_name);
/* Back to no limit, so that the directory can be used again; memory's counts stay. */
void limits_v2_reset(int dir, enum limit_on on);

void limits_v2_probe(struct limits_host *h, const struct limits_place *place);
void limits_v1_probe(struct limits_host *h, const struct limits_place *place);
void limits_v1_release(struct limits_host *h);
int limits_v1_open(struct limits_host *h, const struct limits_task *t, enum limit_on on);
/* Makes the task's directory there; opens what the process joins by. -1 with errno. */
int limits_v1_make(struct limits_host *h, struct limits_task *t, enum limit_on on);
void limits_v1_remove(struct limits_host *h, const struct limits_task *t);
/* Everything in the directory, until it is empty or the time is over. */
bool limits_v1_end(int dir, const char *name, int wait_ms);

/* A number whose directories are exactly these and empty, or a new one. */
unsigned limits_pool_take(struct limits_host *h, const bool v1[N_LIMITS]);
bool limits_pool_put(struct limits_host *h, const struct limits_task *t); /* false: remove it */

/* small files; the text is cut at size */
int limits_write(int dir, const char *name, const char *text); /* 0, or -1 with errno */
ssize_t limits_read_text(int dir, const char *name, char *out, size_t size); /* -1: none */
int64_t limits_read_number(int dir, const char *name);                       /* -1: none */
/* "oom_kill 3" in a file of such lines; -1: none */
int64_t limits_read_field(int dir, const char *name, const char *field);
bool limits_has_word(const char *text, const char *word); /* words are parted by blanks */

/*
 * Lines of the kernel's tables. mount: is this a hierarchy of version 1 with that controller? Then
 * its root and point, still escaped. own: the path in the line "4:memory:/x" of /proc/self/cgroup.
 */
bool limits_parse_mount(
    struct str line, const char *controller, struct str *ret_root, struct str *ret_point);
bool limits_parse_own(struct str line, const char *controller, struct str *ret_path);
void limits_unescape(struct buf *out, struct str field);

#endif
