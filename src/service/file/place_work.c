/* SPDX-License-Identifier: Apache-2.0 */
/* The work of a file: instances of services, and tasks. */
#include "base/mem.h"
#include "service/file/input.h"
#include "service/file/place_internal.h"
#include "service/limits.h"

int place_set_known(const struct node *v, void *arg, struct problem *p)
{
	return 0; /* read before the others */
}

int place_set_memory(const struct node *v, void *arg, struct problem *p)
{
	struct placing *t = arg;

	return node_bytes(v, "memory", &t->amount[PLACE_MEMORY], p);
}

int place_set_disk(const struct node *v, void *arg, struct problem *p)
{
	struct placing *t = arg;

	return node_bytes(v, "disk", &t->amount[PLACE_DISK], p);
}

int place_set_cpu(const struct node *v, void *arg, struct problem *p)
{
	struct placing *t = arg;

	return node_decimal(v, "cpu", 1000, 1000000, &t->amount[PLACE_CPU], p);
}

static int set_work_target(const struct node *v, void *arg, struct problem *p)
{
	struct placing *t = arg;
	int rc = node_name(v, "target", &t->entry.want.target, p);

	t->entry.want.target = arena_str(&t->file->arena, t->entry.want.target);
	return rc;
}

static int set_work_labels(const struct node *v, void *arg, struct problem *p)
{
	struct placing *t = arg;

	return node_lines(v, "labels", &t->file->arena, &t->entry.want.labels, p);
}

static int set_work_tags(const struct node *v, void *arg, struct problem *p)
{
	struct placing *t = arg;

	return node_lines(v, "tags", &t->file->arena, &t->entry.want.tags, p);
}

static int set_work_instances(const struct node *v, void *arg, struct problem *p)
{
	struct placing *t = arg;

	return node_count(v, "instances", 0, SERVICE_INDEX_MAX + 1, &t->entry.n, p);
}

static int set_index(const struct node *v, void *arg, struct problem *p)
{
	struct placing *t = arg;

	t->entry.indexes = arena_alloc(&t->file->arena, sizeof *t->entry.indexes);
	t->entry.n = 1;
	return node_count(v, "index", 0, SERVICE_INDEX_MAX, t->entry.indexes, p);
}

static int set_indexes(const struct node *v, void *arg, struct problem *p)
{
	struct placing *t = arg;
	int rc = node_list(v, "indexes", SERVICE_INDEX_MAX + 1, STR_NULL, p);

	if (rc < 0)
		return rc;
	t->entry.indexes = arena_alloc(&t->file->arena, (v->n + 1) * sizeof *t->entry.indexes);
	t->entry.n = 0;
	for (const struct node *i = v->first; rc == 0 && i; i = i->next)
		rc = node_count(
		    i, "an index", 0, SERVICE_INDEX_MAX, &t->entry.indexes[t->entry.n++], p);
	return rc;
}

static const struct member work_members[] = {
    {"service", place_set_known},
    {"task", place_set_known},
    {"instances", set_work_instances},
    {"index", set_index},
    {"indexes", set_indexes},
    {"memory", place_set_memory},
    {"disk", place_set_disk},
    {"cpu", place_set_cpu},
    {"target", set_work_target},
    {"labels", set_work_labels},
    {"tags", set_work_tags},
};

/* A service, with one way to say which instances; or a task, of which there is one. */
static int work_form(
    const struct node *v, struct placing *t, struct str *ret_who, struct problem *p)
{
	static const char *const ways[] = {"instances", "index", "indexes"};
	bool is_task = map_find(v, "task") != NULL;
	int n_ways = 0, rc;

	if (v->kind == NODE_MAP && (is_task == (map_find(v, "service") != NULL)))
		return wrong_at(p, v->line, STR_NULL, "work has either a service or a task");
	if ((rc = map_name(v, is_task ? "task" : "service", &t->file->arena, ret_who, p)) < 0)
		return rc;
	for (size_t i = 0; i < N_OF(ways); i++)
		n_ways += map_find(v, ways[i]) != NULL;
	if (n_ways > (is_task ? 0 : 1))
		return wrong_at(p, v->line, *ret_who, "%s",
		    is_task ? "a task has no instances"
		            : "give one of instances, index and indexes");
	return is_task;
}

static int work_put(struct placing *t, const struct node *v, struct str who, struct problem *p)
{
	struct place_file *f = t->file;

	if (f->n_work + (uint64_t)t->entry.n > SERVICE_INSTANCES_MAX)
		return wrong_at(p, v->line, who, "that is more than %d instances and tasks in all",
		    SERVICE_INSTANCES_MAX);
	f->n_work += t->entry.n;
	GROW(f->entries, f->entry_cap, f->n_entries + 1);
	f->entries[f->n_entries++] = t->entry;
	return 0;
}

int place_read_work(const struct node *v, void *arg, struct problem *p)
{
	struct placing t = {.file = arg, .entry = {.line = v->line, .service = NO_SERVICE, .n = 1}};
	struct str who;
	int form = work_form(v, &t, &who, p), rc;

	if (form < 0)
		return form;
	t.amount = t.entry.amount;
	if (form == 0) {
		t.entry.service = names_put(&t.file->services, who);
		if (t.file->services.n > SERVICE_SERVICES_MAX)
			return wrong_at(
			    p, v->line, who, "that is more than %d services", SERVICE_SERVICES_MAX);
	} else if (names_find(&t.file->tasks, who) != NO_NAME) {
		return wrong_at(p, v->line, who, "there is a task of this name before");
	} else {
		names_put(&t.file->tasks, who);
		t.entry.task = who;
	}
	rc = members_read(v, work_members, N_OF(work_members), &t, who, p);
	return rc < 0 ? rc : work_put(&t, v, who, p);
}
