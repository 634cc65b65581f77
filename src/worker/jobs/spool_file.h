/* SPDX-License-Identifier: Apache-2.0 */
/* The spool's file: its birth, its header, and the space that it gives back. */
#ifndef WORKER_SPOOL_FILE_H
#define WORKER_SPOOL_FILE_H

#include "worker/jobs/spool.h"

/* A nameless file needs a name for a moment where O_TMPFILE is missing; the sweep knows it. */
#define SPOOL_PASSING_NAME ".spool-"

int spool_make_dir(const char *dir, struct problem *ret_problem);
/* The functions return -1 with errno, where nothing else is said. */
int spool_create(struct spool *s);
int spool_load(struct spool *s, struct problem *ret_problem); /* an enum err */
off_t spool_file_at(const struct spool *s, int64_t position);
/* Notes start and gap; only a kept file has a header, and it is no promise without a disk. */
void spool_note(struct spool *s);
/* Gives back the disk space of what was taken. */
void spool_give_back(struct spool *s);
/* The same for what was taken from there on, but it keeps its place: it reads as NULs. */
void spool_hollow(struct spool *s, int64_t from);
/* Everything stored was taken: the next byte, of this position, is the file's first. */
void spool_start_anew(struct spool *s, int64_t position);

#endif
