/* SPDX-License-Identifier: Apache-2.0 */
/* The tasks of a scenario: what is asked of the server, and how their processes behave. */
#include <string.h>

#include "model/task/task.h"
#include "sim/play/play_internal.h"

static const char OUTCOME_KEYS[] = "run exit signal error ignores_term text";

static void read_outcome(struct at *a, struct outcome_spec *o)
{
	json_t *run = json_object_get(a->j, "run");
	struct agent_exit *x = &o->exit;

	o->run_us = json_is_string(run) && !strcmp(json_string_value(run), "for ever")
	                ? INT64_MAX / 4
	                : at_wait(a, "run", 10000) * 1000;
	o->ignores_term = at_bool(a, "ignores_term", false);
	x->kind = EXIT_CODE;
	x->exit_code = (int32_t)at_int(a, "exit", 0, 255, 0);
	if (at_has(a, "signal")) {
		x->kind = EXIT_SIGNAL;
		x->signal = (int32_t)at_int(a, "signal", 1, 64, 9);
	}
	if (at_has(a, "error")) {
		x->kind = EXIT_ERROR;
		x->exit_code = (int32_t)at_int(a, "error", 126, 127, 127);
	}
}

static void read_outcomes(struct at *a, struct play_task *t)
{
	json_t *list = json_object_get(a->j, "outcomes"), *j;
	struct at o;
	size_t i;

	if (!list) {
		read_outcome(a, &t->outcomes[0]);
		t->n_outcomes = 1;
		return;
	}
	if (!json_is_array(list) || !json_array_size(list) ||
	    json_array_size(list) > PLAY_OUTCOMES_MAX) {
		play_wrong(a->p, a->path, "outcomes", "it is not such a list",
		    "1 to %d objects, one per attempt: [{\"run\": \"5s\", \"exit\": 1}]",
		    PLAY_OUTCOMES_MAX);
		return;
	}
	json_array_foreach(list, i, j)
	{
		if (!at_init(&o, a->p, j, "%s.outcomes[%zu]", a->path, i) ||
		    !at_keys(&o, OUTCOME_KEYS))
			return;
		read_outcome(&o, &t->outcomes[t->n_outcomes++]);
	}
}

static void read_task(struct at *a, const char *name)
{
	struct play *p = a->p;
	struct play_task *t = &p->tasks[p->n_tasks];

	if (p->n_tasks == PLAY_TASKS_MAX || strlen(name) >= sizeof t->name || strpbrk(name, ". ")) {
		play_wrong(p, a->path, NULL, "that can't be a task",
		    "at most %d tasks, with short names without dots and spaces", PLAY_TASKS_MAX);
		return;
	}
	p->n_tasks++;
	snprintf(t->name, sizeof t->name, "%s", name);
	t->starts = json_array();
	t->queue = at_queue(a, "queue");
	snprintf(t->body, sizeof t->body, "{\"name\":\"%s\"}", name);
	t->spec = (struct task_spec){.body = str_of(t->body),
	    .max_attempts = (int32_t)at_int(a, "max_attempts", 1, 1000, 0),
	    .priority = (int32_t)at_int(a, "priority", -1000, 1000, 0),
	    .timeout_ms = at_wait(a, "timeout", 0),
	    .backoff_ms = at_wait(a, "backoff", -1),
	    .backoff_max_ms = -1};
	if (p->server_is_puppet)
		t->id = 1000 + p->n_tasks;
	read_outcomes(a, t);
}

bool tasks_read(struct play *p)
{
	json_t *all = json_object_get(p->doc, "tasks"), *j;
	const char *name;
	struct at a;

	if (all && !json_is_object(all))
		play_wrong(p, "tasks", NULL, "it is not an object",
		    "write \"tasks\": {\"t1\": {\"run\": \"30s\"}}");
	json_object_foreach(all, name, j)
	{
		if (!at_init(&a, p, j, "tasks.%s", name) ||
		    !at_keys(&a, "queue max_attempts priority timeout backoff outcomes run exit "
		                 "signal error ignores_term text"))
			return false;
		read_task(&a, name);
		if (is_wrong(p))
			return false;
	}
	return !is_wrong(p);
}
