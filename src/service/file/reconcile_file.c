/* SPDX-License-Identifier: Apache-2.0 */
#include "service/file/reconcile_file.h"

#include <stdlib.h>

#include "base/mem.h"
#include "service/file/life_values.h"
#include "service/limits.h"

#define N_OF(array) (sizeof(array) / sizeof(array)[0])

void reconcile_file_release(struct reconcile_file *f)
{
	arena_release(&f->arena);
	names_release(&f->services);
	names_release(&f->workers);
	free(f->containers.v);
	free(f->records.v);
	*f = (struct reconcile_file){0};
}

static int item_put(
    struct reconcile_items *to, const struct reconcile_item *item, struct problem *p)
{
	if (to->n >= SERVICE_INSTANCES_MAX)
		return wrong_at(p, item->line, STR_NULL, "there are more than %d of them",
		    SERVICE_INSTANCES_MAX);
	GROW(to->v, to->cap, to->n + 1);
	to->v[to->n++] = *item;
	return 0;
}

/* --- containers --- */

struct taking {
	struct reconcile_item item;
	bool has_result;
};

static int set_known(const struct node *v, void *arg, struct problem *p)
{
	return 0; /* read before the others */
}

static int set_state(const struct node *v, void *arg, struct problem *p)
{
	struct taking *t = arg;
	unsigned state = 0;
	int rc = node_choice(v, "state", container_state_names, N_CONTAINER_STATES, &state, p);

	t->item.container.state = (enum container_state)state;
	return rc;
}

static int set_result(const struct node *v, void *arg, struct problem *p)
{
	static const char *const results[] = {"crashed", "shutdown"};
	struct taking *t = arg;
	unsigned result = 0;
	int rc = node_choice(v, "result", results, N_OF(results), &result, p);

	t->has_result = true;
	t->item.container.was_told = result == 1;
	return rc;
}

static int set_id(const struct node *v, void *arg, struct problem *p)
{
	struct taking *t = arg;
	int64_t id = 0;
	int rc = node_number(v, "id", 1, INT64_MAX, STR_NULL, &id, p);

	t->item.id = (uint64_t)id;
	return rc;
}

static const struct member container_members[] = {
    {"instance", set_known}, {"state", set_state}, {"result", set_result}, {"id", set_id}};

static int container_check(const struct taking *t, const struct node *v, struct problem *p)
{
	bool is_over = t->item.container.state == CONTAINER_COMPLETED;
	struct str who = map_find(v, "instance")->text;

	if (!map_find(v, "state"))
		return wrong_at(p, v->line, who, "a container has a state");
	if (t->has_result != is_over)
		return wrong_at(p, v->line, who, "%s",
		    is_over ? "a container that is COMPLETED has a result: crashed or shutdown"
		            : "only a container that is COMPLETED has a result");
	return 0;
}

static int read_container(const struct node *v, void *arg, struct problem *p)
{
	struct reconcile_file *f = arg;
	struct taking t = {.item = {.line = v->line}};
	const struct node *key = map_find(v, "instance");
	struct str service;
	int rc;

	if (!key)
		return wrong_at(p, v->line, STR_NULL,
		    "this has no instance, such as {\"instance\": \"web/0\"}");
	if ((rc = node_instance(key, "instance", &service, &t.item.index, p)) < 0 ||
	    (rc = members_read(v, container_members, N_OF(container_members), &t, key->text, p)) <
	        0 ||
	    (rc = container_check(&t, v, p)) < 0)
		return rc;
	t.item.service = names_put(&f->services, service);
	return item_put(&f->containers, &t.item, p);
}

/* --- records --- */

static int read_record(const struct node *v, void *arg, struct problem *p)
{
	struct reconcile_file *f = arg;
	struct reconcile_item item = {.line = v->line};
	struct record_values r;
	int rc = record_read(v, &r, p);

	if (rc < 0)
		return rc;
	item.service = names_put(&f->services, r.service);
	item.index = r.instance.index;
	item.id = r.instance.id;
	item.record = r.instance;
	if (r.worker.n)
		item.record.worker = names_put(&f->workers, r.worker);
	return item_put(&f->records, &item, p);
}

/* --- the whole --- */

static int read_worker(const struct node *v, void *arg, struct problem *p)
{
	struct reconcile_file *f = arg;
	int rc = node_name(v, "worker", &f->worker, p);

	if (rc == 0 && f->workers.n)
		return wrong_at(p, v->line, STR_NULL, "worker must stand before instances");
	f->worker = arena_str(&f->arena, f->worker);
	if (rc == 0)
		names_put(&f->workers, f->worker);
	return rc;
}

static int read_drained(const struct node *v, void *arg, struct problem *p)
{
	struct reconcile_file *f = arg;

	return node_flag(v, "drained", &f->is_drained, p);
}

static const struct file_member file_members[] = {
    {"worker", false, read_worker},
    {"drained", false, read_drained},
    {"containers", true, read_container},
    {"instances", true, read_record},
};

static int by_key(const void *a, const void *b)
{
	const struct reconcile_item *x = a, *y = b;

	if (x->service != y->service)
		return x->service < y->service ? -1 : 1;
	if (x->index != y->index)
		return x->index < y->index ? -1 : 1;
	if (x->record.presence != y->record.presence)
		return x->record.presence < y->record.presence ? -1 : 1;
	return x->id < y->id ? -1 : x->id > y->id;
}

/* A container has an id of its own; of each presence an index has one record. */
static int check_twins(const struct reconcile_file *f, struct reconcile_items *items,
    bool are_records, struct problem *p)
{
	if (items->n)
		qsort(items->v, items->n, sizeof *items->v, by_key);
	for (size_t i = 1; i < items->n; i++) {
		const struct reconcile_item *x = &items->v[i - 1], *y = &items->v[i];

		if (x->service != y->service || x->index != y->index)
			continue;
		if (are_records ? x->record.presence == y->record.presence : x->id == y->id)
			return wrong_at(p, x->line > y->line ? x->line : y->line,
			    f->services.texts[x->service], "index %u: %s", x->index,
			    are_records ? "there are two records of this presence"
			                : "there are two containers with this id");
	}
	return 0;
}

int reconcile_file_read(struct str text, struct reconcile_file *ret_file, struct problem *p)
{
	struct reconcile_file f = {0};
	int rc = input_parse(text, file_members, N_OF(file_members),
	    "a file begins {\"worker\": \"w1\", \"containers\": [", &f, p);

	if (rc == 0 && !f.worker.n)
		rc = problem_set(
		    p, ERR_INVALID, "the file does not say which worker looks (worker)");
	if (rc == 0)
		rc = check_twins(&f, &f.containers, false, p);
	if (rc == 0)
		rc = check_twins(&f, &f.records, true, p);
	if (rc < 0)
		reconcile_file_release(&f);
	else
		*ret_file = f;
	return rc;
}
