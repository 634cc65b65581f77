/* SPDX-License-Identifier: Apache-2.0 */
/* Freezes the cgroup that it is in, with others below it. Where it may not, it just stays. */
#include <sys/stat.h>

#include "zoo.h"

static bool own_cgroup(char *path, size_t size)
{
	static const char *const mounts[] = {"/sys/fs/cgroup/unified", "/sys/fs/cgroup"};
	char line[512], file[640];
	FILE *f = fopen("/proc/self/cgroup", "r");
	bool found = false;

	while (f && !found && fgets(line, sizeof line, f))
		found = strncmp(line, "0::", 3) == 0;
	if (f)
		fclose(f);
	line[strcspn(line, "\n")] = 0;
	found = found && strstr(line, "/reeve-"); /* ours alone: nobody else is to stand still */
	for (int i = 0; found && i < 2; i++) {
		snprintf(path, size, "%s%s", mounts[i], line + 3);
		snprintf(file, sizeof file, "%.600s/cgroup.freeze", path);
		if (access(file, W_OK) == 0)
			return true;
	}
	return false;
}

static void make_more(const char *path)
{
	char name[640];

	snprintf(name, sizeof name, "%.600s/x", path);
	mkdir(name, 0755);
	snprintf(name, sizeof name, "%.600s/x/y", path);
	mkdir(name, 0755);
	snprintf(name, sizeof name, "%.600s/x/y/z", path);
	mkdir(name, 0755);
}

int main(int argc, char **argv)
{
	char path[600], name[640];
	int fd = -1;

	zoo_deaf();
	if (own_cgroup(path, sizeof path)) {
		make_more(path);
		snprintf(name, sizeof name, "%.600s/cgroup.freeze", path);
		fd = open(name, O_WRONLY);
	}
	zoo_ready(argv);
	if (zoo_ends(argv))
		return 0;
	if (fd >= 0 && write(fd, "1", 1) < 0)
		perror("freeze");
	zoo_stay();
}
