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

static const struct {
	const char *word;       /* as it is kept */
	const char *what, *see; /* when another kind is wanted */
} kinds[] = {
    [LAST_TASK] = {"task", "a single task", "name the task itself: `reeve task show @last`"},
    [LAST_BATCH] = {"batch", "a batch of tasks", "`reeve task ls --batch @last` shows them"},
    [LAST_GROUP] = {"group", "a group of jobs", "`reeve group show @last` shows it"},
};

static char made[64];

const char *last_made(void)
{
	return *made ? made : NULL;
}

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

	snprintf(made, sizeof made, "the %s was submitted: %.24s", kinds[kind].word, id);
	if (!state_dir(&path))
		return;
	buf_add_cstr(&path, "/last");
	make_dirs(path.p);
	buf_printf(&temporary, "%s.%ld", path.p, (long)getpid());
	f = fopen(temporary.p, "we");
	if (!f)
		return;
	fprintf(f, "%s %s\n", kinds[kind].word, id);
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
	*ret_kind = LAST_TASK;
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
		if (!strcmp(kind, kinds[i].word))
			*ret_kind = (enum last_kind)i;
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
	return problem_hint(p,
	    "an id has 24 hexadecimal digits; `reeve %s ls` shows them, and "
	    "@last is the last one",
	    what);
}

static int resolve(enum last_kind wanted, const char *typed, char ret_id[25], struct problem *p)
{
	enum last_kind kind;

	if (is_id(typed)) {
		memcpy(ret_id, typed, 25);
		return 0;
	}
	if (strcmp(typed, "@last"))
		return not_an_id(typed, kinds[wanted].word, p);
	if (last_load(&kind, ret_id, p) < 0)
		return p->code;
	if (kind == wanted)
		return 0;
	problem_set(p, ERR_INVALID, "@last is %s, and %s is wanted here", kinds[kind].what,
	    wanted == LAST_TASK    ? "one task"
	    : wanted == LAST_BATCH ? "a batch"
	                           : "a group");
	return problem_hint(p, "%s", kinds[kind].see);
}

int id_resolve(const char *typed, char ret_id[25], struct problem *ret_problem)
{
	return resolve(LAST_TASK, typed, ret_id, ret_problem);
}

int batch_resolve(const char *typed, char ret_id[25], struct problem *ret_problem)
{
	return resolve(LAST_BATCH, typed, ret_id, ret_problem);
}

int group_resolve(const char *typed, char ret_id[25], struct problem *ret_problem)
{
	return resolve(LAST_GROUP, typed, ret_id, ret_problem);
}
