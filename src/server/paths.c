/* SPDX-License-Identifier: Apache-2.0 */
#include "server/paths.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "base/mem.h"

static int fail(const char *path, struct problem *ret_problem)
{
	problem_set(ret_problem, ERR_IO, "the folder %s can't be made: %s", path, strerror(errno));
	return problem_hint(
	    ret_problem, "choose another with --state-dir, or give yourself the right");
}

int paths_make_dir(const char *path, struct problem *ret_problem)
{
	AUTO(free_cstr) char *copy = xstrdup(path);
	struct stat st;

	if (stat(path, &st) == 0 && S_ISDIR(st.st_mode))
		return 0;
	for (char *at = strchr(copy + 1, '/'); at; at = strchr(at + 1, '/')) {
		*at = 0;
		if (mkdir(copy, 0755) != 0 && errno != EEXIST)
			return fail(copy, ret_problem);
		*at = '/';
	}
	if (mkdir(path, 0700) != 0 && errno != EEXIST)
		return fail(path, ret_problem);
	return 0;
}

int paths_make_parent(const char *path, struct problem *ret_problem)
{
	AUTO(free_cstr) char *copy = xstrdup(path);
	char *slash = strrchr(copy, '/');

	if (!slash || slash == copy)
		return 0;
	*slash = 0;
	return paths_make_dir(copy, ret_problem);
}
