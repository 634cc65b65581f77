/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A queue's limits and its sandbox bind its tasks: whoever may submit to it must not be able to
 * take them off.
 */
#include "model/run/settings.h"

/* Of two limits the one that leaves less; `none` is none at all. */
static int64_t stricter(int64_t queue, int64_t task, int64_t none)
{
	if (queue == none || (task != none && task < queue))
		return task;
	return queue;
}

static void bind_limits(const struct run_limits *q, struct run_limits *t)
{
	/* only for limits that the queue has: the task's own are its own affair */
	if ((q->memory || q->cpu_milli || q->pids) && q->policy == LIMIT_REFUSE)
		t->policy = LIMIT_REFUSE;
	t->memory = stricter(q->memory, t->memory, 0);
	t->cpu_milli = (int32_t)stricter(q->cpu_milli, t->cpu_milli, 0);
	t->pids = (int32_t)stricter(q->pids, t->pids, 0);
	t->open_files = stricter(q->open_files, t->open_files, -1);
	t->file_size = stricter(q->file_size, t->file_size, -1);
	t->core_size = stricter(q->core_size, t->core_size, -1);
	t->stack_size = stricter(q->stack_size, t->stack_size, -1);
	t->cpu_seconds = stricter(q->cpu_seconds, t->cpu_seconds, -1);
}

static bool is_in(struct str path, const struct str *list, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (str_eq(list[i], path))
			return true;
	return false;
}

static int wider(struct problem *p, const char *member, struct str path)
{
	problem_set(p, ERR_INVALID,
	    "is wider than the sandbox of the queue, which does not have %.*s",
	    path.n > 200 ? 200 : (int)path.n, path.p);
	problem_hint(p, "leave it out, or have it added to the queue's run.sandbox");
	return problem_field(p, member);
}

/* The very same paths only: what lies below one may be a link that leads elsewhere. */
static int bind_paths(const struct run_sandbox *q, const struct run_sandbox *t, struct problem *p)
{
	for (size_t i = 0; i < t->n_writable; i++)
		if (!is_in(t->writable[i], q->writable, q->n_writable))
			return wider(p, "run.sandbox.writable", t->writable[i]);
	for (size_t i = 0; i < t->n_readable; i++)
		if (!is_in(t->readable[i], q->readable, q->n_readable) &&
		    !is_in(t->readable[i], q->writable, q->n_writable))
			return wider(p, "run.sandbox.readable", t->readable[i]);
	if (!str_eq(q->rootfs, t->rootfs) && t->rootfs.n)
		return wider(p, "run.sandbox.rootfs", t->rootfs);
	return 0;
}

static int bind_sandbox(const struct run_sandbox *q, struct run_sandbox *t, struct problem *p)
{
	if (!q->on)
		return 0;
	if (!t->on) { /* a queue's sandbox cannot be left away */
		*t = *q;
		return 0;
	}
	t->network = t->network && q->network;
	t->no_seccomp = t->no_seccomp && q->no_seccomp;
	if (bind_paths(q, t, p) < 0)
		return ERR_INVALID;
	t->rootfs = q->rootfs;
	return 0;
}

int run_settings_bind(
    const struct run_settings *queue, struct run_settings *task, struct problem *p)
{
	bind_limits(&queue->limits, &task->limits);
	return bind_sandbox(&queue->sandbox, &task->sandbox, p);
}
