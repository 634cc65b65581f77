/* SPDX-License-Identifier: Apache-2.0 */
/* Workers of a file: what they are, what they offer, and what runs there. */
#include "base/mem.h"
#include "service/file/input.h"
#include "service/file/place_internal.h"
#include "service/limits.h"

static int set_run_service(const struct node *v, void *arg, struct problem *p)
{
	struct placing *t = arg;
	struct str name;
	int rc = node_name(v, "service", &name, p);

	if (rc == 0)
		t->run.service = names_put(&t->file->services, name);
	return rc;
}

static int set_run_count(const struct node *v, void *arg, struct problem *p)
{
	struct placing *t = arg;

	return node_count(v, "count", 0, WORKER_INSTANCES_MAX, &t->run.count, p);
}

static int set_run_starting(const struct node *v, void *arg, struct problem *p)
{
	struct placing *t = arg;

	return node_count(v, "starting", 0, WORKER_INSTANCES_MAX, &t->run.starting, p);
}

static const struct member run_members[] = {
    {"service", set_run_service},
    {"count", set_run_count},
    {"starting", set_run_starting},
    {"memory", place_set_memory},
    {"disk", place_set_disk},
    {"cpu", place_set_cpu},
};

static int read_run(const struct node *v, struct placing *t, uint32_t *held, struct problem *p)
{
	struct place_file *f = t->file;
	int rc;

	t->run = (struct place_run){.worker = f->n_workers, .service = NO_SERVICE, .count = 1};
	t->amount = t->run.amount;
	rc = map_read(v, "a run", run_members, N_OF(run_members), t, t->worker.name, p);
	if (rc < 0)
		return rc;
	if (t->run.starting > t->run.count)
		return wrong_at(p, v->line, t->worker.name, "%u of %u cannot be starting",
		    t->run.starting, t->run.count);
	*held += t->run.count;
	if (*held > WORKER_INSTANCES_MAX)
		return wrong_at(p, v->line, t->worker.name,
		    "a worker has at most %d instances and tasks", WORKER_INSTANCES_MAX);
	GROW(f->runs, f->run_cap, f->n_runs + 1);
	f->runs[f->n_runs++] = t->run;
	return 0;
}

static int set_zone(const struct node *v, void *arg, struct problem *p)
{
	struct placing *t = arg;
	int rc = node_name(v, "zone", &t->worker.zone, p);

	t->worker.zone = arena_str(&t->file->arena, t->worker.zone);
	return rc;
}

static int set_worker_target(const struct node *v, void *arg, struct problem *p)
{
	struct placing *t = arg;
	int rc = node_name(v, "target", &t->worker.target, p);

	t->worker.target = arena_str(&t->file->arena, t->worker.target);
	return rc;
}

static int set_worker_labels(const struct node *v, void *arg, struct problem *p)
{
	struct placing *t = arg;

	return node_lines(v, "labels", &t->file->arena, &t->worker.labels, p);
}

static int set_worker_tags(const struct node *v, void *arg, struct problem *p)
{
	struct placing *t = arg;

	return node_lines(v, "tags", &t->file->arena, &t->worker.tags, p);
}

static int set_optional_tags(const struct node *v, void *arg, struct problem *p)
{
	struct placing *t = arg;

	return node_lines(v, "optional_tags", &t->file->arena, &t->worker.optional_tags, p);
}

static int set_worker_state(const struct node *v, void *arg, struct problem *p)
{
	struct placing *t = arg;
	unsigned state = 0;
	int rc =
	    node_choice(v, "state", place_worker_state_names, N_PLACE_WORKER_STATES, &state, p);

	if (rc == 0)
		t->worker.state = (enum place_worker_state)state;
	return rc;
}

static int set_instances(const struct node *v, void *arg, struct problem *p)
{
	struct placing *t = arg;

	return node_number(v, "instances", 0, WORKER_INSTANCES_MAX, STR_NULL,
	    &t->worker.total[PLACE_INSTANCES], p);
}

static const struct member used_members[] = {
    {"memory", place_set_memory}, {"disk", place_set_disk}, {"cpu", place_set_cpu}};

static int set_used(const struct node *v, void *arg, struct problem *p)
{
	struct placing *t = arg;
	int rc;

	t->amount = t->worker.used;
	rc = map_read(v, "used", used_members, N_OF(used_members), t, t->worker.name, p);
	t->amount = t->worker.total;
	return rc;
}

static int set_runs(const struct node *v, void *arg, struct problem *p)
{
	struct placing *t = arg;
	uint32_t held = 0;
	int rc = node_list(v, "runs", WORKER_INSTANCES_MAX, t->worker.name, p);

	for (const struct node *i = v->first; rc == 0 && i; i = i->next)
		rc = read_run(i, t, &held, p);
	t->amount = t->worker.total;
	return rc;
}

static const struct member worker_members[] = {
    {"name", place_set_known},
    {"zone", set_zone},
    {"target", set_worker_target},
    {"labels", set_worker_labels},
    {"tags", set_worker_tags},
    {"optional_tags", set_optional_tags},
    {"state", set_worker_state},
    {"memory", place_set_memory},
    {"disk", place_set_disk},
    {"cpu", place_set_cpu},
    {"instances", set_instances},
    {"used", set_used},
    {"runs", set_runs},
};

static int worker_put(
    struct place_file *f, const struct placing *t, uint32_t line, struct problem *p)
{
	uint32_t known = names_find(&f->worker_names, t->worker.name);

	if (known != NO_NAME)
		return wrong_at(p, line, t->worker.name,
		    "it is here twice; the first is in line %u", f->worker_lines[known]);
	if (f->n_workers >= SERVICE_WORKERS_MAX)
		return wrong_at(
		    p, line, STR_NULL, "there are more than %d workers", SERVICE_WORKERS_MAX);
	names_put(&f->worker_names, t->worker.name);
	GROW(f->workers, f->worker_cap, f->n_workers + 1);
	GROW(f->worker_lines, f->line_cap, f->n_workers + 1);
	f->worker_lines[f->n_workers] = line;
	f->workers[f->n_workers++] = t->worker;
	return 0;
}

int place_read_worker(const struct node *v, void *arg, struct problem *p)
{
	struct placing t = {.file = arg};
	int rc = map_name(v, "name", &t.file->arena, &t.worker.name, p);

	if (rc < 0)
		return rc;
	t.amount = t.worker.total;
	t.worker.zone = STR("default");
	t.worker.total[PLACE_INSTANCES] = WORKER_INSTANCES_USUAL;
	for (int r = 0; r < N_PLACE_RESOURCES; r++)
		t.worker.used[r] = -1;
	rc = members_read(v, worker_members, N_OF(worker_members), &t, t.worker.name, p);
	return rc < 0 ? rc : worker_put(t.file, &t, v->line, p);
}
