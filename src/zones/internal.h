/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ZONES_INTERNAL_H
#define ZONES_INTERNAL_H

#include "zones/zones.h"

/* Which file it was that was read, and in which state. Zeroed: there was none. */
struct file_mark {
	uint64_t device, inode;
	int64_t size, changed_ns, modified_ns;
};

bool file_mark_eq(const struct file_mark *a, const struct file_mark *b);
/* ERR_NOT_FOUND: there is no such file. */
int file_mark_read(const char *path, struct file_mark *ret_mark, struct problem *p);
/* The bytes of a regular file of at most CRON_TZIF_MAX bytes, and what was marked while reading. */
int file_read(const char *path, struct buf *out, struct file_mark *ret_mark, struct problem *p);

struct name_list {
	struct buf text; /* the names live in it */
	const char **names;
	size_t n, cap;
	bool read;
};
void name_list_read(struct name_list *l, const char *dir);
void name_list_release(struct name_list *l);

/* Letters, digits and + - _ . in parts between slashes, none of which begins with a dot. */
bool zone_name_is_file(struct str name);

struct entry {
	char *name;
	char *path; /* NULL: not from a file */
	struct file_mark mark;
	struct zone_ref *ref;
};

/* Sorted by name. */
struct zones {
	char *dir, *local;
	struct entry **entries;
	size_t n, cap;
	size_t sweep_at; /* entries; then those that only the cache holds are forgotten */
	struct name_list names;
	size_t n_stale;
	struct problem last_stale;
};

struct zone_ref *zone_ref_new(struct cron_zone *zone);
/* Finds out what the entry's name means, and sets its path and mark if that is a file. */
int entry_load(struct zones *z, struct entry *e, struct cron_zone **ret_zone, struct problem *p);
int zone_file_load(
    const char *path, struct cron_zone **ret_zone, struct file_mark *ret_mark, struct problem *p);

#endif
