/* SPDX-License-Identifier: Apache-2.0 */
#include "service/file/converge_file.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "service/limits.h"

#define N_OF(array) (sizeof(array) / sizeof(array)[0])
#define DOMAIN_USUAL "default"

void converge_file_release(struct converge_file *f)
{
	arena_release(&f->arena);
	names_release(&f->service_names);
	names_release(&f->domain_names);
	names_release(&f->worker_names);
	free(f->services);
	free(f->domains);
	free(f->workers);
	free(f->records);
	free(f->lines);
	*f = (struct converge_file){0};
}

static struct converge_entry *service_put(struct converge_file *f, struct str name)
{
	size_t known = f->service_names.n;
	uint32_t n = names_put(&f->service_names, name);

	if (n == known) {
		GROW(f->services, f->service_cap, n + 1);
		f->services[n] = (struct converge_entry){.name = arena_str(&f->arena, name),
		    .domain = STR(DOMAIN_USUAL),
		    .policy = f->policy};
	}
	return &f->services[n];
}

/* A worker that no list names is silent: nobody knows that it is lost. */
static uint32_t worker_put(struct converge_file *f, struct str name)
{
	size_t known = f->worker_names.n;
	uint32_t n = names_put(&f->worker_names, name);

	if (n == known) {
		GROW(f->workers, f->worker_cap, n + 1);
		f->workers[n] = SEEN_SILENT;
	}
	return n;
}

static int set_known(const struct node *v, void *arg, struct problem *p)
{
	return 0; /* read before the others */
}

/* --- services --- */

struct taking {
	struct converge_file *file;
	struct converge_entry *service;
	struct converge_domain *domain;
	unsigned seen;
};

static int set_instances(const struct node *v, void *arg, struct problem *p)
{
	struct taking *t = arg;

	return node_count(v, "instances", 0, SERVICE_INDEX_MAX + 1, &t->service->wanted, p);
}

static int set_domain(const struct node *v, void *arg, struct problem *p)
{
	struct taking *t = arg;
	int rc = node_name(v, "domain", &t->service->domain, p);

	t->service->domain = arena_str(&t->file->arena, t->service->domain);
	return rc;
}

static int set_singleton(const struct node *v, void *arg, struct problem *p)
{
	struct taking *t = arg;

	return node_flag(v, "singleton", &t->service->is_singleton, p);
}

static int set_policy(const struct node *v, void *arg, struct problem *p)
{
	struct taking *t = arg;

	return policy_read(v, &t->service->policy, p);
}

static const struct member service_members[] = {
    {"name", set_known},
    {"instances", set_instances},
    {"domain", set_domain},
    {"singleton", set_singleton},
    {"policy", set_policy},
};

static int read_service(const struct node *v, void *arg, struct problem *p)
{
	struct taking t = {.file = arg};
	struct str name;
	int rc = map_name(v, "name", &t.file->arena, &name, p);

	if (rc < 0)
		return rc;
	t.service = service_put(t.file, name);
	if (t.service->line)
		return wrong_at(
		    p, v->line, name, "it is here twice; the first is in line %u", t.service->line);
	t.service->line = v->line;
	t.service->wanted = 1;
	t.service->domain = STR(DOMAIN_USUAL);
	t.service->policy = t.file->policy;
	rc = members_read(v, service_members, N_OF(service_members), &t, name, p);
	t.file->n_wanted += t.service->wanted;
	if (rc == 0 && t.file->n_wanted > SERVICE_INSTANCES_MAX)
		return wrong_at(p, v->line, name, "that is more than %d instances in all",
		    SERVICE_INSTANCES_MAX);
	return rc;
}

/* --- domains --- */

static int set_expires(const struct node *v, void *arg, struct problem *p)
{
	struct taking *t = arg;

	return node_time(v, "expires", &t->domain->expires_ms, p);
}

static const struct member domain_members[] = {{"name", set_known}, {"expires", set_expires}};

static int read_domain(const struct node *v, void *arg, struct problem *p)
{
	struct taking t = {.file = arg};
	struct converge_domain d = {0};
	uint32_t n;
	int rc = v->kind == NODE_TEXT ? node_name(v, "a domain", &d.name, p)
	                              : map_name(v, "name", &t.file->arena, &d.name, p);

	t.domain = &d;
	if (rc == 0 && v->kind == NODE_MAP)
		rc = members_read(v, domain_members, N_OF(domain_members), &t, d.name, p);
	if (rc < 0)
		return rc;
	if (names_find(&t.file->domain_names, d.name) != NO_NAME)
		return wrong_at(p, v->line, d.name, "there is a domain of this name before");
	n = names_put(&t.file->domain_names, d.name);
	d.name = arena_str(&t.file->arena, d.name);
	GROW(t.file->domains, t.file->domain_cap, n + 1);
	t.file->domains[n] = d;
	return 0;
}

/* --- workers --- */

static int set_seen(const struct node *v, void *arg, struct problem *p)
{
	struct taking *t = arg;

	return node_choice(v, "state", seen_worker_names, N_SEEN_WORKERS, &t->seen, p);
}

static const struct member worker_members[] = {{"name", set_known}, {"state", set_seen}};

static int read_worker(const struct node *v, void *arg, struct problem *p)
{
	struct taking t = {.file = arg, .seen = SEEN_PRESENT};
	struct str name;
	uint32_t n;
	int rc = v->kind == NODE_TEXT ? node_name(v, "a worker", &name, p)
	                              : map_name(v, "name", &t.file->arena, &name, p);

	if (rc == 0 && v->kind == NODE_MAP)
		rc = members_read(v, worker_members, N_OF(worker_members), &t, name, p);
	if (rc == 0 && t.file->n_records)
		return wrong_at(p, v->line, name, "workers must stand before instances");
	if (rc == 0 && names_find(&t.file->worker_names, name) != NO_NAME)
		return wrong_at(p, v->line, name, "there is a worker of this name before");
	if (rc == 0) {
		n = worker_put(t.file, name);
		t.file->workers[n] = (uint8_t)t.seen;
	}
	return rc;
}

/* --- records --- */

/* A service that nobody desires has the domain of its records. */
static int record_domain(
    struct converge_file *f, const struct record_values *r, uint32_t line, struct problem *p)
{
	struct converge_entry *s = service_put(f, r->service);

	if (!r->domain.n || s->line)
		return 0;
	if (s->has_domain && !str_eq(s->domain, r->domain))
		return wrong_at(p, line, r->key,
		    "another record of this service has the domain " STR_FMT, STR_ARG(s->domain));
	s->has_domain = true;
	s->domain = arena_str(&f->arena, r->domain);
	return 0;
}

static int read_record(const struct node *v, void *arg, struct problem *p)
{
	struct converge_file *f = arg;
	struct record_values r;
	int rc = record_read(v, &r, p);

	if (rc == 0)
		rc = record_domain(f, &r, v->line, p);
	if (rc < 0)
		return rc;
	if (f->n_records >= SERVICE_INSTANCES_MAX)
		return wrong_at(
		    p, v->line, STR_NULL, "there are more than %d records", SERVICE_INSTANCES_MAX);
	r.instance.service = names_find(&f->service_names, r.service);
	if (r.worker.n)
		r.instance.worker = worker_put(f, r.worker);
	r.key = r.service = r.worker = r.domain = STR_NULL; /* the texts go with the entry */
	GROW(f->records, f->record_cap, f->n_records + 1);
	GROW(f->lines, f->line_cap, f->n_records + 1);
	f->lines[f->n_records] = v->line;
	f->records[f->n_records++] = r;
	return 0;
}

/* --- settings --- */

static int read_now(const struct node *v, void *arg, struct problem *p)
{
	struct converge_file *f = arg;

	f->has_now = true;
	return node_time(v, "now", &f->now_ms, p);
}

static int read_ask_again(const struct node *v, void *arg, struct problem *p)
{
	struct converge_file *f = arg;

	return node_duration(v, "ask_again", SERVICE_WAIT_MAX_MS, STR_NULL, &f->ask_again_ms, p);
}

static int read_policy(const struct node *v, void *arg, struct problem *p)
{
	struct converge_file *f = arg;

	if (f->service_names.n)
		return wrong_at(
		    p, v->line, STR_NULL, "policy must stand before services and instances");
	return policy_read(v, &f->policy, p);
}

static const struct file_member file_members[] = {
    {"now", false, read_now},
    {"ask_again", false, read_ask_again},
    {"policy", false, read_policy},
    {"services", true, read_service},
    {"domains", true, read_domain},
    {"workers", true, read_worker},
    {"instances", true, read_record},
};

/* --- the whole --- */

struct key_line {
	struct instance i;
	uint32_t line;
};

static int by_key(const void *a, const void *b)
{
	const struct key_line *x = a, *y = b;
	int c = instance_by_key(&x->i, &y->i);

	return c ? c : x->line < y->line ? -1 : x->line > y->line;
}

static int check_keys(const struct converge_file *f, struct problem *p)
{
	struct key_line *keys = xcalloc(f->n_records + 1, sizeof *keys);
	int rc = 0;

	for (size_t i = 0; i < f->n_records; i++)
		keys[i] = (struct key_line){f->records[i].instance, f->lines[i]};
	qsort(keys, f->n_records, sizeof *keys, by_key);
	for (size_t i = 1; rc == 0 && i < f->n_records; i++)
		if (instance_by_key(&keys[i].i, &keys[i - 1].i) == 0)
			rc = wrong_at(p, keys[i].line, f->service_names.texts[keys[i].i.service],
			    "there are two %s records of index %u; the first is in line %u",
			    presence_names[keys[i].i.presence], keys[i].i.index, keys[i - 1].line);
	free(keys);
	return rc;
}

static void settle(struct converge_file *f)
{
	for (size_t i = 0; i < f->n_records; i++)
		record_settle(&f->records[i], f->now_ms);
	for (size_t i = 0; i < f->domain_names.n; i++)
		f->domains[i].is_fresh =
		    f->domains[i].expires_ms == 0 || f->domains[i].expires_ms > f->now_ms;
}

int converge_file_read(struct str text, struct converge_file *ret_file, struct problem *p)
{
	struct converge_file f = {
	    .policy = crash_policy_default, .ask_again_ms = CONVERGE_ASK_AGAIN_MS};
	int rc = input_parse(text, file_members, N_OF(file_members),
	    "a file begins {\"now\": \"2026-11-18T14:00:00Z\", \"services\": [", &f, p);

	if (rc == 0 && !f.has_now)
		rc = problem_set(p, ERR_INVALID, "the file does not say what time it is (now)");
	if (rc == 0)
		rc = check_keys(&f, p);
	if (rc < 0) {
		converge_file_release(&f);
		return rc;
	}
	settle(&f);
	*ret_file = f;
	return 0;
}
