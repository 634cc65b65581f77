/* SPDX-License-Identifier: Apache-2.0 */
/* Where cgroups of version 2 are: ours, the directory of a lock below it, and that of a process. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "exec/confine/cgroup_internal.h"

uint64_t exec_hash(const char *text)
{
	uint64_t h = 0xcbf29ce484222325ull; /* FNV-1a */

	for (; *text; text++)
		h = (h ^ (unsigned char)*text) * 0x100000001b3ull;
	return h;
}

/* The mount point of the version 2 hierarchy: in mountinfo, after " - ", the type is cgroup2. */
static char *find_mount(void)
{
	AUTO(free_cstr) char *line = NULL;
	char point[4096], *sep;
	size_t cap = 0;
	FILE *f = fopen("/proc/self/mountinfo", "re");
	char *found = NULL;

	while (f && !found && getline(&line, &cap, f) > 0)
		if ((sep = strstr(line, " - ")) && strncmp(sep + 3, "cgroup2 ", 8) == 0 &&
		    sscanf(line, "%*s %*s %*s %*s %4095s", point) == 1)
			found = xstrdup(point);
	if (f)
		fclose(f);
	return found;
}

/* "/x/reeve-self" is "/x" to us. */
static char *without_self(char *own)
{
	char *last = strrchr(own, '/');

	if (last && strcmp(last + 1, CGROUP_SELF) == 0)
		last[last == own ? 1 : 0] = 0;
	return own;
}

/* As the kernel names it: below the root of our cgroup namespace. */
static char *find_of(const char *proc_file)
{
	AUTO(free_cstr) char *line = NULL;
	size_t cap = 0;
	FILE *f = fopen(proc_file, "re");
	char *found = NULL;

	while (f && !found && getline(&line, &cap, f) > 0)
		if (strncmp(line, "0::", 3) == 0) {
			line[strcspn(line, "\n")] = 0;
			found = xstrdup(line + 3);
		}
	if (f)
		fclose(f);
	return found;
}

char *cgroup_home(const char *lock, char **ret_inside)
{
	AUTO(free_cstr) char *mount = find_mount();
	AUTO(free_cstr) char *own = find_of("/proc/self/cgroup"), *inside = NULL;
	char *path;

	if (!mount || !own)
		return NULL;
	without_self(own);
	inside =
	    xasprintf("%s/reeve-%016" PRIx64, strcmp(own, "/") == 0 ? "" : own, exec_hash(lock));
	path = xasprintf("%s%s", mount, inside);
	if (ret_inside)
		*ret_inside = TAKE(inside);
	return path;
}

unsigned cgroup_number_of(const struct cgroups *g, pid_t pid)
{
	AUTO(free_cstr) char *in = NULL;
	char file[32];
	size_t n = g->inside ? strlen(g->inside) : 0;
	unsigned number = 0;

	snprintf(file, sizeof file, "/proc/%d/cgroup", (int)pid);
	in = find_of(file);
	if (!in || n == 0 || strncmp(in, g->inside, n) != 0 ||
	    sscanf(in + n, "/t%9u", &number) != 1)
		return 0;
	return number;
}
