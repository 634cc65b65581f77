/* SPDX-License-Identifier: Apache-2.0 */
/* A full pass over the services of a file, in the order of their names. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "graph/write/json_text.h"
#include "service/file/converge_file.h"
#include "service/write/write.h"

struct named {
	struct str name;
	uint32_t was;
};

static int by_name(const void *a, const void *b)
{
	return str_cmp(((const struct named *)a)->name, ((const struct named *)b)->name);
}

static uint32_t *services_by_name(const struct converge_file *f)
{
	size_t n = f->service_names.n;
	struct named *v = xcalloc(n + 1, sizeof *v);
	uint32_t *order = xcalloc(n + 1, sizeof *order);

	for (uint32_t i = 0; i < n; i++)
		v[i] = (struct named){f->services[i].name, i};
	qsort(v, n, sizeof *v, by_name);
	for (uint32_t i = 0; i < n; i++)
		order[i] = v[i].was;
	free(v);
	return order;
}

static bool is_fresh(const struct converge_file *f, struct str domain)
{
	uint32_t n = names_find(&f->domain_names, domain);

	return n != NO_NAME && f->domains[n].is_fresh;
}

/* The records are numbered by the order of names, so that they are together and in that order. */
static void pass(const struct converge_report *r, struct converge_actions *actions)
{
	const struct converge_file *f = r->file;
	struct converge_env env = {f->now_ms, f->ask_again_ms, f->workers};
	size_t at = 0;

	for (uint32_t k = 0; k < f->service_names.n; k++) {
		const struct converge_entry *e = &f->services[r->order[k]];
		struct converge_service s = {
		    k, e->wanted, e->is_singleton, is_fresh(f, e->domain), &e->policy};
		size_t from = at;

		while (at < r->records.n && r->records.v[at].service == k)
			at++;
		converge_service(&env, &s, r->records.v + from, at - from, actions);
	}
}

void converge_file_run(const struct converge_file *f, struct converge_report *ret_report)
{
	struct converge_report r = {.file = f, .order = services_by_name(f)};
	uint32_t *number = xcalloc(f->service_names.n + 1, sizeof *number);

	for (uint32_t k = 0; k < f->service_names.n; k++)
		number[r.order[k]] = k;
	GROW(r.records.v, r.records.cap, f->n_records + 1);
	for (size_t i = 0; i < f->n_records; i++) {
		r.records.v[i] = f->records[i].instance;
		r.records.v[i].service = number[f->records[i].instance.service];
	}
	free(number);
	r.records.n = f->n_records;
	qsort(r.records.v, r.records.n, sizeof *r.records.v, instance_by_key);
	pass(&r, &r.actions);
	converge_apply(&r.records, &r.actions, f->now_ms);
	*ret_report = r;
}

size_t converge_report_again(const struct converge_report *r)
{
	struct converge_actions again = {0};
	size_t n;

	pass(r, &again);
	n = again.n;
	converge_actions_release(&again);
	return n;
}

void converge_report_release(struct converge_report *r)
{
	free(r->order);
	free(r->records.v);
	converge_actions_release(&r->actions);
	*r = (struct converge_report){0};
}

static void add_key(
    const struct converge_report *r, uint32_t service, uint32_t index, struct buf *b)
{
	struct str name = r->file->services[r->order[service]].name;
	AUTO(buf_release) struct buf key = {0};

	buf_printf(&key, STR_FMT "/%u", STR_ARG(name), index);
	json_key_text(b, "instance", buf_str(&key));
}

static void add_worker(const struct converge_report *r, uint32_t worker, struct buf *b)
{
	if (worker != NO_WORKER)
		json_key_text(b, "worker", r->file->worker_names.texts[worker]);
}

static void add_action(
    const struct converge_report *r, const struct converge_action *a, struct buf *b)
{
	json_key_text(b, "action", str_of(converge_action_names[a->kind]));
	add_key(r, a->service, a->index, b);
	json_key_text(b, "presence", str_of(presence_names[a->presence]));
	add_worker(r, a->worker, b);
	json_key_text(b, "reason", str_of(a->reason));
}

static void add_record(const struct converge_report *r, const struct instance *i, struct buf *b)
{
	const struct crash_policy *policy = &r->file->services[r->order[i->service]].policy;

	add_key(r, i->service, i->index, b);
	json_key_text(b, "presence", str_of(presence_names[i->presence]));
	json_key_text(b, "state", str_of(instance_state_names[i->state]));
	add_worker(r, i->worker, b);
	json_key_time(b, "since", i->since_ms);
	json_key_i64(b, "crash_count", i->crash_count);
	if (i->revision)
		json_key_i64(b, "revision", i->revision);
	if (i->is_surge)
		json_key_bool(b, "surge", true);
	if (i->is_stopping)
		json_key_bool(b, "stopping", true);
	if (i->state != INSTANCE_CRASHED)
		return;
	if (crash_due_ms(i, policy) == CRASH_NEVER)
		json_key_bool(b, "never", true);
	else
		json_key_time(b, "restarts_at", crash_due_ms(i, policy));
}

static void add_service(const struct converge_report *r, uint32_t k, struct buf *b)
{
	const struct converge_entry *e = &r->file->services[r->order[k]];

	json_key_text(b, "name", e->name);
	json_key_bool(b, "desired", e->line != 0);
	json_key_i64(b, "wanted", e->wanted);
	json_key_text(b, "domain", e->domain);
	json_key_bool(b, "fresh", is_fresh(r->file, e->domain));
}

static void list_begin(struct buf *b, const char *name)
{
	json_key(b, name);
	buf_add_char(b, '[');
}

static void item_begin(struct buf *b)
{
	json_next(b);
	buf_add_cstr(b, "\n  {");
}

void converge_report_json(const struct converge_report *r, struct buf *b)
{
	buf_add_char(b, '{');
	json_key_time(b, "now", r->file->now_ms);
	list_begin(b, "actions");
	for (size_t i = 0; i < r->actions.n; i++) {
		item_begin(b);
		add_action(r, &r->actions.v[i], b);
		buf_add_char(b, '}');
	}
	buf_add_cstr(b, "\n]");
	list_begin(b, "services");
	for (uint32_t k = 0; k < r->file->service_names.n; k++) {
		item_begin(b);
		add_service(r, k, b);
		buf_add_char(b, '}');
	}
	buf_add_cstr(b, "\n]");
	list_begin(b, "instances");
	for (size_t i = 0; i < r->records.n; i++) {
		item_begin(b);
		add_record(r, &r->records.v[i], b);
		buf_add_char(b, '}');
	}
	buf_add_cstr(b, "\n]}\n");
}
