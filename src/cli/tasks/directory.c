/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where a task runs. A directory that was named holds on every machine. The caller's own goes with
 * the mark of this machine: a worker elsewhere does not use it.
 */
#include <errno.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/world/machine.h"
#include "cli/nouns/body.h"
#include "cli/output/output.h"
#include "cli/tasks/work.h"

#define WORKERS_ASKED "/v1/workers?limit=1000"

static int no_directory(struct cli *c)
{
	problem_set(
	    &c->problem, ERR_INVALID, "this directory has no path any more: %s", strerror(errno));
	return problem_hint(&c->problem, "go to another, or give --cwd an absolute path");
}

int directory_put(struct cli *c, const char *given, json_t *task)
{
	AUTO(free_cstr) char *path = NULL;
	char here[PATH_MAX];

	json_object_del(task, "cwd_machine");
	if (given[0] == '/')
		return body_add_text(c, task, "cwd", given);
	if (!getcwd(here, sizeof here))
		return no_directory(c);
	while (!strncmp(given, "./", 2))
		given += 2;
	if (!*given || !strcmp(given, "."))
		return body_add_text(c, task, "cwd", here);
	path = xasprintf("%s/%s", strcmp(here, "/") ? here : "", given);
	return body_add_text(c, task, "cwd", path);
}

/* "./x" and "bin/x" mean something else in each directory; "x" is looked for in PATH. */
const char *relative_program(const json_t *task)
{
	const json_t *command = json_object_get(task, "command");
	const char *program = json_string_value(json_array_get(command, 0));

	return program && program[0] != '/' && strchr(program, '/') ? program : NULL;
}

static const char *worker_elsewhere(const json_t *workers)
{
	char host[HOST_NAME_MAX + 1] = "";
	json_t *worker;
	size_t i;

	gethostname(host, sizeof host - 1);
	json_array_foreach(json_object_get(workers, "items"), i, worker)
	{
		if (strcmp(js(worker, "state"), "must_die") && strcmp(js(worker, "host"), host))
			return js(worker, "name");
	}
	return NULL;
}

static void warn_of_others(struct cli *c, const char *program)
{
	AUTO(json_drop) json_t *workers = NULL;
	const char *name;

	if (c->quiet || cli_get(c, WORKERS_ASKED, &workers) < 0) {
		c->problem = (struct problem){0}; /* the submit itself will tell */
		return;
	}
	name = worker_elsewhere(workers);
	if (name)
		cli_note(c,
		    "reeve: the worker %s is on another machine, where %s is looked for in /\n"
		    "  hint: -C DIR names a directory that holds on every machine",
		    name, program);
}

/* "job.sh" is looked for in PATH, as a shell does; who has it here means something else. */
static void warn_of_script(struct cli *c, const json_t *task)
{
	const char *program =
	    json_string_value(json_array_get(json_object_get(task, "command"), 0));

	if (!program || strchr(program, '/') || !strchr(program, '.') || access(program, F_OK) < 0)
		return;
	cli_note(c,
	    "reeve: %s is looked for in PATH, not here\n"
	    "  hint: ./%s names the file; `reeve submit - <%s` sends it",
	    program, program, program);
}

void directory_put_here(struct cli *c, bool is_pattern, json_t *task)
{
	char here[PATH_MAX], mark[MACHINE_MARK_MAX];
	json_t *path;

	if (json_object_get(task, "cwd") ||
	    (!json_object_get(task, "command") && !json_object_get(task, "action")))
		return;
	path = getcwd(here, sizeof here) ? json_string(here) : NULL;
	/* {} in it would be taken for the place of an array's item */
	if (!path || (is_pattern && strstr(here, "{}"))) {
		cli_note(c, "reeve: this directory cannot be told to a worker: the task runs in /");
		json_decref(path);
		return;
	}
	warn_of_script(c, task);
	machine_mark(mark);
	json_object_set_new(task, "cwd", path);
	json_object_set_new(task, "cwd_machine", json_string(mark));
	if (relative_program(task))
		warn_of_others(c, relative_program(task));
}

void directory_warn(struct cli *c, const json_t *task)
{
	const char *program = relative_program(task);

	if (program && !json_object_get(task, "cwd"))
		cli_note(c,
		    "reeve: %s is looked for in /\n"
		    "  hint: -C DIR names its directory; -C . is this one",
		    program);
}
