/* SPDX-License-Identifier: Apache-2.0 */
/* A temporary directory of zone files, and the zones that read it; include after cmocka.h. */
#ifndef TEST_ZONES_ZONE_FOLDER_H
#define TEST_ZONES_ZONE_FOLDER_H

#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "zones/zones.h"

struct folder {
	char dir[64];
	char path[512];
	struct zones *zones;
};

static inline const char *folder_path(struct folder *f, const char *name)
{
	MUST(snprintf(f->path, sizeof f->path, "%s/%s", f->dir, name) < (int)sizeof f->path);
	return f->path;
}

static inline int folder_setup(void **state)
{
	struct folder *f = xcalloc(1, sizeof *f);

	memcpy(f->dir, "/tmp/zones-XXXXXX", sizeof "/tmp/zones-XXXXXX");
	MUST(mkdtemp(f->dir));
	f->zones = zones_new(f->dir);
	zones_set_local(f->zones, folder_path(f, "localtime"));
	*state = f;
	return 0;
}

static inline int remove_one(const char *path, const struct stat *st, int flag, struct FTW *ftw)
{
	return remove(path);
}

static inline int folder_teardown(void **state)
{
	struct folder *f = *state;

	zones_free(f->zones);
	nftw(f->dir, remove_one, 16, FTW_DEPTH | FTW_PHYS);
	free(f);
	return 0;
}

/* A new file takes the old one's place, as package managers do it. */
static inline void folder_write(struct folder *f, const char *name, const void *bytes, size_t n)
{
	char fresh[520];
	int fd;

	for (const char *at = strchr(name, '/'); at; at = strchr(at + 1, '/')) {
		folder_path(f, name);
		f->path[strlen(f->dir) + 1 + (size_t)(at - name)] = 0;
		mkdir(f->path, 0700);
	}
	snprintf(fresh, sizeof fresh, "%s.new", folder_path(f, name));
	fd = open(fresh, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	MUST(fd >= 0 && write(fd, bytes, n) == (ssize_t)n && close(fd) == 0);
	MUST(rename(fresh, f->path) == 0);
}

/* The bytes of a zone file with one offset for ever; `abbrev` has three letters. */
static inline void constant_zone(int32_t offset, const char *abbrev, uint8_t ret_bytes[54])
{
	uint32_t bits = (uint32_t)offset;

	memset(ret_bytes, 0, 54);
	memcpy(ret_bytes, "TZif", 4);
	ret_bytes[39] = 1; /* one type */
	ret_bytes[43] = 4; /* four bytes of names */
	for (int i = 0; i < 4; i++)
		ret_bytes[44 + i] = (uint8_t)(bits >> (24 - 8 * i));
	memcpy(ret_bytes + 50, abbrev, 4);
}

/* Also puts its name into the list of names. */
static inline void folder_put(
    struct folder *f, const char *name, int32_t offset, const char *abbrev)
{
	uint8_t bytes[54];
	FILE *list;

	constant_zone(offset, abbrev, bytes);
	folder_write(f, name, bytes, sizeof bytes);
	list = fopen(folder_path(f, "tzdata.zi"), "a");
	MUST(list && fprintf(list, "Z %s 0 - X\n", name) > 0 && fclose(list) == 0);
}

static inline void folder_link(struct folder *f, const char *target, const char *name)
{
	unlink(folder_path(f, name));
	MUST(symlink(target, f->path) == 0);
}

static inline void folder_pipe(struct folder *f, const char *name)
{
	MUST(mkfifo(folder_path(f, name), 0600) == 0);
}

static inline void folder_grow(struct folder *f, const char *name, off_t size)
{
	folder_write(f, name, "", 0);
	MUST(truncate(folder_path(f, name), size) == 0);
}

static inline struct zone_ref *get(struct zones *z, const char *name)
{
	struct zone_ref *ref = NULL;
	struct problem p = {0};

	if (zones_get(z, str_of(name), &ref, &p) < 0)
		fail_msg("%s was refused: %s (%s)", name, p.what, p.hint);
	return ref;
}

#endif
