/* SPDX-License-Identifier: Apache-2.0 */
/* The memory of the last submission, and ids as people type them. */
#include "cli/reach/last.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "cli/reach/server.h"

static void make_dirs(char *path)
{
	for (char *at = path + 1; *at; at++)
		if (*at == '/') {
			*at = 0;
			mkdir(path, 0700);
			*at = '/';
		}
}

void last_save(enum last_kind kind, const char *id)
{
	AUTO(buf_release) struct buf path = {0}, temporary = {0};
	FILE *f;

	if (!state_dir(&path))
		return;
	buf_add_cstr(&path, "/last");
	make_dirs(path.p);
	buf_printf(&temporary, "%s.%ld", path.p, (long)getpid());
	f = fopen(temporary.p, "we");
	if (!f)
		return;
	fprintf(f, "%s %s\n", kind == LAST_BATCH ? "batch" : "task", id);
	if (fclose(f) != 0 || rename(temporary.p, path.p) != 0)
		unlink(temporary.p);
}

static int nothing_yet(struct problem *p)
{
	problem_set(p, ERR_NOT_FOUND, "@last: nothing was submitted from here yet");
	return problem_hint(p, "`reeve task ls` shows the newest tasks");
}

int last_load(enum last_kind *ret_kind, char ret_id[25], struct problem *ret_problem)
{
	AUTO(buf_release) struct buf path = {0};
	char kind[8] = "", id[32] = "";
	FILE *f;
	int n;

	if (!state_dir(&path))
		return nothing_yet(ret_problem);
	buf_add_cstr(&path, "/last");
	f = fopen(path.p, "re");
	if (!f)
		return nothing_yet(ret_problem);
	n = fscanf(f, "%7s %31s", kind, id);
	fclose(f);
	if (n != 2 || !is_id(id))
		return nothing_yet(ret_problem);
	*ret_kind = strcmp(kind, "batch") ? LAST_TASK : LAST_BATCH;
	memcpy(ret_id, id, 25);
	return 0;
}

bool is_id(const char *text)
{
	size_t n = strlen(text);

	for (size_t i = 0; i < n; i++)
		if (!isxdigit((unsigned char)text[i]))
			return false;
	return n == 24;
}

static int not_an_id(const char *typed, const char *what, struct problem *p)
{
	problem_set(p, ERR_INVALID, "\"%.64s\" is not the id of a %s", typed, what);
	return problem_hint(p, "an id has 24 hexadecimal digits; `reeve task ls` shows them, and "
	                       "@last is the last one");
}

int id_resolve(const char *typed, char ret_id[25], struct problem *ret_problem)
{
	enum last_kind kind;

	if (is_id(typed)) {
		memcpy(ret_id, typed, 25);
		return 0;
	}
	if (strcmp(typed, "@last"))
		return not_an_id(typed, "task", ret_problem);
	if (last_load(&kind, ret_id, ret_problem) < 0)
		return ret_problem->code;
	if (kind == LAST_TASK)
		return 0;
	problem_set(
	    ret_problem, ERR_INVALID, "@last is a batch of tasks, and one task is wanted here");
	return problem_hint(ret_problem, "`reeve task ls --batch @last` shows them");
}

int batch_resolve(const char *typed, char ret_id[25], struct problem *ret_problem)
{
	enum last_kind kind;

	if (is_id(typed)) {
		memcpy(ret_id, typed, 25);
		return 0;
	}
	if (strcmp(typed, "@last"))
		return not_an_id(typed, "batch", ret_problem);
	if (last_load(&kind, ret_id, ret_problem) < 0)
		return ret_problem->code;
	if (kind == LAST_BATCH)
		return 0;
	problem_set(ret_problem, ERR_INVALID, "@last is a single task, and a batch is wanted here");
	return problem_hint(ret_problem, "name the task itself: `reeve task show @last`");
}
